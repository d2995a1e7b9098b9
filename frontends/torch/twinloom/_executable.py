"""A compiled subgraph: tensors of PyTorch in, tensors that PyTorch has allocated out, nothing copied."""
import concurrent.futures
import ctypes
import dataclasses
import json
import math
import os
import re

import torch
from torch.utils._sympy.printers import PythonPrinter

from . import _library
from ._bound import Bound
from ._library import Error, Handle, check, library
from ._lowering import memory_order

# "own" is computed into a tensor of ours; other results are an argument, or a view.
_RESULT = re.compile(r'^\s*result ".*?" = (\w+)', re.MULTILINE)


def code_of(size):
    """A size as Python, over the names of its symbols."""
    return PythonPrinter().doprint(size.node.expr) if isinstance(size, torch.SymInt) else str(int(size))


class Layout:
    """Type, sizes and strides of a result, as they were traced, and the order of axes in which it is row-major."""

    def __init__(self, tensor, symbols):
        self.dtype, self.device, self.order = tensor.dtype, tensor.device, memory_order(tensor)
        shape, strides = ["".join(code_of(one) + ", " for one in numbers) for numbers in (tensor.shape, tensor.stride())]
        self.is_fixed = not any(isinstance(one, torch.SymInt) for one in (*tensor.shape, *tensor.stride()))
        self._text = f"lambda {', '.join(symbols)}: (({shape}), ({strides}))"
        self._read()

    def _read(self):
        self.of = eval(self._text, {"math": math})  # noqa: S307, of traced sizes

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "of"}

    def __setstate__(self, state):
        vars(self).update(state)
        self._read()


@dataclasses.dataclass(frozen=True)
class Subgraph:
    """What an executable is compiled from. Pickles."""

    text: str  # of the library's graph
    symbols: list  # names, of its first arguments
    layouts: list  # of its results
    is_fixed: bool  # all sizes are numbers
    given: tuple  # then types, sizes and strides of its tensors
    donated: dict  # position -> name, of inputs whose memory results may take
    takes_saved: bool  # some of these are what a forward pass saved
    writes: int  # how many inputs the graph writes
    settings: object  # Settings
    device: torch.device

    @classmethod
    def of(cls, graph, symbols, inputs, results, settings, device, donated, takes_saved, writes):
        layouts = [Layout(one, symbols) for one in results]
        is_fixed = not symbols and all(one.is_fixed for one in layouts)
        given = tuple([(one.dtype, tuple(map(int, one.shape)), tuple(map(int, one.stride()))) for one in inputs] if is_fixed else ())
        return cls(graph_text(graph), symbols, layouts, is_fixed, given, donated, takes_saved, writes, settings, device)

    def compiled(self, donates=True):
        """A function of its symbols and tensors, whose kernels are compiled where sizes are numbers."""
        graph, text = Handle("twinloom_graph_free"), self.text.encode()
        check(library().twinloom_graph_read(text, ctypes.c_size_t(len(text)), None, ctypes.byref(graph.pointer)))
        return Executable(graph, self if donates else dataclasses.replace(self, donated={})).fast()()


class Executable:
    """Called with the values of its symbols and its tensors, in order; gives a tuple of tensors."""

    MOST_BOUND = 32  # sizes and strides for which calls are kept

    def __init__(self, graph, subgraph):
        """`graph`: which the subgraph's text is of."""
        self.subgraph, self._donated, self._writes = subgraph, subgraph.donated, subgraph.writes
        self.symbols, self._layouts, self._device = subgraph.symbols, subgraph.layouts, subgraph.device
        self._handle = Handle("twinloom_executable_free")
        settings = subgraph.settings
        options = _library.compile_options(settings, self._donated.values())
        check(library().twinloom_compile(graph.pointer, _library.device(self._device, settings.cache).pointer,
                                         ctypes.byref(options), ctypes.byref(self._handle.pointer)))
        self._bound = {}  # values of symbols, and types, sizes and strides of tensors -> Bound, the latest last
        self.last = None  # Bound of the last call

    def __call__(self, *arguments):
        count = len(self.symbols)
        tensors = arguments[count:]
        self.last = self._known(arguments[:count], tuple([(one.dtype, one.shape, one.stride()) for one in tensors]))
        return self.last.run(*tensors)

    def _known(self, numbers, layouts):
        key = numbers, layouts
        bound = self._bound.get(key)
        if bound is None:
            if len(self._bound) >= self.MOST_BOUND:
                del self._bound[next(iter(self._bound))]
            results = [(one.dtype, *one.of(*numbers), one.order) for one in self._layouts]
            bound = self._bound[key] = Bound(self._handle, numbers, layouts, results, self._device, self._writes,
                                             bool(self._donated))
        return bound

    def explained(self):
        """What the last run consisted of, as twinloom_explain says it; nothing before there was one."""
        if self.last is None:
            return None
        text, threads = ctypes.c_void_p(), 0 if self._device.type == "cuda" else torch.get_num_threads()
        check(library().twinloom_explain(self._handle.pointer, *self.last.frame.given, threads, ctypes.byref(text)))
        return json.loads(_library.text_of(text))

    @property
    def is_fixed(self):
        """Whether all sizes are numbers."""
        return self.subgraph.is_fixed

    def fast(self):
        """A function that makes what calling this does with tensors of the sizes and strides that were traced, where
        these are numbers. Then kernels are compiled, for which any thread may call it."""
        if not self.is_fixed:
            return lambda: self

        def bound():
            self.last = self._known((), self.subgraph.given)
            return self.last.run

        return bound


def side_by_side(functions):
    """What each gives, or its Error. The library plans and compiles without the interpreter."""
    def tried(function):
        try:
            return function()
        except Error as error:
            return error

    if len(functions) < 2:
        return [tried(function) for function in functions]
    with concurrent.futures.ThreadPoolExecutor(min(len(functions), os.cpu_count())) as threads:
        return list(threads.map(tried, functions))


def shared_results(graph, count):
    """Positions of the first `count` results for which nothing is computed: they are an argument, or a view."""
    return [k for k, kind in enumerate(_RESULT.findall(graph_text(graph))[:count]) if kind != "own"]


def graph_text(graph):
    pointer = ctypes.c_void_p()
    check(library().twinloom_graph_text(graph.pointer, ctypes.byref(pointer)))
    return _library.text_of(pointer)
