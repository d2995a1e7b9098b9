"""What PyTorch computes lies as it was traced where a call relies on it: looked at once, before its first use.

    a = mm(x, w); b = call(a); c = other(a)     ->     a = mm(x, w); e = expect(a); b = call(e); c = other(e)
"""
import operator

import torch
from torch._C._dynamo.guards import assert_size_stride

from ._library import Error
from ._partition import is_view


def _restrided(value, dtype, shape, strides):
    """A copy that lies as it was traced."""
    if tuple(value.shape) != shape:
        raise Error(f"a tensor of sizes {list(value.shape)} was traced with sizes {list(shape)}")
    made = torch.empty_strided(shape, strides, dtype=dtype, device=value.device)
    once = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in strides)
    made[once].copy_(value[once])
    return made


def _check_of(dtype, shape, strides, is_written):
    def expect(value):
        try:
            assert_size_stride(value, shape, strides)
            if value.dtype is dtype:
                return value
        except AssertionError:
            pass
        if is_written:
            raise Error(f"an argument that is written is {value.dtype}{list(value.shape)} with strides {list(value.stride())}; "
                        f"traced was {dtype}{list(shape)} with strides {list(strides)}")
        return _restrided(value, dtype, shape, strides)

    return expect


class Expected:
    """Called with a node: one that has its value, and lies as it was traced."""

    def __init__(self, gm, written):
        """`written`: arguments, which must be themselves."""
        self._gm, self._written, self._known = gm, written, {}

    def __call__(self, node):
        if self._is_trusted(node):
            return node
        if node not in self._known:
            value, name = node.meta["val"], f"expect_{len(self._known)}"
            layout = value.dtype, tuple(map(int, value.shape)), tuple(map(int, value.stride()))
            setattr(self._gm, name, _check_of(*layout, node in self._written))
            self._known[node] = self._gm.graph.create_node("call_module", name, (node,))
            self._known[node].meta = dict(node.meta)
        return self._known[node]

    @staticmethod
    def _is_trusted(node):
        """Whether it is what a call gave, or a view of it."""
        while is_view(node):
            node = node.args[0]
        return node.target is operator.getitem and node.args[0].op == "call_module"
