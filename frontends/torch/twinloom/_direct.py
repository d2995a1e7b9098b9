"""Operators that stay with PyTorch are called by its functions in Python where there are: half the time on the way to them."""
import torch

from ._accumulate import adds_in_place

aten = torch.ops.aten

FUNCTIONS = {aten.mm.default: torch.mm, aten.addmm.default: torch.addmm, aten.bmm.default: torch.bmm,
             aten.baddbmm.default: torch.baddbmm, aten.convolution.default: torch.convolution,
             aten.permute.default: torch.permute, aten.transpose.int: torch.transpose, aten.t.default: torch.t,
             aten.unsqueeze.default: torch.unsqueeze, aten.squeeze.dim: torch.squeeze, aten.squeeze.dims: torch.squeeze,
             aten.select.int: torch.select, aten.as_strided.default: torch.as_strided}
METHODS = {aten.view.default: "view", aten.expand.default: "expand"}


def call_directly(graph):
    """In place."""
    adding = {node for node in graph.nodes if adds_in_place(node)}
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if node in adding:
            node.op, node.target = "call_method", "addmm_"
        elif node.target in FUNCTIONS:
            node.target = FUNCTIONS[node.target]
        elif node.target in METHODS and not node.kwargs:
            node.op, node.target = "call_method", METHODS[node.target]
