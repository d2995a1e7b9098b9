"""How the arguments of pooling are drawn."""

import re

import torch

from drawing import FLOATING, drawn

aten = torch.ops.aten


def axes_of(d):
    return int(re.search(r"(\d)d", d.operator).group(1))


def input_of(d):
    dtype = d.choice([torch.float32, torch.float64] if "backward" in d.operator else FLOATING)
    shape = [*([2] if d.chance(0.8) else []), d.choice([1, 3]), *(d.choice([5, 6, 7]) for _ in range(axes_of(d)))]
    return d.tensor(shape, dtype)


def windows(d):
    """Kernel, stride, padding, which is at most half of the kernel."""
    kernel = [d.choice([1, 2, 3]) for _ in range(axes_of(d))]
    return [kernel, d.choice([[], [1] * len(kernel), [2] * len(kernel)]), [d.choice([0, size // 2]) for size in kernel]]


def with_gradient(d, x, operator, arguments):
    """The arguments of the backward operator."""
    result = operator(x, *arguments)
    value, *others = result if isinstance(result, tuple) else [result]
    return [d.tensor(value.shape, x.dtype).nan_to_num(1.0, 2.0, -2.0), x, *arguments, *others]


@drawn("avg_pool1d", "avg_pool2d", "avg_pool3d", "avg_pool2d_backward", "avg_pool3d_backward")
def average(d):
    x = input_of(d)
    arguments = [*windows(d), d.chance(0.3), d.chance(0.5)]
    if axes_of(d) > 1:
        arguments.append(d.choice([None, None, 3]))
    if "backward" not in d.operator:
        return [x, *arguments]
    return with_gradient(d, x, getattr(aten, d.operator.removesuffix("_backward")), arguments)


@drawn("max_pool2d", "max_pool3d", "max_pool2d_with_indices", "max_pool3d_with_indices", "max_pool2d_with_indices_backward",
       "max_pool3d_with_indices_backward")
def greatest(d):
    x = input_of(d)
    if "indices" in d.operator:
        x = x.nan_to_num(1.0, 2.0, -2.0)
    arguments = [*windows(d), [d.choice([1, 1, 2])] * axes_of(d), d.chance(0.3)]
    if "backward" not in d.operator:
        return [x, *arguments]
    return with_gradient(d, x, getattr(aten, d.operator.removesuffix("_backward")), arguments)


@drawn("adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d",
       "_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward")
def adaptive(d):
    x, sizes = input_of(d), [d.choice([1, 2, 3]) for _ in range(axes_of(d))]
    if "backward" not in d.operator:
        return [x, sizes]
    return [d.tensor([*x.shape[:-len(sizes)], *sizes], x.dtype).nan_to_num(1.0, 2.0, -2.0), x]
