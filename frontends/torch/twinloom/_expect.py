"""What PyTorch computes lies as it was traced where a call relies on it: looked at once, before its first use.

    a = mm(x, w); b = call(a); c = other(a)     ->     a = mm(x, w); e, = expect(a); b = call(e); c = other(e)
"""
import operator

import torch
from torch._C._dynamo.guards import TensorGuards, assert_size_stride

from ._library import Error
from ._partition import is_view


class Layout:
    """Of a tensor, as it was traced."""

    def __init__(self, tensor, is_written):
        self.dtype, self.is_written = tensor.dtype, is_written
        self.shape, self.strides = tuple(map(int, tensor.shape)), tuple(map(int, tensor.stride()))

    def fits(self, value):
        try:
            assert_size_stride(value, self.shape, self.strides)
        except AssertionError:
            return False
        return value.dtype is self.dtype

    def made_of(self, value):
        """A copy that lies as it was traced."""
        if self.is_written or tuple(value.shape) != self.shape:
            raise Error(f"a tensor is {value.dtype}{list(value.shape)} with strides {list(value.stride())}; "
                        f"traced was {self.dtype}{list(self.shape)} with strides {list(self.strides)}")
        made = torch.empty_strided(self.shape, self.strides, dtype=self.dtype, device=value.device)
        once = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in self.strides)
        made[once].copy_(value[once])
        return made


class Expect:
    """Gives tensors that lie as they were traced: those that it is called with, or copies."""

    MOST_CHECKS = 4  # for other requirements of gradients, and what else is not looked at here

    def __init__(self, layouts):
        self._layouts, self._left, self._check = layouts, self.MOST_CHECKS, lambda *tensors: False

    def __reduce__(self):
        return Expect, (self._layouts,)

    def __call__(self, *tensors):
        if self._check(*tensors):
            return tensors
        fits = [layout.fits(one) for layout, one in zip(self._layouts, tensors)]
        if not all(fits):
            return tuple(one if fit else layout.made_of(one) for fit, layout, one in zip(fits, self._layouts, tensors))
        if self._left:
            # One call of PyTorch for all tensors, for types, sizes and strides among other things.
            self._check = TensorGuards(*tensors, dynamic_dims_sizes=None, dynamic_dims_strides=None).check
            self._left -= 1
        return tensors


class Expected:
    """Called with nodes: those that have their values, and lie as they were traced."""

    def __init__(self, gm, written):
        """`written`: arguments, which must be themselves."""
        self._gm, self._written, self._known, self._count = gm, written, {}, 0

    def __call__(self, nodes):
        unseen = [node for node in nodes if node not in self._known and not self._is_trusted(node)]
        if unseen:
            name = f"expect_{self._count}"
            self._count += 1
            setattr(self._gm, name, Expect([Layout(node.meta["val"], node in self._written) for node in unseen]).__call__)
            seen = self._gm.graph.create_node("call_module", name, tuple(unseen))
            for number, node in enumerate(unseen):
                self._known[node] = self._gm.graph.call_function(operator.getitem, (seen, number))
                self._known[node].meta = dict(node.meta)
        return [self._known.get(node, node) for node in nodes]

    @staticmethod
    def _is_trusted(node):
        """Whether it is what a call gave, or a view of it."""
        while is_view(node):
            node = node.args[0]
        return node.target is operator.getitem and node.args[0].op == "call_module"
