"""Whose memory the results of kernels may take: saved activations of which AOTAutograd says that nobody sees them again, and what
PyTorch's products, convolutions and attention give inside of a graph.

    grad = call(saved, tangent)      grad lies in the memory of `saved`, where call is the last that reads it
"""
import collections
import operator

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.multiprocessing.reductions import StorageWeakRef

from ._partition import PRODUCTS, is_attention, is_view, packet
from ._splice import Part, in_order


def donated_placeholders(graph):
    """Of the graph of a backward pass: those that share memory with no other."""
    context = torch._guards.TracingContext.try_get()
    metadata = context and context.fw_metadata
    positions = set(getattr(metadata, "bw_donated_idxs", None) or ())
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    memory = {node: StorageWeakRef(node.meta["val"].untyped_storage()) for node in placeholders
              if isinstance(node.meta.get("val"), torch.Tensor) and node.meta["val"].layout is torch.strided}
    count = collections.Counter(one.cdata for one in memory.values())
    return [node for position, node in enumerate(placeholders)
            if position in positions and node in memory and count[memory[node].cdata] == 1]


def _is_product(node):
    """Whether each call makes new memory for all that it gives."""
    return (node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)
            and (packet(node) in PRODUCTS or is_attention(node)) and _leaves_memory_alone(node))


def products(graph):
    """Tensors that products, convolutions and attention give."""
    return [node for node in graph.nodes if isinstance(node.meta.get("val"), torch.Tensor)
            and _is_product(node.args[0] if node.target is operator.getitem else node)]


def donates_no_more():
    """Has AOTAutograd allow backward passes that keep their graph, of which the compiled one takes care itself."""
    context = torch._guards.TracingContext.try_get()
    if context is not None and getattr(context.fw_metadata, "bw_donated_idxs", None):
        context.fw_metadata.bw_donated_idxs = []


def _leaves_memory_alone(node):
    """Whether nothing that a node gives lies in the memory of its arguments, which it is done with when it returns."""
    target = node.target
    return (isinstance(target, torch._ops.OpOverload) and target.namespace in ("aten", "prims")
            and not target._schema.is_mutable and all(one.alias_info is None for one in target._schema.returns))


def readers(node, part_of, besides=()):
    """Nodes that read a node's memory, and the nodes that are it or views of it, but some; None and these where that is not
    known."""
    aliases, found = [node], []
    for one in aliases:
        for user in one.users:
            if user in besides:
                continue
            if user not in part_of and is_view(user):
                aliases.append(user)
            elif user not in part_of and not _leaves_memory_alone(user):
                return None, aliases
            found.append(user)
    return found, aliases


def donate(graph, parts, nodes):
    """Has the last part that reads a node's memory take it, behind all else that does. `nodes`: whose memory is theirs alone."""
    part_of = {node: part for part in parts for node in part.nodes}
    order = {unit: number for number, unit in enumerate(in_order(graph, part_of))}
    for node in nodes:
        if node in part_of:
            continue
        found, aliases = readers(node, part_of)
        last = max((part_of.get(one, one) for one in found or ()), key=order.get, default=None)
        read = [one for one in aliases if isinstance(last, Part) and one in last.inputs]
        if len(read) == 1 and statically_known_true(read[0].meta["val"].numel() == node.meta["val"].numel()):
            last.donated.append(read[0])
            last.takes_saved |= node.op == "placeholder"
            last.after += [one for one in found if part_of.get(one) is not last]
