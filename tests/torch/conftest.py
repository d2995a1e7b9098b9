"""What the tests of several files ask for."""
import pytest
import torch
from twinloom import _known


@pytest.fixture(autouse=True)
def anew(monkeypatch):
    """Graphs are compiled anew, whatever earlier tests have left on disk."""
    monkeypatch.setattr(_known, "is_on", False)


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    """Where all tensors of a test lie."""
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    torch._dynamo.reset()
    torch.set_default_device(request.param)
    torch.manual_seed(0)
    yield request.param
    torch.set_default_device(None)
