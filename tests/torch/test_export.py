"""twinloom.export: the package that it writes, run by the C API as C++ would, beside the model."""
import ctypes

import pytest
import torch
import twinloom
from twinloom import _library
from twinloom._frame import Frame, describe
from twinloom._library import check

F = torch.nn.functional


class PackageOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("no_compile", ctypes.c_int32), ("build_threads", ctypes.c_int32)]


class Package:
    """A loaded package, which may compile nothing."""

    def __init__(self, path):
        self.library, self.handle = _library.library(), _library.Handle("twinloom_executable_free")
        self.library.twinloom_load_package.restype = ctypes.c_void_p
        options = PackageOptions(size=ctypes.sizeof(PackageOptions), no_compile=1)
        check(self.library.twinloom_load_package(str(path).encode(), _library.device(torch.device("cpu")).pointer,
                                                 ctypes.byref(options), ctypes.byref(self.handle.pointer)))

    def __call__(self, inputs, results):
        frame = Frame([one.dim() for one in inputs], 0, [one.dim() for one in results])
        for place, one in zip(frame.tensors + frame.outputs, inputs + results, strict=True):
            describe(place, one.dtype, one.device, one.shape, one.stride())
            place[0].data = one.data_ptr()
        check(self.library.twinloom_run(self.handle.pointer, *frame.words))
        return results


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mixed, self.out = torch.nn.Linear(32, 96), torch.nn.Linear(32, 32)
        self.register_buffer("scale", torch.tensor([0.5]), persistent=False)

    def forward(self, x):
        q, k, v = (one.unflatten(-1, (4, 8)).transpose(1, 2) for one in self.mixed(x * self.scale).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2)), y.mean()


def mlp():
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.LayerNorm(32), torch.nn.GELU(), torch.nn.Linear(32, 8)).eval()


@pytest.mark.parametrize("model, shape", [(mlp(), (4, 16)), (Attention().eval(), (2, 6, 32)),
                                          (lambda x: (x.t() * 2 + torch.arange(3.0), x.softmax(0)), (3, 5))])
def test_a_package_gives_what_the_model_gives(model, shape, tmp_path):
    x = torch.randn(shape)
    twinloom.export(model, x, path=tmp_path / "model.twinloom")
    with torch.no_grad():
        wanted = model(x)
    wanted = [wanted] if isinstance(wanted, torch.Tensor) else list(wanted)
    given = Package(tmp_path / "model.twinloom")([x], [torch.empty(one.shape) for one in wanted])
    for one, other in zip(given, wanted):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_sizes_may_change(tmp_path):
    model, path = mlp(), tmp_path / "model.twinloom"
    twinloom.export(model, torch.randn(4, 16), path=path, dynamic_shapes=({0: torch.export.Dim("rows")},))
    package = Package(path)
    for rows in (4, 2, 31):
        x = torch.randn(rows, 16)
        with torch.no_grad():
            torch.testing.assert_close(package([x], [torch.empty(rows, 8)])[0], model(x), rtol=1e-4, atol=1e-5)


def test_what_is_not_known_is_an_error_that_names_all_of_it(tmp_path):
    def function(x, w):
        y = torch.linalg.svdvals(x).sum()
        return torch.linalg.eigvalsh(w) + y

    line = function.__code__.co_firstlineno
    with pytest.raises(twinloom.Error) as error:
        twinloom.export(function, torch.randn(3, 8), torch.randn(2, 3, 3), path=tmp_path / "model.twinloom")
    for words in ("2 operators cannot be exported", "aten._linalg_svd", f"{__file__}:{line + 1}", "aten._linalg_eigh",
                  f"{__file__}:{line + 2}"):
        assert words in str(error.value)
    assert not (tmp_path / "model.twinloom").exists()


def test_a_model_that_writes_its_buffers_is_an_error(tmp_path):
    with pytest.raises(twinloom.Error, match="the model writes .*running_mean"):
        twinloom.export(torch.nn.BatchNorm1d(4).train(), torch.randn(3, 4), path=tmp_path / "model.twinloom")
