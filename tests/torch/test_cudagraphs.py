"""Option `cudagraphs`: the same results, gradients and buffers; on a GPU few launches of the host."""
import pytest
import torch
import twinloom

pytestmark = pytest.mark.usefixtures("device")


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution, self.norm = torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.BatchNorm2d(4)
        self.head = torch.nn.Linear(4, 5)

    def forward(self, x):
        x = torch.relu(self.norm(self.convolution(x))).mean((2, 3))
        return self.head(x).square().sum()


def pair():
    eager, ours = Small(), Small()
    ours.load_state_dict(eager.state_dict())
    return eager, ours, torch.compile(ours, backend=twinloom.backend, options={"cudagraphs": True})


def test_training_steps_are_those_of_eager():
    eager, ours, run = pair()
    for _ in range(5):
        x = torch.randn(2, 3, 8, 8)
        for model, call in ((eager, eager), (ours, run)):
            for one in model.parameters():
                one.grad = None
            call(x).backward()
        for one, other in zip(ours.parameters(), eager.parameters(), strict=True):
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-3)
        for one, other in zip(ours.buffers(), eager.buffers(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dynamic", [False, True])
@torch.no_grad()
def test_inference_is_that_of_eager(dynamic):
    eager, _, run = pair()
    for size in (2, 2, 2, 2, 3, 3, 3, 3) if dynamic else (2,) * 5:
        x = torch.randn(size, 3, 8, 8)
        torch.testing.assert_close(run(x), eager(x), rtol=1e-3, atol=1e-3)


@torch.no_grad()
def test_steps_are_played_back(device):
    if device != "cuda":
        pytest.skip("counts launches on a GPU")
    _, _, run = pair()
    x = torch.randn(2, 3, 8, 8)
    for _ in range(4):
        run(x)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as found:
        run(x)
        torch.cuda.synchronize()
    assert any("GraphLaunch" in one.key for one in found.key_averages())
