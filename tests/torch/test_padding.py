"""Products of 16-bit matrices whose rows are no multiple of 16 bytes: with zeros behind them, and the same results."""
import pytest
import torch
import twinloom
from torch.fx.experimental.proxy_tensor import make_fx
from twinloom import _backend, _padding

F = torch.nn.functional
aten = torch.ops.aten


@pytest.fixture(autouse=True)
def everywhere(monkeypatch):
    """As on a GPU, and small products too."""
    monkeypatch.setattr(_padding, "DEVICES", {"cpu", "cuda"})
    monkeypatch.setattr(_padding, "INTENSITY", 2)
    monkeypatch.setattr(_padding, "COPY_INTENSITY", 0)


def drawn(*sizes):
    return torch.randn(sizes).bfloat16()


def shapes_of(graph):
    """Of the operands and the result of each product."""
    return [[*(tuple(one.meta["val"].shape) for one in node.args[-2:]), tuple(node.meta["val"].stride())]
            for node in graph.nodes if node.target in _padding.PRODUCTS]


def padded(function, *arguments):
    """What a function becomes, which gives what it gave."""
    gm = make_fx(function, tracing_mode="fake")(*arguments)
    _padding.pad_products(gm.graph)
    gm.graph.lint()
    gm.recompile()
    torch.testing.assert_close(gm(*arguments), function(*arguments))
    for node in gm.graph.nodes:  # what is traced is what comes
        assert node.op != "call_function" or node.meta["val"].stride() == node.target(
            *torch.fx.map_arg(node.args, lambda one: one.meta["val"]), **node.kwargs).stride()
    return gm.graph


def count(graph, target):
    return sum(node.target == target for node in graph.nodes)


def test_columns_are_padded_and_the_result_is_a_view():
    graph = padded(lambda x, w: (x @ w.t()).view(4, 8, 13).float().exp(), drawn(32, 16), drawn(13, 16))
    assert shapes_of(graph) == [[(32, 16), (16, 16), (16, 1)]]
    assert count(graph, aten.constant_pad_nd.default) == 1 and count(graph, aten.slice.Tensor) == 1


def test_inner_sizes_and_rows_are_padded_where_they_lie_along_rows_in_memory():
    assert shapes_of(padded(lambda d, w: d @ w, drawn(32, 13), drawn(13, 16))) == [[(32, 16), (16, 16), (16, 1)]]
    assert shapes_of(padded(lambda d, x: d.t() @ x, drawn(32, 13), drawn(32, 16))) == [[(16, 32), (32, 16), (16, 1)]]
    assert shapes_of(padded(lambda d, x: d @ x, drawn(13, 32), drawn(32, 16))) == [[(13, 32), (32, 16), (16, 1)]]


def test_an_operand_is_padded_once():
    graph = padded(lambda d, w, x: (d @ w, (d.t() @ x).t()), drawn(32, 13), drawn(13, 16), drawn(32, 16))
    assert count(graph, aten.constant_pad_nd.default) == 2  # d and w
    assert shapes_of(graph) == [[(32, 16), (16, 16), (16, 1)], [(16, 32), (32, 16), (16, 1)]]


def test_both_operands_may_be_one_matrix():
    assert shapes_of(padded(lambda x: (x @ x).exp(), drawn(13, 13))) == [[(13, 16), (16, 16), (16, 1)]]


def test_a_bias_is_padded_with_the_columns():
    graph = padded(lambda b, x, w: torch.addmm(b, x, w.t(), beta=2.0).float() + 1, drawn(13), drawn(32, 16), drawn(13, 16))
    assert shapes_of(graph) == [[(32, 16), (16, 16), (16, 1)]]


