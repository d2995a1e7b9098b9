"""How the arguments of products of matrices and of convolutions are drawn."""

import torch

from drawing import FLOATING, drawn


@drawn("mm", "bmm", "addmm", "baddbmm")
def product(d):
    rows, depth, columns = (d.choice([0, 1, 2, 3, 7, 16]) for _ in range(3))
    batch = [d.choice([0, 1, 3])] if "bmm" in d.operator else []
    dtype = d.choice(FLOATING)
    factors = [d.tensor([*batch, rows, depth], dtype), d.tensor([*batch, depth, columns], dtype)]
    if d.operator in ("mm", "bmm"):
        return factors
    shape = [size if d.chance(0.8) else 1 for size in [*batch, rows, columns]]
    self = d.tensor(shape[1:] if d.chance(0.3) else shape, dtype)
    keywords = {name: d.choice([0, 1, 0.5, -2]) for name in ("beta", "alpha") if d.chance(0.4)}
    return [self, *factors], keywords


def numbers(d, axes, among):
    return [d.choice(among) for _ in range(axes)]


def operands(d):
    """Input, weight, and stride, padding, dilation, transposed, output_padding, groups; they may not fit each other."""
    axes, groups, transposed = d.choice([1, 2, 2, 3]), d.choice([1, 1, 2, 3]), d.chance(0.4)
    channels, outputs, dtype = groups * d.choice([1, 2]), groups * d.choice([1, 2]), d.choice(FLOATING)
    sizes = numbers(d, axes, [1, 2, 3])
    weight = [channels, outputs // groups, *sizes] if transposed else [outputs, channels // groups, *sizes]
    x = d.tensor([d.choice([1, 2]), channels if d.chance(0.95) else channels + 1, *numbers(d, axes, [1, 4, 5, 7])], dtype)
    stride = numbers(d, axes, [1, 1, 2, 3])
    padding, dilation = numbers(d, axes, [0, 0, 1, 2]), numbers(d, axes, [1, 1, 2])
    extra = [d.choice(range(s)) for s in stride] if transposed else [0] * axes
    return x, d.tensor(weight, dtype), outputs, [stride, padding, dilation, transposed, extra, groups]


@drawn("convolution")
def convolution(d):
    x, weight, outputs, rest = operands(d)
    return [x, weight, d.tensor([outputs], x.dtype) if d.chance(0.6) else None, *rest]


@drawn("convolution_backward")
def convolution_backward(d):
    x, weight, outputs, rest = operands(d)
    try:
        result = torch.ops.aten.convolution.default(x, weight, None, *rest)
    except RuntimeError:
        return [x, x, weight, [outputs], *rest, [True, True, True]]
    wanted = [d.chance(0.8) for _ in range(3)]
    return [d.tensor(list(result.shape), x.dtype), x, weight, [outputs], *rest, wanted]
