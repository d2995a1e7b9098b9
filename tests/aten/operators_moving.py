"""How the arguments of views, concatenations and other movement are drawn."""

import math

import torch

from drawing import bound_of, drawn


@drawn("view", "reshape", "_unsafe_view")
def view(d):
    x = d.any_tensor()
    sizes = [1 if d.chance(0.2) else size for size in factors(d, x.numel())]
    if math.prod(sizes) != x.numel() and d.chance(0.9):
        sizes = [x.numel()]
    if sizes and d.chance(0.3):
        sizes[d.random.randrange(len(sizes))] = -1
    return [x, sizes]


def factors(d, count):
    """Sizes of that product."""
    sizes = []
    for factor in (2, 3, 5, 7):
        while count > 0 and count % factor == 0:
            sizes.append(factor)
            count //= factor
    sizes.append(count)
    d.random.shuffle(sizes)
    while len(sizes) > 1 and d.chance(0.6):
        sizes.append(sizes.pop() * sizes.pop())
    return sizes


@drawn("expand")
def expand(d):
    x = d.any_tensor(least=0)
    sizes = [d.choice([-1, size, size]) if size != 1 else d.choice([1, -1, 3, 4]) for size in x.shape]
    if d.chance(0.05):
        sizes = d.shape()
    return [x, [d.size() for _ in range(d.choice([0, 0, 1, 2]))] + sizes]


@drawn("permute")
def permute(d):
    x = d.any_tensor()
    order = list(range(x.dim()))
    d.random.shuffle(order)
    if d.chance(0.05):
        order = order[1:] + [d.axis()]
    return [x, [axis - x.dim() if d.chance(0.3) else axis for axis in order]]


@drawn("slice.Tensor", "slice_scatter", "slice_backward")
def slice_(d):
    x = d.any_tensor()
    dim = d.axis()
    start = d.maybe(lambda: d.random.randint(-8, 8), 0.8)
    end = d.maybe(lambda: d.choice([d.random.randint(-8, 8), 2**63 - 1]), 0.8)
    step = d.choice([1, 1, 2, 3]) if d.chance(0.96) else d.choice([0, -1])
    if d.operator == "slice":
        return [x, dim, start, end, step]
    try:
        part = torch.ops.aten.slice(x, dim, start, end, step)
    except (RuntimeError, IndexError):
        part = x
    source = d.tensor(part.shape if d.chance(0.95) else d.shape(), x.dtype if d.chance(0.95) else d.dtype())
    if d.operator == "slice_scatter":
        return [x, source, dim, start, end, step]
    source = d.tensor(part.shape, x.dtype)  # a gradient has the shape of its part
    return [source, list(x.shape), dim, start or 0, 2**63 - 1 if end is None else end, step]


@drawn("select.int", "select_scatter", "select_backward")
def select(d):
    x = d.any_tensor(least=0 if d.chance(0.1) else 1)
    dim = d.axis()
    size = bound_of(x, dim)
    at = d.random.randint(-size, max(0, size - 1)) if d.chance(0.93) else d.choice([size, -size - 1])
    if d.operator == "select":
        return [x, dim, at]
    try:
        part = torch.ops.aten.select(x, dim, at)
    except (RuntimeError, IndexError):
        part = x
    source = d.tensor(part.shape if d.chance(0.95) else d.shape(), x.dtype if d.chance(0.95) else d.dtype())
    if d.operator == "select_scatter":
        return [x, source, dim, at]
    return [d.tensor(part.shape, x.dtype), list(x.shape), dim, at]


@drawn("constant_pad_nd")
def pad(d):
    x = d.any_tensor()
    axes = d.random.randint(0, x.dim()) if d.chance(0.96) else x.dim() + 1
    pads = [d.random.randint(-2, 3) for _ in range(2 * axes)]
    if d.chance(0.03):
        pads = pads[1:]
    return [x, pads, d.scalar()] if d.chance(0.7) else [x, pads]


@drawn("repeat")
def repeat(d):
    x = d.any_tensor(least=0)
    count = x.dim() + d.choice([0, 0, 1, 2]) if d.chance(0.95) else max(0, x.dim() - 1)
    return [x, [d.choice([0, 1, 1, 2, 3]) for _ in range(min(count, 6))]]


@drawn("roll")
def roll(d):
    x = d.any_tensor()
    if d.chance(0.3):
        return [x, [d.random.randint(-9, 9)]]
    dims = d.axes()
    shifts = [d.random.randint(-9, 9) for _ in dims] if d.chance(0.95) else [1]
    return [x, shifts, dims]