@pytest.mark.parametrize("function", [
    lambda x, w: x @ w.t(),  # a caller gets the result
    lambda x, w: (x @ w.t()).view(4, 8, 13),
    lambda x, w: (x @ w.t()).view(-1).float(),  # no view where rows have gaps
    lambda x, w: torch.addmm(x[0, :1], x, w.t()),
])
def test_what_cannot_have_gaps_is_copied_for_larger_products(function, monkeypatch):
    copied = padded(function, drawn(32, 16), drawn(13, 16))
    assert shapes_of(copied) == [[(32, 16), (16, 16), (16, 1)]] and count(copied, aten.clone.default) == 1
    monkeypatch.setattr(_padding, "COPY_INTENSITY", 17)
    left_alone = padded(function, drawn(32, 16), drawn(13, 16))
    assert shapes_of(left_alone) == [[(32, 16), (16, 13), (13, 1)]] and count(left_alone, aten.clone.default) == 0


def test_wide_elements_are_not_padded():
    graph = padded(lambda x, w: (x.float() @ w.float().t()).exp(), drawn(32, 16), drawn(13, 16))
    assert count(graph, aten.constant_pad_nd.default) == 0


@pytest.mark.parametrize(("gaps", "strides"), [(False, (208, 13, 1)), (True, (256, 16, 1))])
def test_what_a_caller_gets_has_gaps_where_it_may(gaps, strides):
    def head(x, w):
        return F.linear(x, w), F.linear(x, w).argmax(-1)

    x, w = drawn(2, 16, 64), drawn(13, 64)
    result, chosen = torch.compile(head, backend=twinloom.backend, options={"gaps": gaps})(x, w)
    assert result.stride() == strides
    torch.testing.assert_close((result, chosen), head(x, w))


def test_results_that_have_gradients_have_no_gaps():
    x, w = drawn(2, 16, 64).requires_grad_(), drawn(13, 64)
    assert torch.compile(F.linear, backend=twinloom.backend, options={"gaps": True})(x, w).is_contiguous()


def test_small_products_are_left_alone(monkeypatch):
    monkeypatch.setattr(_padding, "INTENSITY", 128)
    assert shapes_of(padded(lambda x, w: (x @ w.t()).exp(), drawn(32, 16), drawn(13, 16))) == [[(32, 16), (16, 13), (13, 1)]]


def test_what_no_kernel_computes_is_copied_for_larger_products(monkeypatch):
    monkeypatch.setattr(_padding, "COPY_INTENSITY", 32)
    for rows, whole in ((31, 13), (32, 16)):
        left_alone = padded(lambda x, w: (x @ w.t()).exp(), drawn(rows, 16), drawn(13, 16))
        assert shapes_of(left_alone) == [[(rows, 16), (16, whole), (whole, 1)]]
        computed = padded(lambda x, w: (x @ w.bfloat16().t()).exp(), drawn(rows, 16), drawn(13, 16).float())
        assert shapes_of(computed) == [[(rows, 16), (16, 16), (16, 1)]]


def test_a_head_and_its_gradients_are_those_of_eager(monkeypatch):
    """With a table that is an embedding too, and sizes that are known only while it runs."""
    seen, real = [], _backend.compile_graph

    def compile_graph(gm, *given, **named):
        seen.extend(shapes_of(gm.graph))
        return real(gm, *given, **named)

    monkeypatch.setattr(_backend, "compile_graph", compile_graph)

    def loss(table, tokens, targets):
        with torch.autocast(table.device.type, torch.bfloat16):
            return F.cross_entropy(F.linear(F.embedding(tokens, table), table).flatten(0, 1), targets.flatten())

    table, compiled = torch.randn(51, 32).requires_grad_(), torch.compile(loss, backend=twinloom.backend)
    for batch, length in ((2, 24), (3, 32)):
        tokens, targets = torch.randint(0, 51, (2, batch, length))
        for one in (tokens, targets):
            torch._dynamo.maybe_mark_dynamic(one, [0, 1])
        given, wanted = (torch.autograd.grad(one(table, tokens, targets), table)[0] for one in (compiled, loss))
        torch.testing.assert_close(given, wanted, atol=1e-4, rtol=2e-2)
    assert len(seen) == 3 and all(56 in (*left, *right) for left, right, _ in seen)
