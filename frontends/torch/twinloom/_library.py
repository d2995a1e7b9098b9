"""The C API (include/twinloom/twinloom.h) by ctypes: structs, checked calls, handles that free what they hold."""
import ctypes
import functools
import os
import pathlib

import torch

NONE, TENSOR, SIZE, MANAGED = 0, 1, 2, 3  # twinloom_kind
OPERAND_NONE, OPERAND_VALUE, OPERAND_TRUTH, OPERAND_INTEGER, OPERAND_REAL = 0, 1, 2, 3, 4  # twinloom_operand_kind
OPERAND_TEXT, OPERAND_DTYPE, OPERAND_SIZE, OPERAND_LIST = 5, 6, 7, 8
MODES = {"fused": 0, "strict": 1, "fast": 2}  # twinloom_mode
CPU, CUDA = 1, 2  # DLDeviceType


class Error(RuntimeError):
    """What the library refuses, in its words."""


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Place(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("number", ctypes.c_int32)]


class Tensor(ctypes.Structure):  # DLTensor
    _fields_ = [("data", ctypes.c_void_p), ("device", Place), ("ndim", ctypes.c_int32), ("dtype", DataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class _ValueOf(ctypes.Union):
    _fields_ = [("tensor", ctypes.POINTER(Tensor)), ("size", ctypes.c_int64), ("managed", ctypes.c_void_p)]


class Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("of", _ValueOf)]


class Operand(ctypes.Structure):
    pass


class _List(ctypes.Structure):
    _fields_ = [("operands", ctypes.POINTER(Operand)), ("count", ctypes.c_size_t)]


class _OperandOf(ctypes.Union):
    _fields_ = [("integer", ctypes.c_int64), ("real", ctypes.c_double), ("text", ctypes.c_char_p), ("dtype", DataType),
                ("list", _List)]


Operand._fields_ = [("kind", ctypes.c_int32), ("keyword", ctypes.c_char_p), ("of", _OperandOf)]


class Port(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("kind", ctypes.c_int32), ("dtype", DataType),
                ("ndim", ctypes.c_int32), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("shape_symbols", ctypes.POINTER(ctypes.c_char_p))]


class DeviceOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("isa", ctypes.c_char_p), ("no_cache", ctypes.c_int32)]


class CompileOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("mode", ctypes.c_int32), ("relaxations", ctypes.c_char_p),
                ("build_threads", ctypes.c_int32), ("tuning_tries", ctypes.c_int32), ("schedules", ctypes.c_char_p),
                ("progress", ctypes.c_void_p), ("progress_context", ctypes.c_void_p), ("donated", ctypes.c_char_p),
                ("row_major_results", ctypes.c_int32)]


class ExportOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("targets", ctypes.c_char_p), ("arguments", ctypes.POINTER(Value)),
                ("argument_count", ctypes.c_size_t), ("of_class", ctypes.c_int32)]


class RunOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int32), ("seed", ctypes.c_uint64),
                ("offset", ctypes.c_uint64), ("stream", ctypes.c_void_p), ("parallel_for", ctypes.c_void_p),
                ("parallel_context", ctypes.c_void_p), ("allocate", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("allocate_context", ctypes.c_void_p), ("keep_donated", ctypes.c_int32)]


INTEGER, UNSIGNED, FLOAT, BFLOAT, BOOL, FLOAT8_E4M3FN, FLOAT8_E5M2 = 0, 1, 2, 4, 6, 10, 12  # DLDataTypeCode
DTYPES = {
    torch.bool: (BOOL, 8), torch.uint8: (UNSIGNED, 8), torch.int8: (INTEGER, 8), torch.int16: (INTEGER, 16),
    torch.int32: (INTEGER, 32), torch.int64: (INTEGER, 64), torch.float16: (FLOAT, 16), torch.float32: (FLOAT, 32),
    torch.float64: (FLOAT, 64), torch.bfloat16: (BFLOAT, 16), torch.float8_e4m3fn: (FLOAT8_E4M3FN, 8),
    torch.float8_e5m2: (FLOAT8_E5M2, 8),
}


