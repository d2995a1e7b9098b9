"""How the arguments of gathers, scatters and their like are drawn."""

import torch

from drawing import FLOATING, bound_of, drawn


@drawn("gather")
def gather(d):
    x = d.any_tensor()
    dim = d.axis()
    return [x, dim, d.index(index_shape(d, x, dim), bound_of(x, dim))]


def index_shape(d, x, dim):
    """No longer than x but along dim, a few longer."""
    if d.chance(0.05):
        return d.shape()
    shape = [d.random.randint(0 if d.chance(0.1) else min(1, size), size) for size in x.shape]
    if x.dim() > 0 and -x.dim() <= dim < x.dim():
        shape[dim] = d.size()
    return shape


@drawn("scatter.src", "scatter_add", "scatter.reduce", "scatter_reduce.two")
def scatter(d):
    x = d.any_tensor()
    dim = d.axis()
    shape = index_shape(d, x, dim)
    index = d.index(shape, bound_of(x, dim))
    larger = [size + (d.chance(0.2)) for size in shape]
    source = d.tensor(larger, x.dtype if d.chance(0.95) else d.dtype())
    if d.operator == "scatter_reduce":
        keywords = {"include_self": False} if d.chance(0.5) else {}
        return [x, dim, index, source, d.choice(["sum", "prod", "mean", "amax", "amin"])], keywords
    if d.operator == "scatter" and d.overload == "reduce":
        return [x, dim, index, source], {"reduce": d.choice(["add", "multiply"])}
    return [x, dim, index, source]


@drawn("scatter.value", "scatter.value_reduce")
def scatter_value(d):
    x = d.any_tensor()
    dim = d.axis()
    index = d.index(index_shape(d, x, dim), bound_of(x, dim))
    keywords = {"reduce": d.choice(["add", "multiply"])} if d.overload == "value_reduce" else {}
    return [x, dim, index, d.scalar()], keywords


@drawn("index_select")
def index_select(d):
    x = d.any_tensor()
    dim = d.axis()
    shape = d.choice([[], [0], [1], [3], [5]]) if d.chance(0.95) else d.shape()
    return [x, dim, d.index(shape, bound_of(x, dim))]


@drawn("index_add", "index_copy")
def index_update(d):
    x = d.any_tensor()
    dim = d.axis()
    count = d.choice([0, 1, 2, 3, 4])
    index = d.index([count] if d.chance(0.9) else [], bound_of(x, dim))
    shape = list(x.shape)
    if x.dim() > 0 and -x.dim() <= dim < x.dim():
        shape[dim] = index.numel() if d.chance(0.95) else d.size()
    source = d.tensor(shape if d.chance(0.95) else d.shape(), x.dtype if d.chance(0.95) else d.dtype())
    if d.operator == "index_add" and d.chance(0.4):
        return [x, dim, index, source], {"alpha": d.scalar()}
    return [x, dim, index, source]


def indices_for(d, x):
    """One entry an axis: None, or indices that broadcast with the others."""
    count = d.random.randint(1, x.dim())
    shape = d.choice([[], [1], [3], [2, 3], [0]])
    indices = []
    for axis in range(count):
        if d.chance(0.35):
            indices.append(None)
            continue
        own = [1 if d.chance(0.2) else size for size in shape[d.random.randint(0, len(shape)):]]
        index = d.index(own, x.shape[axis])
        # Here a negative index counts from the end.
        if d.chance(0.2) and index.numel() > 0 and not index.dtype.is_floating_point and index.dtype != torch.bool:
            index.view(-1)[0] = -1 if index.dtype != torch.uint8 else 0
        indices.append(index)
    if all(index is None for index in indices):
        indices[0] = d.index(shape, x.shape[0])
    return indices


@drawn("index.Tensor", "_unsafe_index.Tensor")
def index(d):
    x = d.any_tensor(least=1)
    return [x, indices_for(d, x)]


@drawn("index_put", "_unsafe_index_put", "_unsafe_masked_index_put_accumulate")
def index_put(d):
    x = d.any_tensor(least=1)
    if d.operator == "index_put" and d.chance(0.15):  # a mask
        rank = d.random.randint(1, x.dim())
        mask = d.tensor(x.shape[:rank], torch.bool)
        values = d.tensor([], x.dtype)
        return [x, [mask], values, d.chance(0.5)]
    indices = indices_for(d, x)
    safe = [None if one is None else one.clamp(0, max(0, size - 1)) if one.dtype.is_floating_point is False
            and one.dtype != torch.bool else one for one, size in zip(indices, x.shape)]
    try:
        shape = torch.ops.aten.index(x, safe).shape
    except (RuntimeError, IndexError):
        shape = []
    values = d.tensor([1 if d.chance(0.15) else size for size in shape], x.dtype if d.chance(0.96) else d.dtype())
    if d.operator.startswith("_unsafe_masked"):
        return [x, d.tensor(shape, torch.bool), indices, values]
    return [x, indices, values, d.chance(0.5)]


@drawn("_unsafe_masked_index")
def masked_index(d):
    x = d.any_tensor(least=1)
    indices = indices_for(d, x)
    try:
        shape = torch.ops.aten.index(x, [one if one is None else one.clamp(0, 0) for one in indices]).shape
    except (RuntimeError, IndexError, NotImplementedError):
        shape = []
    return [x, d.tensor(shape, torch.bool), indices, d.choice([0, 0.0, 1, 2.5])]


@drawn("embedding")
def embedding(d):
    table = d.tensor([d.size(), d.size()] if d.chance(0.95) else d.shape(), d.dtype())
    index = d.index(d.shape(0, 3), max(1, table.shape[0] if table.dim() else 1))
    return [table, index, d.choice([-1, 0])] if d.chance(0.5) else [table, index]


@drawn("embedding_dense_backward")
def embedding_backward(d):
    rows = d.random.randint(1, 5)
    index = d.index(d.shape(0, 3), rows)
    gradient = d.tensor(list(index.shape) + [d.size()], d.dtype(FLOATING))
    return [gradient, index, rows, d.choice([-1, 0, 1]), False]
