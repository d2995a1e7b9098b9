"""Graphs that a process has compiled before are found on disk: AOTAutograd neither traces nor cuts them, and nothing is planned.

What is kept is PyTorch's own record of a compiled graph (the class behind its AOTAutogradCache), in which forward and backward
pass are Stored, in a file of our folder under a key of ours: PyTorch's takes a second to compute, and says nothing of autocast's
types. For that both passes are compiled at once. Whatever fails here, the graph is then compiled as without.
"""
import contextlib
import functools
import hashlib
import logging
import pickle
import time
from unittest import mock

import torch
from torch._dynamo.utils import counters
from torch._subclasses import fake_tensor

from . import _folder, _pytorch
from ._key import key_of
from ._pytorch import (RECORD_SETTINGS, AOTAutogradCacheInfo, OutputCode, Question, SerializableAOTDispatchCompiler,
                       autograd_cache)

is_on = True  # tests of what is compiled turn it off
log = logging.getLogger("twinloom")


@functools.cache
def is_possible():
    """Whether this PyTorch has what it takes. Where not, graphs are compiled anew, and the log says so, once."""
    why = _pytorch.why_no_records()
    if why is not None:
        log.info("graph cache: off with PyTorch %s: %s", torch.__version__, why)
    return why is None


def may_be_known(example_inputs, settings):
    """Whether a graph with these inputs and options may be looked for."""
    if not (is_on and settings.cache) or settings.freeze or settings.cudagraphs or not is_possible():
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
        self._question = self._information = None  # of AOTAutograd; the AOTAutogradCacheInfo of results to save

    @contextlib.contextmanager
    def active(self):
        """PyTorch asks this for what it has compiled before."""
        cache = autograd_cache.AOTAutogradCache
        others_load, others_save = cache.try_load, cache.save

        def load(*words, **named):
            question = Question.of(words, named)
            return self._load(question) if question.graph is self._gm else others_load(*words, **named)

        def save(key, *words, **named):
            is_ours = self._information is not None and self._information.cache_key == key
            return (self._save if is_ours else others_save)(key, *words, **named)

        with torch._functorch.config.patch(RECORD_SETTINGS), mock.patch.object(cache, "try_load", staticmethod(load)), \
                mock.patch.object(cache, "save", staticmethod(save)):
            yield

    def compilers(self, forward, backward, inference):
        """As keywords of aot_autograd."""
        def one(compile_it, *words):
            if self._question is None:
                raise RuntimeError("this PyTorch does not look for graphs")
            self._question.keep(self._information)
            return _direct(compile_it(*words))

        made = [functools.partial(one, compile_it) for compile_it in (forward, inference)]
        forward, inference = (SerializableAOTDispatchCompiler(OutputCode, each) for each in made)
        return {"fw_compiler": forward, "bw_compiler": functools.partial(one, backward), "inference_compiler": inference}

    def _load(self, question):
        """What AOTAutograd made of the graph in an earlier process; nothing where that is not known."""
        self._question = question
        with fake_tensor.unset_fake_temporarily():
            key = key_of(question.graph, question.arguments, question.configuration, self._settings)
            symbols = autograd_cache.AOTAutogradCache._filter_backed_symints(question.arguments)
            self._information = AOTAutogradCacheInfo(key, time.time_ns(), forward_symints=symbols)
            entry = _entry(key, symbols)
            if entry is not None:
                _record(question.configuration.precompile_backend_id, entry)
                entry.compiled_fw = _Forward(entry.compiled_fw)
                found = entry.wrap_post_compile(question.arguments, question.configuration, question.settings)
                count("hit")
                return question.answered(found)
        count("miss")
        return question.unanswered(self._decompositions(), self._information)

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