def data_type(dtype):
    """Error where Twinloom has no such type."""
    if dtype not in DTYPES:
        raise Error(f"tensors of {dtype} are not known")
    return DataType(*DTYPES[dtype], 1)


def _candidates():
    if "TWINLOOM_LIBRARY" in os.environ:
        yield os.environ["TWINLOOM_LIBRARY"]
        return
    yield str(pathlib.Path(__file__).parent / "lib" / "libtwinloom.so.0")
    yield "libtwinloom.so.0"


@functools.cache
def library():
    """The loaded library; Error that says where it was looked for."""
    # Its threads of OpenMP read this when they are loaded: by default one that waits spins for milliseconds, where it
    # may hold the core that others need (tools/twinloom/main.cpp has figures).
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "2000")
    failures = []
    for name in _candidates():
        try:
            loaded = ctypes.CDLL(name)
            break
        except OSError as error:
            failures.append(str(error))
    else:
        raise Error("libtwinloom.so.0 is not found (TWINLOOM_LIBRARY may name it): " + "; ".join(failures))
    for name in _TEXTS:
        getattr(loaded, name).restype = ctypes.c_char_p
    for name in _CHECKED:
        getattr(loaded, name).restype = ctypes.c_void_p
    loaded.twinloom_bound_workspace.restype = ctypes.c_size_t
    # Addresses as bytes, which ctypes passes as they are.
    loaded.twinloom_bound_start.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
    return loaded


_TEXTS = ["twinloom_version", "twinloom_error_message"]
_CHECKED = ["twinloom_builder_new", "twinloom_builder_input", "twinloom_builder_size", "twinloom_builder_call",
            "twinloom_builder_port", "twinloom_builder_finish", "twinloom_graph_text", "twinloom_graph_read", "twinloom_device_open",
            "twinloom_builder_constant", "twinloom_builder_origin", "twinloom_compile", "twinloom_run",
            "twinloom_explain", "twinloom_export_package", "twinloom_reuses", "twinloom_bind", "twinloom_bound_start"]


def check(error):
    """Raises what a call gave back, unless that is nothing."""
    if not error:
        return
    lib, handle = library(), ctypes.c_void_p(error)
    words = lib.twinloom_error_message(handle).decode()
    lib.twinloom_error_free(handle)
    raise Error(words)


def compile_options(settings, donated=()):
    """`donated`: names of parameters whose memory results may take."""
    return CompileOptions(size=ctypes.sizeof(CompileOptions), mode=MODES[settings.mode],
                          relaxations=settings.relax.encode() if settings.relax else None,
                          donated=",".join(donated).encode() if donated else None, row_major_results=1)


def text_of(pointer):
    """A text that the library wrote through a char**, and its memory given back."""
    words = ctypes.cast(pointer, ctypes.c_char_p).value.decode()
    library().twinloom_text_free(pointer)
    return words


class Handle:
    """An object of the library, given back with this."""

    def __init__(self, free):
        self.pointer = ctypes.c_void_p()
        self._free = getattr(library(), free)

    def __del__(self):
        if self.pointer:
            self._free(self.pointer)


def path():
    """Of the library's file."""
    library()
    with open("/proc/self/maps") as maps:
        return next(line.split(maxsplit=5)[5].rstrip() for line in maps if "libtwinloom.so" in line)


def version():
    return library().twinloom_version().decode()


@functools.cache
def device(where, cache=True):
    """Of a torch.device with a number, or the CPU's; Error where it cannot be opened. `cache`: what is compiled is kept on
    disk."""
    name = f"cuda:{where.index}" if where.type == "cuda" else "cpu"
    handle = Handle("twinloom_device_free")
    options = DeviceOptions(size=ctypes.sizeof(DeviceOptions), no_cache=not cache)
    check(library().twinloom_device_open(name.encode(), ctypes.byref(options), ctypes.byref(handle.pointer)))
    return handle
