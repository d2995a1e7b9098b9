"""How the arguments of layers are drawn, as they stand before anything takes them apart."""

import math

import torch

from drawing import FLOATING, drawn
from operators_norms import batch_norm_input, finite


@drawn("matmul")
def matmul(d):
    dtype, rows, depth, columns = d.dtype(FLOATING), *(d.choice([0, 1, 2, 3, 7]) for _ in range(3))
    before = [d.choice([1, 2, 3]) for _ in range(d.choice([0, 0, 1, 2]))]
    left, right = [*before, rows, depth], [*before, depth, columns]
    left = [depth] if d.chance(0.2) else left[d.choice([0, len(before)]):]
    right = [depth] if d.chance(0.2) else right[d.choice([0, len(before)]):]
    if d.chance(0.04):
        right[0] += 1
    return [finite(d.tensor(left, dtype)), finite(d.tensor(right, dtype))]


@drawn("linear")
def linear(d):
    dtype, depth, columns = d.dtype(FLOATING), d.choice([0, 1, 3, 7]), d.choice([1, 2, 5])
    x = finite(d.tensor([*d.shape(0, 3), depth], dtype))
    weight = finite(d.tensor([columns, depth + 1 if d.chance(0.04) else depth], dtype))
    return [x, weight, d.maybe(lambda: finite(d.tensor([columns], dtype)))]


@drawn("einsum.default")
def einsum(d):
    sizes, dtype = {letter: d.choice([1, 2, 3]) for letter in "abcd"}, d.dtype(FLOATING)
    terms = ["".join(d.random.sample("abcd", d.random.randint(1, 3))) for _ in range(d.choice([1, 2, 2, 3]))]
    letters = sorted(set("".join(terms)))
    result = "".join(d.random.sample(letters, d.random.randint(0, len(letters))))
    operands = [finite(d.tensor([sizes[letter] for letter in term], dtype)) for term in terms]
    return [",".join(terms) + ("" if d.chance(0.3) else f"->{result}"), operands]


@drawn("layer_norm")
def layer_norm(d):
    x = finite(d.tensor(d.shape(1), d.dtype(FLOATING)))
    sizes = list(x.shape[d.random.randrange(x.dim()):])
    parameter = lambda: finite(d.tensor(sizes, x.dtype))  # noqa: E731
    return [x, sizes, d.maybe(parameter, 0.6), d.maybe(parameter, 0.6), d.choice([1e-5, 0.1])]


@drawn("group_norm")
def group_norm(d):
    groups = d.choice([1, 2, 3])
    channels = groups * d.choice([1, 2])
    shape = [d.choice([1, 2, 3]), channels, *[d.choice([1, 2, 3]) for _ in range(d.choice([0, 1, 2]))]]
    x = finite(d.tensor(shape, d.dtype(FLOATING)))
    parameter = lambda: finite(d.tensor([channels], x.dtype))  # noqa: E731
    return [x, groups, d.maybe(parameter, 0.6), d.maybe(parameter, 0.6), d.choice([1e-5, 0.1])]


@drawn("batch_norm")
def batch_norm(d):
    x, parameter, positive = batch_norm_input(d)
    given = [x, parameter(), parameter()]
    if math.prod(x.shape) > x.shape[1] and d.chance(0.3):
        return [*given, None, None, True, 0.1, d.choice([1e-5, 0.1]), False]
    return [*given, parameter(), positive(), False, 0.1, d.choice([1e-5, 0.1]), False]


@drawn("dropout")
def dropout(d):
    return [d.tensor(d.shape(), d.dtype(FLOATING)), *d.choice([(0.5, False), (0.0, True), (1.0, False)])]


@drawn("to.dtype", "to.dtype_layout", "to.other", "type_as")
def to(d):
    x = d.any_tensor()
    other = d.tensor([2], d.dtype()) if d.chance(0.8) else d.tensor([2], x.dtype)
    if d.overload == "dtype":
        return [x, other.dtype]
    return ([x], {"dtype": other.dtype}) if d.overload == "dtype_layout" else [x, other]


@drawn("to.device")
def to_device(d):
    return [d.any_tensor(), torch.device("cpu"), d.dtype()]


@drawn("diff")
def diff(d):
    x = d.any_tensor(least=1)
    dim = d.random.randint(-x.dim(), x.dim() - 1)
    def beside():
        shape = list(x.shape)
        shape[dim] = d.choice([0, 1, 2])
        return d.tensor(shape, x.dtype)
    return [x, d.choice([1, 1, 2, 0]), dim, d.maybe(beside, 0.3), d.maybe(beside, 0.3)]


@drawn("swapaxes", "swapdims")
def swapaxes(d):
    return [d.any_tensor(), d.axis(), d.axis()]


@drawn("flatten")
def flatten(d):
    x = d.any_tensor()
    axes = sorted(d.random.randrange(max(1, x.dim())) for _ in "ab")
    if d.chance(0.05):
        axes.reverse()
    return [x, axes[0], axes[1] - max(1, x.dim()) if d.chance(0.4) else axes[1]]


@drawn("unflatten")
def unflatten(d):
    x = d.any_tensor(least=1)
    dim = d.random.randint(-x.dim(), x.dim() - 1)
    size = x.shape[dim]
    sizes = d.choice([[size], [1, size], [size, 1], [-1, 1], [2, size // 2] if size % 2 == 0 and size else [size]])
    return [x, dim, [size + 1] if d.chance(0.04) else sizes]


@drawn("pad")
def pad(d):
    x = d.any_tensor()
    pairs = [d.choice([0, 0, 1, 2, -1]) for _ in range(2 * d.random.randint(0, x.dim()))]
    return [x, pairs, "constant", d.choice([None, 0.0, 1.0])]


@drawn("conv1d", "conv2d", "conv3d")
def layer_of_convolution(d):
    axes, dtype, groups = int(d.operator[4]), d.dtype(FLOATING), d.choice([1, 1, 2])
    channels, outputs = groups * d.choice([1, 2]), groups * d.choice([1, 2])
    numbers = lambda among: [d.choice(among) for _ in range(axes)]  # noqa: E731
    x = finite(d.tensor([*([2] if d.chance(0.8) else []), channels, *numbers([4, 5, 7])], dtype))
    weight = finite(d.tensor([outputs, channels // groups, *numbers([1, 2, 3])], dtype))
    bias = d.maybe(lambda: finite(d.tensor([outputs], dtype)), 0.6)
    if d.chance(0.2):
        return [x, weight, bias]
    padding = d.choice(["same", "valid"]) if d.overload == "padding" else numbers([0, 0, 1, 2])
    stride = numbers([1, 1, 2]) if padding != "same" else [1] * axes
    return [x, weight, bias, stride, padding, numbers([1, 1, 2]), groups]
