#!/usr/bin/env python3
"""Twinloom beside PyTorch (eager and compiled) and ONNX Runtime, on this machine, in one run.

Walks the cases of perf/speed_cases.cpp. For each, the rounds of all go by turns: the program `speed` once,
then each peer; medians of the rounds are compared. All are timed alike: run again and again, with nothing
between. What is not installed is left out and said.

usage: peers.py [--speed build/release/bin/speed] [--only WORDS] [--threads 2] [--rounds 3] [--json FILE]
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

LONG = 16 << 20
F32, BF16 = "float32", "bfloat16"


# name: (inputs as (name, shape, type)), the PyTorch function, ONNX nodes as (operator, inputs, output, attributes))
def cases(torch):
    functional = torch.nn.functional
    gelu = [("x", (4096, 3072)), ("bias", (3072,))]

    def typed(inputs, dtype=F32):
        return [(name, shape, dtype) for name, shape in inputs]

    def gelu_case(kind, dtype):
        nodes = [("Add", ["x", "bias"], "s", {}), ("Gelu", ["s"], "y", {"approximate": kind})]
        return typed(gelu, dtype), lambda x, b: functional.gelu(x + b, approximate=kind), nodes if dtype == F32 else None

    norm = [("x", (8192, 1024)), ("weight", (1024,)), ("bias", (1024,))]

    def rms(x, residual, weight):
        both = x + residual
        return both, functional.rms_norm(both, (1024,), weight, 1e-5)

    def loss(target, x):
        return functional.cross_entropy(x, target[:, 0])

    return {
        "sin_cos": (typed([("x", (LONG,))]), lambda x: torch.sin(torch.cos(x)),
                    [("Cos", ["x"], "c", {}), ("Sin", ["c"], "y", {})]),
        "exp_add": (typed([("x", (LONG,)), ("z", (LONG,))]), lambda x, z: torch.exp(x + z),
                    [("Add", ["x", "z"], "s", {}), ("Exp", ["s"], "y", {})]),
        "bias_gelu_tanh_f32": gelu_case("tanh", F32),
        "bias_gelu_erf_f32": gelu_case("none", F32),
        "bias_gelu_tanh_bf16": gelu_case("tanh", BF16),
        "bias_gelu_erf_bf16": gelu_case("none", BF16),
        "layer_norm": (typed(norm), lambda x, w, b: functional.layer_norm(x, (1024,), w, b, 1e-5),
                       [("LayerNormalization", ["x", "weight", "bias"], "y", {"axis": -1, "epsilon": 1e-5})]),
        "rms_norm_residual": (typed([("x", (8192, 1024)), ("residual", (8192, 1024)), ("weight", (1024,))]), rms, None),
        "softmax": (typed([("x", (8192, 2049))]), lambda x: torch.softmax(x, 1), [("Softmax", ["x"], "y", {"axis": 1})]),
        "column_sum": (typed([("x", (8192, 4096))]), lambda x: x.sum(0),
                       [("ReduceSum", ["x", "axes:0"], "y", {"keepdims": 0})]),
        "full_sum": (typed([("x", (8192 * 4096,))]), lambda x: x.sum(),
                     [("ReduceSum", ["x", "axes:0"], "y", {"keepdims": 0})]),
        "add_transposed": (typed([("a", (4096, 4096)), ("b", (4096, 4096))]), lambda a, b: a + b.t(),
                           [("Transpose", ["b"], "t", {"perm": [1, 0]}), ("Add", ["a", "t"], "y", {})]),
        "cumsum": (typed([("x", (4096, 4096))]), lambda x: torch.cumsum(x, 1), [("CumSum", ["x", "axis:1"], "y", {})]),
        "nhwc_scale_bias_relu": (typed([("x", (20000, 256)), ("scale", (256,)), ("bias", (256,))]),
                                 lambda x, s, b: torch.relu(x * s + b),
                                 [("Mul", ["x", "scale"], "m", {}), ("Add", ["m", "bias"], "s", {}), ("Relu", ["s"], "y", {})]),
        "cross_entropy": ([("target", (2048, 1), "int64"), ("x", (2048, 32768), F32)], loss,
                          [("LogSoftmax", ["x"], "l", {"axis": 1}),
                           ("GatherElements", ["l", "target"], "g", {"axis": 1}),
                           ("ReduceMean", ["g"], "m", {"keepdims": 0}), ("Neg", ["m"], "y", {})]),
    }


def tensors_of(torch, inputs):
    torch.manual_seed(1)
    made = []
    for _, shape, dtype in inputs:
        if dtype == "int64":
            made.append(torch.randint(0, 32768, shape))
        else:
            made.append(torch.randn(shape).to(getattr(torch, dtype)))
    return made


def onnx_session(nodes, inputs, tensors, threads):
    """A function that runs the model once into memory of its own."""
    import numpy
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper

    types = {F32: TensorProto.FLOAT, "int64": TensorProto.INT64}
    constants = []
    made = []
    for number, (operator, names, output, attributes) in enumerate(nodes):
        words = []
        for name in names:
            if ":" in name:
                value = int(name.split(":")[1])
                scalar = name.startswith("axis:")
                name = f"constant{number}"
                constants.append(helper.make_tensor(name, TensorProto.INT64, [] if scalar else [1], [value]))
            words.append(name)
        made.append(helper.make_node(operator, words, [output], **attributes))
    values = [helper.make_tensor_value_info(name, types[dtype], shape) for name, shape, dtype in inputs]
    graph = helper.make_graph(made, "case", values, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for (name, _, _), tensor in zip(inputs, tensors):
        binding.bind_cpu_input(name, numpy.ascontiguousarray(tensor.numpy()))
    binding.bind_output("y", "cpu")
    return lambda: session.run_with_iobinding(binding)


def peers_of(torch, case, threads):
    inputs, function, nodes = case
    tensors = tensors_of(torch, inputs)
    peers = {"torch": lambda: function(*tensors)}
    compiled = torch.compile(function)
    peers["compiled"] = lambda: compiled(*tensors)
    if nodes is not None:
        try:
            peers["onnxruntime"] = onnx_session(nodes, inputs, tensors, threads)
        except ImportError:
            pass
    return peers


def seconds_of(work, times=5):
    work()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def ours(options, name):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [options.speed, "--only", name, "--threads", str(options.threads), "--rounds", "7", "--json", file.name]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return next(case for case in json.load(file)["cases"] if case["name"] == name)


def measure(torch, name, case, options):
    peers = peers_of(torch, case, options.threads)
    taken = {word: [] for word in ["twinloom", "copy", *peers]}
    with torch.no_grad():
        for _ in range(options.rounds):
            row = ours(options, name)
            taken["twinloom"].append(row["repeated_seconds"])
            taken["copy"].append(row["copy_seconds"])
            for word, work in peers.items():
                taken[word].append(seconds_of(work))
    return {word: statistics.median(times) for word, times in taken.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", default=pathlib.Path(__file__).resolve().parent.parent / "build/release/bin/speed")
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: nothing to compare with")
        return 1
    torch.set_num_threads(options.threads)
    words = ["twinloom", "copy", "torch", "compiled", "onnxruntime"]
    print(f"PyTorch {torch.__version__}, {options.threads} threads; milliseconds")
    print(f"{'case':<22}" + "".join(f"{word:>12}" for word in words) + f"{'speed-up':>10}")
    rows, logarithms = [], []
    for name, case in cases(torch).items():
        if options.only not in name:
            continue
        row = measure(torch, name, case, options)
        best = min(row[word] for word in words[2:] if word in row)
        logarithms.append(math.log(best / row["twinloom"]))
        rows.append({"name": name, **row})
        cells = "".join(f"{row[word] * 1e3:>12.2f}" if word in row else f"{'-':>12}" for word in words)
        print(f"{name:<22}{cells}{best / row['twinloom']:>10.2f}", flush=True)
    if rows:
        print(f"geometric mean over the best peer {math.exp(statistics.mean(logarithms)):.2f}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"threads": options.threads, "cases": rows}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
