"""Which operators stay with PyTorch because its own kernels are faster, and in which subgraph each of the others is."""
import random

import pytest
import torch
from test_splice import as_function
from torch.fx.experimental.proxy_tensor import make_fx
from twinloom._partition import SORTS, cut, packet, why_left
from twinloom._splice import Part, splice

LONG = "a sort of long rows of 64 bits"
SORTED = {
    "sort": lambda x: torch.sort(x)[0],
    "stable": lambda x: torch.sort(x, dim=-1, stable=True)[0],
    "argsort": torch.argsort,
    "topk": lambda x: torch.topk(x, 3, 1)[0],
    "kthvalue": lambda x: torch.kthvalue(x, 2, dim=1)[0],
    "median": lambda x: torch.median(x, 1)[0],
}


def whys(function, x, device, products=False):
    nodes = make_fx(function, tracing_mode="fake")(x).graph.nodes
    return [why_left(node, torch.device(device), products) for node in nodes
            if node.op == "call_function" and packet(node) in SORTS]


@pytest.mark.parametrize("name", SORTED)
def test_long_rows_of_64_bits_are_sorted_by_pytorch_on_a_gpu(name):
    short, long = torch.rand(300, 64).double(), torch.rand(64, 300).double()
    for rows, is_long in ((short, False), (long, True), (long.float(), False), (long.bfloat16(), False)):
        reasons = whys(SORTED[name], rows, "cuda")
        assert reasons and all((why == LONG) == is_long for why in reasons)
        assert LONG not in whys(SORTED[name], rows, "cuda", products=True)
        assert whys(SORTED[name], rows, "cpu") == [None] * len(reasons)


def test_all_elements_are_one_row_without_an_axis():
    assert whys(torch.median, torch.rand(9, 9).double(), "cuda") == [LONG]
    assert LONG not in whys(torch.median, torch.rand(8, 8).double(), "cuda")
    assert LONG not in whys(lambda x: torch.sort(x)[0], torch.rand(()), "cuda")


@pytest.mark.parametrize("products", [False, True])
def test_attention_stays_with_pytorch(products):
    """The library knows it, but holds the scores of all pairs in memory."""
    class Attention(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.scaled_dot_product_attention(x, x, x)

    x = torch.rand(1, 2, 4, 8)
    for graph in (torch.export.export(Attention(), (x,)).graph, make_fx(Attention(), tracing_mode="fake")(x).graph):
        reasons = {str(node.target): why_left(node, torch.device("cpu"), products) for node in graph.nodes
                   if node.op == "call_function" and "scaled_dot_product" in str(node.target)}
        assert reasons and set(reasons.values()) == {"attention"}


def traced(function, *arguments):
    return make_fx(function, tracing_mode="fake")(*arguments)


def parts_of(function, *arguments):
    """Names of the operators of each subgraph."""
    return [[packet(node).__name__ for node in part] for part in cut(traced(function, *arguments), torch.device("cpu")).partitions]


A = torch.rand(8, 8)


def test_arithmetic_on_arguments_waits_for_what_it_meets():
    assert parts_of(lambda a, w: (w @ w) * (a.sin() - a), A, A) == [["sin", "sub", "mul"]]
    assert parts_of(lambda a, w: (w @ w) * (a.sin() - a).t(), A, A) == [["sin", "sub", "t", "mul"]]


def test_what_is_needed_early_is_computed_early():
    assert parts_of(lambda a, w: (a.sin() @ w) * a.sin().cos(), A, A) == [["sin"], ["sin", "cos", "mul"]]
    assert parts_of(lambda a, w: (a.sin(), w @ w + 1), A, A) == [["sin"], ["add"]]

    def both(a, w):
        sine = a.sin()
        return (sine @ w) * sine.cos()

    assert parts_of(both, A, A) == [["sin"], ["cos", "mul"]]


def test_sums_are_made_where_their_arguments_are():
    assert parts_of(lambda a, w: (w @ w) * a.sin().sum(), A, A) == [["sin", "sum"], ["mul"]]
    # Moved, the second factor would keep the sine of the first subgraph in memory, which is as large.
    assert parts_of(lambda a, w: (w @ w) * torch.cumsum(a, 0).sin(), A, A) == [["cumsum", "sin"], ["mul"]]
    assert parts_of(lambda a, w: (w @ w) * (a - a.sum(1, keepdim=True)), A, A) == [["sum"], ["sub", "mul"]]
    # The sine is needed early, and twice as large as what is made of it.
    assert parts_of(lambda a, w: (w @ w).bfloat16() * (b := a.sin()).bfloat16() * b.sum(), A, A)[0] == ["sin", "_to_copy", "sum"]


def random_function(seed, count=60):
    """Sums, products, sums of rows and products of matrices of earlier values."""
    draw = random.Random(seed)
    steps = [(draw.choice(("add", "mul", "rows", "mm", "t")), draw.randrange(12), draw.randrange(12)) for _ in range(count)]

    def run(*values):
        values = list(values)
        for name, first, second in steps:
            a, b = values[-12:][first % len(values[-12:])], values[-12:][second % len(values[-12:])]
            values.append({"add": lambda: a + b, "mul": lambda: (a * b).sin(), "rows": lambda: a - b.mean(1, keepdim=True),
                           "mm": lambda: (a @ b).sin(), "t": lambda: a.t() + b}[name]())
        return values[-5:]

    return run


@pytest.mark.parametrize("seed", range(20))
def test_subgraphs_give_what_the_graph_gave(seed):
    function, inputs = random_function(seed), [torch.randn(8, 8, dtype=torch.float64) for _ in range(3)]
    gm = traced(function, *inputs)
    parts = [Part(nodes) for nodes in cut(gm, torch.device("cpu")).partitions]
    for number, part in enumerate(parts):
        setattr(gm, f"part_{number}", as_function(part))
        part.call = f"part_{number}", []
    splice(gm.graph, parts)
    gm.recompile()
    for given, expected in zip(gm(*inputs), function(*inputs), strict=True):
        assert torch.equal(given, expected)
