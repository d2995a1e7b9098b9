#!/usr/bin/env python3
"""Twinloom beside PyTorch, eager and compiled, on one GPU, in one run.

Walks the cases of perf/gpu_cases.cpp, or with `--table indexed` those of perf/gpu_indexed_cases.cpp, which PyTorch
runs with deterministic algorithms too, as our sums have a fixed order. The program `gpu_speed` measures them before
and after PyTorch does; the mean of both counts. All are timed alike: by events of the GPU around one run that the host
does not wait for, after a buffer of 256 MB was written; medians of the rounds. Bandwidths are of the same bytes for
all: those that gpu_speed counts. A peer that fails is said and left out.

usage: gpu_peers.py [--table main|indexed] [--only WORDS] [--rounds 15] [--autotune] [--json FILE]
                    [--speed build/release/bin/gpu_speed]
       gpu_peers.py --device cpu       tests this script with small tensors; its numbers mean nothing
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

F32, F16, BF16, I64 = "float32", "float16", "bfloat16", "int64"
MEBI = 1 << 20
FLUSH_BYTES = 256 * MEBI
CLOCKS_A_SECOND = 2e9  # of a GPU, rather too many
MOST_HOST_SECONDS = 0.02  # a call that takes longer waits for the GPU itself
EPSILON = 1e-5
PEERS = ["eager", "compiled", "autotuned"]
DETERMINISTIC = "deterministic"  # eager with deterministic algorithms; never counts as the best peer
ITEM = {F32: 4, F16: 2, BF16: 2, I64: 8}


class Case:
    """inputs: name -> (shape, type); gradients: the inputs whose gradients are wanted; bytes as in gpu_cases.cpp:
    so many matrices like the first input, or `moved`."""

    def __init__(self, inputs, function, matrices, gradients=(), upstream=None, index_bound=0, channels_last=False,
                 moved=None):
        self.inputs, self.function, self.matrices, self.moved = inputs, function, matrices, moved
        self.gradients, self.upstream = gradients, upstream
        self.index_bound, self.channels_last = index_bound, channels_last

    def bytes(self):
        if self.moved is not None:
            return self.moved
        shape, dtype = next(iter(self.inputs.values()))
        return self.matrices * math.prod(shape) * ITEM[dtype]

    def tensors(self, torch, device):
        torch.manual_seed(1)
        made = {}
        for name, (shape, dtype) in self.inputs.items():
            if dtype == I64:
                made[name] = torch.randint(0, self.index_bound, shape, device=device)
                continue
            made[name] = torch.randn(shape, device=device, dtype=getattr(torch, dtype))
            if self.channels_last and len(shape) == 4:
                made[name] = made[name].to(memory_format=torch.channels_last)
            made[name].requires_grad_(name in self.gradients)
        return made

    def work(self, torch, device, function):
        """What one timed run does: `function` forwards and, where gradients are wanted, PyTorch's way back."""
        tensors = self.tensors(torch, device)
        upstream = tensors.pop(self.upstream, None)
        arguments = list(tensors.values())
        wanted = [tensors[name] for name in self.gradients]
        if not wanted:
            return lambda: function(*arguments)

        def step():
            result = function(*arguments)
            return result, torch.autograd.grad(result, wanted, upstream)
        return step


