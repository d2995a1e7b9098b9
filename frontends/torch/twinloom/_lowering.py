"""Nodes of FX graphs as calls of the library's builder.

The builder is asked instead of a text being printed: each node is refused or taken alone, which is what decides where a
graph is cut, and nothing is spelled and read again.
"""
import ctypes
import functools
import operator
import os
import re

import torch
from sympy.printing.str import StrPrinter
from torch import fx

from . import _library
from ._library import Error, Handle, Operand, check, library

# What says where and how a result lies, not what it is: results are written into tensors that PyTorch describes.
PLACEMENT = {"device", "layout", "pin_memory", "memory_format"}


class _Spelling(StrPrinter):
    """Sizes as the library reads them: floor_div(s0 - 1, 2) for (s0 - 1)//2."""

    printmethod = None  # PyTorch's functions would spell themselves

    def _call(name):  # noqa: N805, makes methods
        return lambda self, expr: functools.reduce(lambda a, b: f"{name}({a}, {b})", map(self._print, expr.args))

    _print_FloorDiv = _print_CleanDiv = _call("floor_div")
    _print_Mod = _print_PythonMod = _call("floor_mod")
    _print_Max, _print_Min = _call("greatest"), _call("least")

    def _print_CeilToInt(self, expr):
        quotient = expr.args[0]
        if type(quotient).__name__ != "IntTrueDiv":
            return super().emptyPrinter(expr)
        return f"ceil_div({self._print(quotient.args[0])}, {self._print(quotient.args[1])})"

    def _print_Pow(self, expr, rational=False):
        base, exponent = expr.as_base_exp()
        if exponent.is_Integer and exponent > 0:
            return "*".join([f"({self._print(base)})"] * int(exponent))
        return super()._print_Pow(expr, rational)


def expression(size):
    """A size as the library reads it: "4", "2*s0 + 1"."""
    return _Spelling().doprint(size.node.expr) if isinstance(size, torch.SymInt) else str(int(size))


def is_size(value):
    return isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool)


def symbols_of(sizes):
    """The names of the symbols in sizes."""
    return {str(symbol) for size in sizes if isinstance(size, torch.SymInt) for symbol in size.node.expr.free_symbols}


def sizes_of(node):
    """All sizes that a node's value and its operands mention."""
    found = []
    for one in [node, *node.all_input_nodes]:
        value = one.meta.get("val")
        for each in value if isinstance(value, (tuple, list)) else [value]:
            if isinstance(each, torch.Tensor):
                found += each.shape
            elif isinstance(each, torch.SymInt):
                found.append(each)
    return found


def hint_of(size):
    """A size in the call that was traced; nothing where only the run knows it."""
    return int(size) if isinstance(size, int) else size.node.hint


def memory_order(tensor):
    """The axes of a result by falling strides: in this order it is row-major, where it has no gaps."""
    strides, sizes = [hint_of(one) for one in tensor.stride()], [hint_of(one) for one in tensor.shape]
    if any(one is None for one in strides + sizes):
        return list(range(tensor.dim()))
    return sorted(range(tensor.dim()), key=lambda axis: (-strides[axis], sizes[axis] == 1, axis))


_FRAME = re.compile(r'^\s*File "(.+)", line (\d+), in ', re.MULTILINE)
_TORCH = os.path.dirname(torch.__file__) + os.sep


@functools.lru_cache(maxsize=4096)
def _place_in(trace):
    frames = [(file, int(line)) for file, line in _FRAME.findall(trace)]
    return next((one for one in reversed(frames) if not one[0].startswith(_TORCH)), frames[-1] if frames else ("", 0))


def place_of(node):
    """File and line of the user's program that a node was traced from: the innermost call outside of PyTorch's package."""
    return _place_in(node.meta.get("stack_trace") or "")


