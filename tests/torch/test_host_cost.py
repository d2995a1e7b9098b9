"""What a call costs the host besides its kernels: calls of PyTorch that are not made."""
import pytest
import torch
import twinloom
from torch.fx.experimental.proxy_tensor import make_fx
from twinloom._direct import FUNCTIONS, METHODS, call_directly
from twinloom._partition import cut

F = torch.nn.functional


def counted(run, *inputs):
    """Operators of PyTorch that the third call makes -> how often."""
    for _ in range(2):
        run(*inputs)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as found:
        run(*inputs)
    return {one.key: one.count for one in found.key_averages() if one.key.startswith("aten::")}


def norms(x, w, scale, shift):
    """Statistics of channels go on to a later subgraph, and to a backward pass."""
    y = F.batch_norm(x, None, None, scale, shift, training=True)
    y = F.conv2d(y, w)
    return F.batch_norm(y, None, None, scale, shift, training=True).sum()


def test_views_that_change_no_address_are_no_calls():
    inputs = [torch.randn(2, 4, 6, 6), torch.randn(4, 4, 1, 1), torch.ones(4), torch.zeros(4)]
    leaves = [one.requires_grad_() for one in inputs[1:]]
    run = torch.compile(norms, backend=twinloom.backend)

    def step(*inputs):
        return torch.autograd.grad(run(*inputs), leaves)

    calls = counted(step, *inputs)
    assert not {"aten::unsqueeze", "aten::squeeze", "aten::view", "aten::reshape"} & set(calls), calls
    for given, expected in zip(step(*inputs), torch.autograd.grad(norms(*inputs), leaves)):
        torch.testing.assert_close(given, expected, rtol=1e-3, atol=1e-3)


def crossing(make):
    """Operators that stay outside of the subgraphs, where a subgraph computes make(a) and a later one reads it."""
    x = torch.rand(8, 8)
    gm = make_fx(lambda x, w: make(w, x.exp().sum(0)), tracing_mode="fake")(x, x)
    inside = {node for nodes in cut(gm, torch.device("cpu")).partitions for node in nodes}
    return sorted(node.target.name() for node in gm.graph.nodes if node.op == "call_function" and node not in inside)


def test_views_at_a_border_are_made_where_they_are_used():
    assert crossing(lambda w, s: (w @ w + s).sum(1).unsqueeze(1) * (w @ s.unsqueeze(1))) == ["aten::mm", "aten::mm", "aten::unsqueeze"]
    # The later subgraph makes it again; the product has PyTorch's.
    assert crossing(lambda w, s: (w @ w + s.unsqueeze(0)).relu()) == ["aten::mm"]
    # Another order of elements is no thin view.
    assert "aten::t" in crossing(lambda w, s: (w + s).t() @ w)


def test_results_that_are_thin_views_are_computed_as_such():
    def kept(x):
        return x.exp().sum(1, keepdim=True).squeeze(1)

    assert counted(torch.compile(kept, backend=twinloom.backend), torch.randn(4, 5)) in ({}, {"aten::empty_strided": 1})

    def both(x):
        total = x.exp().sum(1, keepdim=True)
        return total.squeeze(1), total.squeeze(1).unsqueeze(0), total

    x = torch.randn(4, 5)
    for given, expected in zip(torch.compile(both, backend=twinloom.backend)(x), both(x)):
        torch.testing.assert_close(given, expected)


def test_no_module_is_called_but_the_users():
    heard = []
    run, x = torch.compile(lambda x: x + 1, backend=twinloom.backend), torch.randn(4)
    run(x)
    hook = torch.nn.modules.module.register_module_forward_pre_hook(lambda module, given: heard.append(type(module).__name__))
    try:
        with torch.no_grad():
            run(x)
    finally:
        hook.remove()
    assert not heard


IMAGE, MATRIX = torch.randn(2, 4, 6, 6), torch.randn(4, 4)
ARGUMENTS = {
    "mm": (MATRIX, MATRIX), "addmm": (MATRIX, MATRIX, MATRIX), "bmm": (IMAGE[0], IMAGE[0]), "baddbmm": (IMAGE[0], IMAGE[0], IMAGE[0]),
    "convolution": (IMAGE, torch.randn(3, 4, 3, 3), None, [2, 1], [1, 0], [1, 1], False, [0, 0], 1),
    "permute": (IMAGE, [2, 0, 3, 1]), "transpose": (IMAGE, 1, 2), "t": (MATRIX,), "unsqueeze": (MATRIX, 1), "squeeze.dim": (MATRIX[:1], 0),
    "squeeze.dims": (IMAGE[:1, :, :1], [0, 2]), "select": (MATRIX, 0, 1), "as_strided": (MATRIX, [2, 2], [1, 4], 3),
    "view": (IMAGE, [8, -1]), "expand": (MATRIX[:1], [3, 4]),
}


@pytest.mark.parametrize("overload", [*FUNCTIONS, *METHODS])
def test_operators_are_functions_of_python_and_the_same(overload):
    name = overload.name().removeprefix("aten::")
    arguments = ARGUMENTS.get(name) or ARGUMENTS[name.split(".")[0]]
    graph = torch.fx.Graph()
    node = graph.call_function(overload, tuple(graph.placeholder(f"x{k}") if isinstance(one, torch.Tensor) else one
                                               for k, one in enumerate(arguments)))
    graph.output(node)
    call_directly(graph)
    assert node.target is not overload
    given = torch.fx.GraphModule(torch.nn.Module(), graph)(*[one for one in arguments if isinstance(one, torch.Tensor)])
    expected = overload(*arguments)
    assert torch.equal(given, expected) and given.stride() == expected.stride()