class Shapes:
    """Of inputs; `tiny` ones test this script."""

    def __init__(self, tiny):
        self.tiny = tiny

    def size(self, number):
        return max(2, number // 256) if self.tiny else number

    def matrix(self, rows, columns, dtype):
        return ((self.size(rows), self.size(columns)), dtype)

    def vector(self, count, dtype):
        return ((self.size(count),), dtype)


def indexed_cases(torch, shapes):
    size, matrix, vector = shapes.size, shapes.matrix, shapes.vector

    def gather(x, index, result, index_bound, function):
        count, taken = math.prod(index[0]), math.prod(result)
        return Case({"x": x, "index": index}, function, 0, index_bound=index_bound,
                    moved=2 * ITEM[F32] * taken + ITEM[I64] * count)

    def index_add(x, source):
        index = ((source[0][0],), I64)
        moved = ITEM[F32] * (2 * math.prod(x[0]) + math.prod(source[0])) + ITEM[I64] * source[0][0]
        return Case({"x": x, "index": index, "source": source},
                    lambda x, index, source: torch.index_add(x, 0, index, source), 0, index_bound=x[0][0], moved=moved)

    return {
        "embedding": gather(matrix(50257, 1024, F32), vector(65536, I64), (size(65536), size(1024)), size(50257),
                            lambda x, index: torch.nn.functional.embedding(index, x)),
        "take_along_rows": gather(matrix(32768, 4096, F32), matrix(32768, 1024, I64), (size(32768), size(1024)),
                                  size(4096), lambda x, index: torch.gather(x, 1, index)),
        "index_add_rows": index_add(matrix(50000, 64, F32), matrix(MEBI, 64, F32)),
        "index_add_elements": index_add(vector(MEBI, F32), vector(16 * MEBI, F32)),
    }


def main_cases(torch, shapes):
    functional = torch.nn.functional
    size, matrix, vector = shapes.size, shapes.matrix, shapes.vector

    norm = {"x": matrix(32768, 4096, BF16), "weight": vector(4096, BF16), "bias": vector(4096, BF16)}
    image = ((32, size(1024), 25, 25), F16)

    def layer_norm(x, weight, bias):
        return functional.layer_norm(x, weight.shape, weight, bias, EPSILON)

    def rms_norm(x, residual, weight):
        both = x + residual
        return both, functional.rms_norm(both, weight.shape, weight, EPSILON)

    def scale_bias_relu(x, scale, bias):
        before = x * scale[:, None, None] + bias[:, None, None]
        return torch.relu(before), before

    return {
        "sin_cos": Case({"x": vector(128 * MEBI, F32)}, lambda x: torch.sin(torch.cos(x)), 2),
        "exp_add": Case({"x": vector(128 * MEBI, BF16), "y": vector(128 * MEBI, BF16)},
                        lambda x, y: torch.exp(x + y), 3),
        "bias_gelu_tanh": Case({"x": matrix(16384, 12288, BF16), "bias": vector(12288, BF16)},
                               lambda x, bias: functional.gelu(x + bias, approximate="tanh"), 2),
        "softmax_bf16": Case({"x": matrix(16384, 50257, BF16)}, lambda x: torch.softmax(x, 1), 2),
        "softmax_f32": Case({"x": matrix(65536, 2048, F32)}, lambda x: torch.softmax(x, 1), 2),
        "layer_norm": Case(norm, layer_norm, 2),
        "layer_norm_training": Case({**norm, "gradient": norm["x"]}, layer_norm, 8, ("x", "weight", "bias"), "gradient"),
        "rms_norm_residual": Case({"x": norm["x"], "residual": norm["x"], "weight": norm["weight"]}, rms_norm, 4),
        "column_sum": Case({"x": matrix(65536, 4096, F32)}, lambda x: x.sum(0), 1),
        "full_sum": Case({"x": vector(256 * MEBI, F32)}, lambda x: x.sum(), 1),
        "add_transposed": Case({"a": matrix(16384, 16384, F32), "b": matrix(16384, 16384, F32)},
                               lambda a, b: a + b.t(), 3),
        "cumsum": Case({"x": matrix(8192, 16384, F32)}, lambda x: torch.cumsum(x, 1), 2),
        "nhwc_scale_bias_relu": Case({"x": image, "scale": vector(1024, F16), "bias": vector(1024, F16)},
                                     scale_bias_relu, 3, channels_last=True),
        "cross_entropy_training": Case({"x": matrix(8192, 32768, F32), "target": vector(8192, I64)},
                                       functional.cross_entropy, 3, ("x",), index_bound=size(32768)),
    }


class Clock:
    """Seconds that the device takes for a work, as a median of rounds."""

    def __init__(self, torch, device, rounds):
        self.torch, self.device, self.rounds = torch, device, rounds
        flush = FLUSH_BYTES if device == "cuda" else MEBI
        self.flushed = torch.empty(flush, dtype=torch.int8, device=device)
        self.host_seconds = 0.0  # of a call

    def once(self, work):
        self.flushed.zero_()
        if self.device == "cpu":
            start = time.perf_counter()
            work()
            return time.perf_counter() - start
        before, after = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.torch.cuda._sleep(int(2 * self.host_seconds * CLOCKS_A_SECOND))
        before.record()
        work()
        after.record()
        after.synchronize()
        return before.elapsed_time(after) * 1e-3

    def synchronize(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def seconds(self, work):
        for _ in range(3):
            self.synchronize()
            start = time.perf_counter()
            work()
            self.host_seconds = min(time.perf_counter() - start, MOST_HOST_SECONDS)
        return statistics.median(self.once(work) for _ in range(self.rounds))


def deterministic(torch, function):
    """Sums by a fixed order, as ours are; without filling new memory, which the mode does to find errors."""
    def run(*arguments):
        torch.use_deterministic_algorithms(True)
        try:
            return function(*arguments)
        finally:
            torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = False
    return run


def measure_peers(torch, name, case, clock, options):
    """Seconds by peer; those that fail are said and left out."""
    ways = {"eager": lambda: case.function, "compiled": lambda: torch.compile(case.function, dynamic=False)}
    if options.table == "indexed":
        ways[DETERMINISTIC] = lambda: deterministic(torch, case.function)
    if options.autotune:
        ways["autotuned"] = lambda: torch.compile(case.function, dynamic=False, mode="max-autotune-no-cudagraphs")
    taken = {}
    for way, function in ways.items():
        torch._dynamo.reset()
        try:
            taken[way] = clock.seconds(case.work(torch, clock.device, function()))
        except Exception as problem:  # of any sort: the others are still worth their numbers
            print(f"{name}: {way} is left out: {type(problem).__name__}: {str(problem).splitlines()[:1]}", flush=True)
        if clock.device == "cuda":
            torch.cuda.empty_cache()
    source, target = (torch.empty(case.bytes() // 2, dtype=torch.int8, device=clock.device) for _ in range(2))
    taken["copy"] = clock.seconds(lambda: target.copy_(source))
    return taken


def measure_ours(options):
    """Rows of gpu_speed by name; none where it cannot be run."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [str(options.speed), "--table", options.table, "--only", options.only, "--rounds", str(options.rounds),
                   "--json", file.name]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as problem:
            print(f"gpu_speed is left out: {problem}")
            return {}
        text = pathlib.Path(file.name).read_text()
        if not text:
            print(f"gpu_speed is left out: {done.stderr.strip()}")
            return {}
        return {row["name"]: row for row in json.loads(text)["cases"]}


def joined(name, case, peers, runs):
    """One row of the result: seconds of all, and who wins."""
    row = {"name": name, "bytes": case.bytes(), "peers": peers}
    good = [run[name] for run in runs if name in run and "seconds" in run[name]]
    for run in runs:
        if run.get(name, {}).get("failure"):
            row["failure"] = run[name]["failure"]
    row["seconds"] = [run["seconds"] for run in good]
    if good:
        row["bytes"] = good[0]["bytes"]
        row["ours"] = statistics.mean(row["seconds"])
        row["copy"] = statistics.mean(run["copy_seconds"] for run in good)
        row["kernels"] = good[0]["kernels"]
    others = [peers[way] for way in PEERS if way in peers]
    if good and others:
        row["over_best_peer"] = min(others) / row["ours"]
    if good and DETERMINISTIC in peers:
        row["over_deterministic"] = peers[DETERMINISTIC] / row["ours"]
    return row


def print_table(rows, ways):
    print("GB/s")
    print(f"{'case':<24}{'MB':>9}{'ours':>9}" + "".join(f"{way:>14}" for way in ways)
          + f"{'copy':>9}{'of copy':>9}{'ours/best':>11}")
    for row in rows:
        def rate(seconds):
            return f"{row['bytes'] / seconds * 1e-9:.0f}" if seconds else "-"
        share = f"{row['copy'] / row['ours']:.3f}" if "ours" in row else "-"
        best = f"{row['over_best_peer']:.3f}" if "over_best_peer" in row else "-"
        print(f"{row['name']:<24}{row['bytes'] * 1e-6:>9.1f}{rate(row.get('ours')):>9}"
              + "".join(f"{rate(row['peers'].get(way)):>14}" for way in ways)
              + f"{rate(row.get('copy') or row['peers'].get('copy')):>9}{share:>9}{best:>11}")
        if "failure" in row:
            print(f"{row['name']:<24}FAILED: {row['failure']}")
        if "over_deterministic" in row:
            print(f"{row['name']:<24}over deterministic algorithms {row['over_deterministic']:.3f}")
    ratios = [row["over_best_peer"] for row in rows if "over_best_peer" in row]
    if ratios:
        mean = math.exp(statistics.mean(math.log(ratio) for ratio in ratios))
        print(f"geometric mean over the best peer {mean:.3f} ({len(ratios)} cases)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", default=pathlib.Path(__file__).resolve().parent.parent / "build/release/bin/gpu_speed")
    parser.add_argument("--table", choices=["main", "indexed"], default="main")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--autotune", action="store_true", help="also mode max-autotune-no-cudagraphs")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--json")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: nothing to compare with")
        return 1
    before = measure_ours(options)
    clock = Clock(torch, options.device, options.rounds)
    where = torch.cuda.get_device_name() if options.device == "cuda" else "the CPU, small tensors"
    print(f"PyTorch {torch.__version__} on {where}", flush=True)
    table = main_cases if options.table == "main" else indexed_cases
    chosen = {name: case for name, case in table(torch, Shapes(options.device == "cpu")).items() if options.only in name}
    peers = {}
    for name, case in chosen.items():
        peers[name] = measure_peers(torch, name, case, clock, options)
        print(name, {way: f"{seconds * 1e3:.3f} ms" for way, seconds in peers[name].items()}, flush=True)
    runs = [before, measure_ours(options)]
    rows = [joined(name, case, peers[name], runs) for name, case in chosen.items()]
    ways = [way for way in PEERS if way != "autotuned" or options.autotune]
    print_table(rows, ways + [DETERMINISTIC] * (options.table == "indexed"))
    if options.json:
        text = json.dumps({"torch": torch.__version__, "device": where, "table": options.table,
                           "rounds": options.rounds, "cases": rows}, indent=2)
        pathlib.Path(options.json).write_text(text + "\n")
    return 1 if any("failure" in row or "ours" not in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
