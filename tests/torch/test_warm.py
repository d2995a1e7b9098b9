"""A second process finds what the first has compiled: nothing is traced, cut or planned again, and it gives the same bits."""
import json
import os
import pathlib
import subprocess
import sys

import pytest
import torch
import twinloom
from twinloom import _backend, _folder, _known, _pytorch
from warm_cases import CASES

pytestmark = pytest.mark.skipif(_pytorch.why_no_records() is not None, reason="this PyTorch has not what it takes")
UNKEPT = {"aliased", "of_functions"}
NAMES = [one.__name__ for one in CASES]


def ran(folder, *settings, **environment):
    """What a process says of its cases."""
    ended = subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("warm_cases.py")), *settings], text=True,
                           capture_output=True, env={**os.environ, "TWINLOOM_CACHE_DIR": str(folder), **environment})
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


def made_folder(parent):
    folder = parent / "cache"
    folder.mkdir(mode=0o700)
    return folder


def counted(found):
    return {name: one["counted"] for name, one in found.items()}


def values(found):
    return {name: one["value"] for name, one in found.items()}


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """The folder, and what a first process, a second one, and one without any cache say."""
    folder = made_folder(tmp_path_factory.mktemp("warm"))
    return folder, ran(folder), ran(folder, "known=1"), ran(folder, "cache=")


@pytest.mark.parametrize("name", NAMES)
def test_a_second_process_compiles_nothing_and_gives_the_same_bits(processes, name):
    _, first, second, without = processes
    assert first[name]["value"] == second[name]["value"] == without[name]["value"]
    if name in UNKEPT:
        assert "graph_cache_hit" not in second[name]["counted"] and "graph_cache_stored" not in first[name]["counted"]
    else:
        assert first[name]["counted"] == {"graph_cache_miss": 1, "graph_cache_stored": 1}
        assert second[name]["counted"] == {"graph_cache_hit": 1}
    assert without[name]["counted"] == {}


def test_other_sizes_are_of_the_same_graph(processes):
    assert counted(ran(processes[0], "known=1", "only=symbolic", "size=9"))["symbolic"] == {"graph_cache_hit": 1}


@pytest.mark.parametrize("name, setting", [("edited", "constant=2.5"), ("edited", "operator=cos"), ("edited", "mode=strict"),
                                           ("in_types", "autocast=float16")])
def test_what_differs_is_compiled_anew(processes, name, setting):
    assert "graph_cache_hit" not in counted(ran(processes[0], f"only={name}", setting))[name]


def test_a_backward_pass_that_keeps_its_graph_is_known_too(processes):
    folder = processes[0]
    second = ran(folder, "known=1", "only=donated", "keep=1")
    assert values(second) == values(ran(folder, "cache=", "only=donated", "keep=1"))
    assert counted(second)["donated"] == {"graph_cache_hit": 1}


def damaged(content):
    return [content[:-7], content[:40], b"", content[:200] + bytes([content[200] ^ 1]) + content[201:]]


def test_a_damaged_file_is_compiled_anew_and_replaced(tmp_path):
    folder = made_folder(tmp_path)
    first = ran(folder, "only=dropped")
    file, = (folder / "torch").iterdir()
    for content in damaged(file.read_bytes()):
        file.write_bytes(content)
        again = ran(folder, "only=dropped")
        assert values(again) == values(first)
        assert counted(again)["dropped"] == {"graph_cache_miss": 1, "graph_cache_stored": 1}
    assert counted(ran(folder, "known=1", "only=dropped"))["dropped"] == {"graph_cache_hit": 1}


def test_a_file_of_something_else_is_compiled_anew(tmp_path):
    folder = made_folder(tmp_path)
    first = ran(folder, "only=written")
    file, = (folder / "torch").iterdir()
    key, name = file.name.split("-")
    assert _stored_in(folder, key, name, b"\x80\x04\x8c\x03abc\x94.")  # a pickle of a text
    again = ran(folder, "only=written")
    assert values(again) == values(first) and "graph_cache_hit" not in counted(again)["written"]


def _stored_in(folder, *words):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TWINLOOM_CACHE_DIR", str(folder))
        return _folder.store(*words)


