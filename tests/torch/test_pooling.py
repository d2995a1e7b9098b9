"""Pooling compiled with Twinloom beside eager: windows with NaNs, equals and padding, types, strides, gradients."""
import pytest
import torch
import twinloom

F = torch.nn.functional


def drawn(dtype, *sizes):
    """Few different numbers, so that maxima are often equal."""
    torch.manual_seed(0)
    return torch.randint(-3, 4, sizes).to(dtype)


# name -> what is called with a [2, 3, 9, 11] tensor
AVERAGES = {
    "whole windows": lambda x: F.avg_pool2d(x, 2),
    "overlapping": lambda x: F.avg_pool2d(x, 3, 1, 1),
    "padded, not counted": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "partial": lambda x: F.avg_pool2d(x, (2, 3), (3, 4), ceil_mode=True),
    "partial and padded": lambda x: F.avg_pool2d(x, (3, 2), 2, (1, 0), ceil_mode=True),
    "partial, padding not counted": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    "adaptive, in equal parts": lambda x: F.adaptive_avg_pool2d(x, (3, 11)),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, (4, 14)),
    "divided by a number": lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=5),
}
MAXIMA = {
    "whole windows": lambda x: F.max_pool2d(x, 2, return_indices=True),
    "overlapping": lambda x: F.max_pool2d(x, 3, 1, 1, return_indices=True),
    "partial": lambda x: F.max_pool2d(x, (2, 3), (3, 4), ceil_mode=True, return_indices=True),
    "padded": lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
    "partial and padded": lambda x: F.max_pool2d(x, (3, 2), 2, (1, 0), ceil_mode=True, return_indices=True),
    "dilated": lambda x: F.max_pool2d(x, 3, 2, 1, dilation=(1, 2), return_indices=True),
}
LAYOUTS = {"contiguous": torch.contiguous_format, "channels last": torch.channels_last}
FLOATS = (torch.float32, torch.bfloat16, torch.float64)


def kernels_and_results(function, x):
    found = []
    twinloom._backend._listeners.append(found)
    try:
        results = torch.compile(lambda x: function(x), backend=twinloom.backend, dynamic=False)(x)
    finally:
        twinloom._backend._listeners.remove(found)
    torch._dynamo.reset()
    assert not [each.operator for one in found for each in one.left]
    return results


def gradient_of(function, x):
    x = x.detach().requires_grad_()
    result = function(x)
    result = result if isinstance(result, torch.Tensor) else result[0]
    return torch.autograd.grad(result, x, torch.arange(result.numel()).remainder(7).to(x.dtype).view(result.shape))[0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", (*FLOATS, torch.int64), ids=str)
@pytest.mark.parametrize("name", AVERAGES)
def test_averages(name, dtype, layout):
    if name.startswith("adaptive") and not dtype.is_floating_point:
        pytest.skip("PyTorch takes no integers")
    x = drawn(dtype, 2, 3, 9, 11).to(memory_format=LAYOUTS[layout])
    torch.testing.assert_close(kernels_and_results(AVERAGES[name], x), AVERAGES[name](x), check_stride=False)


@pytest.mark.parametrize("special", (None, float("nan"), float("-inf")), ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", (*FLOATS, torch.int32, torch.int8), ids=str)
@pytest.mark.parametrize("name", MAXIMA)
def test_maxima_and_their_places(name, dtype, layout, special):
    if special is not None and not dtype.is_floating_point:
        pytest.skip("integers have no such value")
    x = drawn(dtype, 2, 3, 9, 11).to(memory_format=LAYOUTS[layout])
    if special is not None:
        x[0, 0, ::4, ::4] = special  # at most one NaN in a window
        x[1, 1] = float("-inf")
    torch.testing.assert_close(kernels_and_results(MAXIMA[name], x), MAXIMA[name](x), rtol=0, atol=0, equal_nan=True,
                               check_stride=False)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name,function", [*AVERAGES.items(), *MAXIMA.items()])
def test_gradients(name, function, dtype):
    x = drawn(dtype, 2, 3, 9, 11)
    run = torch.compile(lambda x: function(x), backend=twinloom.backend, dynamic=False)
    wanted = gradient_of(function, x.double()).to(dtype)  # eager adds 16-bit gradients in their type
    torch.testing.assert_close(gradient_of(run, x), wanted)
    torch._dynamo.reset()


def test_sizes_that_only_a_run_knows():
    def function(x):
        return F.avg_pool2d(x, 3, 2, 1), F.max_pool2d(x, 3, 2, 1, ceil_mode=True)

    run = torch.compile(function, backend=twinloom.backend, dynamic=True)
    for rows, columns in ((9, 12), (6, 18), (10, 31)):
        x = drawn(torch.float32, 2, 3, rows, columns)
        torch.testing.assert_close(run(x), function(x))
    torch._dynamo.reset()