class Builder:
    """A graph of the library that grows by FX nodes."""

    def __init__(self, name, has_places=True):
        """`has_places`: errors of nodes say where they were traced."""
        self._has_places, self._handle = has_places, Handle("twinloom_builder_free")
        self._values = {}  # FX node -> number of its value, or of its values
        check(library().twinloom_builder_new(name.encode(), ctypes.byref(self._handle.pointer)))

    def size(self, name):
        number = ctypes.c_int64()
        check(library().twinloom_builder_size(self._handle.pointer, name.encode(), ctypes.byref(number)))

    def input(self, node):
        tensor, number = node.meta["val"], ctypes.c_int64()
        sizes = (ctypes.c_char_p * max(tensor.dim(), 1))(*[expression(size).encode() for size in tensor.shape])
        check(library().twinloom_builder_input(
            self._handle.pointer, node.name.encode(), _library.data_type(tensor.dtype), ctypes.c_size_t(tensor.dim()),
            sizes, ctypes.byref(number)))
        self._values[node] = number.value

    def add(self, node):
        """Error where the library does not take the node, or makes something else of it than PyTorch."""
        if node.target is operator.getitem:
            self._values[node] = self._values[node.args[0]][node.args[1]]
            return
        if self._has_places:
            self._stand_at(node)
        operands = [self._operand(argument) for argument in node.args]
        operands += [self._operand(argument, name) for name, argument in node.kwargs.items() if name not in PLACEMENT]
        value = node.meta["val"]
        several = isinstance(value, (tuple, list))
        numbers = self._call(str(node.target), operands, len(value) if several else 1)
        made = [self._as_traced(node, number, one) for number, one in zip(numbers, value if several else [value])]
        self._values[node] = made if several else made[0]

    def _stand_at(self, node):
        file, line = place_of(node)
        check(library().twinloom_builder_origin(self._handle.pointer, node.name.encode(), os.fsencode(file),
                                                ctypes.c_int64(line)))

    def constant(self, node, tensor):
        """A parameter of the FX graph that is known."""
        tensor, number = tensor.detach().cpu(), ctypes.c_int64()
        shape = (ctypes.c_int64 * max(tensor.dim(), 1))(*tensor.shape)
        strides = (ctypes.c_int64 * max(tensor.dim(), 1))(*tensor.stride())
        given = _library.Tensor(data=tensor.data_ptr(), device=_library.Place(_library.CPU, 0), ndim=tensor.dim(),
                                dtype=_library.data_type(tensor.dtype), shape=shape, strides=strides)
        check(library().twinloom_builder_constant(self._handle.pointer, ctypes.byref(given), ctypes.byref(number)))
        self._values[node] = number.value

    def finish(self, results, copied, row_major=False):
        """The graph that gives these nodes, row-major or with their axes in memory_order(); those at the positions `copied`
        in memory of their own."""
        names = (ctypes.c_char_p * len(results))(*[node.name.encode() for node in results])
        numbers = (ctypes.c_int64 * len(results))(*[self._values[node] if row_major else self._ordered(node)
                                                       for node in results])
        for k in copied:
            numbers[k] = self._call("aten.clone.default", [self._value(numbers[k])], 1)[0]
        graph = Handle("twinloom_graph_free")
        check(library().twinloom_builder_finish(self._handle.pointer, numbers, names, ctypes.c_size_t(len(results)),
                                                ctypes.byref(graph.pointer)))
        return graph

    def _ordered(self, node):
        order, value = memory_order(node.meta["val"]), self._values[node]
        if order == sorted(order):
            return value
        return self._call("aten.permute.default", [self._value(value), self._operand(order)], 1)[0]

    def _call(self, target, operands, count):
        numbers = (ctypes.c_int64 * count)()
        check(library().twinloom_builder_call(
            self._handle.pointer, target.encode(), (Operand * len(operands))(*operands),
            ctypes.c_size_t(len(operands)), numbers, ctypes.c_size_t(count)))
        return numbers

    @staticmethod
    def _value(number):
        operand = Operand(kind=_library.OPERAND_VALUE)
        operand.of.integer = number
        return operand

    def _as_traced(self, node, number, tensor):
        """The value in the type that PyTorch traced: means and deviations of 16-bit norms are said to have 16 bits."""
        if tensor is None:
            return number
        port = _library.Port(size=ctypes.sizeof(_library.Port))
        check(library().twinloom_builder_port(self._handle.pointer, ctypes.c_int64(number), ctypes.byref(port)))
        given, wanted = port.dtype, _library.data_type(tensor.dtype)
        is_floating = given.code in (_library.FLOAT, _library.BFLOAT) and tensor.dtype.is_floating_point
        same = (given.code, given.bits) == (wanted.code, wanted.bits)
        if not (same or is_floating) or port.ndim != tensor.dim():
            raise Error(f"{node.target} gives another type or rank here than in PyTorch, {tensor.dtype}")
        if same:
            return number
        dtype = Operand(kind=_library.OPERAND_DTYPE)
        dtype.of.dtype = wanted
        return self._call("prims.convert_element_type.default", [self._value(number), dtype], 1)[0]

    def _operand(self, argument, keyword=None):
        operand = Operand(keyword=keyword.encode() if keyword else None)
        self._fill(operand, argument)
        return operand

    def _fill(self, operand, argument):
        if isinstance(argument, fx.Node):
            value = argument.meta.get("val")
            if isinstance(value, torch.Tensor):
                operand.kind, operand.of.integer = _library.OPERAND_VALUE, self._values[argument]
                return
            argument = value
        if argument is None:
            operand.kind = _library.OPERAND_NONE
        elif isinstance(argument, bool):
            operand.kind, operand.of.integer = _library.OPERAND_TRUTH, argument
        elif isinstance(argument, torch.SymInt):
            operand.kind, operand.of.text = _library.OPERAND_SIZE, expression(argument).encode()
        elif isinstance(argument, int):
            operand.kind, operand.of.integer = _library.OPERAND_INTEGER, argument
        elif isinstance(argument, float):
            operand.kind, operand.of.real = _library.OPERAND_REAL, argument
        elif isinstance(argument, str):
            operand.kind, operand.of.text = _library.OPERAND_TEXT, argument.encode()
        elif isinstance(argument, torch.dtype):
            operand.kind, operand.of.dtype = _library.OPERAND_DTYPE, _library.data_type(argument)
        elif isinstance(argument, (list, tuple)):
            items = (Operand * len(argument))(*[self._operand(one) for one in argument])
            operand.kind = _library.OPERAND_LIST
            operand.of.list.operands, operand.of.list.count = items, len(argument)
        else:
            raise Error(f"an operand {argument!r} is not known")


def why_unsupported(node):
    """What the library says against a node that is called with tensors as they are traced; nothing where it takes it."""
    try:
        builder = Builder("node", has_places=False)
        for name in sorted(symbols_of(sizes_of(node))):
            builder.size(name)
        for one in node.all_input_nodes:
            if isinstance(one.meta.get("val"), torch.Tensor):
                builder.input(one)
        builder.add(node)
        return None
    except Error as error:
        return str(error)
