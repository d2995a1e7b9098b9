"""How the arguments of operators are drawn that their schema says too little about: one function each."""

import math

import torch

from drawing import DTYPES, FLOATING, draw_by_schema

SPECIAL = {}


def drawn(*names):
    def keep(function):
        for name in names:
            SPECIAL[name] = function
        return function
    return keep


def arguments_of(drawing, row, overload):
    """Positional and keyword arguments."""
    name = row if row.startswith("prims.") else overload._schema.name.split("::")[1]
    drawing.operator, drawing.overload, drawing.schema = name, overload._overloadname, overload._schema
    special = SPECIAL.get(f"{name}.{overload._overloadname}") or SPECIAL.get(name)
    if special is None:
        return draw_by_schema(drawing, overload._schema)
    made = special(drawing)
    return made if isinstance(made, tuple) else (made, {})


@drawn("gather")
def gather(d):
    x = d.any_tensor()
    dim = d.axis()
    return [x, dim, d.index(index_shape(d, x, dim), bound_of(x, dim))]


def bound_of(x, dim):
    return x.shape[dim] if x.dim() > 0 and -x.dim() <= dim < x.dim() else 1


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


@drawn("convert_element_type")
def convert(d):
    return [d.any_tensor(), d.dtype()]


@drawn("full", "new_full", "full_like")
def full(d):
    keywords = {"dtype": d.dtype()} if d.chance(0.6) else {}
    if d.operator == "full":
        return [d.shape(), d.scalar()], keywords
    if d.operator == "full_like":
        return [d.any_tensor(), d.scalar()], keywords
    return [d.any_tensor(), d.shape(), d.scalar()], keywords


@drawn("scalar_tensor")
def scalar_tensor(d):
    return [d.scalar()], ({"dtype": d.dtype()} if d.chance(0.6) else {})


@drawn("arange")
def arange(d):
    number = lambda: d.choice([d.random.randint(-9, 20), round(d.random.uniform(-5, 9), 2)])  # noqa: E731
    keywords = {"dtype": d.dtype(DTYPES_OF_RANGES)} if d.chance(0.5) else {}
    if d.overload == "default":
        return [abs(number())], keywords
    start, end = number(), number()
    step = abs(number()) or 1
    if d.chance(0.95):
        step = step if end >= start else -step
    whole = d.overload == "start_step" and keywords and not keywords["dtype"].is_floating_point
    if whole and abs(step) < 1:  # PyTorch itself divides by 0
        step = math.copysign(1, step)
    return ([start, end] if d.overload == "start" else [start, end, step]), keywords


@drawn("new_empty_strided", "empty_strided")
def empty_strided(d):
    x, shape = d.any_tensor(), d.shape()
    arguments = [shape, list(torch.empty(shape, device="meta").stride())]
    return [x, *arguments] if d.operator == "new_empty_strided" else arguments


@drawn("empty_permuted")
def empty_permuted(d):
    shape = d.shape()
    return [shape, d.random.sample(range(len(shape)), len(shape))]


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


@drawn("prims.sum", "prims.prod", "prims.amax", "prims.amin", "prims.var")
def prims_total(d):
    # PyTorch's kernels and the shapes and types that it prints disagree about other types, and about no axes.
    x = d.any_tensor(FLOATING if d.operator == "prims.var" else [*FLOATING, torch.int64], least=1)
    axes = d.random.sample(range(x.dim()), d.random.randint(1, x.dim()))
    return [x, axes, d.choice([0, 1])] if d.operator == "prims.var" else [x, axes]


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


@drawn("prims.div", "prims.copy_to")
def prims_pair(d):
    x = d.any_tensor(FLOATING)
    return [x, d.tensor(x.shape, x.dtype)]


DTYPES_OF_RANGES = [dtype for name, dtype in DTYPES.items() if name != "b8"]


@drawn("iota", "prims.iota")
def iota(d):
    return [d.random.randint(0, 9)], {"start": d.random.randint(-5, 5), "step": d.choice([1, 2, -3]),
                                      "dtype": d.choice([torch.int64, torch.int32]), "device": torch.device("cpu"),
                                      "requires_grad": False}


@drawn("randint")
def randint(d):
    return [d.random.randint(-5, -1), d.random.randint(1, 9), d.shape()] if d.overload == "low" else \
        [d.random.randint(1, 9), d.shape()]


@drawn("linalg_vector_norm")
def vector_norm(d):
    x = d.any_tensor(FLOATING if d.chance(0.95) else None)
    keywords = {"dtype": d.choice([torch.float32, torch.float64])} if d.chance(0.2) else {}
    return [x, d.choice([0, 1, 2, 3, 0.5, -1, math.inf, -math.inf]), d.maybe(d.axes), d.chance(0.5)], keywords


@drawn("lerp.Scalar", "lerp.Tensor")
def lerp(d):
    x = d.any_tensor(FLOATING if d.chance(0.9) else None)
    end = d.tensor(d.broadcastable(x.shape), x.dtype if d.chance(0.95) else d.dtype())
    if d.overload == "Scalar":
        return [x, end, d.choice([0, 1, 0.1, 0.5, 0.7, -2.0])]
    return [x, end, d.tensor(d.broadcastable(x.shape), x.dtype)]


