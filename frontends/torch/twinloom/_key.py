"""What decides how a graph of Dynamo is compiled, as a text: two graphs that have the same one may share what they became.

The graph itself, node by node; types, sizes and strides of its arguments; PyTorch's settings and global state that its tracing
asks; the options; PyTorch, this package and the library. A graph of which this does not say all is Unknown.
"""
import functools
import hashlib
import operator
import os
import pathlib
import sys

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor

from . import _library


class Unknown(Exception):
    """Why a graph has no key: it is compiled anew."""


LITERALS = (str, int, float, bool, complex, type(None), type(Ellipsis), torch.dtype, torch.device, torch.layout,
            torch.memory_format)
NAMESPACES = {"aten", "prims"}  # others may be registered anew, with other derivatives
HIGHER_ORDER = {"tag_activation_checkpoint"}
ROOTS = {"torch": torch, "_operator": operator, "operator": operator}


def key_of(gm, arguments, aot_config, settings):
    """Of a graph of Dynamo, what AOTAutograd makes of its arguments, and AOTAutograd's own configuration."""
    parts = [_versions(), str(settings), _graph(gm), *map(_argument, arguments), *_state(), *_configuration(aot_config)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@functools.cache
def _versions():
    package, hasher = pathlib.Path(__file__).parent, hashlib.sha256()
    for file in sorted(package.glob("*.py")):
        hasher.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    found = os.stat(_library.path())
    return " ".join(map(str, (torch.__version__, torch.version.git_version, torch.version.cuda, sys.version, hasher.hexdigest(),
                              _library.version(), found.st_size, found.st_mtime_ns)))


def _graph(gm):
    """All nodes of a graph, and of those that it names."""
    if any(True for _ in gm.parameters()) or any(True for _ in gm.buffers()):
        raise Unknown("the graph holds tensors")
    if hasattr(gm, "saved_tensors_hooks_pack_0") or gm.meta.get("_checkpoint_context_fn") is not None:
        raise Unknown("functions of the caller decide what is saved")
    return "\n".join(_node(gm, node) for node in gm.graph.nodes)


def _node(gm, node):
    custom = node.meta.get("custom")
    words = [node.name, node.op, _target(gm, node), _operand(node.args), _operand(node.kwargs), _operand(custom) if custom else ""]
    if node.op == "placeholder":
        words.append(str(node.type))
    return " ".join(words)


def _target(gm, node):
    target = node.target
    if node.op in ("placeholder", "output", "call_method"):
        return str(target)
    if node.op == "get_attr":
        inner = gm.get_submodule(target) if "." not in target and target in gm._modules else None
        if not isinstance(inner, fx.GraphModule):
            raise Unknown(f"{target} is no graph")
        return f"{target} {{{_graph(inner)}}}"
    if node.op != "call_function":
        raise Unknown(f"{target} is a module")
    if isinstance(target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        name = str(target)
        if name.split(".")[0] not in NAMESPACES:
            raise Unknown(f"{name} is an operator of somebody else")
        return name
    if isinstance(target, torch._ops.HigherOrderOperator):
        if target.name() not in HIGHER_ORDER:
            raise Unknown(f"{target.name()} calls graphs")
        return target.name()
    return _function(target)


@functools.cache
def _function(target):
    """The name by which PyTorch, or the interpreter, has a function."""
    try:
        name = fx.node._get_qualified_name(target)
        root, *path = name.split(".")
        if functools.reduce(getattr, path, ROOTS[root]) is target:
            return name
    except Exception as error:
        raise Unknown(f"{target} has no name: {error}") from error
    raise Unknown(f"{target} is no function of PyTorch")


def _operand(value):
    if isinstance(value, fx.Node):
        return "%" + value.name
    if type(value) in LITERALS:
        return repr(value)
    if isinstance(value, slice):
        return f"slice({_operand(value.start)}, {_operand(value.stop)}, {_operand(value.step)})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_operand(name)}: {_operand(one)}" for name, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return type(value).__name__ + "(" + ", ".join(map(_operand, value)) + ")"
    raise Unknown(f"an operand is a {type(value).__name__}")


def _argument(value):
    if isinstance(value, torch.SymInt):
        node = value.node
        return f"{node.expr} in {node.shape_env.var_to_range.get(node.expr)}" if node.expr.is_symbol else f"{node.expr}"
    if type(value) in LITERALS:
        return repr(value)
    if type(value) not in (FakeTensor, torch.nn.Parameter) or not isinstance(value, torch._subclasses.FakeTensor):
        raise Unknown(f"an argument is a {type(value).__name__}")
    if value.layout is not torch.strided or value.is_quantized or value.is_nested:
        raise Unknown("an argument is sparse, nested or quantized")
    return " ".join(map(str, (type(value).__name__, value.dtype, value.device, tuple(value.shape), value.stride(),
                              value.storage_offset(), value.requires_grad, value.is_leaf, value._is_view(), value.is_conj(),
                              value.is_neg(), value.is_inference())))


def _state():
    """Global state of PyTorch of which tracing may make something."""
    devices = [one for one in ("cpu", "cuda") if one == "cpu" or torch.cuda.is_available()]
    cuda = torch.backends.cuda
    yield " ".join(map(str, (
        torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_cache_enabled(),
        [(torch.is_autocast_enabled(one), torch.get_autocast_dtype(one)) for one in devices],
        torch.get_default_dtype(), torch.get_default_device(), torch.are_deterministic_algorithms_enabled(),
        torch.utils.deterministic.fill_uninitialized_memory, torch.backends.cudnn.enabled, torch.backends.mkldnn.enabled,
        cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled(), cuda.cudnn_sdp_enabled(),
        [torch.cuda.get_device_capability(one) for one in range(torch.cuda.device_count())] if "cuda" in devices else [])))
    if torch.utils._python_dispatch._get_current_dispatch_mode_stack():
        raise Unknown("a mode of the caller hears of operators")
    if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
        raise Unknown("functions of the caller decide what is saved")
    foreign = [str(one) for table in torch._decomp.global_decomposition_table.values() for one, function in table.items()
               if not getattr(function, "__module__", "").startswith("torch.")]
    if foreign:
        raise Unknown(f"{foreign[0]} is taken apart by a function of the caller")


def _configuration(aot_config):
    yield repr(sorted((name, repr(value)) for name, value in torch._functorch.config.get_config_copy().items()))
    yield repr(sorted((name, repr(value)) for name, value in torch._inductor.config.get_config_copy().items()))
    yield repr((aot_config.num_params_buffers, aot_config.keep_inference_input_mutations, aot_config.dynamic_shapes,
                aot_config.is_export, aot_config.no_tangents, aot_config.pre_dispatch, aot_config.static_input_indices))
