#!/usr/bin/env python3
"""Writes the graphs of graphs.txt as PyTorch prints them, each with one real run on a CPU.

usage: capture.py [--folder printed] [NAME...]

NAME.fw.fx and NAME.bw.fx hold the forward and backward graph of a function below in core ATen operators. NAME.fw.npz
holds the inputs in0, in1, ... and the outputs out0, out1, ... of that graph; a suffix says what is no plain array:
_bf16 (bits as uint16), _scalar (a number), _none, _strides (in elements). Needs PyTorch; tests need only the files.
"""
import argparse
import pathlib

import numpy
import torch
import torch.nn.functional as F
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd


def sincos(x):
    return torch.sin(torch.cos(x))


def softmax_dim0(x):
    return torch.softmax(x, 0)


def layernorm(x, weight, bias):
    return F.layer_norm(x, weight.shape, weight, bias)


def cross_entropy(scores, target):
    return F.cross_entropy(scores, target)


def nhwc_scale_bias_relu(x, scale, bias):
    y = torch.relu(x * scale + bias)
    return y.half(), torch.relu(x * scale + bias) > 0


def cumsum_mask(x, mask):
    return torch.where(mask, torch.cumsum(x, -1), 0.0)


def quantize_int8(x):
    step = x.abs().amax(-1, keepdim=True).clamp(1e-6) / 127
    quantized = torch.clamp(torch.round(x / step), -128, 127).to(torch.int8)
    return quantized, step, quantized.float() * step


def var_mean_std(x):
    return x.var(1), x.std(0, correction=0), x.mean(), x.amax((0, 2)), x.argmax(2)


def pad_slice_cat_flip(x, y):
    return torch.cos(torch.cat([F.pad(x, (1, 2), value=0.5)[:, ::2], y.flip(1)[:, 1:]], 1))


def scatter_add_bincount(places, weights):
    return torch.zeros(11).scatter_add(0, places, weights)


def adamw_step(parameter, gradient, first, second):
    first = first * 0.9 + gradient * 0.1
    second = second * 0.99 + gradient * gradient * 0.01
    update = (first / (1 - 0.9**2)) / ((second / (1 - 0.99**2)).sqrt() + 1e-8)
    return parameter * (1 - 1e-3 * 0.02) - 1e-3 * update, first, second


def int_ops(x, y):
    return (x // y, x % y, x & y, x << 2, (x > y).sum(), torch.div(x, y, rounding_mode="trunc"), x.to(torch.uint8),
            x.float() / y)


def special_functions(x):
    positive = x.abs() + 0.1
    return (torch.erf(x), torch.lgamma(positive), torch.digamma(positive), torch.expm1(x), torch.log1p(x.abs()),
            torch.sinh(x), torch.asinh(x), torch.atan2(x, x.flip(0)), x.abs()**1.7, torch.hypot(x, x + 1),
            torch.fmod(x, 0.7), torch.remainder(x, -0.7), torch.isnan(x / 0), torch.erfinv(torch.tanh(x) * 0.9))


def dyn_softmax_stack(x):
    turned = x.t().contiguous().view(x.shape[0], -1)
    return torch.cat([torch.softmax(x, 0), turned * x.shape[1]]).sum(1)


def bf16_norm_gelu(x, weight):
    y = x.float()
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + torch.finfo(torch.float32).eps) * weight
    return F.gelu(y.to(torch.bfloat16)) + x.float().mean(-1, keepdim=True).to(torch.bfloat16)


def convolutions(x, plain, grouped, transposed, bias):
    y = F.conv2d(x, plain, bias, stride=(2, 1), padding=(1, 2), dilation=(1, 2))
    y = torch.tanh(F.conv2d(y, grouped, groups=3, padding="valid"))
    return F.conv_transpose2d(y, transposed, stride=2, padding=1, output_padding=(1, 0), groups=2)


def linear_layers(x, first, offset, second):
    return F.gelu(torch.addmm(offset, x, first)) @ second


def normal(*sizes):
    return torch.randn(*sizes)


def trained(*sizes):
    return torch.randn(*sizes, requires_grad=True)


