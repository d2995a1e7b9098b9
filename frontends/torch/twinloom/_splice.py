"""Nodes of a graph that become one call, in linear time: the nodes go, the call and its results take their place.

    a = f(x); p = mm(a, w); b = g(x)     ->     a, b = call(x); p = mm(a, w)          f and g are one part
"""
import heapq
import operator

import torch


class Part:
    """Nodes in order, what they need from outside and what is needed of them there: nodes whose values are tensors."""

    def __init__(self, nodes):
        self.nodes, inside = nodes, set(nodes)
        needed = dict.fromkeys(one for node in nodes for one in node.all_input_nodes if one not in inside)
        self.inputs = [one for one in needed if isinstance(one.meta.get("val"), torch.Tensor)]
        self.results = [node for node in nodes if any(user not in inside for user in node.users)]
        self.call = None  # name of an attribute of the module, and nodes that are arguments before the inputs
        self.donated, self.after = [], []  # inputs whose memory its results may take; what else must come before it
        self.takes_saved = False  # some of these are what a forward pass saved
        self.written = []  # inputs that get their values from its last nodes
        self.is_fixed = False  # the call takes its inputs as they were traced, and no others


# What writes arguments of the graph comes when all that may read them is done.
WRITERS = {torch.ops.aten.copy_.default, torch._foreach_copy_, torch._foreach_add_}


def in_order(graph, part_of):
    """Nodes and parts, each behind all that it needs, as near to where it stood as that allows: a part stood at its last
    node. No part leads to itself by nodes outside of it."""
    stood, needs, unlocks = {}, {}, {}
    for position, node in enumerate(graph.nodes):
        unit = part_of.get(node, node)
        stood[unit] = position
        needs.setdefault(unit, set()).update(part_of.get(one, one) for one in node.all_input_nodes)
    for unit, needed in needs.items():
        if isinstance(unit, Part):
            needed.update(part_of.get(one, one) for one in (*unit.after, *(unit.call[1] if unit.call else ())))
        needed.discard(unit)
    last = {unit: None for unit in needs if not isinstance(unit, Part) and unit.target in WRITERS and not unit.users}
    others = [unit for unit in needs if unit not in last and (isinstance(unit, Part) or unit.op != "output")]
    for before, unit in zip([None, *last], last):
        needs[unit].update(others if before is None else [before])
    for unit, needed in needs.items():
        for one in needed:
            unlocks.setdefault(one, []).append(unit)
    waits = {unit: len(needed) for unit, needed in needs.items()}
    ready = [(stood[unit], unit) for unit, count in waits.items() if not count]
    heapq.heapify(ready)
    while ready:
        _, unit = heapq.heappop(ready)
        yield unit
        for one in unlocks.get(unit, ()):
            waits[one] -= 1
            if not waits[one]:
                heapq.heappush(ready, (stood[one], one))


def splice(graph, parts, expected=list):
    """Puts calls in the place of all parts that have one. `expected`: gives nodes that have the values of nodes and lie as they
    were traced, for parts that are fixed."""
    part_of = {node: part for part in parts if part.call for node in part.nodes}
    output, given = next(iter(reversed(graph.nodes))), {}  # node of a part -> node that has its value now
    for unit in list(in_order(graph, part_of)):
        if unit is output:
            continue
        if not isinstance(unit, Part):
            output.prepend(unit)
            continue
        name, before = unit.call
        with graph.inserting_before(output):
            inputs = [given.get(one, one) for one in unit.inputs]
            call = graph.create_node("call_module", name, (*before, *(expected(inputs) if unit.is_fixed else inputs)))
            call.meta["val"] = tuple(one.meta["val"] for one in unit.results)
            for number, node in enumerate(unit.results):
                given[node] = graph.call_function(operator.getitem, (call, number))
                given[node].meta["val"] = node.meta["val"]
                node.replace_all_uses_with(given[node], lambda user, part=unit: part_of.get(user) is not part)
    for node in reversed(list(graph.nodes)):
        if node in part_of:
            graph.erase_node(node)
