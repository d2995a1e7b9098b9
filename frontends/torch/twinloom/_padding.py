"""Products of 16-bit matrices on a GPU whose rows are no multiple of 16 bytes are computed with zeros behind the rows, for
which libraries have faster kernels: with a vocabulary of 50,257 a seventh of the time. In a graph before it is cut:

    y = mm(x, w.t())     ->     y = mm(x, pad(w).t())[:, :50257]      w [50257, 768], rows of 50,264 elements behind y

The zeros are written by the kernel that computes an operand. Results are views; what a caller gets has no gaps and is a copy, unless
the option `gaps` says otherwise.
"""
import math

import torch

from . import _partition
from ._lowering import hint_of
from ._partition import is_view, packet

aten = torch.ops.aten

DEVICES = {"cuda"}
PRODUCTS = {aten.mm.default, aten.addmm.default}
ROW_ELEMENTS = 8  # of 16 bits, that libraries load at once
# Multiplications per element from which padding is faster: of all matrices, where arithmetic limits and not memory; of operands
# that are copied, as no kernel of ours computes them, and of results that may have no gaps. An H100 copies an element in the
# time of 400.
INTENSITY, COPY_INTENSITY = 128, 400


def pad_products(graph, gaps=False):
    """Pads the products of a graph, in place. `gaps`: results that a caller gets may have longer rows too."""
    padded = {}
    for node in list(graph.nodes):
        if node.target in PRODUCTS:
            _pad(graph, node, padded, gaps)


def _pad(graph, node, padded, gaps):
    *bias, left, right = node.args
    all_elements = _elements(left) + _elements(right) + _elements(node)
    multiplications = _multiplications(left, right)
    if not _is_narrow(left) or not 0 < INTENSITY * all_elements <= multiplications:
        return
    if bias and bias[0].meta["val"].dim() != 1:
        return
    rows, columns = _padded_shapes(left.meta["val"], right.meta["val"])
    copied_result = 0  # elements
    if _missing(right, columns)[1] and not _may_have_gaps(node, columns[1], gaps):
        copied_result = _elements(node)
        if multiplications < COPY_INTENSITY * copied_result:
            columns[1], copied_result = right.meta["val"].shape[1], 0
    given = [*((one, columns[1:] if one.meta["val"].shape[0] != 1 else [1]) for one in bias), (left, rows), (right, columns)]
    lacking = [one for one, shape in given if any(_missing(one, shape))]
    copied = copied_result + sum(_elements(one) for one in lacking if not _is_computed(one))
    if not lacking or multiplications < COPY_INTENSITY * copied:
        return
    operands = [_operand(graph, one, shape, padded) for one, shape in given]
    with graph.inserting_before(node):
        result = _call(graph, node.target, *operands, like=node, **node.kwargs)
        for axis, size in enumerate(node.meta["val"].shape):
            if _missing(node, result.meta["val"].shape)[axis]:
                result = _call(graph, aten.slice.Tensor, result, axis, 0, size, like=node)
        if copied_result:
            result = _call(graph, aten.clone.default, result, memory_format=torch.contiguous_format, like=node)
    node.replace_all_uses_with(result)
    graph.erase_node(node)
    _trace_views_of(result)


def _is_narrow(node):
    return node.meta["val"].dtype.itemsize == 2 and node.meta["val"].device.type in DEVICES


def _elements(node):
    return math.prod(hint_of(size) or 0 for size in node.meta["val"].shape)


def _multiplications(left, right):
    return _elements(left) * (hint_of(right.meta["val"].shape[1]) or 0)


def _is_computed(node):
    """Whether a kernel of ours may write a node with zeros behind it."""
    while is_view(node):
        node = node.args[0]
    return node.op == "call_function" and packet(node) not in _partition.PRODUCTS


def _padded_shapes(left, right):
    """Shapes of both operands with zeros at the ends of those axes that lie along rows in memory, of an operand or of the
    result."""
    (m, k), n = left.shape, right.shape[1]
    m, k = _up(m, left.stride(0) == 1), _up(k, left.stride(1) == 1 or right.stride(0) == 1)
    return [m, k], [k, _up(n, True)]


def _up(size, is_along_rows):
    return size + -size % ROW_ELEMENTS if is_along_rows and isinstance(size, int) else size


def _may_have_gaps(node, columns, outside):
    """Whether a result may have longer rows without a copy: nobody outside gets it, or may, and all views of it are possible."""
    value = node.meta["val"]
    with value.fake_mode:
        values = {node: value.new_empty((value.shape[0], columns))[:, :value.shape[1]]}
        for one in list(_aliases(node)):
            if not outside and any(user.op == "output" for user in one.users):
                return False
            try:
                if one is not node:
                    values[one] = one.target(*_values(one.args, values), **_values(one.kwargs, values))
            except (RuntimeError, ValueError):
                return False
    return True


def _aliases(node):
    """The node and all views of it, each behind what it is a view of."""
    found = [node]
    for one in found:
        found += [user for user in one.users if is_view(user) and user not in found]
    return found


def _values(arguments, values):
    return torch.fx.map_arg(arguments, lambda one: values.get(one, one.meta["val"]))


def _trace_views_of(node):
    with node.meta["val"].fake_mode:
        for one in _aliases(node)[1:]:
            one.meta["val"] = one.target(*_values(one.args, {}), **_values(one.kwargs, {}))


def _missing(node, shape):
    """How many elements each axis lacks. Sizes that only the run knows are not padded."""
    return [wanted - size if isinstance(size, int) else 0 for size, wanted in zip(node.meta["val"].shape, shape)]


def _operand(graph, node, shape, padded):
    """With zeros at the ends of its axes, made once for all products. Of what is transposed, the transposed."""
    missing = _missing(node, shape)
    if not any(missing):
        return node
    key = node, *missing
    if key in padded:
        return padded[key]
    if len(shape) == 2 and (node.target is aten.t.default or node.target is aten.permute.default and node.args[1] != [0, 1]):
        source = _operand(graph, node.args[0], shape[::-1], padded)
        with graph.inserting_after(source):
            padded[key] = _call(graph, aten.permute.default, source, [1, 0], like=node)
        return padded[key]
    behind = [size for count in reversed(missing) for size in (0, count)]
    placeholders = [one for one in graph.nodes if one.op == "placeholder"]
    with graph.inserting_after(placeholders[-1] if node.op == "placeholder" else node):
        padded[key] = _call(graph, aten.constant_pad_nd.default, node, behind, 0.0, like=node)
    return padded[key]


def _call(graph, target, *arguments, like, **keywords):
    """A node, whose value is traced as the others' are."""
    node = graph.call_function(target, arguments, keywords)
    node.meta = {key: value for key, value in like.meta.items() if key != "tensor_meta"}
    with like.meta["val"].fake_mode:
        node.meta["val"] = target(*_values(arguments, {}), **_values(keywords, {}))
    return node