def whole(low, high, *sizes):
    return torch.randint(low, high, sizes)


# The inputs of each; those that require a gradient give a backward graph too. Sizes are no multiples of a vector.
CASES = {
    sincos: lambda: [normal(49, 51)],
    softmax_dim0: lambda: [normal(37, 45)],
    layernorm: lambda: [trained(3, 11, 100), trained(100), trained(100)],
    cross_entropy: lambda: [trained(24, 205), whole(0, 205, 24)],
    nhwc_scale_bias_relu: lambda: [
        normal(3, 32, 5, 5).to(memory_format=torch.channels_last), normal(1, 32, 1, 1), normal(1, 32, 1, 1)],
    cumsum_mask: lambda: [normal(6, 90), normal(6, 90) > 0],
    quantize_int8: lambda: [normal(21, 96)],
    var_mean_std: lambda: [normal(4, 19, 53)],
    pad_slice_cat_flip: lambda: [normal(7, 28), normal(7, 19)],
    scatter_add_bincount: lambda: [whole(0, 11, 170), normal(170)],
    adamw_step: lambda: [normal(30, 21), normal(30, 21), normal(30, 21), normal(30, 21).abs()],
    int_ops: lambda: [whole(-50, 50, 3, 37), whole(1, 9, 3, 37)],
    special_functions: lambda: [normal(301) * 3],
    dyn_softmax_stack: lambda: [normal(12, 7)],
    convolutions: lambda: [trained(2, 5, 11, 9), trained(6, 5, 3, 3), trained(6, 2, 2, 2), trained(6, 2, 3, 2), trained(6)],
    linear_layers: lambda: [trained(7, 19), trained(19, 33), trained(33), trained(33, 5)],
    bf16_norm_gelu: lambda: [normal(6, 80).to(torch.bfloat16), normal(80).to(torch.bfloat16)],
}


def entries(prefix, values):
    """The arrays of an .npz for the values of a graph's inputs or results."""
    arrays = {}
    for at, value in enumerate(values):
        name = f"{prefix}{at}"
        if value is None:
            arrays[name + "_none"] = numpy.zeros(0)
        elif not isinstance(value, torch.Tensor):
            arrays[name + "_scalar"] = numpy.asarray(value)
        else:
            value = value.detach()
            if not value.is_contiguous():
                arrays[name + "_strides"] = numpy.asarray(value.stride())
                value = value.contiguous()
            if value.dtype == torch.bfloat16:
                arrays[name + "_bf16"] = value.view(torch.int16).numpy().view(numpy.uint16)
            else:
                arrays[name] = value.numpy()
    return arrays


def writer(file):
    """A compiler of AOTAutograd's graphs that writes the graph, and the values of its first run."""
    def compile_graph(module, _):
        text = module.print_readable(print_output=False, include_stride=False) + "\n"
        for folder in (pathlib.Path(__file__).parent, pathlib.Path(torch.__file__).parent.parent):
            text = text.replace(f"{folder}/", "")
        file.with_suffix(".fx").write_text(text)

        def run(arguments):
            given = [v.clone(memory_format=torch.preserve_format) if isinstance(v, torch.Tensor) else v for v in arguments]
            results = module(*arguments)
            numpy.savez_compressed(file.with_suffix(".npz"), **entries("in", given), **entries("out", results))
            return results

        run._boxed_call = True
        return run
    return compile_graph


def capture(function, folder):
    torch.manual_seed(7)
    torch._dynamo.reset()
    inputs = CASES[function]()
    backend = aot_autograd(fw_compiler=writer(folder / f"{function.__name__}.fw.x"),
                           bw_compiler=writer(folder / f"{function.__name__}.bw.x"),
                           decompositions=core_aten_decompositions())
    results = torch.compile(function, backend=backend, dynamic=function.__name__.startswith("dyn_"))(*inputs)
    if any(value.requires_grad for value in inputs):
        results.backward(torch.randn_like(results))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(__file__).parent / "printed")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    for function in CASES:
        if not options.names or function.__name__ in options.names:
            capture(function, options.folder)


if __name__ == "__main__":
    main()
