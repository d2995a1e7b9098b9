"""Tensors as the C API describes them: the arguments and results of a call."""
import ctypes

from . import _library
from ._library import Value


class Frame:
    """Arguments, sizes first, and results: of these ranks, with nothing behind them for which nothing is computed."""

    def __init__(self, ranks, symbol_count, result_ranks, nothing=0):
        result_count = len(result_ranks) + nothing
        self.arguments = (Value * (len(ranks) + symbol_count))()
        self.results = (Value * max(result_count, 1))()
        self.tensors = [self._tensor(self.arguments, symbol_count + k, rank) for k, rank in enumerate(ranks)]
        self.outputs = [self._tensor(self.results, k, rank) for k, rank in enumerate(result_ranks)]
        for k in range(symbol_count):
            self.arguments[k].kind = _library.SIZE
        self.options = _library.RunOptions(size=ctypes.sizeof(_library.RunOptions))
        self.given = self.arguments, ctypes.c_size_t(len(self.arguments))
        self.taken = self.results, ctypes.c_size_t(result_count)
        self.words = (*self.given, ctypes.pointer(self.options), *self.taken)

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
