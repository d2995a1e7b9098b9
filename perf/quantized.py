#!/usr/bin/env python3
"""Networks that ONNX Runtime's tools quantized in each of their ways, beside ONNX Runtime: times and results.

MobileNetV2 and a small BERT, with weights drawn from a seed, are exported by PyTorch and quantized: with operators between
QuantizeLinear and DequantizeLinear (qdq), or by operators of integers (qop), of activations of u8 and i8, weights of u8 and i8, a
scale for all of them or one for each channel (each); and dynamically. A line says ours and ONNX Runtime's median in ms, its over ours, and
the largest difference of the results over their largest element: one step of a quantized result is some thousandths.
It needs torch, torchvision, transformers, onnx and onnxruntime.

usage: quantized.py FOLDER [--only WORDS] [--threads 2] [--seconds 1] [--program FILE]
       models are kept in FOLDER, and made where they are missing
"""
import argparse
import logging
import math
import pathlib
import subprocess

from networks import ROOT, measure_ours, median_seconds

WAYS = [(form, activations, weights, each) for form in ("qdq", "qop")
        for activations, weights in (("u8", "i8"), ("u8", "u8"), ("i8", "i8")) for each in (False, True)] + [("dynamic", "u8", weights, each) for weights in ("i8", "u8") for each in (False, True)]
# Not Gemm, whose residual in place of a bias the tool makes a QGemm that is no valid one.
OPERATORS = ["Conv", "Clip", "GlobalAveragePool", "Flatten", "MatMul", "Add", "Mul", "Gather", "Softmax", "Transpose", "Reshape"]


def networks(torch):
    """Name -> (module, input)."""
    import torchvision
    import transformers

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = transformers.BertModel(transformers.BertConfig(
                hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, attn_implementation="eager"))

        def forward(self, ids):
            return self.module(ids, return_dict=True).last_hidden_state

    def mobilenet():
        module = torchvision.models.mobilenet_v2()
        for part in module.modules():
            if isinstance(part, torch.nn.BatchNorm2d):
                part.running_mean.uniform_(-0.3, 0.3)
                part.running_var.uniform_(0.5, 1.5)
        return module, torch.randn(1, 3, 224, 224)

    return {"mobilenet_v2": mobilenet, "bert_small": lambda: (Encoder(), torch.randint(0, 30000, (1, 128)))}


def exported(torch, build, folder, name):
    import numpy
    from onnxruntime.quantization.shape_inference import quant_pre_process
    file, simple = folder / f"{name}.onnx", folder / f"{name}.simple.onnx"
    if not (folder / f"{name}.npz").exists():
        torch.manual_seed(0)
        module, given = build()
        torch.onnx.export(module.eval(), (given,), str(file), dynamo=False, opset_version=17, input_names=["x"])
        # Without optimization a product and its bias stay two operators, which both tools know.
        quant_pre_process(str(file), str(simple), skip_symbolic_shape=True, skip_optimization="bert" in name)
        numpy.savez(folder / f"{name}.npz", x=given.numpy())
    return simple


def quantize(torch, simple, given, file, way):
    from onnxruntime import quantization
    form, activations, weights, each = way
    types = {"u8": quantization.QuantType.QUInt8, "i8": quantization.QuantType.QInt8}
    if form == "dynamic":
        quantization.quantize_dynamic(str(simple), str(file), weight_type=types[weights], per_channel=each)
        return
    torch.manual_seed(1)
    drawn = iter([{"x": (torch.randn(given.shape) if given.dtype.kind == "f" else torch.randint(0, 30000, given.shape)).numpy()}
                  for _ in range(3)])

    class Reader(quantization.CalibrationDataReader):
        def get_next(self):
            return next(drawn, None)

    forms = {"qdq": quantization.QuantFormat.QDQ, "qop": quantization.QuantFormat.QOperator}
    quantization.quantize_static(str(simple), str(file), Reader(), quant_format=forms[form], activation_type=types[activations],
                                 weight_type=types[weights], per_channel=each, op_types_to_quantize=OPERATORS)


def measured(file, inputs, options):
    """Seconds of ours and theirs, and the largest difference."""
    import numpy
    import onnxruntime
    given, results = numpy.load(inputs)["x"], file.with_suffix(".results.npz")
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = onnxruntime.InferenceSession(str(file), settings, providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": given})[0]
    theirs = median_seconds(lambda: session.run(None, {"x": given}), options.seconds)
    subprocess.run([options.program, "run", file, "--inputs", inputs, "--outputs", results, "--threads", str(options.threads)], check=True,
                   capture_output=True)
    with numpy.load(results) as made:
        difference = abs(made[made.files[0]].astype(float) - expected).max() / abs(expected).max()
    return measure_ours(file, inputs, options)[0], theirs, difference


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", help="names with one of these words, divided by commas")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/twinloom")
    options = parser.parse_args()
    import numpy
    import torch
    logging.disable(logging.WARNING)
    options.folder.mkdir(parents=True, exist_ok=True)
    words = [word for word in options.only.split(",") if word]
    ratios = []
    print(f"{'network, ms':<40}{'ours':>10}{'ort':>10}{'ort/ours':>10}{'difference':>12}")
    for network, build in networks(torch).items():
        for way in WAYS:
            name = ".".join([network, way[0], f"a_{way[1]}", f"w_{way[2]}", *(["each"] if way[3] else [])])
            if words and not any(word in name for word in words):
                continue
            file, inputs = options.folder / f"{name}.onnx", options.folder / f"{network}.npz"
            simple = exported(torch, build, options.folder, network)
            if not file.exists():
                quantize(torch, simple, numpy.load(inputs)["x"], file, way)
            ours, theirs, difference = measured(file, inputs, options)
            ratios.append(theirs / ours)
            print(f"{name:<40}{ours * 1e3:>10.2f}{theirs * 1e3:>10.2f}{ratios[-1]:>10.2f}{difference:>12.1e}", flush=True)
    if ratios:
        print(f"geometric mean {math.prod(ratios) ** (1 / len(ratios)):.2f} of {len(ratios)}")


if __name__ == "__main__":
    main()
