"""How the arguments of norms and softmaxes are drawn."""

import math

import torch

from drawing import FLOATING, drawn


@drawn("native_layer_norm", "rms_norm", "native_layer_norm_backward")
def layer_norm(d):
    dtype = d.dtype(FLOATING if d.operator == "native_layer_norm_backward" or d.chance(0.97) else None)
    x = finite(d.tensor(d.shape(1), dtype)) if dtype.is_floating_point else d.tensor(d.shape(1), dtype)
    valid = d.operator == "native_layer_norm_backward" or d.chance(0.96)
    sizes = list(x.shape[d.random.randrange(x.dim()):]) if valid else d.shape()
    mixed = dtype in (torch.float16, torch.bfloat16) and d.chance(0.3)
    parameter = lambda: finite(d.tensor(sizes, torch.float32 if mixed else dtype))  # noqa: E731
    weight, bias = d.maybe(parameter, 0.6), d.maybe(parameter, 0.6)
    if mixed and (weight is None or bias is None):
        weight = bias = None
    if d.operator == "rms_norm":
        return [x, sizes, weight, d.choice([None, 1e-5, 0.1])]
    if d.operator == "native_layer_norm":
        return [x, sizes, weight, bias, d.choice([1e-5, 0.1])]
    _, mean, rstd = torch.ops.aten.native_layer_norm(x, sizes, weight, bias, 1e-3)
    mask = [d.chance(0.8), d.chance(0.6) and weight is not None, d.chance(0.6) and bias is not None]
    return [finite(d.tensor(x.shape, dtype)), x, sizes, mean, rstd, weight, bias, mask]


@drawn("native_group_norm", "native_group_norm_backward")
def group_norm(d):
    dtype = d.dtype(FLOATING)
    groups = d.choice([1, 2, 3])
    channels = groups * d.choice([1, 2])
    shape = [d.choice([1, 2, 3]), channels, *[d.choice([1, 2, 3]) for _ in range(d.choice([0, 1, 2]))]]
    x = finite(d.tensor(shape, dtype))
    inner = math.prod(shape[2:])
    mixed = dtype in (torch.float16, torch.bfloat16) and d.chance(0.3)
    parameter = lambda: finite(d.tensor([channels], torch.float32 if mixed else dtype))  # noqa: E731
    weight, bias = (parameter(), parameter()) if mixed else (d.maybe(parameter, 0.6), d.maybe(parameter, 0.6))
    if d.operator == "native_group_norm":
        return [x, weight, bias, shape[0], channels, inner, groups, d.choice([1e-5, 0.1])]
    _, mean, rstd = torch.ops.aten.native_group_norm(x, weight, bias, shape[0], channels, inner, groups, 1e-3)
    mask = [d.chance(0.8), d.chance(0.6) and weight is not None, d.chance(0.6) and weight is not None]
    return [finite(d.tensor(shape, dtype)), x, mean, rstd, weight, shape[0], channels, inner, groups, mask]


def finite(tensor):
    """Where infinity meets infinity, what comes out is the association's."""
    return tensor.nan_to_num(1.0, 2.0, -2.0)


def batch_norm_input(d):
    dtype = d.dtype(FLOATING)
    shape = [d.choice([1, 2, 3]), d.choice([1, 2, 3]), *[d.choice([1, 2, 3]) for _ in range(d.choice([0, 1, 2]))]]
    mixed = dtype in (torch.float16, torch.bfloat16) and d.chance(0.6)
    statistics = torch.float32 if mixed else dtype
    parameter = lambda: finite(d.tensor([shape[1]], statistics))  # noqa: E731
    positive = lambda: d.tensor([shape[1]], statistics).nan_to_num().abs().clamp(max=50) + 0.5  # noqa: E731
    return finite(d.tensor(shape, dtype)), parameter, positive


@drawn("_native_batch_norm_legit", "_native_batch_norm_legit_functional", "native_batch_norm",
       "_native_batch_norm_legit_no_training", "_native_batch_norm_legit.no_stats", "_batch_norm_with_update_functional",
       "_batch_norm_no_update")
def batch_norm(d):
    x, parameter, positive = batch_norm_input(d)
    given = [x, parameter(), parameter()]
    numbers = [d.choice([0.1, 0.5]), d.choice([1e-5, 0.1])]
    if d.operator in ("_native_batch_norm_legit_no_training", "_batch_norm_with_update_functional",
                      "_batch_norm_no_update"):
        return [*given, parameter(), positive(), *numbers]
    if d.overload == "no_stats":
        return [*given, True, *numbers]
    return [*given, parameter(), positive(), d.chance(0.7), *numbers]


@drawn("native_batch_norm_backward", "batch_norm_backward")
def batch_norm_backward(d):
    x, parameter, positive = batch_norm_input(d)
    weight = parameter()
    gradient = finite(d.tensor(x.shape, x.dtype))
    mask = [d.chance(0.8), d.chance(0.6), d.chance(0.6)]
    given = [gradient, x, weight, parameter(), positive(), parameter(), positive(), d.chance(0.7), 1e-5, mask]
    return given + [torch.empty(0, dtype=torch.uint8)] if d.operator == "batch_norm_backward" else given


@drawn("_softmax_backward_data", "_log_softmax_backward_data")
def softmax_backward(d):
    x = d.tensor(d.shape(), d.dtype(FLOATING))
    d.first = x
    dim = d.random.randint(-max(1, x.dim()), max(1, x.dim()) - 1)
    result = torch.softmax(x, dim) if d.operator.startswith("_soft") else torch.log_softmax(x, dim)
    return [d.tensor(x.shape, x.dtype), result, dim, x.dtype]


@drawn("_softmax", "_log_softmax")
def softmax(d):
    x = d.any_tensor(FLOATING)
    return [x, d.axis(), x.dtype == torch.float16 and d.chance(0.1)]


@drawn("softmax.int", "log_softmax.int", "_safe_softmax")
def softmax_as(d):
    x = d.any_tensor(FLOATING if d.chance(0.6) else None)
    return [x, d.axis(), d.dtype(FLOATING) if not x.dtype.is_floating_point or d.chance(0.4) else None]
