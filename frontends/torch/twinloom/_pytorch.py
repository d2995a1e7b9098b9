"""What differs between the versions of PyTorch that this package runs with, in one place, and told by what is there.

    2.10   graphs have functions of a list, which they empty; a record may be kept of what any backend has compiled; entries
           of Dynamo name their backend
    2.11   a guard's name is no method
    2.12   a look for a record is given one object of settings
    2.13   AOTAutograd's configuration is frozen, and a look for a record gives it back
"""
import dataclasses
import inspect

import torch

ListCodeGen = getattr(torch.fx.graph, "_BoxedCodeGen", None)

try:
    from torch._functorch._aot_autograd import autograd_cache
    from torch._functorch._aot_autograd.schemas import AOTAutogradCacheInfo
    from torch._functorch.aot_autograd import SerializableAOTDispatchCompiler
    from torch._inductor.output_code import OutputCode
    _ASKED = inspect.signature(autograd_cache.AOTAutogradCache.try_load)
except (ImportError, AttributeError) as error:  # a later version has them elsewhere
    autograd_cache = AOTAutogradCacheInfo = SerializableAOTDispatchCompiler = _ASKED = None
    OutputCode, _WHY_NOT_THERE = object, str(error)

RECORD_SETTINGS = {"bundled_autograd_cache": True, "force_non_lazy_backward_lowering": True, "enable_autograd_cache": True}
# act_input_paths: of arguments that are results of collectives, which are subclasses of tensors and have no place on disk.
_ALWAYS, _PERHAPS = {"mod", "args", "aot_config"}, {"local", "remote", "act_input_paths", "compile_region_name"}
_SETTINGS = {"cudagraphs", "boxed_forward_device_index"}, {"compiler_config_extra"}


def name_of_guard(guard):
    """What a guard is about, as an expression."""
    name = guard.orig_guard.name
    return name() if callable(name) else name


def is_compiled_by(entry, backend, compilations):
    """Whether an entry that Dynamo has of a code is a backend's, which was called in these compilations, CompileIds."""
    if hasattr(entry, "backend"):  # of frames without a graph too
        return getattr(entry.backend, "compiler_fn", None) is backend
    return entry.compile_id in compilations


def why_no_records(asked=_ASKED):
    """Why AOTAutograd keeps no records of compiled graphs that are ours; nothing where it does. `asked`: what a look for one
    is given."""
    if asked is None:
        return _WHY_NOT_THERE
    missing = [name for name in RECORD_SETTINGS if not hasattr(torch._functorch.config, name)]
    if missing:
        return f"torch._functorch.config has no {missing[0]}"
    names = set(asked.parameters) - _PERHAPS
    if names not in [_ALWAYS | settings for settings in _SETTINGS]:
        return f"AOTAutograd looks for graphs with {', '.join(sorted(names))}"
    return None


@dataclasses.dataclass(frozen=True)
class Question:
    """AOTAutograd looks for a record."""

    graph: object  # GraphModule of Dynamo
    arguments: list
    configuration: object  # AOTConfig
    settings: dict  # that a record's wrap_post_compile is given

    @classmethod
    def of(cls, words, named):
        """`words`, `named`: what AOTAutogradCache.try_load is called with."""
        given = _ASKED.bind(*words, **named).arguments
        if "compiler_config_extra" in given:
            settings = autograd_cache.create_fx_config(given["compiler_config_extra"], given.get("compile_region_name"))
        else:
            settings = {name: given[name] for name in _SETTINGS[0]}
        return cls(given["mod"], given["args"], given["aot_config"], settings)

    @property
    def _is_frozen(self):
        return type(self.configuration).__dataclass_params__.frozen

    def answered(self, function):
        """What AOTAutogradCache.try_load gives where a record was found, which became this function."""
        return (function, self.configuration) if self._is_frozen else function

    def unanswered(self, decompositions, information):
        """What it gives where there is none: the graph is compiled, and kept as the AOTAutogradCacheInfo says."""
        if self._is_frozen:
            return None, dataclasses.replace(self.configuration, decompositions=decompositions, cache_info=information)
        self.configuration.decompositions = decompositions
        return None

    def keep(self, information):
        """Called before a compiler returns. Where the configuration may be written it is not earlier, as PyTorch makes texts of
        all graphs that are to be kept."""
        if not self._is_frozen:
            self.configuration.cache_info = information
