#!/usr/bin/env python3
"""Whole networks on a CPU beside ONNX Runtime, PyTorch eager and torch.compile, in one run on as many threads.

Networks are built from their configurations, with weights drawn from a seed, and exported by PyTorch's own ONNX exporter;
Twinloom and ONNX Runtime read the same file. They are run by turns, each for --seconds in each of --rounds, so that a machine
whose speed changes meanwhile changes it for all of them; medians count. The last columns are
the median of the rounds' best peer over ours, what ours spent in products (a library's calls, and kernels that are sums of products of such nodes)
and outside of them, kernel by kernel, what ONNX Runtime spends outside, by its profile, and the most memory, in MB, that a process has which reads the file and runs it a few times: ours, and Python with ONNX Runtime. A peer that has no kernels for a network
is left out, and PyTorch for those that ONNX Runtime's tools made of another one: QUANTIZED, convolutions of 8-bit integers.
It needs torch, torchvision, transformers, onnxscript and onnxruntime.

usage: networks.py FOLDER [--only WORDS] [--threads 2] [--seconds 1] [--rounds 5] [--program FILE] [--json FILE]
       the exported networks are kept in FOLDER, and made where they are missing
"""
import argparse
import collections
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ["onnxruntime", "eager", "compiled"]
QUANTIZED = {"resnet50_int8_1x224": "resnet50_1x224"}
# Nodes of ONNX Runtime that are products, by what their names contain.
PRODUCTS = re.compile("Conv|Gemm|MatMul|Attention")
RUN_BY_ONNXRUNTIME = """
import sys, numpy, onnxruntime
settings = onnxruntime.SessionOptions()
settings.intra_op_num_threads = int(sys.argv[3])
session = onnxruntime.InferenceSession(sys.argv[1], settings, providers=["CPUExecutionProvider"])
for _ in range(3):
    session.run(None, {session.get_inputs()[0].name: numpy.load(sys.argv[2])["in0"]})
"""


def networks(torch):
    """Name -> (module, input)."""
    import torchvision.models as vision
    import transformers

    class Part(torch.nn.Module):
        def __init__(self, module, part):
            super().__init__()
            self.module, self.part = module, part

        def forward(self, given):
            return getattr(self.module(given, return_dict=True), self.part)

    def images(count):
        return torch.randn(count, 3, 224, 224)

    def gpt2():
        config = transformers.GPT2Config(attn_implementation="eager", use_cache=False)
        return Part(transformers.GPT2LMHeadModel(config), "logits"), torch.randint(0, 50000, (1, 256))

    def bert():
        config = transformers.BertConfig(attn_implementation="eager")
        return Part(transformers.BertModel(config), "last_hidden_state"), torch.randint(0, 30000, (4, 128))

    class Narrow(torch.nn.Module):
        """Layers of bf16, whose input and result are f32, as NumPy has no bf16."""

        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 4096),
                                              torch.nn.ReLU(), torch.nn.Linear(4096, 1024)).to(torch.bfloat16)

        def forward(self, given):
            return self.layers(given.to(torch.bfloat16)).float()

    return {"bert_base_4x128": bert, "gpt2_124m_1x256": gpt2,
            "vit_b_16_4x224": lambda: (vision.vit_b_16(), images(4)),
            "resnet50_1x224": lambda: (vision.resnet50(), images(1)),
            "resnet50_4x224": lambda: (vision.resnet50(), images(4)),
            "mobilenet_v3_large_1x224": lambda: (vision.mobilenet_v3_large(), images(1)),
            "mlp_bf16_128": lambda: (Narrow(), torch.randn(128, 1024))}


def quantize(torch, base, shape, file):
    """Weights in i8, a scale each filter; activations in u8, with the ranges of four drawn inputs."""
    import onnx
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process
    simple = file.with_suffix(".simple.onnx")
    quant_pre_process(str(base), str(simple))
    name = onnx.load(simple, load_external_data=False).graph.input[0].name
    drawn = iter([{name: torch.randn(shape).numpy()} for _ in range(4)])

    class Reader(quantization.CalibrationDataReader):
        def get_next(self):
            return next(drawn, None)

    quantization.quantize_static(str(simple), str(file), Reader(), quant_format=quantization.QuantFormat.QDQ, per_channel=True,
                                 weight_type=quantization.QuantType.QInt8, activation_type=quantization.QuantType.QUInt8)


def made(torch, networks, folder, name):
    """The module, its input and the exported file; no module of what is quantized."""
    import numpy
    file = folder / f"{name}.onnx"
    if name in QUANTIZED:
        _, given, base = made(torch, networks, folder, QUANTIZED[name])
        module = None
        if not file.exists():
            quantize(torch, base, given.shape, file)
    else:
        torch.manual_seed(0)
        module, given = networks[name]()
        module.eval()
    if not file.exists():
        torch.onnx.export(module, (given,), str(file), dynamo=True, external_data=True, opset_version=18, verbose=False)
    numpy.savez(folder / f"{name}.npz", in0=given.numpy())
    return module, given, file


