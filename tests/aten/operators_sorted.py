"""How the arguments of sorts and of what is found by them are drawn."""

import torch

from drawing import bound_of, drawn


def elements(d):
    """Of types that PyTorch's CPU sorts; often all different, so that their order is known."""
    x = d.any_tensor()
    if d.chance(0.5) or x.dtype == torch.bool:
        return x
    order = torch.randperm(x.numel(), generator=torch.Generator().manual_seed(d.random.getrandbits(40)))
    d.first = (order.reshape(x.shape) - x.numel() // 2 * (x.dtype != torch.uint8)).to(x.dtype)
    return d.first


def count(d, x, dim):
    """A few beyond what is there."""
    size = bound_of(x, dim)
    return d.choice([-1, 0, size + 1]) if d.chance(0.15) else d.random.randint(min(1, size), size)


@drawn("sort", "argsort", "median.dim", "nanmedian.dim")
def sort(d):
    return [elements(d), d.axis()] + ([d.chance(0.5)] if d.chance(0.7) else [])


@drawn("sort.stable", "argsort.stable")
def stable_sort(d):
    x = elements(d)
    keywords = {"stable": True, "dim": d.axis()}
    return [x], keywords | ({"descending": d.chance(0.5)} if d.chance(0.7) else {})


@drawn("median", "nanmedian", "msort")
def of_all(d):
    return [elements(d)]


@drawn("topk")
def topk(d):
    x = elements(d)
    dim = d.axis()
    return [x, count(d, x, dim), dim, d.chance(0.5)]


@drawn("kthvalue")
def kthvalue(d):
    x = elements(d)
    dim = d.axis()
    return [x, count(d, x, dim), dim] + ([d.chance(0.5)] if d.chance(0.7) else [])
