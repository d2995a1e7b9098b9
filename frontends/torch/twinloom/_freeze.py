"""What follows from parameters alone is computed once, where there are no gradients: a graph becomes two.

    w16 = to_copy(w)            prepare(w) -> (w16,)             run when a parameter is another tensor or was written
    y = mm(x, w16)       ->     main(w, x, w16) -> (mm(x, w16),)
"""
import operator

import torch
from torch import fx

from ._partition import is_view
from ._writes import written


def _is_foldable(node, folded):
    if node.op != "call_function" or not node.all_input_nodes:
        return False
    if isinstance(node.target, torch._ops.OpOverload):
        if node.target._schema.is_mutable or torch.Tag.nondeterministic_seeded in node.target.tags:
            return False
    elif node.target is not operator.getitem:
        return False
    return all(one in folded for one in node.all_input_nodes)


def _results(graph, frozen):
    """The nodes that follow from parameters alone and that others use, and all that these follow from; no views, which cost
    nothing."""
    folded = set(frozen)
    for node in graph.nodes:
        if _is_foldable(node, folded):
            folded.add(node)
    for node in reversed(list(graph.nodes)):
        is_used = any(user not in folded for user in node.users)
        several = not isinstance(node.meta.get("val"), torch.Tensor)
        if node in folded and node not in frozen and is_used and (is_view(node) or several):
            folded.discard(node)
    return [node for node in graph.nodes if node in folded and node not in frozen
            and any(user not in folded for user in node.users)], folded


def _prepare(gm, frozen, folded, results):
    """A module that computes the results from the frozen placeholders."""
    graph, copies = fx.Graph(), {}
    for node in gm.graph.nodes:
        if node in folded:
            copies[node] = graph.placeholder(node.name) if node in frozen else graph.node_copy(node, copies.__getitem__)
    graph.output(tuple(copies[one] for one in results))
    graph.eliminate_dead_code()
    return fx.GraphModule(gm, graph)


class Frozen:
    """Appends to arguments what follows from parameters among them, computed again when one of them is not what it was."""

    def __init__(self, positions, module):
        self._positions, self._module = positions, module
        self._kept = (None, ())  # of which tensors in which versions, and what followed

    def __call__(self, arguments):
        parameters = [arguments[position] for position in self._positions]
        state = [(one.data_ptr(), one._version) for one in parameters]
        kept = self._kept
        if kept[0] != state:
            kept = self._kept = (state, self._module(*parameters))
        arguments.extend(kept[1])


def freeze(gm, positions):
    """Splits a graph; positions: of its parameters that are a module's. Nothing where nothing follows from them alone."""
    placeholders = [node for node in gm.graph.nodes if node.op == "placeholder"]
    changing = written(gm.graph)
    frozen = dict.fromkeys(placeholders[position] for position in positions
                           if placeholders[position].users and placeholders[position] not in changing)
    results, folded = _results(gm.graph, frozen)
    if not results:
        return None
    module = _prepare(gm, frozen, folded, results)
    last = placeholders[-1]
    for node in results:
        with gm.graph.inserting_after(last):
            last = gm.graph.placeholder(f"{node.name}_frozen")
        last.meta = {"val": node.meta["val"]}
        node.replace_all_uses_with(last)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return Frozen([placeholders.index(node) for node in frozen], module)