def median_seconds(run, seconds):
    run()
    times, end = [], time.monotonic() + seconds
    while len(times) < 3 or time.monotonic() < end:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def peers_of(torch, module, given, file, options):
    """Name -> what runs the network once."""
    import onnxruntime
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    ways = {}
    try:
        session = onnxruntime.InferenceSession(str(file), settings, providers=["CPUExecutionProvider"])
        feed = {session.get_inputs()[0].name: given.numpy()}
        ways["onnxruntime"] = lambda: session.run(None, feed)
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented as error:
        print(f"{file.stem}: {error}", file=sys.stderr)
    if module is not None:
        compiled = torch.compile(module, dynamic=False)
        ways |= {"eager": lambda: module(given), "compiled": lambda: compiled(given)}
    return ways


# A process counts what the one had that it was forked from, so a small one starts it.
START_AND_COUNT = """
import os, sys
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
_, status, usage = os.wait4(process, 0)
print(usage.ru_maxrss / 1024 if status == 0 else "")
"""


def peak_megabytes(command):
    """The most memory of a process; None where it fails."""
    text = subprocess.run([sys.executable, "-S", "-c", START_AND_COUNT, *(str(word) for word in command)],
                          check=True, capture_output=True, text=True).stdout.strip()
    return float(text) if text else None


def measure_memory(file, options):
    inputs = file.with_suffix(".npz")
    return {"ours": peak_megabytes([options.program, "run", file, "--inputs", inputs, "--threads", options.threads]),
            "onnxruntime": peak_megabytes([sys.executable, "-c", RUN_BY_ONNXRUNTIME, file, inputs, options.threads])}


def outside_of_products(file, given, options):
    """Seconds of a run of ONNX Runtime in nodes that are no products; None where it has no kernels for the network."""
    import onnxruntime
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    settings.enable_profiling = True
    with tempfile.TemporaryDirectory() as folder:
        settings.profile_file_prefix = f"{folder}/profile"
        try:
            session = onnxruntime.InferenceSession(str(file), settings, providers=["CPUExecutionProvider"])
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            return None
        median_seconds(lambda: session.run(None, {session.get_inputs()[0].name: given.numpy()}), options.seconds)
        events = json.loads(pathlib.Path(session.end_profiling()).read_text())
    times = collections.defaultdict(list)
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time") and not PRODUCTS.search(event["args"]["op_name"]):
            times[event["name"]].append(event["dur"] * 1e-6)
    return sum(statistics.median(values) for values in times.values())


def measure_ours(file, inputs, options):
    """Seconds of a run, in products, and outside of them."""
    text = subprocess.run([options.program, "bench", file, "--inputs", inputs, "--threads", str(options.threads),
                           "--seconds", str(options.seconds)],
                          check=True, capture_output=True, text=True).stdout
    milliseconds = {True: 0.0, False: 0.0}
    for name, ms, rest in re.findall(r"^(k\d+_\w+) +([\d.]+) (.*)", text, re.MULTILINE):
        milliseconds["_library_" in name or ("_sum_mul" in name and bool(PRODUCTS.search(rest)))] += float(ms)
    return [float(re.search(r"run ([\d.]+) ms", text)[1]) * 1e-3, milliseconds[True] * 1e-3, milliseconds[False] * 1e-3]


def measure(torch, module, given, file, options):
    """The medians of the rounds: seconds of ours, in products, outside of them; of each peer; the best peer over ours."""
    ours, peers, ratios = [], [], []
    with torch.inference_mode():
        ways = peers_of(torch, module, given, file, options)
        for _ in range(options.rounds):
            ours.append(measure_ours(file, file.with_suffix(".npz"), options))
            peers.append({name: median_seconds(run, options.seconds) for name, run in ways.items()})
            ratios.append(min(peers[-1].values()) / ours[-1][0])
    return ([statistics.median(values) for values in zip(*ours)],
            {name: statistics.median(each[name] for each in peers) for name in ways}, statistics.median(ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", help="names with one of these words, divided by commas")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/twinloom")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    import torch
    torch.set_num_threads(options.threads)
    options.folder.mkdir(parents=True, exist_ok=True)
    words = [word for word in options.only.split(",") if word]
    rows, ratios = [], []
    print(f"{'network, ms':<26}" + "".join(f"{word:>12}" for word in ["ours", *PEERS, "best/ours", "products", "others",
                                                               "ort's", "MB", "MB of ort"]))
    known = networks(torch)
    for name in [*known, *QUANTIZED]:
        if words and not any(word in name for word in words):
            continue
        module, given, file = made(torch, known, options.folder, name)
        (ours, products, others), peers, ratio = measure(torch, module, given, file, options)
        memory, outside = measure_memory(file, options), outside_of_products(file, given, options)
        ratios.append(ratio)
        rows.append({"name": name, "ours": ours, "peers": peers, "ratio": ratio, "products": products, "others": others,
                     "others_of_onnxruntime": outside, "memory": memory})
        times = [ours * 1e3, *(peers[way] * 1e3 if way in peers else None for way in PEERS), ratio, products * 1e3,
                 others * 1e3, outside and outside * 1e3, memory["ours"], memory["onnxruntime"]]
        print(f"{name:<26}" + "".join(f"{time:>12.3f}" if time is not None else f"{'-':>12}" for time in times), flush=True)
    if ratios:
        print(f"geometric mean {math.prod(ratios) ** (1 / len(ratios)):.3f} of {len(ratios)}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
