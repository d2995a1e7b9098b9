"""Graphs that a process has compiled before are found on disk: AOTAutograd neither traces nor cuts them, and nothing is planned.

What is kept is PyTorch's own record of a compiled graph (the class behind its AOTAutogradCache), in which forward and backward
pass are Stored, in a file of our folder under a key of ours: PyTorch's takes a second to compute, and says nothing of autocast's
types. For that both passes are compiled at once. Whatever fails here, the graph is then compiled as without.
"""
import contextlib
import functools
import hashlib
import inspect
import logging
import pickle
import time
from unittest import mock

import torch
from torch._dynamo.utils import counters
from torch._subclasses import fake_tensor

from . import _folder
from ._key import key_of

try:
    from torch._functorch._aot_autograd import autograd_cache
    from torch._functorch._aot_autograd.schemas import AOTAutogradCacheInfo
    from torch._functorch.aot_autograd import SerializableAOTDispatchCompiler
    from torch._inductor.output_code import OutputCode
    CONFIGURATION = {"bundled_autograd_cache": True, "force_non_lazy_backward_lowering": True, "enable_autograd_cache": True}
    ASKED = ("mod", "args", "aot_config", "cudagraphs", "boxed_forward_device_index")
    IS_POSSIBLE = (all(hasattr(torch._functorch.config, name) for name in CONFIGURATION)
                   and set(ASKED) <= set(inspect.signature(autograd_cache.AOTAutogradCache.try_load).parameters))
except (ImportError, AttributeError):  # a PyTorch that has it elsewhere: graphs are compiled anew
    IS_POSSIBLE = False

is_on = True  # tests of what is compiled turn it off
log = logging.getLogger("twinloom")


def may_be_known(example_inputs, settings):
    """Whether a graph with these inputs and options may be looked for."""
    if not (is_on and IS_POSSIBLE and settings.cache) or settings.freeze or settings.cudagraphs:
        return False
    if torch.compiler.config.force_disable_caches or not _folder.is_open():
        return False
    context, tensors = torch._guards.TracingContext.try_get(), [one for one in example_inputs if isinstance(one, torch.Tensor)]
    if context is None or getattr(context, "fakify_first_call", False):
        return False
    if any(isinstance(one, (list, tuple, dict)) for one in example_inputs):
        return False
    if any(type(one) not in (torch.Tensor, torch.nn.Parameter) or one.layout is not torch.strided for one in tensors):
        return False
    # AOTAutograd would have Dynamo look at each call whether arguments still share memory.
    return len({one.untyped_storage()._cdata for one in tensors}) == len(tensors)


class Lookup:
    """Of one graph, while AOTAutograd is at it."""

    def __init__(self, gm, settings, decompositions):
        """`decompositions`: gives them, where they are needed."""
        self._gm, self._settings, self._decompositions = gm, settings, decompositions
        self._configuration = self._information = None  # AOTConfig, and what it has where results are to be saved

    @contextlib.contextmanager
    def active(self):
        """PyTorch asks this for what it has compiled before."""
        cache = autograd_cache.AOTAutogradCache
        others_load, others_save = cache.try_load, cache.save
        asked = inspect.signature(others_load)

        def load(*words, **named):
            given = asked.bind(*words, **named).arguments
            return self._load(**{name: given[name] for name in ASKED}) if given["mod"] is self._gm else others_load(*words, **named)

        def save(key, *words, **named):
            is_ours = self._information is not None and self._information.cache_key == key
            return (self._save if is_ours else others_save)(key, *words, **named)

        with torch._functorch.config.patch(CONFIGURATION), mock.patch.object(cache, "try_load", staticmethod(load)), \
                mock.patch.object(cache, "save", staticmethod(save)):
            yield

    def compilers(self, forward, backward, inference):
        """As keywords of aot_autograd."""
        def one(compile_it, *words):
            if self._configuration is None:
                raise RuntimeError("this PyTorch does not look for graphs")
            # Not before: there would be texts of all graphs.
            self._configuration.cache_info = self._information
            return _direct(compile_it(*words))

        made = [functools.partial(one, compile_it) for compile_it in (forward, inference)]
        forward, inference = (SerializableAOTDispatchCompiler(OutputCode, each) for each in made)
        return {"fw_compiler": forward, "bw_compiler": functools.partial(one, backward), "inference_compiler": inference}

    def _load(self, mod, args, aot_config, cudagraphs, boxed_forward_device_index):
        """What AOTAutograd made of the graph in an earlier process; nothing where that is not known."""
        self._configuration = aot_config
        with fake_tensor.unset_fake_temporarily():
            key = key_of(mod, args, aot_config, self._settings)
            symbols = autograd_cache.AOTAutogradCache._filter_backed_symints(args)
            self._information = AOTAutogradCacheInfo(key, time.time_ns(), forward_symints=symbols)
            entry = _entry(key, symbols)
            if entry is not None:
                _record(aot_config.precompile_backend_id, entry)
                entry.compiled_fw = _Forward(entry.compiled_fw)
                found = entry.wrap_post_compile(args, aot_config, {
                    "cudagraphs": cudagraphs, "boxed_forward_device_index": boxed_forward_device_index})
                count("hit")
                return found
        count("miss")
        aot_config.decompositions = self._decompositions()
        return None

    @staticmethod
    def _save(key, entry, *others, **named):
        try:
            entry.pre_save()
            entry.aot_joint_graph_str = entry.aot_forward_graph_str = entry.aot_backward_graph_str = None
            backend, entry.sanitized_aot_config.precompile_backend_id = entry.sanitized_aot_config.precompile_backend_id, None
            _record(backend, entry)
            name = hashlib.sha256((entry.guards_expr or "").encode()).hexdigest()[:16]
            if _folder.store(key, name, pickle.dumps(entry)):
                count("stored")
        except Exception as error:  # it is compiled anew in the next process
            count("bypass", error)


def _direct(stored):
    """The function that a Stored calls, for which AOTAutograd finds the Stored again: one call less."""
    stored.run.__wrapped__ = stored
    return stored.run


class _Forward:
    """In the place of a record of a forward pass."""

    def __init__(self, record):
        self.load, self._finish = record.load, record.post_compile

    def post_compile(self, result, configuration):
        return self._finish(result, configuration).run


def _record(backend, entry):
    """For torch._dynamo.config.caching_precompile, which keeps what Dynamo made too."""
    if torch._dynamo.config.caching_precompile and backend is not None:
        from torch._dynamo.precompile_context import PrecompileContext
        PrecompileContext.record_artifact(autograd_cache.BundledAOTAutogradCacheArtifact(backend, entry))


def _entry(key, symbols):
    """The entry of a key whose conditions on sizes hold."""
    hints = [one.node.hint for one in symbols]
    for content in _folder.found(key):
        entry = pickle.loads(content)  # noqa: S301, of a folder that only the user can write
        if not entry.guards_expr or autograd_cache.AOTAutogradCache.evaluate_guards(entry.guards_expr, hints):
            return entry
    return None


def count(what, why=None):
    counters["twinloom"][f"graph_cache_{what}"] += 1
    log.info("graph cache: %s%s", what, "" if why is None else f": {type(why).__name__}: {why}")
