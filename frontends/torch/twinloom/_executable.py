"""A compiled subgraph: tensors of PyTorch in, tensors that PyTorch has allocated out, nothing copied."""
import collections
import ctypes
import json
import math
import re

import torch
from torch._C._dynamo.guards import _empty_strided_cpu, _reinterpret_tensor, assert_size_stride
from torch.utils._sympy.printers import PythonPrinter

from . import _library
from ._library import Handle, Value, check, library
from ._lowering import memory_order

CU_STREAM_LEGACY = 1  # cuda.h
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
        names = {"math": math}
        self.of = eval(f"lambda {', '.join(symbols)}: (({shape}), ({strides}))", names)  # noqa: S307, of traced sizes


def ordered(layout, shape, strides):
    """A result as the library gives it: its axes by falling strides."""
    return [shape[axis] for axis in layout.order], [strides[axis] for axis in layout.order]


def is_row_major(shape, strides):
    """As kernels write results."""
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


class Frame:
    """The arguments of one call of the library, kept for the next: addresses and sizes are all that is written anew."""

    def __init__(self, ranks, symbol_count, result_ranks):
        self.arguments = (Value * (len(ranks) + symbol_count))()
        self.results = (Value * max(len(result_ranks), 1))()
        self.tensors = [self._tensor(self.arguments, symbol_count + k, rank) for k, rank in enumerate(ranks)]
        self.outputs = [self._tensor(self.results, k, rank) for k, rank in enumerate(result_ranks)]
        for k in range(symbol_count):
            self.arguments[k].kind = _library.SIZE
        self.known = [None] * len(ranks)
        self.reused = self.numbers = None  # what reused() gave, for the values of which symbols
        self.fields = tuple(one[0] for one in self.tensors + self.outputs)
        self.options = _library.RunOptions(size=ctypes.sizeof(_library.RunOptions))
        self.words = (self.arguments, ctypes.c_size_t(len(self.arguments)), ctypes.pointer(self.options), self.results,
                      ctypes.c_size_t(len(result_ranks)))
        self.home = None  # where it waits for the next call

    @staticmethod
    def _tensor(values, k, rank):
        shape, strides = (ctypes.c_int64 * max(rank, 1))(), (ctypes.c_int64 * max(rank, 1))()
        tensor = _library.Tensor(ndim=rank, shape=shape, strides=strides)
        values[k].kind = _library.TENSOR
        values[k].of.tensor = ctypes.pointer(tensor)
        return tensor, shape, strides


def describe(place, dtype, device, shape, strides):
    """Writes all of a tensor but its address."""
    tensor, its_shape, its_strides = place
    its_shape[:len(shape)], its_strides[:len(strides)] = shape, strides
    tensor.dtype = _library.data_type(dtype)
    tensor.device = _library.Place(_library.CUDA if device.type == "cuda" else _library.CPU, device.index or 0)