def test_nothing_is_kept_where_nothing_may_be(tmp_path):
    folder = made_folder(tmp_path)
    assert counted(ran(folder, "only=written", "cache="))["written"] == {}
    assert counted(ran(folder, "only=written", TWINLOOM_CACHE_BYTES="0"))["written"] == {}
    assert not list(folder.iterdir())
    folder.chmod(0o777)  # others may change it
    assert counted(ran(folder, "only=written"))["written"] == {}


def test_the_least_recently_used_go(tmp_path, monkeypatch):
    monkeypatch.setenv("TWINLOOM_CACHE_DIR", str(made_folder(tmp_path)))
    monkeypatch.setenv("TWINLOOM_CACHE_BYTES", "1000")
    for number, time in enumerate((3, 1, 2)):
        assert _folder.store(f"key{number}", "a", bytes(250))
        os.utime(_folder.place() / f"key{number}-a", (time, time))
    assert _folder.store("key3", "a", bytes(250)) and not _folder.store("key4", "a", bytes(2000))
    assert [bool(list(_folder.found(f"key{number}"))) for number in range(5)] == [True, False, True, True, False]


def switched_on(monkeypatch, tmp_path):
    monkeypatch.setenv("TWINLOOM_CACHE_DIR", str(made_folder(tmp_path)))
    monkeypatch.setattr(_known, "is_on", True)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()


def test_a_backward_pass_that_is_refused_leaves_the_forward_pass(monkeypatch, tmp_path):
    switched_on(monkeypatch, tmp_path)
    known, compile_graph = [], _backend.compile_graph

    def refusing(gm, inputs, *, settings, is_backward=False):
        known.append(is_backward)
        if is_backward:
            raise twinloom.Error("no such derivative")
        return compile_graph(gm, inputs, settings=settings)

    monkeypatch.setattr(_backend, "compile_graph", refusing)
    x = torch.randn(4, requires_grad=True)
    result = torch.compile(lambda x: x.sin() * 3, backend=twinloom.backend)(x)
    torch.testing.assert_close(result, x.sin() * 3)
    assert known == [False, True, False]
    with pytest.raises(twinloom.Error, match="no such derivative"):
        result.sum().backward()


def test_explain_looks_at_the_graph_itself(monkeypatch, tmp_path):
    switched_on(monkeypatch, tmp_path)
    x = torch.randn(4, 4)

    def function(x):
        return (x @ x).softmax(-1)

    torch.compile(function, backend=twinloom.backend)(x)
    torch._dynamo.reset()
    torch.compile(function, backend=twinloom.backend)(x)
    assert torch._dynamo.utils.counters["twinloom"] == {"graph_cache_miss": 1, "graph_cache_stored": 1, "graph_cache_hit": 1}
    found = twinloom.explain(function, x)
    assert found.subgraphs == 1 and [one.operator for one in found.left] == ["aten.mm.default"]
    assert any(__file__ in place for kernel in found.kernels for place in kernel.places)


PRECOMPILED = """
import json, torch, twinloom
torch._dynamo.config.caching_precompile = True
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())
run = torch.compile(model, backend=twinloom.backend, options={"guard_filter_fn": twinloom.storable_guards})
result = run(torch.randn(2, 3, 8, 8)).square().sum()
result.backward()
frames = torch._dynamo.utils.counters["frames"]["total"]
torch.compiler.save_cache_artifacts()
print(json.dumps([frames, result.item(), model[0].weight.grad.sum().item(), model[1].running_mean.tolist()]))
"""


def test_frames_are_kept_too_where_pytorch_is_told_so(tmp_path):
    if not hasattr(torch._dynamo.config, "caching_precompile"):
        pytest.skip("this PyTorch keeps no frames")
    environment = {**os.environ, "TWINLOOM_CACHE_DIR": str(made_folder(tmp_path)), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "torch")}
    (traced, *first), (again, *second) = [json.loads(subprocess.run([sys.executable, "-c", PRECOMPILED], env=environment, text=True,
                                                                    capture_output=True, check=True).stdout.splitlines()[-1])
                                          for _ in range(2)]
    assert (traced, again) == (1, 0) and first == second
