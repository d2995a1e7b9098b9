"""A subgraph for which types, sizes and strides are known: a call passes addresses, and nothing else.

    def run(a0, a1):
        r0 = empty((4, 8), (8, 1), torch.float32)
        error = start(handle, pack(a0.data_ptr(), a1.data_ptr(), r0.data_ptr()), 3, None, options[threads()])
        ...
        return (r0,)
"""
import ctypes
import functools
import struct

import torch
from torch._C._dynamo import guards
from torch._C._dynamo.guards import _empty_strided_cpu, _reinterpret_tensor

from . import _library
from ._frame import Frame, describe
from ._library import Handle, check, library

CU_STREAM_LEGACY = 1  # cuda.h
_empty_strided_cuda = getattr(guards, "_empty_strided_cuda", None)  # of builds of PyTorch with CUDA


def is_row_major(shape, strides):
    """As kernels write results."""
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


class Options(dict):
    """Number of threads, or a stream -> address of options of a run."""

    def __init__(self, field):
        self._field, self._kept = field, []

    def __missing__(self, value):
        # PyTorch's default stream is 0, which the library takes for one of its own.
        given = {"stream": value or CU_STREAM_LEGACY} if self._field == "stream" else {"threads": value}
        self._kept.append(_library.RunOptions(size=ctypes.sizeof(_library.RunOptions), **given))
        self[value] = ctypes.addressof(self._kept[-1])
        return self[value]


OPTIONS = {"cpu": Options("threads"), "cuda": Options("stream")}


@functools.lru_cache(maxsize=1024)
def _compiled(text):
    """Calls that differ in sizes alone have one text."""
    return compile(text, "<twinloom>", "exec")


class Bound:
    """Called with its tensors, in order, which are as they are said to be; gives a tuple of tensors."""

    def __init__(self, handle, numbers, inputs, results, device, writes=0, may_reuse=False):
        """`inputs` and `results`: dtypes, shapes, strides; of results the order of axes too in which kernels write them.
        `writes`: how many inputs get their values from the graph. `may_reuse`: results may take the memory of inputs."""
        self._device, self._results, self._count = device, results, len(numbers) + len(inputs)
        self.frame = Frame([len(shape) for _, shape, _ in inputs], len(numbers), [len(one[1]) for one in results], writes)
        for k, number in enumerate(numbers):
            self.frame.arguments[k].of.size = number
        for place, (dtype, shape, strides) in zip(self.frame.tensors, inputs):
            describe(place, dtype, device, shape, strides)
        for place, (dtype, shape, strides, order) in zip(self.frame.outputs, results):
            describe(place, dtype, device, [shape[axis] for axis in order], [strides[axis] for axis in order])
        self.sources = self._sources(handle, len(numbers), [dtype for dtype, _, _ in inputs], may_reuse)
        self._handle = Handle("twinloom_bound_free")
        check(library().twinloom_bind(handle.pointer, *self.frame.given, *self.frame.taken,
                                      ctypes.byref(self._handle.pointer)))
        self._workspace = library().twinloom_bound_workspace(self._handle.pointer)
        self.run = self._written_out(len(numbers), len(inputs))

    def _sources(self, handle, before, dtypes, may_reuse):
        """For each result the position of the input whose memory it takes, or nothing."""
        sources = [None] * len(self._results)
        if not may_reuse:
            return sources
        parameters = (ctypes.c_int32 * self.frame.taken[1].value)()
        check(library().twinloom_reuses(handle.pointer, *self.frame.given, parameters, self.frame.taken[1]))
        for k, (dtype, shape, strides, order) in enumerate(self._results):
            source = parameters[k] - before
            in_order = [shape[axis] for axis in order], [strides[axis] for axis in order]
            if source >= 0 and dtype is dtypes[source] and is_row_major(*in_order):
                sources[k] = source
        return sources

    def _written_out(self, before, count):
        """The function that a call is."""
        cuda = self._device.type == "cuda"
        names = {"empty": _empty_strided_cuda if cuda else _empty_strided_cpu, "again": _reinterpret_tensor, "check": check,
                 "start": library().twinloom_bound_start, "handle": self._handle.pointer.value, "kept": self._handle,
                 "options": OPTIONS[self._device.type], "byte": torch.uint8,
                 "threads": torch.get_num_threads, "stream": torch._C._cuda_getCurrentRawStream if cuda else None,
                 "pack": struct.Struct(f"{self._count + len(self._results)}P").pack}
        arguments = "".join(f"a{k}, " for k in range(count))
        take = []
        for k, (dtype, shape, strides, _) in enumerate(self._results):
            names.update({f"c{k}": dtype, f"u{k}": tuple(shape), f"v{k}": tuple(strides)})
            source = self.sources[k]
            take.append(f"r{k} = empty(u{k}, v{k}, c{k})" if source is None else f"r{k} = again(a{source}, u{k}, v{k})")
        if cuda and self._workspace:
            names["bytes"] = (self._workspace,)
            take.append("space = empty(bytes, (1,), byte)")
        addresses = ["0"] * before + [f"a{k}.data_ptr()" for k in range(count)]
        addresses += [f"r{k}.data_ptr()" for k in range(len(self._results))]
        workspace = "space.data_ptr()" if cuda and self._workspace else "None"
        chosen = f"options[stream({self._device.index})]" if cuda else "options[threads()]"
        lines = [f"def run({arguments}):", *(f"    {line}" for line in take),
                 f"    error = start(handle, pack({', '.join(addresses)}), {len(addresses)}, {workspace}, {chosen})",
                 "    if error:", "        check(error)",
                 "    return (" + "".join(f"r{k}, " for k in range(len(self._results))) + ")"]
        exec(_compiled("\n".join(lines)), names)  # noqa: S102, of our own words
        return self._on_device(names["run"]) if cuda else names["run"]

    def _on_device(self, run):
        """Memory is taken on the current device."""
        index, current, other = self._device.index, torch._C._cuda_getDevice, torch.cuda.device

        def guarded(*tensors):
            if current() == index:
                return run(*tensors)
            with other(index):
                return run(*tensors)

        return guarded
