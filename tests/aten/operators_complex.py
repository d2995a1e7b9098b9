"""How complex arguments are drawn."""

import torch

from drawing import draw_by_schema, drawn


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
