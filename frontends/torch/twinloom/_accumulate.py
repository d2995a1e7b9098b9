"""Sums of products of matrices on a GPU: the second product adds to the first one's result, in its memory, rounded once less.
What reads the sum then reads one tensor in place of two:

    y = view(mm(a, b)) + view(mm(c, d))     ->     y = view(addmm(mm(a, b), c, d))
"""
import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true, sym_eq

from ._padding import PRODUCTS

aten = torch.ops.aten

DEVICES = {"cuda"}
RESHAPES = {aten.view.default, aten._unsafe_view.default, aten.reshape.default}


def accumulate_products(graph):
    """In place."""
    for node in list(graph.nodes):
        if node.target is aten.add.Tensor and not node.kwargs and all(isinstance(one, torch.fx.Node) for one in node.args):
            _accumulate(graph, node)


def adds_in_place(node):
    """Whether a product may add to its first operand where that lies: a product's result, which nobody else reads."""
    if node.target is not aten.addmm.default or node.kwargs:
        return False
    first, *factors = node.args
    return (first.target in PRODUCTS and len(first.users) == 1 and first not in factors and _is_there(node)
            and _have_one_shape(first, node))


def _accumulate(graph, node):
    products = [_product_of(one) for one in node.args]
    if None in products or products[0] is products[1] or not _is_there(node):
        return
    if not _have_one_shape(*products) or not _have_one_shape(*node.args) or len({one.meta["val"].dtype for one in products}) > 1:
        return
    first, last = products if products[1].target is aten.mm.default else products[::-1]
    if last.target is not aten.mm.default:
        return
    reshape = next((one for one in node.args if one not in products), None)
    with graph.inserting_before(node):
        result = graph.call_function(aten.addmm.default, (first, *last.args))
        result.meta = dict(last.meta)
        if reshape is not None:
            result = graph.call_function(reshape.target, (result, *reshape.args[1:]))
            result.meta = dict(node.meta)
    node.replace_all_uses_with(result)
    operands = node.args
    graph.erase_node(node)
    for one in operands:
        while one is not first and not one.users:
            before = one.args[0]
            graph.erase_node(one)
            one = before


def _is_there(node):
    return node.meta["val"].device.type in DEVICES


def _have_one_shape(*nodes):
    left, right = (one.meta["val"].shape for one in nodes)
    return len(left) == len(right) and statically_known_true(sym_eq(left, right))


def _product_of(node):
    """What a node is a reshape of, where nobody else needs any of it."""
    while len(node.users) == 1:
        if node.target in PRODUCTS:
            return node
        if node.target not in RESHAPES:
            return None
        node = node.args[0]
    return None
