"""Arguments of ATen operators, drawn from a seed: by their schema, or as operators_*.py say for an operator."""

import math
import random

import torch

DTYPES = {
    "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "b8": torch.bool, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FLOATING = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INDEX = [torch.int64, torch.int64, torch.int64, torch.int32]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, math.inf, -math.inf, math.nan]
SCALARS = [0, 1, -1, 2, 3, -3, 7, 100, 300, True, False, 0.1, 0.5, -0.5, 1.0, 1.5, -2.0, 2.5, math.inf, math.nan]
LARGEST_RANK = 5


class Drawing:
    """Draws for one case. What is drawn first (the first tensor) shapes the rest."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.first = None

    def chance(self, probability):
        return self.random.random() < probability

    def choice(self, values):
        return self.random.choice(values)

    def dtype(self, among=None):
        return self.choice(among or list(DTYPES.values()))

    def size(self):
        return self.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 7])

    def shape(self, least=0, most=LARGEST_RANK):
        sizes = [self.size() for _ in range(self.random.randint(least, most))]
        # Few are empty: an empty result shows little.
        return [max(1, size) for size in sizes] if self.chance(0.7) else sizes

    def tensor(self, shape, dtype, low=None, high=None):
        """Small numbers and special ones; integers low..high-1 where these are given."""
        generator = torch.Generator().manual_seed(self.random.getrandbits(40))
        if dtype == torch.bool:
            return torch.randint(0, 2, shape, generator=generator).to(dtype)
        if low is not None:
            return torch.randint(low, max(high, low + 1), shape, generator=generator).to(dtype)
        if not dtype.is_floating_point:
            least = 0 if dtype == torch.uint8 else -9
            near = torch.randint(least, 10, shape, generator=generator)
            info = torch.iinfo(dtype)
            return self.sprinkled(near.to(dtype), [info.min, info.max, 0, 1])
        numbers = (torch.randn(shape, generator=generator) * self.choice([0.3, 1.0, 3.0, 40.0])).to(dtype)
        return self.sprinkled(numbers, SPECIAL)

    def sprinkled(self, tensor, specials):
        if not self.chance(0.4) or tensor.numel() == 0:
            return tensor
        flat = tensor.reshape(-1).clone()
        for _ in range(self.random.randint(1, 3)):
            flat[self.random.randrange(flat.numel())] = self.choice(specials)
        return flat.reshape(tensor.shape)

    def any_tensor(self, among=None, least=0):
        made = self.tensor(self.shape(least), self.dtype(among))
        if self.first is None:
            self.first = made
        return made

    def broadcastable(self, shape):
        """A shape that broadcasts with `shape`, but for a few."""
        if self.chance(0.04):
            return self.shape()
        if self.chance(0.5):
            return list(shape)
        kept = list(shape)[self.random.randint(0, len(shape)):]
        return [1 if self.chance(0.2) else size for size in kept]

    def beside(self, among=None):
        """A tensor that broadcasts with the first, often of its type."""
        same = self.chance(0.5) and (among is None or self.first.dtype in among)
        return self.tensor(self.broadcastable(self.first.shape), self.first.dtype if same else self.dtype(among))

    def like_first(self):
        dtype = self.first.dtype if self.chance(0.95) else self.dtype()
        return self.tensor(self.first.shape if self.chance(0.95) else self.shape(), dtype)

    def axis(self, rank=None):
        """-rank..rank-1, a few beyond."""
        rank = self.first.dim() if rank is None else rank
        if self.chance(0.04):
            return self.choice([rank, -rank - 1, rank + 3])
        return self.random.randint(-max(rank, 1), max(rank, 1) - 1)

    def axes(self):
        rank = self.first.dim()
        if self.chance(0.04):
            return [self.axis(), self.axis(), self.axis()]
        chosen = self.random.sample(range(rank), self.random.randint(0, rank))
        return [axis - rank if self.chance(0.4) else axis for axis in chosen]

    def scalar(self):
        return self.choice(SCALARS)

    def maybe(self, draw, probability=0.5):
        return draw() if self.chance(probability) else None

    def index(self, shape, bound):
        """Indices 0..bound-1, rarely one outside or of a type that is none."""
        dtype = self.dtype(INDEX) if self.chance(0.97) else self.dtype()
        made = self.tensor(shape, dtype, 0, bound)
        if self.chance(0.06) and made.numel() > 0 and dtype in INDEX:
            made.view(-1)[self.random.randrange(made.numel())] = self.choice([-1, -bound, -bound - 1, bound])
        return made


def draw_by_schema(drawing, schema):
    """Positional and keyword arguments for an overload, or None where the schema says too little."""
    positional, keywords = [], {}
    for argument in schema.arguments:
        if argument.has_default_value() and drawing.chance(0.5):
            if argument.kwarg_only:
                continue
            value = argument.default_value
        else:
            value = draw_argument(drawing, argument.name, str(argument.type))
        if argument.kwarg_only:
            if value is not None or not argument.has_default_value():
                keywords[argument.name] = value
        else:
            positional.append(value)
    return positional, keywords


# By the name where the name says more than the type; then by the type.
def draw_argument(drawing, name, kind):
    by_name = {
        "dim": lambda: drawing.axis() if kind in ("int", "Optional[int]") else drawing.axes(),
        "dims": drawing.axes,
        "dim0": drawing.axis,
        "dim1": drawing.axis,
        "dim2": drawing.axis,
        "dimension": drawing.axis,
        "approximate": lambda: drawing.choice(["none", "tanh"]),
        "rounding_mode": lambda: drawing.choice([None, "floor", "trunc"]),
        "diagonal": lambda: drawing.random.randint(-4, 4),
        "offset": lambda: drawing.random.randint(-3, 3),
        "correction": lambda: drawing.choice([0, 1, 2, 0.5, 9]),
        "memory_format": lambda: None, "layout": lambda: None, "device": lambda: None, "pin_memory": lambda: None,
        "sparse_grad": lambda: False, "non_blocking": lambda: False, "implicit": lambda: False,
        "generator": lambda: None,
        "dtype": drawing.dtype,  # the schema says int
        "input_dtype": lambda: drawing.first.dtype,
        "half_to_float": lambda: drawing.first.dtype == torch.float16 and drawing.chance(0.1),
        "size": drawing.shape,
        "condition": lambda: drawing.tensor(drawing.broadcastable(drawing.first.shape), torch.bool)
                     if drawing.first is not None else drawing.any_tensor([torch.bool]),
        "mask": lambda: drawing.tensor(drawing.broadcastable(drawing.first.shape), torch.bool),
    }
    by_type = {
        "Tensor": lambda: drawing.any_tensor() if drawing.first is None else drawing.beside(),
        "number": drawing.scalar,
        "bool": lambda: drawing.chance(0.5),
        "float": lambda: drawing.choice([0.1, 0.5, 1.0, 2.0, -1.5]),
        "int": lambda: drawing.random.randint(-2, 5),
    }
    if kind.startswith("Optional[") and drawing.chance(0.4):
        return None
    inner = kind[len("Optional["):-1] if kind.startswith("Optional[") else kind
    if name in by_name:
        return by_name[name]()
    if "backward" in drawing.operator and inner == "Tensor":
        return drawing.any_tensor() if drawing.first is None else drawing.like_first()
    if inner not in by_type:
        raise NotImplementedError(f"{name}: {kind}")
    return by_type[inner]()


def without_underscore(name):
    """add of add_ and of add; __and__ stays."""
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def bound_of(x, dim):
    return x.shape[dim] if x.dim() > 0 and -x.dim() <= dim < x.dim() else 1


DRAWN = {}  # functions by operator, or operator and overload


def drawn(*names):
    """Keeps a function that draws the arguments of these operators: a list, or a list and keywords."""
    def keep(function):
        for name in names:
            assert name not in DRAWN, name
            DRAWN[name] = function
        return function
    return keep
