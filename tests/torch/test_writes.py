"""Arguments that a function writes: what they hold is what eager PyTorch leaves there, and subgraphs write it where they may."""
import pytest
import torch
import twinloom

F = torch.nn.functional


pytestmark = pytest.mark.usefixtures("device")


def drawn(*sizes):
    return torch.randn(sizes)


def read_before(state, x, w):
    y = state * 2
    state.add_(x.relu())
    return x @ w + y


def read_behind_the_product(state, x, w):
    """What the state held is read by a later subgraph than the one that computes what it will hold."""
    old = state.clone()
    state.add_(x.relu())
    return (x @ w) * old


def behind_the_product(state, x, w):
    y = (x @ w).relu()
    state.mul_(0.9).add_(y, alpha=0.1)
    return y * 2


def returned_too(state, x, w):
    y = x.exp()
    state.copy_(y)
    return y, y @ w


def in_part(state, x, w):
    state[1:3].add_(x[1:3].exp())
    return x @ w


def across(state, x, w):
    state.t().mul_(x.exp())
    return x @ w


def swapped(state, x, w):
    kept = state.clone()
    state.copy_(x)
    x.copy_(kept)
    return x @ w


def never_read(state, x, w):
    state.copy_((x @ w).sigmoid())
    return x + 1


def as_another_type(state, x, w):
    state.copy_((x @ w).double())
    return x + 1


def filled(state, x, w):
    state.zero_()
    return x @ w


FUNCTIONS = (read_before, read_behind_the_product, behind_the_product, returned_too, in_part, across, swapped, never_read,
             as_another_type, filled)
LAYOUTS = {"row-major": lambda one: one, "turned": lambda one: one.t().contiguous().t(),
           "in a larger one": lambda one: torch.cat((one, one), 1)[:, :8]}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dynamic", [False, True])
@torch.no_grad()
def test_arguments_hold_what_eager_leaves_there(function, layout, dynamic):
    run = torch.compile(function, backend=twinloom.backend, dynamic=dynamic)
    w, state, x = drawn(8, 8), LAYOUTS[layout](drawn(8, 8)), drawn(8, 8)
    eager_state, eager_x = state.clone(), x.clone()
    for _ in range(3):
        given, expected = run(state, x, w), function(eager_state, eager_x, w)
        torch.testing.assert_close((given, state, x), (expected, eager_state, eager_x), rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_arguments_may_share_memory():
    def shifted(state, other, w):
        state.add_(other.exp() @ w)
        return other * 2

    run = torch.compile(shifted, backend=twinloom.backend)
    memory, w = drawn(12, 8), drawn(8, 8)
    eager = memory.clone()
    for _ in range(2):
        torch.testing.assert_close(run(memory[:8], memory[4:], w), shifted(eager[:8], eager[4:], w), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(memory, eager, rtol=1e-4, atol=1e-4)


class Norms(torch.nn.Module):
    """Each norm keeps a mean, a variance and a number that counts."""

    def __init__(self):
        super().__init__()
        self.convolutions = torch.nn.ModuleList(torch.nn.Conv2d(3, 3, 3, padding=1) for _ in range(3))
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm2d(3) for _ in range(3))

    def forward(self, x):
        for convolution, norm in zip(self.convolutions, self.norms):
            x = F.relu(norm(convolution(x)))
        return x.sum()


def calls_of(step):
    """Operators of PyTorch that a step calls -> how often."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as found:
        step()
    return {one.key: one.count for one in found.key_averages()}


@pytest.mark.parametrize("training", [True, False])
def test_statistics_are_written_by_the_subgraphs_that_compute_them(training):
    eager, ours = Norms(), Norms()
    ours.load_state_dict(eager.state_dict())
    run, x = torch.compile(ours, backend=twinloom.backend), drawn(2, 3, 8, 8)

    def step():
        with torch.set_grad_enabled(training):
            loss = run(x)
        if training:
            loss.backward()

    for _ in range(3):
        step()
        eager(x)
    calls = calls_of(step)
    eager(x)
    for name, given in ours.named_buffers():
        torch.testing.assert_close(given, dict(eager.named_buffers())[name], rtol=1e-4, atol=1e-5)
    assert "aten::copy_" not in calls and "aten::_foreach_copy_" not in calls
    assert calls["aten::_foreach_add_"] == 1


def test_the_call_that_counts_is_named_as_a_function():
    said = str(twinloom.explain(Norms(), drawn(2, 3, 8, 8)))
    assert "torch._foreach_add_" in said and " at 0x" not in said


@torch.no_grad()
def test_what_no_subgraph_may_write_is_copied_in_one_call():
    def late(states, x, w):
        y = x @ w
        for one in states:
            old = one.clone()
            one.add_(x.relu())
            y = y * old
        return y

    run = torch.compile(late, backend=twinloom.backend)
    states, x, w = [drawn(8, 8) for _ in range(4)], drawn(8, 8), drawn(8, 8)
    run(states, x, w)
    calls = calls_of(lambda: run(states, x, w))
    assert calls["aten::_foreach_copy_"] == 1


def test_autograd_hears_of_what_is_written():
    def count(state, x):
        with torch.no_grad():
            state.add_(x.sum())
        return x * 2

    state, x = torch.zeros(()), drawn(4)
    before = state._version
    torch.compile(count, backend=twinloom.backend)(state, x)
    assert state._version > before


@torch.no_grad()
def test_frozen_parameters_are_none_that_are_written():
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(4))
            self.weight = torch.nn.Parameter(torch.randn(4))

        def forward(self, x):
            self.count.add_(1)
            return x * (self.count * 2) + self.weight.exp()

    eager, ours = Counting(), Counting()
    ours.load_state_dict(eager.state_dict())
    run, x = torch.compile(ours, backend=twinloom.backend, options={"freeze": True}), drawn(4)
    for _ in range(3):
        torch.testing.assert_close(run(x), eager(x))
    assert torch.equal(ours.count, eager.count)
