"""Run by test_warm.py, as a process each: models compiled and called, what they gave as digests, and what was found on disk.

usage: warm_cases.py [SETTING=VALUE ...]     constant=2.0 operator=sin size=5 known=1 (what is not found on disk is an error)
"""
import contextlib
import hashlib
import json
import sys
import warnings

import torch
import twinloom
from torch import nn
from torch._dynamo.utils import counters
from twinloom import _backend

GIVEN = {"constant": "2.0", "operator": "sin", "size": "5", "mode": "fused", "keep": "", "autocast": "", "known": "", "cache": "1",
         "only": "", **dict(one.split("=") for one in (sys.argv[1:] if __name__ == "__main__" else []))}
CONSTANT, OPERATOR, SIZE = float(GIVEN["constant"]), getattr(torch, GIVEN["operator"]), int(GIVEN["size"])


def compiled(function, **keywords):
    options = {"mode": GIVEN["mode"], "cache": bool(GIVEN["cache"])}
    return torch.compile(function, backend=twinloom.backend, options=options, **keywords)


def trained(run, parameters, *inputs):
    """Values and gradients of a step."""
    values = run(*inputs)
    loss = values.square().sum()
    loss.backward(retain_graph=bool(GIVEN["keep"]))
    if GIVEN["keep"]:
        loss.backward()
    return [values.detach(), *(one.grad for one in parameters)]


def statistics():
    """A batch norm writes its running statistics, and counts."""
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.BatchNorm2d(4))
    found = trained(compiled(model), model.parameters(), torch.randn(2, 3, 8, 8))
    return [*found, *model.buffers()]


def dropped():
    """Random numbers of PyTorch's generator, forward and in the gradient."""
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.GELU(), nn.Linear(8, 8))
    return trained(compiled(model), model.parameters(), torch.randn(4, 8))


def donated():
    """A gradient lies in the memory of what was saved."""
    x, w, v = (torch.randn(8, 8, requires_grad=True) for _ in range(3))
    return trained(compiled(lambda x, w, v: (x @ w).exp() * 2 @ v), [x, w, v], x, w, v)


def symbolic():
    """Two sizes that only the run knows, in one compilation; beside eager's."""
    def function(x, y):
        return (x * y.shape[0] + y.sum(0, keepdim=True)).softmax(-1)

    run, found = compiled(function, dynamic=True), []
    for size in (SIZE, SIZE + 3):
        x, y = torch.randn(size, 8, requires_grad=True), torch.randn(2 * size, 8)
        found += trained(run, [x], x, y)
        torch.testing.assert_close(found[-2], function(x, y))
    return found[:0]  # they depend on the size


def written():
    """An argument gets values, and a result is a view."""
    def function(x, y):
        x.add_(y.sin())
        return x[1:], y.t()

    x, y = torch.randn(4, 4), torch.randn(4, 4)
    return [*compiled(function)(x, y), x]


def inferred():
    """Without gradients, with a constant tensor."""
    model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8)).eval()
    with torch.no_grad():
        return [compiled(lambda x: model(x) + torch.tensor([1.0, 2.0]).sum())(torch.randn(3, 8))]


def edited():
    """What the words of the call say."""
    x = torch.randn(4, 4)
    value = compiled(lambda x: OPERATOR(x) * CONSTANT)(x)
    torch.testing.assert_close(value, OPERATOR(x) * CONSTANT)
    return [value]


def in_types():
    """Under an autocast of the caller, in its type."""
    dtype = getattr(torch, GIVEN["autocast"] or "bfloat16")
    with torch.autocast("cpu", dtype):
        value = compiled(lambda x, w: x @ w + 1)(torch.randn(4, 4), torch.randn(4, 4))
    assert value.dtype is dtype
    return [value]


def aliased():
    """Arguments that share memory have no place on disk."""
    base = torch.randn(8)
    return [compiled(lambda x, y: x.add_(1) + y)(base[:4], base[2:6]), base]


def of_functions():
    """A function of the caller takes part in the gradient; twice the same code."""
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * CONSTANT

    x = torch.randn(4, requires_grad=True)
    return trained(compiled(lambda x: Doubled.apply(x)), [x], x)


CASES = [statistics, dropped, donated, symbolic, written, inferred, edited, in_types, aliased, of_functions]


def digest(tensors):
    hasher = hashlib.sha256()
    for one in tensors:
        hasher.update(f"{one.dtype}{tuple(one.shape)}{one.stride()}".encode())
        hasher.update(one.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return hasher.hexdigest()


def refuse(*arguments, **keywords):
    raise AssertionError("a known graph is compiled anew")


def main():
    warnings.simplefilter("ignore")
    found = {}
    for case in CASES:
        if GIVEN["only"] not in ("", case.__name__):
            continue
        torch._dynamo.reset()
        torch.manual_seed(0)
        counters.clear()
        before = _backend.compile_graph, _backend.partition
        with contextlib.ExitStack() as stack:
            if GIVEN["known"] and case not in (aliased, of_functions):
                _backend.compile_graph = _backend.partition = refuse
                stack.callback(lambda: (setattr(_backend, "compile_graph", before[0]), setattr(_backend, "partition", before[1])))
            value = digest(case())
        found[case.__name__] = {"value": value, "counted": dict(counters["twinloom"])}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