class Executable:
    """Called with the values of its symbols and its tensors, in order; gives a tuple of tensors."""

    def __init__(self, graph, symbols, inputs, results, settings, device, donated=None):
        """`donated`: position -> name, of inputs whose memory results may take."""
        self._donated = donated or {}
        self.symbols, self._ranks = symbols, [one.dim() for one in inputs]
        self._layouts = [Layout(one, symbols) for one in results]
        self._handle = Handle("twinloom_executable_free")
        options = _library.compile_options(settings, self._donated.values())
        self._device, self._cuda, self._library = device, device.type == "cuda", library()
        check(library().twinloom_compile(graph.pointer, _library.device(device, settings.cache).pointer, ctypes.byref(options),
                                         ctypes.byref(self._handle.pointer)))
        self._last = None  # frame of the last run
        self._frames = collections.deque()
        self._pending = collections.deque()

    def __call__(self, *arguments):
        count = len(self.symbols)
        numbers, tensors = arguments[:count], arguments[count:]
        frame = self._frame()
        is_known = numbers == frame.numbers
        for k, number in enumerate(numbers):
            frame.arguments[k].of.size = number
        for k, tensor in enumerate(tensors):
            known = (tensor.shape, tensor.stride(), tensor.dtype)
            if frame.known[k] != known:
                describe(frame.tensors[k], tensor.dtype, tensor.device, *known[:2])
                frame.known[k], is_known = known, False
            frame.tensors[k][0].data = tensor.data_ptr()
        if not is_known:
            frame.reused, frame.numbers = self._reused(frame, numbers, [one.dtype for one in tensors]), numbers
        results = []
        for place, layout, source in zip(frame.outputs, self._layouts, frame.reused):
            shape, strides = layout.of(*numbers)
            if source is None:
                result = torch.empty_strided(shape, strides, dtype=layout.dtype, device=layout.device)
            else:
                result = _reinterpret_tensor(tensors[source], shape, strides)
            describe(place, layout.dtype, layout.device, *ordered(layout, shape, strides))
            place[0].data = result.data_ptr()
            results.append(result)
        self._run(frame)
        return tuple(results)

    def _reused(self, frame, numbers, dtypes):
        """For each result the position of the input whose memory it takes, with these arguments, or nothing."""
        count = len(self._layouts)
        if not self._donated:
            return [None] * count
        parameters, sources = (ctypes.c_int32 * count)(), []
        check(self._library.twinloom_reuses(self._handle.pointer, *frame.words[:2], parameters, ctypes.c_size_t(count)))
        for layout, parameter in zip(self._layouts, parameters):
            source = parameter - len(self.symbols)
            fits = source >= 0 and layout.dtype is dtypes[source] and is_row_major(*ordered(layout, *layout.of(*numbers)))
            sources.append(source if fits else None)
        return sources

    def _frame(self):
        """One that no call uses; _run() gives it back."""
        try:
            return self._frames.pop()
        except IndexError:
            frame = Frame(self._ranks, len(self.symbols), [len(one.order) for one in self._layouts])
            frame.home = self._frames
            return frame

    def _run(self, frame):
        if not self._cuda:
            frame.options.threads = torch.get_num_threads()
            error = self._library.twinloom_run(self._handle.pointer, *frame.words)
        else:
            # PyTorch's default stream is 0, which the library takes for one of its own.
            frame.options.stream = torch._C._cuda_getCurrentRawStream(self._device.index) or CU_STREAM_LEGACY
            self._forget_what_is_done()
            started = Handle("twinloom_pending_free")
            error = self._library.twinloom_start(self._handle.pointer, *frame.words, ctypes.byref(started.pointer))
            if not error:
                self._pending.append(started)
        self._last = frame
        frame.home.append(frame)
        if error:
            check(error)

    def _forget_what_is_done(self):
        while self._pending and self._library.twinloom_pending_ready(self._pending[0].pointer):
            done = self._pending.popleft()  # given back with this name, after it was waited for
            check(self._library.twinloom_pending_wait(done.pointer))

    def explained(self):
        """What the last run consisted of, as twinloom_explain says it; nothing before there was one."""
        if self._last is None:
            return None
        text, threads = ctypes.c_void_p(), 0 if self._cuda else torch.get_num_threads()
        check(self._library.twinloom_explain(self._handle.pointer, *self._last.words[:2], threads, ctypes.byref(text)))
        return json.loads(_library.text_of(text))

    def fast(self, inputs):
        """What calling this does, faster where all sizes are numbers: written out for the traced sizes and strides."""
        if self.symbols or not all(one.is_fixed for one in self._layouts):
            return self
        home, layouts = collections.deque(), [(one, *one.of()) for one in self._layouts]
        given = [(one.dtype, tuple(map(int, one.shape)), tuple(map(int, one.stride()))) for one in inputs]

        def traced():
            frame = self._frame()
            for place, (dtype, shape, strides) in zip(frame.tensors, given):
                describe(place, dtype, self._device, shape, strides)
            for place, (layout, shape, strides) in zip(frame.outputs, layouts):
                describe(place, layout.dtype, self._device, *ordered(layout, shape, strides))
            frame.home = home
            return frame

        names = {"assert_size_stride": assert_size_stride, "empty": _empty_strided_cpu, "generic": self, "home": home,
                 "again": _reinterpret_tensor, "traced": traced, "execute": self._run}
        if self._cuda:
            names["empty"] = lambda shape, strides, dtype: torch.empty_strided(shape, strides, dtype=dtype, device=self._device)
        arguments = "".join(f"a{k}, " for k in range(len(given)))
        fits, fill, take = [], [], []
        for k, (dtype, shape, strides) in enumerate(given):
            names.update({f"d{k}": dtype, f"s{k}": shape, f"t{k}": strides})
            fits.append(f"assert_size_stride(a{k}, s{k}, t{k})")
            fill.append(f"f{k}.data = a{k}.data_ptr()")
        reused = self._reused(traced(), (), [dtype for dtype, _, _ in given])
        for k, (layout, shape, strides) in enumerate(layouts):
            names.update({f"c{k}": layout.dtype, f"u{k}": shape, f"v{k}": strides})
            take.append(f"r{k} = empty(u{k}, v{k}, c{k})" if reused[k] is None else f"r{k} = again(a{reused[k]}, u{k}, v{k})")
            fill.append(f"f{len(given) + k}.data = r{k}.data_ptr()")
        types = " and ".join(f"a{k}.dtype is d{k}" for k in range(len(given))) or "True"
        lines = [f"def run({arguments}):", "    try:", *(f"        {line}" for line in fits), f"        same = {types}",
                 "    except AssertionError:", "        same = False", "    if not same:", f"        return generic({arguments})",
                 "    try:", "        frame = home.pop()", "    except IndexError:", "        frame = traced()",
                 *(f"    {line}" for line in take), "    " + "".join(f"f{k}, " for k in range(len(fill))) + "= frame.fields",
                 *(f"    {line}" for line in fill), "    execute(frame)",
                 "    return (" + "".join(f"r{k}, " for k in range(len(layouts))) + ")"]
        exec("\n".join(lines), names)  # noqa: S102, of our own words
        return names["run"]


def shared_results(graph):
    """Positions of the results for which nothing is computed: they are an argument, or a view."""
    return [k for k, kind in enumerate(_RESULT.findall(_text_of(graph))) if kind != "own"]


def _text_of(graph):
    pointer = ctypes.c_void_p()
    check(library().twinloom_graph_text(graph.pointer, ctypes.byref(pointer)))
    return _library.text_of(pointer)
