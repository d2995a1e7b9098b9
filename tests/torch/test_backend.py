"""torch.compile with Twinloom beside eager: values, types, strides, gradients, and what happens to the arguments."""
import ctypes
import os
import subprocess
import sys
import weakref

import pytest
import sympy
import torch
import twinloom
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._sympy import functions

F = torch.nn.functional


def drawn(*sizes, dtype=torch.float32):
    return torch.randn(sizes).to(dtype)


def in_place(x, y):
    x.add_(1)
    y.mul_(x)
    return x + y


def with_aliases(x):
    z = x + 1
    return z, z[1:], z.view(-1)


# name -> (function, arguments, subgraphs of Twinloom at least)
CASES = {
    "clone": (lambda x: x.clone(), lambda: [drawn(8, 16)], 1),
    "identity": (lambda x: x * 1, lambda: [drawn(8, 16)], 1),
    "the_same_twice": (lambda x: (x + 1, x + 1), lambda: [drawn(8, 16)], 1),
    "view_of_a_result": (lambda x: (x + 1).t(), lambda: [drawn(8, 16)], 1),
    "view_of_an_argument": (lambda x: x.t(), lambda: [drawn(8, 16)], 0),
    "aliases": (with_aliases, lambda: [drawn(8, 16)], 1),
    "in_place": (in_place, lambda: [drawn(8, 16), drawn(8, 16)], 1),
    "transposed": (lambda x, y: x.t() * 2 + y.t(), lambda: [drawn(8, 16), drawn(8, 16)], 1),
    "expanded": (lambda x: x.expand(4, 8, 16) * 2, lambda: [drawn(8, 16)], 1),
    "channels_last": (lambda x: F.relu(x) * 2, lambda: [drawn(2, 3, 8, 8).to(memory_format=torch.channels_last)], 1),
    "nested": (lambda x, y: {"a": x + y, "b": [x * y, (x - y,)]}, lambda: [drawn(8, 16), drawn(8, 16)], 1),
    "none_and_numbers": (lambda x: (x + 1, None, 3), lambda: [drawn(8)], 1),
    "integers": (lambda x: x // 3 + x % 5, lambda: [torch.randint(-50, 50, (64,))], 1),
    "truths": (lambda x, y: (x > y) & (x < 0), lambda: [drawn(8, 16), drawn(8, 16)], 1),
    "scan": (lambda x: x.cumsum(1), lambda: [drawn(8, 16)], 1),
    "gather": (lambda x, i: x.gather(1, i), lambda: [drawn(8, 16), torch.randint(0, 16, (8, 4))], 1),
    "embedding": (lambda w, i: F.embedding(i, w) * 2, lambda: [drawn(100, 16), torch.randint(0, 100, (4, 7))], 1),
    "several_results": (lambda x: torch.var_mean(x, 1), lambda: [drawn(8, 16)], 1),
    "places": (lambda x: x.max(1), lambda: [drawn(8, 16)], 1),
    "rank_0": (lambda x: x * 2.5 + 1, lambda: [torch.tensor(3.0)], 1),
    "no_elements": (lambda x: x * 2 + 1, lambda: [drawn(0, 4)], 1),
    "size_1": (lambda x: x * 2 + x.sum(), lambda: [drawn(1, 1)], 1),
    "bf16": (lambda x: F.gelu(x) * 2, lambda: [drawn(64, 64, dtype=torch.bfloat16)], 1),
    "layer_norm_f16": (lambda x: F.layer_norm(x, (64,)), lambda: [drawn(8, 64, dtype=torch.float16)], 1),
    "f64": (lambda x: x.exp().sum(0), lambda: [drawn(64, 64, dtype=torch.float64)], 1),
    "types_mixed": (lambda x, y: torch.where(x > 0, x, y.double()), lambda: [drawn(8), drawn(8)], 1),
    "concatenation": (lambda x, y: torch.cat([x, y]) * 2, lambda: [drawn(8, 16), drawn(8, 16)], 1),
    "parts": (lambda x: [one * 2 for one in x.split(3)], lambda: [drawn(8, 16)], 1),
    # What stays with PyTorch, in the middle of what does not.
    "sorted": (lambda x: (x * 2).sort()[0] + 1, lambda: [drawn(8, 16)], 1),
    "product": (lambda x, w: F.gelu(x @ w) + 1, lambda: [drawn(8, 16), drawn(16, 4)], 1),
    "convolution": (lambda x, w: F.relu(F.conv2d(x, w) + 1), lambda: [drawn(2, 3, 8, 8), drawn(4, 3, 3, 3)], 1),
    "complex": (lambda x: torch.view_as_real(torch.fft.fft(x) * 2) + 1, lambda: [drawn(8, 16)], 1),
    "random": (lambda x: torch.rand_like(x) * 0 + x * 2, lambda: [drawn(8, 16)], 1),
    "attention": (lambda q: F.scaled_dot_product_attention(q, q, q) * 2, lambda: [drawn(2, 4, 16, 8)], 1),
    "data_dependent": (lambda x: x[x > 0].sum(), lambda: [drawn(8, 16)], 1),
}
pytestmark = pytest.mark.usefixtures("device")

TOLERANCES = {torch.bfloat16: 2e-2, torch.float16: 2e-3}


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [one for item in items for one in tensors_of(item)]


def expect_close(given, wanted):
    assert given.dtype == wanted.dtype and given.shape == wanted.shape and given.stride() == wanted.stride()
    bound = TOLERANCES.get(wanted.dtype, 1e-5)
    torch.testing.assert_close(given, wanted, rtol=bound, atol=bound, equal_nan=True)


def compiled(function, **options):
    return torch.compile(function, backend=twinloom.backend, **options)


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_eager(name):
    function, arguments, subgraphs = CASES[name]
    ours = arguments()
    theirs = [one.clone() for one in ours]
    given, wanted = tensors_of(compiled(function)(*ours)), tensors_of(function(*theirs))
    assert len(given) == len(wanted)
    for one, other in zip(given + ours, wanted + theirs):
        expect_close(one, other)
    assert twinloom.explain(function, *arguments()).subgraphs >= subgraphs


def block():
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.LayerNorm(32), torch.nn.GELU(), torch.nn.Linear(32, 8))


