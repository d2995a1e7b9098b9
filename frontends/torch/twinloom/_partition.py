"""Which nodes of a graph become kernels: as few subgraphs as possible, without cycles, and no subgraph of views alone.

Levels, in linear time: a node is at the highest level of its inputs, one higher where such an input stays with PyTorch.
What is taken at one level is one subgraph; no path leads from it back into it. Arithmetic on elements of what lies in memory
anyway waits for the level that needs it: else a backward pass would begin with all that follows from saved activations alone.
"""
import dataclasses
import operator

import torch

from ._lowering import hint_of, is_size, why_unsupported

aten = torch.ops.aten

# PyTorch's libraries are faster here. `products: True` among the options takes those that are known.
PRODUCTS = {aten.mm, aten.bmm, aten.addmm, aten.baddbmm, aten.convolution, aten.convolution_backward, aten.matmul, aten.linear,
            aten.conv1d, aten.conv2d, aten.conv3d}
# On a GPU these too, of rows above SHORT_ROW elements of 64 bits, of which ours are two sorts: not measured since sorts of
# 16 and 32 bits take 0.2 to 0.75 of PyTorch's time on an H200 (perf/results/2026-11-29-late-h200-sorts.md). Up to there a
# sort of ours compares each with each and took 0.44 of it on an H100 (perf/results/2026-11-27-late-h100.md).
SORTS = {aten.sort, aten.argsort, aten.msort, aten.topk, aten.kthvalue, aten.median, aten.nanmedian}
SHORT_ROW = 64
LONG_KEY = 8  # bytes
# Whose values nobody knows, or which draw from PyTorch's generator.
LEFT = {aten.empty, aten.empty_strided, aten.new_empty, aten.new_empty_strided, aten._local_scalar_dense,
        aten._assert_scalar}
# Take no time in PyTorch: another look at the memory of the first argument.
VIEWS = {aten.view, aten._unsafe_view, aten.reshape, aten.permute, aten.transpose, aten.t, aten.expand, aten.slice,
         aten.select, aten.squeeze, aten.unsqueeze, aten.as_strided, aten.alias, aten.detach, aten.diagonal, aten.split,
         aten.split_with_sizes, aten.unbind, aten.unfold}

THIN = {aten.view, aten._unsafe_view, aten.reshape, aten.squeeze, aten.unsqueeze}

# Beside what PyTorch calls pointwise: each element of a result is one of an argument, or a number.
MOVED = {aten._to_copy, aten.clone, aten.constant_pad_nd, aten.cat, aten.full, aten.full_like, aten.scalar_tensor, aten.arange,
         aten.repeat, aten.flip, torch.ops.prims.convert_element_type, torch.ops.prims.iota}


def packet(node):
    return getattr(node.target, "overloadpacket", node.target)


def is_attention(node):
    return "scaled_dot_product" in node.target._schema.name


def is_view(node):
    if node.target is operator.getitem:
        return is_view(node.args[0])
    return node.op == "call_function" and packet(node) in VIEWS


@dataclasses.dataclass
class Cut:
    """A graph's nodes by what becomes of them."""

    partitions: list  # of lists of nodes, in order
    left: dict  # node that stays with PyTorch -> why


def _tensors(value):
    return [one for one in (value if isinstance(value, (tuple, list)) else [value]) if isinstance(one, torch.Tensor)]


def _sorts_long_rows(node):
    if packet(node) not in SORTS:
        return False
    value = node.args[0].meta["val"]
    shape = value.shape
    if value.dtype.itemsize < LONG_KEY:
        return False
    for number, argument in enumerate(node.target._schema.arguments):
        if argument.name == "dim" and len(shape) > 0:
            given = node.args[number] if number < len(node.args) else node.kwargs.get("dim", argument.default_value)
            size = shape[given]
            break
    else:
        size = shape[0] if packet(node) == aten.msort and len(shape) > 0 else shape.numel()
    return not isinstance(size, int) or size > SHORT_ROW


def why_left(node, device, products):
    """Why a node stays with PyTorch; nothing where it may become part of a kernel."""
    if node.op != "call_function":
        return node.op
    if node.target is operator.getitem:
        return None  # as its producer
    if not isinstance(node.target, torch._ops.OpOverload):
        return "no operator of PyTorch"
    if node.target._schema.is_mutable:
        return "writes into its arguments"
    if packet(node) in PRODUCTS and not products:
        return "a product of matrices, or a convolution"
    if device.type == "cuda" and not products and _sorts_long_rows(node):
        return "a sort of long rows of 64 bits"
    if is_attention(node):
        return "attention"
    if torch.Tag.nondeterministic_seeded in node.target.tags or packet(node) in LEFT:
        return "draws random numbers, or has none of its own"
    involved = [one for each in [node, *node.all_input_nodes] for one in _tensors(each.meta.get("val"))]
    if not _tensors(node.meta.get("val")):
        return "gives no tensor"
    if any(one.device != device for one in involved):
        return "lies on another device, or on several"
    if any(one.layout != torch.strided or one.is_complex() for one in involved):
        return "is complex, sparse or nested"
    return why_unsupported(node)