@drawn("__lshift__", "__rshift__", "bitwise_left_shift", "bitwise_right_shift")
def shift(d):
    integers = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
    if d.overload == "Scalar_Tensor":
        return [d.choice([1, 5, -3]), d.tensor(d.shape(), d.dtype(integers), 0, 9)]
    x = d.any_tensor(integers if d.chance(0.95) else None)
    if d.overload in ("Scalar", "Tensor_Scalar"):
        return [x, d.random.randint(0, 9)]
    return [x, d.tensor(d.broadcastable(x.shape), x.dtype if d.chance(0.5) else d.dtype(integers), 0, 9)]



@drawn("masked_fill.Tensor", "masked_fill.Scalar")
def masked_fill(d):
    x = d.any_tensor()
    mask = d.tensor(d.broadcastable(x.shape), torch.bool if d.chance(0.97) else d.dtype())
    if d.overload == "Scalar":
        return [x, mask, d.scalar()]
    return [x, mask, d.tensor([] if d.chance(0.95) else [1], x.dtype if d.chance(0.6) else d.dtype())]


@drawn("clamp")
def clamp(d):
    x = d.any_tensor()
    bound = d.scalar if d.overload == "default" else d.beside
    low, high = d.maybe(bound, 0.7), d.maybe(bound, 0.7)
    return [x, low, bound() if low is None and high is None and d.chance(0.9) else high]


@drawn("mean.default", "mean.dim", "var.correction", "std.correction", "var_mean.correction", "logsumexp")
def statistics(d):
    d.any_tensor(FLOATING if d.chance(0.9) else None)
    given, keywords = draw_by_schema(d, d.schema)
    given[0] = d.first
    if keywords.get("dtype") is not None and d.chance(0.9):
        keywords["dtype"] = d.dtype(FLOATING)
    return given, keywords


@drawn("t")
def t(d):
    return [d.tensor(d.shape(0, 2 if d.chance(0.95) else 3), d.dtype())]


@drawn("device_put")
def device_put(d):
    return [d.any_tensor(), torch.device("cpu")]


@drawn("sub.Tensor", "sub.Scalar", "rsub.Tensor", "rsub.Scalar")
def difference(d):
    d.any_tensor([dtype for dtype in DTYPES.values() if dtype != torch.bool] if d.chance(0.9) else None)
    given, keywords = draw_by_schema(d, d.schema)
    given[0] = d.first
    return given, keywords


@drawn("empty")
def empty(d):
    return [d.shape()], ({"dtype": d.dtype()} if d.chance(0.6) else {})


@drawn("_to_copy")
def to_copy(d):
    # Without a type PyTorch 2.11 reads one that was never written.
    return [d.any_tensor()], {"dtype": d.dtype()}


@drawn("one_hot")
def one_hot(d):
    return [d.tensor(d.shape(0, 3), torch.int64, 0, 4), d.choice([4, 5, 9])]


@drawn("softplus", "softplus_backward", "logit")
def activation(d):
    x = d.any_tensor(FLOATING if d.chance(0.9) else None)
    if d.operator == "logit":
        return [x, d.choice([None, 1e-3, 0.1])]
    numbers = [d.choice([1, 2, 0.5]), d.choice([20, 1, 5.5])]
    return [x, *numbers] if d.operator == "softplus" else [d.like_first(), x, *numbers]


@drawn("fill.Scalar", "fill.Tensor")
def fill(d):
    return [d.any_tensor(), d.scalar() if d.overload == "Scalar" else d.tensor([], d.dtype())]


@drawn("_softmax", "_log_softmax")
def softmax(d):
    x = d.any_tensor(FLOATING)
    return [x, d.axis(), x.dtype == torch.float16 and d.chance(0.1)]


@drawn("softmax.int", "log_softmax.int")
def softmax_as(d):
    x = d.any_tensor(FLOATING if d.chance(0.6) else None)
    return [x, d.axis(), d.dtype(FLOATING) if not x.dtype.is_floating_point or d.chance(0.4) else None]


@drawn("rand", "randn")
def random(d):
    return [d.shape()], ({"dtype": d.dtype(FLOATING)} if d.chance(0.6) else {})


def complex_tensor(d, shape):
    generator = torch.Generator().manual_seed(d.random.getrandbits(40))
    return torch.randn(shape, dtype=d.choice([torch.complex64, torch.complex128]), generator=generator)


@drawn("view_as_complex")
def view_as_complex(d):
    shape = d.shape(most=3)
    return [d.tensor([*shape, 2] if d.chance(0.9) else shape, d.choice([torch.float32, torch.float64]))]


@drawn("complex", "polar")
def complex_(d):
    x = d.any_tensor([torch.float32, torch.float64])
    return [x, d.tensor(d.broadcastable(x.shape), x.dtype)]


@drawn("view_as_real", "real", "imag", "_conj", "_conj_physical", "conj_physical", "angle")
def of_complex(d):
    return [complex_tensor(d, d.shape()) if d.chance(0.8) else d.any_tensor()]


@drawn("mul.Tensor", "sub.Tensor")
def maybe_complex(d):
    if d.chance(0.85):
        return draw_by_schema(d, d.schema)
    first = complex_tensor(d, d.shape())
    other = d.broadcastable(first.shape)
    return [first, complex_tensor(d, other) if d.chance(0.6) else d.tensor(other, torch.float32)]
