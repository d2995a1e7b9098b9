"""A whole model as a package: a file of kernels that the C++ runtime runs without Python and without PyTorch."""
import ctypes
import os

import torch

from . import _backend, _library
from ._frame import Frame, describe
from ._library import Error, check, library
from ._lowering import Builder, place_of
from ._partition import why_left


class _Function(torch.nn.Module):
    """torch.export takes modules alone."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def _decompositions():
    """Products with sums, and attention, whose gradients nobody asks for, are taken apart too."""
    from torch._decomp import core_aten_decompositions, get_decompositions
    aten = torch.ops.aten
    sums = get_decompositions([aten.addmm, aten.baddbmm, aten.addmv])
    return {**core_aten_decompositions(), **_backend.decompositions(), **sums}


def _traced(model, inputs, dynamic_shapes):
    if not isinstance(model, torch.nn.Module):
        model = _Function(model)
    with torch.no_grad():  # strict: by Dynamo, which knows the line of each operator
        program = torch.export.export(model, inputs, dynamic_shapes=dynamic_shapes, strict=True)
        return program.run_decompositions(_decompositions())


def _constants(program):
    """Name of a placeholder -> the parameter, buffer or tensor that it stands for."""
    signature, held = program.graph_signature, {**program.constants, **program.state_dict}
    named = {**signature.inputs_to_parameters, **signature.inputs_to_buffers, **signature.inputs_to_lifted_tensor_constants}
    return {placeholder: held[name] for placeholder, name in named.items()}


def _refuse(program, device):
    """Error that names all that is not known, with the lines of the model."""
    signature = program.graph_signature
    written = [*signature.buffers_to_mutate.values(), *signature.user_inputs_to_mutate.values()]
    if written:
        raise Error(f"the model writes {', '.join(written)}, which a package cannot; model.eval() may help")
    reasons = {}
    for node in program.graph.nodes:
        why = why_left(node, device, products=True) if node.op == "call_function" and _backend.works(node) else None
        if why:
            file, line = place_of(node)
            reasons.setdefault(f"{node.target}: {why}", []).append(f"{file}:{line}")
    if reasons:
        raise Error(f"{len(reasons)} operators cannot be exported:\n" + "\n".join(
            f"  {words} ({', '.join(dict.fromkeys(places))})" for words, places in reasons.items()))


def _built(program, constants):
    """The library's graph, and its parameters as tensors that were traced."""
    builder, arguments, results = Builder("model"), [], []
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if node.op == "placeholder" and node.name in constants:
            builder.constant(node, constants[node.name])
        elif node.op == "placeholder" and isinstance(value, torch.Tensor):
            builder.input(node)
            arguments.append(value)
        elif node.op == "placeholder" and isinstance(value, torch.SymInt):
            raise Error(f"argument {node.name} is a number that may change; only sizes of tensors may")
        elif node.op == "call_function" and _backend.works(node) or isinstance(value, (tuple, torch.Tensor)):
            builder.add(node)
        elif node.op == "output":
            results = node.args[0]
    values = [getattr(one, "meta", {}).get("val") for one in results]
    numbers = [number for number, one in enumerate(values) if not isinstance(one, torch.Tensor)]
    if numbers:
        raise Error(f"result {numbers[0]} is no tensor")
    return builder.finish(results, [], row_major=True), arguments


def export(model, *inputs, path, dynamic_shapes=None, mode="fused", relax="", targets=None):
    """Writes a package of a module or function, for arguments like these, in place of a file of that name. Parameters are
    in it; sizes are those of the arguments but where dynamic_shapes, of torch.export, says otherwise. `targets`: "avx2",
    "avx512", "sm_90", with commas between; none: this processor. A model of which anything is not known is an Error that
    names all of it. C++ runs it by twinloom_load_package, a shell by `twinloom run`."""
    settings = _backend.Settings.of(None, {"mode": mode, "relax": relax})
    program = _traced(model, inputs, dynamic_shapes)
    constants = _constants(program)
    _refuse(program, _backend.device_of(program.graph))
    graph, arguments = _built(program, constants)
    frame = Frame([one.dim() for one in arguments], 0, [])
    given = [one for one in torch.utils._pytree.tree_leaves(inputs) if isinstance(one, torch.Tensor)]
    for place, one in zip(frame.tensors, given, strict=True):
        describe(place, one.dtype, torch.device("cpu"), one.shape, one.stride())
    how = _library.ExportOptions(size=ctypes.sizeof(_library.ExportOptions), targets=targets.encode() if targets else None,
                                 arguments=frame.arguments, argument_count=len(arguments))
    check(library().twinloom_export_package(graph.pointer, os.fsencode(path), ctypes.byref(_library.compile_options(settings)),
                                            ctypes.byref(how)))
