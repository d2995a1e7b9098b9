"""Saved activations, and what products give, whose memory results take: the same values, with less memory."""
import pytest
import torch
import twinloom
from twinloom import _bound

F = torch.nn.functional


pytestmark = pytest.mark.usefixtures("device")


def drawn(*sizes):
    return torch.randn(sizes).requires_grad_()


def chain(x, w, v):
    """The exponential is saved, and read last by a kernel that gives as much."""
    return ((x @ w).exp() * 2 @ v).sum()


def viewed(x, w, v):
    """What is saved is read by a product too, through a view."""
    y = (x @ w).exp()
    return (y.t() @ v[:, :1].expand(8, 3).contiguous()).sum() + (y @ v).sum()


def returned(x, w, v):
    """The caller sees what is saved."""
    y = (x @ w).exp()
    return (y @ v).sum() + y.sum(), y


def twice(x, w, v):
    """Two views of one memory are saved. Small numbers, as sines of large ones show each rounding of them."""
    y = (x @ w).sigmoid()
    return (y * y.view(8, 8).t().sin()).sum() + (y.t() @ v).sum()


def argument(x, w, v):
    return (x.exp() * x @ w @ v).sum()


def with_axes_of_one_row(x, w, v):
    """Results and what is saved have axes of size 1, whose strides may be any."""
    return (F.local_response_norm((x @ w)[None], 2) @ v).sum()


FUNCTIONS = (chain, viewed, returned, twice, argument, with_axes_of_one_row)


def gradients(run, inputs):
    for one in inputs:
        one.grad = None
    results = run(*inputs)
    loss, *others = results if isinstance(results, tuple) else (results,)
    before = [one.detach().clone() for one in others]
    loss.backward()
    for one, kept in zip(others, before):
        assert torch.equal(one, kept)
    return [one.grad.clone() for one in inputs]


def reused(executables):
    """How many of their results lie in the memory of what was handed in."""
    return sum(source is not None for one in executables for source in one.last.sources)


def backward_kernels(function, *inputs):
    found = []
    twinloom._backend._listeners.append(found)
    gradients(torch.compile(function, backend=twinloom.backend), inputs)
    twinloom._backend._listeners.remove(found)
    return found[1].kernels


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_gradients_are_those_of_eager(function, dynamic):
    inputs = drawn(8, 8), drawn(8, 8), drawn(8, 8)
    run = torch.compile(function, backend=twinloom.backend, dynamic=dynamic)
    wanted = gradients(function, inputs)
    for _ in range(3):
        for given, expected in zip(gradients(run, inputs), wanted):
            torch.testing.assert_close(given, expected, rtol=1e-4, atol=1e-3)


def test_gradients_lie_in_the_memory_of_what_was_saved(monkeypatch):
    monkeypatch.setattr(twinloom._backend, "products", lambda graph: [])
    assert reused(backward_kernels(chain, drawn(8, 8), drawn(8, 8), drawn(8, 8))) == 1
    for function in (returned, argument):
        torch._dynamo.reset()
        assert reused(backward_kernels(function, drawn(8, 8), drawn(8, 8), drawn(8, 8))) == 0


def test_what_is_not_donated_stays_as_it_is():
    inputs = drawn(8, 8), drawn(8, 8), drawn(8, 8)
    with torch._functorch.config.patch(donated_buffer=False):
        run = torch.compile(chain, backend=twinloom.backend)
        loss = run(*inputs)
        loss.backward(retain_graph=True)
        first = [one.grad.clone() for one in inputs]
        loss.backward()
        for one, kept in zip(inputs, first):
            assert torch.equal(one.grad, 2 * kept)


def test_backward_passes_allocate_less(monkeypatch, device):
    if device == "cuda":
        pytest.skip("counts allocations of the CPU")
    monkeypatch.setattr(twinloom._backend, "products", lambda graph: [])

    def allocated(donates):
        count, allocate = [0], torch._C._dynamo.guards._empty_strided_cpu

        def counting(shape, strides, dtype):
            result = allocate(shape, strides, dtype)
            count[0] += result.nbytes
            return result

        torch._dynamo.reset()
        monkeypatch.setattr(_bound, "_empty_strided_cpu", counting)
        with torch._functorch.config.patch(donated_buffer=donates):
            run = torch.compile(chain, backend=twinloom.backend)
            loss = run(drawn(64, 64), drawn(64, 64), drawn(64, 64))
            count[0] = 0
            loss.backward()
        return count[0]

    assert allocated(False) - allocated(True) >= 64 * 64 * 4


def test_a_loss_saves_logits_in_their_type_and_no_row_of_probabilities(device):
    def loss(logits, targets):
        return F.cross_entropy(logits.float(), targets)

    logits, saved = torch.randn(64, 1000).bfloat16().requires_grad_(), []
    targets = torch.randint(0, 1000, (64,))
    with torch.autograd.graph.saved_tensors_hooks(lambda one: saved.append(one) or one, lambda one: one):
        given = torch.compile(loss, backend=twinloom.backend)(logits, targets)
    assert max(one.numel() * one.itemsize for one in saved) == 2 * 64 * 1000
    gradient, wanted = (torch.autograd.grad(one, logits)[0] for one in (given, loss(logits, targets)))
    torch.testing.assert_close(gradient, wanted)


def test_a_backward_pass_that_keeps_its_graph_donates_nothing():
    """Whatever the first one did."""
    wanted = gradients(chain, inputs := (drawn(8, 8), drawn(8, 8), drawn(8, 8)))
    run = torch.compile(chain, backend=twinloom.backend)
    for keeps in (False, True, False):
        loss = run(*inputs)
        for number in range(1 + keeps):
            for one in inputs:
                one.grad = None
            loss.backward(retain_graph=keeps and number == 0)
            for one, expected in zip(inputs, wanted):
                torch.testing.assert_close(one.grad, expected, rtol=1e-4, atol=1e-3)


def gelu_of_product(x, w, v):
    return F.gelu(x @ w + 1) @ v


def product_is_returned(x, w, v):
    y = x @ w
    return y.sigmoid(), y


def product_is_read_again(x, w, v):
    """By a product, which comes before what takes the memory."""
    y = x @ w
    return y.sigmoid() + y.t() @ v


def product_is_read_by_two_views(x, w, v):
    y = x @ w
    return (y.view(4, 16).exp().view(8, 8) * y.t()) @ v


def attention(x, w, v):
    q, k, p = (one.view(1, 2, 4, 8) for one in (x, w, v))
    return F.scaled_dot_product_attention(q, k, p).tanh() * 2


@pytest.mark.parametrize("function, expected", [(gelu_of_product, 1), (product_is_returned, 0), (product_is_read_again, None),
                                                (product_is_read_by_two_views, None), (attention, 1)])
@pytest.mark.parametrize("dynamic", [False, True])
def test_results_lie_in_the_memory_of_products(function, expected, dynamic):
    """Where nobody else reads it; and are right."""
    inputs = tuple(torch.randn(8, 8) for _ in range(3))
    run, wanted = torch.compile(torch.no_grad()(function), backend=twinloom.backend, dynamic=dynamic), function(*inputs)
    before, found = [one.clone() for one in inputs], []
    twinloom._backend._listeners.append(found)
    for _ in range(3):
        torch.testing.assert_close(run(*inputs), wanted, rtol=1e-4, atol=1e-5)
    twinloom._backend._listeners.remove(found)
    assert all(map(torch.equal, inputs, before))
    if expected is not None:
        assert reused(found[0].kernels) == expected