def test_a_training_step_has_the_gradients_of_eager():
    module, x = block(), drawn(4, 16)
    gradients = []
    for run in (compiled(module), module):
        module.zero_grad()
        F.cross_entropy(run(x), torch.tensor([1, 0, 7, 3])).backward()
        gradients.append([parameter.grad.clone() for parameter in module.parameters()])
    for given, wanted in zip(*gradients):
        expect_close(given, wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_gradient_of_a_silu_is_made_of_its_sigmoid(dtype):
    gradient, x = drawn(64).to(dtype), (8 * drawn(64)).to(dtype)
    backward = torch.ops.aten.silu_backward.default
    graph = make_fx(backward, decomposition_table=twinloom._backend.decompositions())(gradient, x)
    operators = {node.target for node in graph.graph.nodes}
    assert torch.ops.aten.sigmoid.default in operators and torch.ops.aten.exp.default not in operators
    torch.testing.assert_close(graph(gradient, x), backward(gradient, x))


def test_one_compilation_serves_all_sizes():
    module, counter = block(), torch._dynamo.testing.CompileCounterWithBackend(twinloom.backend)
    run = torch.compile(module, backend=counter)
    for rows in (4, 5, 17, 64, 33):
        x = drawn(rows, 16)
        expect_close(run(x), module(x))
    assert counter.frame_count == 2  # the first size alone, then all


def test_strides_may_change_between_calls():
    run = compiled(lambda x: x.exp() + 1)
    x = drawn(8, 8)
    for each in (x, x.t(), x.contiguous()):
        expect_close(run(each), each.exp() + 1)


def test_modes_are_options():
    x = drawn(8, 64)
    for mode in ("strict", "fused", "fast"):
        expect_close(compiled(lambda x: x.softmax(-1), options={"mode": mode})(x), x.softmax(-1))
        torch._dynamo.reset()


@pytest.mark.parametrize("options, words", [({"mode": "quick"}, "there is no mode 'quick'; modes are fused, strict, fast"),
                                            ({"speed": 1}, "there is no option 'speed'")])
def test_wrong_options_are_errors_that_say_what_there_is(options, words):
    with pytest.raises(Exception, match=words):
        compiled(lambda x: x + 1, options=options)(drawn(4))


def test_an_index_out_of_range_is_an_error(device):
    run, x = compiled(lambda x, i: x[i] + 1), drawn(8)
    with pytest.raises(twinloom.Error, match="out of range"):
        run(x, torch.tensor([1, 8]))
        if device == "cuda":  # of a later call: a run waits for nothing
            torch.cuda.synchronize()
            run(x, torch.tensor([1, 2]))


def test_explain_says_what_stays_with_pytorch_and_why():
    found = twinloom.explain(lambda x, w: (x @ w).relu() + 1, drawn(4, 4), drawn(4, 4))
    assert (found.graphs, found.subgraphs) == (1, 1)
    line = f"{__file__}:{sys._getframe().f_lineno - 2}"
    assert [(one.operator, one.why, one.count, one.places) for one in found.left] == [
        ("aten.mm.default", "a product of matrices, or a convolution", 1, [line])]
    kernel, = found.kernels
    assert (kernel.graph, kernel.nodes, kernel.places, kernel.bytes) == (0, ["relu", "add"], [line], 2 * 4 * 4 * 4)
    assert 0 < kernel.seconds < 1e-3 and kernel.limit
    for words in ("aten.mm.default: a product", "relu add", "128 bytes", line):
        assert words in str(found)


def test_explain_has_the_kernels_of_gradients_and_keeps_none():
    module = block()
    found = twinloom.explain(module, drawn(4, 16), training=True)
    assert found.graphs == 2 and {one.graph for one in found.kernels} == {0, 1}
    assert all(one.grad is None for one in module.parameters())


def test_explain_leaves_what_was_compiled():
    module, counter = block(), torch._dynamo.testing.CompileCounterWithBackend(twinloom.backend)
    run, other = torch.compile(module, backend=counter), torch.compile(lambda x: x * 3, backend=counter)
    for rows in (4, 4):
        run(drawn(rows, 16)), other(drawn(8))
        for _ in range(10):  # more often than Dynamo compiles a function before it gives up
            twinloom.explain(lambda x: x * 2, drawn(8))
            twinloom.explain(module, drawn(rows, 16))
    assert counter.frame_count == 2


def test_an_error_of_a_run_names_the_line():
    def function(x, i):
        y = x * 2
        return y[i] + 1

    with pytest.raises(twinloom.Error, match=f"{__file__}:{function.__code__.co_firstlineno + 2}"):
        compiled(function)(drawn(8), torch.tensor([1, 8]))
        torch.cuda.is_available() and torch.cuda.synchronize()
        compiled(function)(drawn(8), torch.tensor([1, 2]))


def test_a_view_of_a_view_that_leaves_a_subgraph_is_of_no_memory_of_its_own():
    def function(x):
        return (x + 1).sum(1, keepdim=True).expand(8, 16).t().unsqueeze(0)

    x = drawn(8, 16)
    expect_close(compiled(function)(x), function(x))


def test_views_that_leave_a_subgraph_cost_no_kernel():
    def function(x, w):
        a, b = (x + 1).split(4, dim=1)
        return a @ w, b.t() @ w.t()[:4, :4]

    x, w = drawn(4, 8), drawn(4, 4)
    for given, wanted in zip(compiled(function)(x, w), function(x, w)):
        expect_close(given, wanted)
    assert twinloom.explain(function, x, w).subgraphs == 1


def test_results_that_are_arguments_have_memory_of_their_own():
    x = drawn(8)
    for function in (lambda x: (x.clone(), x + 1), lambda x: (x * 1, x.to(torch.float32).clone())):
        torch._dynamo.reset()
        results = compiled(function)(x)
        assert all(one.data_ptr() != x.data_ptr() for one in results)


# The order of axes in memory is the kernel's: what is written otherwise and copied takes a thousand times as long on a GPU.
@pytest.mark.parametrize("axes", [(1, 0, 2), (2, 1, 0), (0, 2, 1), (2, 0, 1)])
def test_results_are_written_in_the_order_that_was_traced(axes):
    x = drawn(3, 4, 5).permute(axes)
    given = compiled(lambda x: x.exp() * 2)(x)
    expect_close(given, x.exp() * 2)
    assert given.stride() == x.stride() != given.contiguous().stride()


def test_arguments_live_no_longer_than_their_last_use():
    alive = []

    def look(x):
        alive.append(kept() is not None)
        return x + 1

    graph = torch.fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    first = graph.call_function(torch.neg, (x,))
    graph.output((graph.call_function(look, (first,)), y))
    run = twinloom._stored.Stored.of(torch.fx.GraphModule(torch.nn.Module(), graph), {}).run
    arguments = [drawn(4), drawn(4)]
    kept = weakref.ref(arguments[0])
    run(arguments)
    assert arguments == []
    if hasattr(torch.fx.graph, "_BoxedCodeGen"):
        assert alive == [False]


def test_sizes_that_are_computed_cut_no_subgraph():
    def function(x):
        n, m = x.shape
        return ((x.exp() + 1).view(n * m // 2, 2) * n).sum(0) / (n * m)

    for rows in (4, 6, 10):
        x = drawn(rows, 8)
        expect_close(torch.compile(function, backend=twinloom.backend, dynamic=True)(x), function(x))
    found = []
    twinloom._backend._listeners.append(found)
    torch._dynamo.reset()
    torch.compile(function, backend=twinloom.backend, dynamic=True)(drawn(4, 8))
    twinloom._backend._listeners.remove(found)
    assert [len(one.kernels) for one in found] == [1]


@pytest.mark.parametrize("spell, words", [
    (lambda n: functions.FloorDiv(n - 1, 2) + 1, "(floor_div(n - 1, 2)) + 1"),
    (lambda n: functions.PythonMod(n, 3), "floor_mod(n, 3)"),
    (lambda n: functions.CeilToInt(functions.IntTrueDiv(n, 2)), "ceil_div(n, 2)"),
    (lambda n: functions.Max(1, n - 4), "greatest(1, n - 4)"),
    (lambda n: n**2 * 3, "3*(n)*(n)"),
])
def test_sizes_are_spelled_as_the_library_reads_them(spell, words):
    text = twinloom._lowering._Spelling().doprint(spell(sympy.Symbol("n", integer=True, positive=True)))
    assert text == words
    number, sizes = ctypes.c_int64(), (ctypes.c_char_p * 1)(text.encode())
    builder = twinloom._lowering.Builder("sizes")
    twinloom._library.check(twinloom._library.library().twinloom_builder_input(
        builder._handle.pointer, b"x", twinloom._library.data_type(torch.float32), ctypes.c_size_t(1), sizes,
        ctypes.byref(number)))


def test_sizes_that_are_quotients_remainders_and_powers_are_known():
    def function(x):
        y = F.conv1d(x[:, None], x.new_ones(1, 1, 3), stride=2)  # stays with PyTorch, and gives (n - 3)//2 + 1
        return y.exp() * 2, (x + 1).view(x.shape[0] * x.shape[0], -1)[: x.shape[0] % 3 + 1].exp()

    found = []
    twinloom._backend._listeners.append(found)
    run = torch.compile(function, backend=twinloom.backend, dynamic=True)
    for rows, columns in ((4, 12), (6, 18), (10, 30)):
        x = drawn(rows, columns)
        for given, wanted in zip(run(x), function(x)):
            expect_close(given, wanted)
    twinloom._backend._listeners.remove(found)
    assert not [one for each in found for one in each.left if "expression" in one.why]


def test_a_library_that_is_missing_is_an_error_that_says_where_it_was_looked_for(tmp_path):
    program = "import torch, twinloom\ntorch.compile(lambda x: x + 1, backend=twinloom.backend)(torch.ones(2))"
    missing = str(tmp_path / "libtwinloom.so.0")
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                           env={**os.environ, "TWINLOOM_LIBRARY": missing})
    assert ended.returncode != 0 and "libtwinloom.so.0 is not found" in ended.stderr and missing in ended.stderr


def test_frozen_parameters_are_those_that_the_module_has_now():
    module, x = block(), drawn(4, 16)
    frozen, other = compiled(module, options={"freeze": True}), compiled(module)
    changes = [lambda: None, lambda: module[0].weight.mul_(2), lambda: setattr(module[0].weight, "data", drawn(32, 16)),
               lambda: setattr(module[3], "bias", torch.nn.Parameter(drawn(8))),
               lambda: module.load_state_dict(block().state_dict())]
    with torch.no_grad(), torch.autocast(x.device.type, torch.bfloat16):
        for change in changes:
            change()
            for _ in range(2):
                assert torch.equal(frozen(x), other(x))


def test_what_follows_from_frozen_parameters_is_computed_once():
    weight, x = torch.nn.Parameter(drawn(8, 8)), drawn(4, 8)

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = weight

        def forward(self, x):
            return x * (self.weight.exp() + 1)[:4] + self.weight.t()[:4]

    module, found = Scaled(), []
    twinloom._backend._listeners.append(found)
    run = compiled(module, options={"freeze": True})
    with torch.no_grad():
        expect_close(run(x), module(x))
        expect_close(run(x + 1), module(x + 1))
    twinloom._backend._listeners.remove(found)
    assert [one.nodes for one in found] == [5]  # two slices, a transposed view, a product and a sum
    expect_close(run(x), module(x))  # with gradients, where nothing is frozen


class Steps(torch.nn.Module):
    """Cells of recurrent networks, for a few steps."""

    def __init__(self):
        super().__init__()
        self.long, self.gated, self.plain = torch.nn.LSTMCell(8, 16), torch.nn.GRUCell(16, 16), torch.nn.RNNCell(16, 16)

    def forward(self, x):
        state, hidden, last = None, None, None
        for step in x:
            state = self.long(step, state)
            hidden = self.gated(state[0], hidden)
            last = self.plain(hidden, last)
        return {"last": last, "state": [state, (hidden,)]}


class Checkpointed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([block(), torch.nn.Linear(8, 16), block()])

    def forward(self, x):
        for layer in self.layers:
            x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
        return x


class Normed(torch.nn.Module):
    """Writes its buffers."""

    def __init__(self):
        super().__init__()
        convolution = torch.nn.Conv1d(3, 8, 3, bias=False)
        self.layers = torch.nn.Sequential(convolution, torch.nn.BatchNorm1d(8), torch.nn.SiLU(), torch.nn.Flatten())

    def forward(self, x):
        return self.layers(x)


@pytest.mark.parametrize("build, sizes", [(Steps, (5, 4, 8)), (Checkpointed, (4, 16)), (Normed, (4, 3, 16))])
@pytest.mark.parametrize("autocast", [False, True])
def test_training_steps_of_modules_are_those_of_eager(build, sizes, autocast):
    module, x, results = build(), drawn(*sizes), []
    state = {key: value.clone() for key, value in module.state_dict().items()}
    for run in (compiled(module), module):
        module.load_state_dict(state)
        module.zero_grad()
        with torch.autocast(x.device.type, torch.bfloat16, enabled=autocast):
            given = tensors_of(run(x))
        sum((one.float() ** 2).mean() for one in given).backward()
        results.append([*given, *[one.grad.clone() for one in module.parameters()], *[one.clone() for one in module.buffers()]])
    for given, wanted in zip(*results, strict=True):
        assert given.dtype == wanted.dtype and given.stride() == wanted.stride()
        bound = 4e-2 if autocast else 1e-4
        torch.testing.assert_close(given, wanted, rtol=bound, atol=bound * float(wanted.abs().max()))


def test_dropout_drops_the_same_in_both_directions_and_as_many_as_it_says():
    x = torch.ones(200, 300).requires_grad_()
    run = compiled(lambda x: F.dropout(x * 2, 0.25))
    torch.manual_seed(3)
    y = run(x)
    y.sum().backward()
    kept = y != 0
    assert abs(float(kept.float().mean()) - 0.75) < 0.01
    expect_close(y.detach(), kept * (2 / 0.75))
    expect_close(x.grad, kept * (2 / 0.75))
    torch.manual_seed(3)
    assert torch.equal(run(x), y) and not torch.equal(run(x), y)
    assert torch.equal(compiled(torch.nn.Dropout(0.25).eval())(x), x)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_training_with_many_lengths_compiles_few_graphs_and_keeps_no_memory():
    module, found = block(), []
    optimizer = torch.optim.SGD(module.parameters(), lr=1e-3)
    twinloom._backend._listeners.append(found)
    run, before = compiled(module), 0
    for step in range(900):
        loss = run(drawn(2 + step * 7 % 61, 16)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 300:
            before = resident_bytes()
    twinloom._backend._listeners.remove(found)
    assert len(found) == 4  # of the first length, and of all others, both ways
    assert resident_bytes() - before < 16e6


ANOTHER_PROCESS = """
import sys, torch, twinloom
torch.manual_seed(0)
module, x = torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.GELU(), torch.nn.LayerNorm(8)), torch.randn(4, 16)
run = torch.compile(module, backend=twinloom.backend, options={"cache": sys.argv[1] == "True"})
run(x).sum().backward()
print(run(x).sum().item(), module[0].weight.grad.sum().item())
"""


def in_another_process(folder, cache=True):
    """What it prints, and what its log says of graphs."""
    ended = subprocess.run([sys.executable, "-c", ANOTHER_PROCESS, str(cache)], capture_output=True, text=True, check=True,
                           env={**os.environ, "TWINLOOM_CACHE_DIR": str(folder), "TWINLOOM_LOG": "cache"})
    said = [line.split("): ")[1].split(":")[0].split(",")[0] for line in ended.stderr.splitlines() if "twinloom cache: graph" in line]
    return ended.stdout, said


def test_a_second_process_finds_what_the_first_has_planned(tmp_path, device):
    if device == "cuda":
        pytest.skip("the process runs on the CPU")
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    assert in_another_process(folder, cache=False) == (in_another_process(folder)[0], [])
    first, said = in_another_process(folder)
    assert set(said) == {"hit"}
    for file in (one for one in folder.iterdir() if one.is_file()):
        file.write_bytes(file.read_bytes()[:-9] + b"nonsense\n")
    again, said = in_another_process(folder)
    assert again == first and "hit" not in said and said.count("stored") * 3 == len(said)
    assert set(in_another_process(folder)[1]) == {"hit"}


def test_what_one_thread_is_refused_leaves_the_others():
    def refused():
        raise twinloom.Error("no such kernel")

    given = twinloom._executable.side_by_side([lambda: 1, refused, lambda: 3])
    assert given[0::2] == [1, 3] and str(given[1]) == "no such kernel"