def _is_thin(node):
    """Whether a view gives or takes axes of size 1, and is nothing else: in a kernel that changes no address."""
    if packet(node) not in THIN:
        return False
    given, made = ([str(size) for size in one.meta["val"].shape if str(size) != "1"] for one in (node.args[0], node))
    return given == made


def _keep_thin_views_in(graph, inside):
    """Views that change no address are made again in each subgraph that uses them, which costs nothing there."""
    again = {}
    for node in reversed(list(graph.nodes)):
        if node not in inside or not is_view(node) or not _is_thin(node):
            continue
        for user in [user for user in node.users if inside.get(user, inside[node]) != inside[node]]:
            key = node, inside[user]
            if key not in again:
                with graph.inserting_after(node):
                    again[key] = graph.call_function(node.target, node.args, node.kwargs)
                again[key].meta = dict(node.meta)
                inside[again[key]] = inside[user]
            user.replace_input_with(node, again[key])


def _computed_views(graph, inside):
    """Thin views that are results themselves, in the place of what they look at, of which nothing else is needed outside."""
    leaving = {}
    for node in graph.nodes:
        if node in inside and any(inside.get(user) != inside[node] for user in node.users):
            leaving.setdefault(_root(node, inside, is_view), []).append(node)
    return {nodes[0] for root, nodes in leaving.items()
            if len(nodes) == 1 and not is_view(root) and _root(nodes[0], inside, _is_thin) is root}


def _root(node, inside, passes):
    """What a view looks at, in its own subgraph, through views that pass."""
    while is_view(node) and passes(node) and inside.get(node.args[0]) == inside[node]:
        node = node.args[0]
    return node


def _keep_border_views_out(graph, inside):
    """What is used outside of a subgraph is the memory that a view looks at, and the view is PyTorch's, once more."""
    again, computed = {}, _computed_views(graph, inside)

    def outside_of(node):
        if node not in again:
            parts = outside_of(node.args[0]) if node.target is operator.getitem else None
            with graph.inserting_after(parts or node):
                args = node.args if parts is None else (parts, *node.args[1:])
                again[node] = graph.call_function(node.target, args, node.kwargs)
            again[node].meta = dict(node.meta)
        return again[node]

    for node in reversed(list(graph.nodes)):
        if node not in inside or not is_view(node) or node in computed:
            continue
        for user in [user for user in node.users if inside.get(user) != inside[node]]:
            user.replace_input_with(node, outside_of(node))
        if not node.users:
            del inside[node]
            graph.erase_node(node)


def _bytes(node):
    return sum((hint_of(one.numel()) or 0) * one.itemsize for one in _tensors(node.meta.get("val")))


def _is_elementwise(node):
    if node.target is operator.getitem:
        return False
    return is_view(node) or packet(node) in MOVED or torch.Tag.pointwise in node.target.tags


def _lies_in_memory(node, inside):
    """Whether something outside of all subgraphs needs a node, or is it."""
    return node not in inside or any(user not in inside or (is_view(user) and _lies_in_memory(user, inside)) for user in node.users)


def _sink(graph, inside, level):
    """Moves nodes to the level that needs them, where nothing has to be kept in memory for it that would not be, but what is
    small beside them."""
    free, first = set(), dict(inside)
    for node in graph.nodes:
        if node in inside and _is_elementwise(node) and all(
                one in free or 4 * _bytes(one) <= _bytes(node) or _lies_in_memory(one, inside) for one in node.all_input_nodes):
            free.add(node)
    for node in reversed(graph.nodes):
        users = [inside.get(user, level[user]) for user in node.users if user.op != "output"]
        if node in free and users:
            inside[node] = min(users)
    for node in graph.nodes:  # what others need early would be kept for it: it follows, where that is larger than itself
        given = [one for one in node.all_input_nodes if one in inside]
        if node in free and any(inside[one] < inside[node] and _bytes(one) > _bytes(node) and not _lies_in_memory(one, inside)
                                for one in given):
            inside[node] = max(first[node], *(inside[one] for one in given))


def cut(gm, device, products=False):
    """Cuts the graph of a module, in which views at the border of a subgraph are then PyTorch's own."""
    level, inside, left = {}, {}, {}
    sizes = set()  # numbers that follow from the graph's parameters: PyTorch computes them before all else
    for node in gm.graph.nodes:
        before = [level[one] + (one in left and one not in sizes) for one in node.all_input_nodes]
        level[node] = max(before, default=0)
        if node.op in ("placeholder", "output", "get_attr"):
            continue
        if is_size(node.meta.get("val")) and all(one in sizes or one.op == "placeholder" for one in node.all_input_nodes):
            sizes.add(node)
        if node.target is operator.getitem:
            reason = left.get(node.args[0])
            level[node] = level[node.args[0]]
        else:
            reason = why_left(node, device, products)
        if reason is None:
            inside[node] = level[node]
        else:
            left[node] = reason
    _sink(gm.graph, inside, level)
    _keep_thin_views_in(gm.graph, inside)
    _keep_border_views_out(gm.graph, inside)
    partitions = {}
    for node in gm.graph.nodes:
        if node in inside:
            partitions.setdefault(inside[node], []).append(node)
    works = [nodes for _, nodes in sorted(partitions.items()) if not all(is_view(node) for node in nodes)]
    return Cut(works, left)
