"""Sums of products: one product adds to the other's result, and gives what both gave."""
import pytest
import torch
import twinloom
from torch.fx.experimental.proxy_tensor import make_fx
from twinloom import _accumulate, _backend
from twinloom._direct import call_directly

aten = torch.ops.aten


@pytest.fixture(autouse=True)
def everywhere(monkeypatch):
    """As on a GPU."""
    monkeypatch.setattr(_accumulate, "DEVICES", {"cpu", "cuda"})


def drawn(*sizes):
    return torch.randn(sizes)


def accumulated(function, *arguments):
    """The names of the calls that a function becomes, which gives what it gave, twice."""
    gm = make_fx(function, tracing_mode="fake")(*arguments)
    _accumulate.accumulate_products(gm.graph)
    gm.graph.lint()
    for node in gm.graph.nodes:  # what is traced is what comes
        assert node.op != "call_function" or node.meta["val"].shape == node.target(
            *torch.fx.map_arg(node.args, lambda one: one.meta["val"]), **node.kwargs).shape
    call_directly(gm.graph)
    gm.recompile()
    for _ in range(2):
        torch.testing.assert_close(gm(*arguments), function(*arguments))
    return [getattr(node.target, "__name__", node.target) for node in gm.graph.nodes if node.op in ("call_function", "call_method")]


def test_a_sum_of_two_products_is_one_that_adds_to_the_other():
    assert accumulated(lambda a, b, c, d: a @ b + c @ d, drawn(4, 3), drawn(3, 5), drawn(4, 6), drawn(6, 5)) == ["mm", "addmm_"]


def test_reshapes_of_both_stay_behind_the_sum():
    names = accumulated(lambda a, b, c, d: (a @ b).view(2, 2, 5) + (c @ d).view(2, 2, 5), drawn(4, 3), drawn(3, 5), drawn(4, 6),
                        drawn(6, 5))
    assert names == ["mm", "addmm_", "view"]


def test_all_products_of_a_long_sum_add_to_the_first():
    names = accumulated(lambda a, b: a @ b + (a + 1) @ b + (b - 1).t() @ a.t() @ torch.ones(4, 4), drawn(4, 4), drawn(4, 4))
    assert names.count("addmm_") == 2 and names.count("addmm") == 0


def test_a_product_with_a_bias_is_added_to():
    names = accumulated(lambda x, a, b, c: a @ b + torch.addmm(x, c, b), drawn(5), drawn(4, 3), drawn(3, 5), drawn(4, 3))
    assert names == ["addmm", "addmm_"]


def test_what_a_user_adds_to_is_not_written():
    x = drawn(4, 5)
    assert accumulated(lambda a, b, x: torch.addmm(x, a, b), drawn(4, 3), drawn(3, 5), x) == ["addmm"]


@pytest.mark.parametrize("function", [
    lambda a, b: (lambda p: (p + b @ a, p))(a @ b),  # somebody else needs the product
    lambda a, b: (lambda p: p + p)(a @ b),
    lambda a, b: a @ b + (b @ a).t(),  # no reshape
    lambda a, b: torch.add(a @ b, b @ a, alpha=2),
    lambda a, b: a @ b + (b @ a)[:1],  # not of one shape
    lambda a, b: (a @ b).double() + b.double() @ a.double(),
    lambda a, b: a @ b + 1,
])
def test_other_sums_stay(function):
    assert "addmm_" not in accumulated(function, drawn(4, 4), drawn(4, 4))


@pytest.mark.parametrize("mode", ["strict", "fused"])
def test_gradients_of_a_shared_input_are_those_of_eager(mode, monkeypatch):
    seen, real = [], _backend.compile_graph

    def compile_graph(gm, *given, **named):
        seen.extend(node.target for node in gm.graph.nodes)
        return real(gm, *given, **named)

    monkeypatch.setattr(_backend, "compile_graph", compile_graph)

    def loss(x, q, k, v):
        h = torch.tanh(x)
        return (h @ q).sin().sum() + (h @ k).cos().sum() + (h @ v).exp().sum()

    compiled = torch.compile(loss, backend=twinloom.backend, options={"mode": mode})
    for batch in (3, 5, 6):
        x, weights = drawn(batch, 7, 8).requires_grad_(), [drawn(8, 8) / 8 for _ in range(3)]
        given, wanted = (torch.autograd.grad(one(x, *weights), x)[0] for one in (compiled, loss))
        torch.testing.assert_close(given, wanted)
    assert seen.count(aten.mm.default) % (6 if mode == "strict" else 4) == 0
    assert (aten.addmm.default in seen) == (mode != "strict")
