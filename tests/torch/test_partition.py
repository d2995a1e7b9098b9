"""Which operators stay with PyTorch because its own kernels are faster."""
import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from twinloom._partition import SORTS, packet, why_left

LONG = "a sort of long rows"
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
def test_long_rows_are_sorted_by_pytorch_on_a_gpu(name):
    short, long = torch.rand(300, 64), torch.rand(64, 300)
    for rows, is_long in ((short, False), (long, True)):
        reasons = whys(SORTED[name], rows, "cuda")
        assert reasons and all((why == LONG) == is_long for why in reasons)
        assert LONG not in whys(SORTED[name], rows, "cuda", products=True)
        assert whys(SORTED[name], rows, "cpu") == [None] * len(reasons)


def test_all_elements_are_one_row_without_an_axis():
    assert whys(torch.median, torch.rand(9, 9), "cuda") == [LONG]
    assert LONG not in whys(torch.median, torch.rand(8, 8), "cuda")
    assert LONG not in whys(lambda x: torch.sort(x)[0], torch.rand(()), "cuda")