@drawn("as_strided")
def as_strided(d):
    x = d.any_tensor()
    sizes = [d.choice([1, 2, 3]) for _ in range(d.random.randint(0, 3))]
    strides = [d.choice([0, 1, 2, 3]) for _ in sizes]
    return [x, sizes, strides, d.choice([0, 1, 2])] if d.chance(0.6) else [x, sizes, strides]


@drawn("unfold")
def unfold(d):
    x = d.any_tensor()
    dim = d.axis()
    size = d.random.randint(0, max(1, bound_of(x, dim))) if d.chance(0.92) else 9
    return [x, dim, size, d.choice([1, 2, 3]) if d.chance(0.95) else 0]


@drawn("cat", "stack")
def cat(d):
    x = d.any_tensor()
    dim = d.axis() if d.operator == "cat" else d.random.randint(-x.dim() - 1, x.dim())
    parts = []
    for _ in range(d.random.randint(1, 4)):
        shape = list(x.shape)
        if d.operator == "cat" and x.dim() > 0 and -x.dim() <= dim < x.dim() and d.chance(0.6):
            shape[dim] = d.size()
        if d.chance(0.05):
            shape = d.choice([[0], d.shape()])
        parts.append(d.tensor(shape, x.dtype if d.chance(0.7) else d.dtype()))
    return [parts, dim] if d.chance(0.8) else [parts]


@drawn("split.Tensor")
def split(d):
    x = d.any_tensor()
    size = d.random.randint(1, 5) if d.chance(0.93) else d.choice([0, -1])
    return [x, size, d.axis()] if d.chance(0.8) else [x, size]


@drawn("split.sizes", "split.default", "split_with_sizes")
def split_sizes(d):
    x = d.any_tensor()
    dim = d.axis()
    rest = bound_of(x, dim)
    sizes = []
    while rest > 0:
        sizes.append(d.random.randint(0, rest))
        rest -= sizes[-1]
    return [x, sizes if d.chance(0.93) else sizes + [1], dim]


@drawn("chunk")
def chunk(d):
    return [d.any_tensor(), d.random.randint(1, 6) if d.chance(0.95) else 0, d.axis()]


@drawn("squeeze.dims")
def squeeze(d):
    x = d.any_tensor()
    return [x, d.axes()]


@drawn("unsqueeze")
def unsqueeze(d):
    x = d.any_tensor()
    return [x, d.axis(x.dim() + 1)]


@drawn("tril", "triu")
def triangle(d):
    return [d.any_tensor(least=2 if d.chance(0.95) else 0), d.random.randint(-4, 5)]


@drawn("diagonal")
def diagonal(d):
    x = d.any_tensor(least=2 if d.chance(0.95) else 0)
    return [x, d.random.randint(-4, 4), d.axis(), d.axis()]


@drawn("as_strided_scatter")
def as_strided_scatter(d):
    """No element twice: which value stays there is not said."""
    x, sizes, strides, *offset = as_strided(d)
    step = 1
    for axis in d.random.sample(range(len(sizes)), len(sizes)):
        strides[axis] = step
        step *= sizes[axis] + d.choice([0, 0, 1])
    return [x, d.tensor(sizes, x.dtype), sizes, strides, *offset]


@drawn("diagonal_backward")
def diagonal_backward(d):
    x, *which = diagonal(d)
    try:
        given = x.diagonal(*which)
    except (RuntimeError, IndexError):
        given = x
    return [d.tensor(given.shape, x.dtype), list(x.shape), *which]


@drawn("prims.transpose", "prims.rev")
def prims_axes(d):
    x = d.any_tensor()
    count = x.dim() if d.operator == "prims.transpose" else d.random.randint(0, x.dim())
    return [x, d.random.sample(range(x.dim()), count)]


@drawn("prims.reshape")
def prims_reshape(d):
    x = d.any_tensor(least=1)
    return [x, d.choice([[x.numel()], [1, x.numel()], [*x.shape, 1], list(x.shape)])]


@drawn("prims.broadcast_in_dim")
def prims_broadcast(d):
    x = d.tensor([d.choice([1, 2, 3]) for _ in range(d.random.randint(0, 3))], d.dtype())
    wide = d.random.randint(x.dim(), x.dim() + 2)
    places = sorted(d.random.sample(range(wide), x.dim()))
    shape = [d.choice([1, 2, 4]) for _ in range(wide)]
    for axis, place in enumerate(places):
        if x.shape[axis] != 1 or d.chance(0.3):
            shape[place] = x.shape[axis]
    return [x, shape, places]
