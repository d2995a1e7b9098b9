"""How the arguments of other operators are drawn: pointwise ones, totals, new tensors."""

import math

import torch

from drawing import DTYPES, FLOATING, draw_by_schema, drawn


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


@drawn("prims.sum", "prims.prod", "prims.amax", "prims.amin", "prims.var")
def prims_total(d):
    # PyTorch's kernels and the shapes and types that it prints disagree about other types, and about no axes.
    x = d.any_tensor(FLOATING if d.operator == "prims.var" else [*FLOATING, torch.int64], least=1)
    axes = d.random.sample(range(x.dim()), d.random.randint(1, x.dim()))
    return [x, axes, d.choice([0, 1])] if d.operator == "prims.var" else [x, axes]


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


@drawn("sub.Scalar", "rsub.Tensor", "rsub.Scalar")
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


@drawn("rand", "randn")
def random(d):
    return [d.shape()], ({"dtype": d.dtype(FLOATING)} if d.chance(0.6) else {})
