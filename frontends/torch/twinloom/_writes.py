"""Arguments that a graph writes. AOTAutograd ends a graph in copies into them; in their place a subgraph writes what it has
computed, and PyTorch takes in one call what is left.

    y = call(x); copy_(x, y)              ->     call(x)                         which is the last that reads x
    copy_(n, add(n, 1)); copy_(m, ...)    ->     _foreach_add_([n, m], 1)        numbers that count
    copy_(x, p); copy_(z, q)              ->     _foreach_copy_([x, z], [p, q])
"""
import torch

from ._donate import readers
from ._splice import Part, in_order

aten = torch.ops.aten


def is_copy(node):
    """Whether a node gives an argument of the graph a value, and is nothing else."""
    return node.target is aten.copy_.default and len(node.args) == 2 and node.args[0].op == "placeholder" and not node.users


def written(graph):
    """The arguments of a graph that its copies write."""
    return {node.args[0] for node in graph.nodes if is_copy(node)}


def count_together(graph):
    """Has PyTorch add to all numbers that count steps in one call, in place of a kernel each."""
    groups = {}
    for node in list(graph.nodes):
        if is_copy(node) and _counts(*node.args):
            value = node.args[0].meta["val"]
            groups.setdefault((value.dtype, value.device, node.args[1].args[1]), []).append(node)
    for (_, _, step), nodes in groups.items():
        if len(nodes) < 2:
            continue
        with graph.inserting_before(nodes[-1]):
            graph.call_function(torch._foreach_add_, ([node.args[0] for node in nodes], step))
        for node in nodes:
            value = node.args[1]
            graph.erase_node(node)
            graph.erase_node(value)


def _counts(target, value):
    return (value.target is aten.add.Tensor and value.args[0] is target and isinstance(value.args[1], (int, float))
            and not value.kwargs and len(value.users) == 1 and target.meta["val"].dim() == 0
            and value.meta["val"].dtype is target.meta["val"].dtype)


def write_inside(graph, parts):
    """Has parts write arguments, in place of copies, of what they compute where they are the last to read what was there. Gives
    the parts, and the copies that are theirs."""
    part_of = {node: part for part in parts for node in part.nodes}
    order = {unit: number for number, unit in enumerate(in_order(graph, part_of))}
    copies = {part: {} for part in parts}  # copy -> who reads what it overwrites
    for node in graph.nodes:
        part = is_copy(node) and part_of.get(node.args[1])
        if not part or not _is_alike(*(one.meta["val"] for one in node.args)):
            continue
        target, value = node.args
        found, aliases = readers(target, part_of, besides=(node,))
        is_last = found is not None and all(order[part_of.get(one, one)] <= order[part] for one in found)
        is_seen = any(user is not node and part_of.get(user) is not part for user in value.users)
        if is_last and not is_seen and not any(one in part.inputs for one in aliases[1:]):
            copies[part][node] = [one for one in found if part_of.get(one) is not part]
    made = []
    for part, own in copies.items():
        made.append(Part([*part.nodes, *own]))
        made[-1].written = [node.args[0] for node in own]
        made[-1].after = [one for before in own.values() for one in before]
    return made, {node for own in copies.values() for node in own}


def _is_alike(target, value):
    """Whether kernels may write a value where the argument lies: row-major, of sizes that are numbers."""
    if not all(isinstance(one, int) for each in (target, value) for one in (*each.shape, *each.stride())):
        return False
    return (target.dtype is value.dtype and target.shape == value.shape and target.device == value.device
            and target.is_contiguous())


def copy_together(graph, inside):
    """Has PyTorch copy in one call what no part does, of which `inside` is."""
    groups = {}
    for node in graph.nodes:
        if is_copy(node) and node not in inside:
            target, value = (one.meta["val"] for one in node.args)
            groups.setdefault((target.dtype, value.dtype, target.device, value.device), []).append(node)
    for nodes in groups.values():
        if len(nodes) < 2:
            continue
        with graph.inserting_before(nodes[-1]):
            graph.call_function(torch._foreach_copy_, tuple([node.args[k] for node in nodes] for k in range(2)))
        for node in nodes:
            graph.erase_node(node)
