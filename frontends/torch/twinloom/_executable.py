"""A compiled subgraph: tensors of PyTorch in, tensors that PyTorch has allocated out, nothing copied."""
import collections
import ctypes
import re

import torch
from torch.utils._sympy.printers import PythonPrinter

from . import _library
from ._library import Handle, Value, check, library

# "own" is computed into a tensor of ours; other results are an argument, or a view.
_RESULT = re.compile(r'^\s*result ".*?" = (\w+)', re.MULTILINE)


def code_of(size):
    """A size as Python, over the names of its symbols."""
    return PythonPrinter().doprint(size.node.expr) if isinstance(size, torch.SymInt) else str(int(size))


class Layout:
    """Type, sizes and strides of a result, as they were traced."""

    def __init__(self, tensor, symbols):
        self.dtype, self.device = tensor.dtype, tensor.device
        numbers = [code_of(one) for one in (*tensor.shape, *tensor.stride())]
        body = f"(({''.join(one + ', ' for one in numbers[:tensor.dim()])}), ({''.join(one + ', ' for one in numbers[tensor.dim():])}))"
        self.is_fixed = not any(isinstance(one, torch.SymInt) for one in (*tensor.shape, *tensor.stride()))
        self.of = eval(f"lambda {', '.join(symbols)}: {body}", {"math": __import__("math")})  # noqa: S307, of traced sizes


class Frame:
    """What one call hands over, kept for the next: addresses and sizes are all that is written anew."""

    def __init__(self, ranks, symbol_count, result_ranks):
        self.arguments = (Value * (len(ranks) + symbol_count))()
        self.results = (Value * max(len(result_ranks), 1))()
        self.sizes = (Value * 0)() if not symbol_count else None
        self.tensors = [self._tensor(self.arguments, symbol_count + k, rank) for k, rank in enumerate(ranks)]
        self.outputs = [self._tensor(self.results, k, rank) for k, rank in enumerate(result_ranks)]
        for k in range(symbol_count):
            self.arguments[k].kind = _library.SIZE
        self.known = [None] * len(ranks)

    @staticmethod
    def _tensor(values, k, rank):
        shape, strides = (ctypes.c_int64 * max(rank, 1))(), (ctypes.c_int64 * max(rank, 1))()
        tensor = _library.Tensor(ndim=rank, shape=shape, strides=strides)
        values[k].kind = _library.TENSOR
        values[k].of.tensor = ctypes.pointer(tensor)
        return tensor, shape, strides


def describe(place, tensor, shape, strides):
    """Writes all of a tensor but its address."""
    described = place[0]
    place[1][:len(shape)], place[2][:len(strides)] = shape, strides
    described.dtype = _library.data_type(tensor.dtype)
    is_gpu = tensor.device.type == "cuda"
    described.device = _library.Place(_library.CUDA if is_gpu else _library.CPU, tensor.device.index or 0 if is_gpu else 0)


class Executable:
    """Called with the values of its symbols and its tensors, in order; gives a tuple of tensors."""

    def __init__(self, graph, symbols, inputs, results, settings, device):
        self._symbols, self._ranks = symbols, [one.dim() for one in inputs]
        self._layouts = [Layout(one, symbols) for one in results]
        self._fixed = [one.of(*[0] * len(symbols)) if one.is_fixed else None for one in self._layouts]
        self._handle = Handle("twinloom_executable_free")
        options = _library.CompileOptions(size=ctypes.sizeof(_library.CompileOptions), mode=_library.MODES[settings.mode],
                                          relaxations=settings.relax.encode() if settings.relax else None)
        self._cuda = device.type == "cuda"
        place = _library.device(f"cuda:{device.index or 0}" if self._cuda else "cpu")
        check(library().twinloom_compile(graph.pointer, place.pointer, ctypes.byref(options),
                                         ctypes.byref(self._handle.pointer)))
        self._options = _library.RunOptions(size=ctypes.sizeof(_library.RunOptions))
        self._frames = collections.deque()
        self._pending = collections.deque()

    def __call__(self, *arguments):
        count = len(self._symbols)
        numbers, tensors = arguments[:count], arguments[count:]
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = Frame(self._ranks, count, [len(one.of(*numbers)[0]) for one in self._layouts])
        for k, number in enumerate(numbers):
            frame.arguments[k].of.size = number
        for k, tensor in enumerate(tensors):
            known = (tensor.shape, tensor.stride(), tensor.dtype)
            if frame.known[k] != known:
                describe(frame.tensors[k], tensor, *known[:2])
                frame.known[k] = known
            frame.tensors[k][0].data = tensor.data_ptr()
        results = []
        for k, layout in enumerate(self._layouts):
            shape, strides = self._fixed[k] or layout.of(*numbers)
            result = torch.empty_strided(shape, strides, dtype=layout.dtype, device=layout.device)
            if self._fixed[k] is None or not frame.outputs[k][0].dtype.bits:
                describe(frame.outputs[k], result, shape, strides)
            frame.outputs[k][0].data = result.data_ptr()
            results.append(result)
        self._run(frame, results)
        self._frames.append(frame)
        return tuple(results)

    def _run(self, frame, results):
        lib, options = library(), self._options
        words = (self._handle.pointer, frame.arguments, ctypes.c_size_t(len(frame.arguments)), ctypes.byref(options),
                 frame.results, ctypes.c_size_t(len(results)))
        if not self._cuda:
            options.threads = torch.get_num_threads()
            return check(lib.twinloom_run(*words))
        options.stream = torch.cuda.current_stream().cuda_stream
        while self._pending and lib.twinloom_pending_ready(self._pending[0].pointer):
            done = self._pending.popleft()
            check(lib.twinloom_pending_wait(done.pointer))
        started = Handle("twinloom_pending_free")
        check(lib.twinloom_start(*words, ctypes.byref(started.pointer)))
        self._pending.append(started)

    def explanation(self, arguments):
        """JSON of twinloom_explain for such a call."""
        count, pointer = len(self._symbols), ctypes.c_void_p()
        frame = Frame(self._ranks, count, [])
        for k, number in enumerate(arguments[:count]):
            frame.arguments[k].of.size = number
        for k, tensor in enumerate(arguments[count:]):
            describe(frame.tensors[k], tensor, tensor.shape, tensor.stride())
            frame.tensors[k][0].data = tensor.data_ptr()
        check(library().twinloom_explain(self._handle.pointer, frame.arguments, ctypes.c_size_t(len(frame.arguments)),
                                         ctypes.c_int32(torch.get_num_threads()), ctypes.byref(pointer)))
        return _library.text_of(pointer)


def shared_results(graph):
    """Positions of the results for which nothing is computed: they are an argument, or a view."""
    return [k for k, kind in enumerate(_RESULT.findall(_text_of(graph))) if kind != "own"]


def _text_of(graph):
    pointer = ctypes.c_void_p()
    check(library().twinloom_graph_text(graph.pointer, ctypes.byref(pointer)))
    return _library.text_of(pointer)
