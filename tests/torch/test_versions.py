"""What differs between versions of PyTorch: what one lacks is off, and the log says so."""
import importlib.util
import inspect
import logging
import sys

import pytest
import torch
import twinloom
from twinloom import _known, _pytorch

RELEASE = tuple(int(one) for one in torch.__version__.split(".")[:2])


@pytest.fixture
def switched_on(monkeypatch, tmp_path):
    """Graphs are kept, in a folder of the test's own."""
    monkeypatch.setenv("TWINLOOM_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(_known, "is_on", True)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    _known.is_possible.cache_clear()
    yield tmp_path / "torch"
    _known.is_possible.cache_clear()


def test_records_are_kept_from_2_10_on():
    assert (_pytorch.why_no_records() is None) == (RELEASE >= (2, 10)), _pytorch.why_no_records()


def test_without_records_graphs_are_compiled_anew_and_the_log_says_why_once(switched_on, monkeypatch, caplog):
    monkeypatch.setattr(_pytorch, "RECORD_SETTINGS", {"no_such_setting": True})
    x = torch.randn(4, requires_grad=True)
    with caplog.at_level(logging.INFO, "twinloom"):
        for scale in (2, 3):
            result = torch.compile(lambda x, scale=scale: x.sin() * scale, backend=twinloom.backend)(x)
            torch.testing.assert_close(result, x.sin() * scale)
            result.sum().backward()
    assert caplog.messages == [f"graph cache: off with PyTorch {torch.__version__}: torch._functorch.config has no no_such_setting"]
    assert not switched_on.exists() and not torch._dynamo.utils.counters["twinloom"]


@pytest.mark.skipif(_pytorch.why_no_records() is not None, reason="this PyTorch keeps no records")
@pytest.mark.parametrize("load, words", [
    (lambda mod, args, aot_config, local, remote: None, "AOTAutograd looks for graphs with aot_config, args, mod"),
    (lambda mod, args, aot_config, compiler_config_extra, local, remote, also: None, "looks for graphs with also, aot_config"),
    (lambda mod, args, aot_config, compiler_config_extra, local, remote, act_input_paths=(): None, None),
    (lambda mod, args, aot_config, cudagraphs, boxed_forward_device_index, local, remote: None, None)])
def test_a_question_that_is_not_known_is_not_answered(load, words):
    why = _pytorch.why_no_records(inspect.signature(load))
    assert why is None if words is None else words in why


def test_modules_that_are_elsewhere_leave_the_package_without_records(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch._inductor.output_code", None)
    found = importlib.util.spec_from_file_location("later", _pytorch.__file__)
    later = importlib.util.module_from_spec(found)
    found.loader.exec_module(later)
    assert later.OutputCode is object and "output_code" in later.why_no_records()
