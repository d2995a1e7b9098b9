#!/usr/bin/env python3
"""Twinloom beside PyTorch, eager and compiled, on kernels as users write them, in one run.

Takes the functions of breadth_cases.py, or with --corpus a seeded sample of fused kernels of real models. Each is captured
by make_fx with the core ATen decompositions and given to `twinloom bench` as the text that PyTorch prints; the peers run
the function itself (eager, torch.compile), and torch.compile once more the captured graph where that holds gradients too,
so that it may fuse what we may. Times are of one run with nothing between: on a GPU by its events after a buffer larger
than the L2 cache was written, without what a peer's host takes for a call, on a CPU by the clock; medians of rounds. Ours
are measured before and after the peers, and their mean counts. On a GPU cases go by groups, for which --workers compile
first; --limit begins no group after so many seconds. Exit code 1: a case failed, is below --bound, or the geometric mean
is below --mean.

usage: breadth.py [--device cpu|cuda] [--only WORDS] [--rounds 15] [--threads 2] [--mode fused] [--json FILE] [--program FILE]
                  [--corpus ARCHIVE.tar.xz --sample 200 --seed 1] [--most-bytes N] [--workers N] [--limit S] [--bound X]
                  [--mean X]            (--mode fused,fast: each of ours beside the same peers)
       breadth.py --write FOLDER      only writes the texts, of a GPU's sizes with --device cuda
       breadth.py --check             small sizes: `twinloom verify`, and results beside eager ones
"""
import argparse
import collections
import itertools
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import breadth_cases
import breadth_corpus
from gpu_peers import Clock

ROOT = pathlib.Path(__file__).resolve().parent.parent
# So that PyTorch, like Twinloom, keeps the memory of large results for the next run instead of asking the system again.
MALLOC = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=68719476736"
WAYS = ["eager", "compiled", "compiled_graph"]
GROUP = 28  # cases of a GPU that are prepared and measured together
WARM_UP_SECONDS = 150.0  # that peers compile for a group


class Work:
    """A case on a device: its text, and what the peers run."""

    def __init__(self, torch, case, device):
        self.name, self.kind = case.name, case.kind
        generator = torch.Generator(device=device).manual_seed(1)
        self.tensors = [tensor_of(torch, given, device, generator) for given in case.inputs]
        self.function = case.function
        if case.trains:
            self.function = with_gradients(torch, case.function, self.tensors)
            self.tensors += [torch.randn_like(one) for one in results_of(case.function, self.tensors) if one.dim()]
        self.graph = captured(torch, self.function, self.tensors)
        self.text = self.graph.print_readable(print_output=False, include_stride=True)
        self.trains = case.trains

    def run(self, function):
        return lambda: function(*self.tensors)

    def ways(self, torch):
        """Name -> what makes the function of a peer."""
        ways = {"eager": lambda: self.function, "compiled": lambda: torch.compile(self.function, dynamic=False)}
        if self.trains:
            ways["compiled_graph"] = lambda: torch.compile(self.graph, dynamic=False)
        return ways


def tensor_of(torch, given, device, generator):
    dtype = getattr(torch, given.dtype)
    if dtype == torch.bool:
        return torch.rand(given.shape, device=device, generator=generator) < 0.5
    if not dtype.is_floating_point:
        return torch.randint(0, given.below, given.shape, device=device, dtype=dtype, generator=generator)
    made = torch.randn(given.shape, device=device, generator=generator).to(dtype)
    return made.to(memory_format=torch.channels_last) if given.channels_last else made


def results_of(function, tensors):
    results = function(*tensors)
    return list(results) if isinstance(results, (tuple, list)) else [results]


def with_gradients(torch, function, tensors):
    """(inputs, a gradient for each result that is no scalar) -> (results, gradients of inputs that are floats)."""
    count = len(tensors)

    def step(*given):
        with torch.enable_grad():
            inputs = [one.detach().requires_grad_(one.is_floating_point()) for one in given[:count]]
            results = results_of(function, inputs)
            upstream = iter(given[count:])
            gradients = [next(upstream) if one.dim() else None for one in results]
            wanted = [one for one in inputs if one.requires_grad]
            found = torch.autograd.grad(results, wanted, gradients)
        return (*(one.detach() for one in results), *found)
    return step


def captured(torch, function, tensors, mode="fake"):
    from torch._decomp import core_aten_decompositions
    from torch.fx.experimental.proxy_tensor import make_fx
    # With *given: functions of torch.nn.functional have more parameters than a case has inputs.
    trace = make_fx(lambda *given: function(*given), decomposition_table=core_aten_decompositions(), tracing_mode=mode)
    return trace(*tensors)


def works_of(torch, options):
    """Makers of works, by name: tensors are made only while their case is measured."""
    if options.corpus:
        texts = breadth_corpus.sample(options.corpus, options.sample, options.seed, options.most_bytes)
        makers = {name: (lambda name=name, given=given: breadth_corpus.Work(torch, name, *given, options.device))
                  for name, given in texts.items()}
    else:
        less = 512 if options.check else 16 if options.device == "cpu" else 1
        cases = breadth_cases.cases(torch, breadth_cases.Sizes(less))
        where = "cpu" if options.write else options.device
        makers = {case.name: (lambda c=case: Work(torch, c, where)) for case in cases}
    chosen = [words for words in options.only.split(",") if words]
    return {name: make for name, make in makers.items() if not chosen or any(words in name for words in chosen)}


def warm_up(options, names):
    """Compiles cases for the peers in several processes; what they made is found on disk afterwards."""
    parts = [names[part::options.workers] for part in range(min(options.workers, len(names)))]
    command = [sys.executable, __file__, *sys.argv[1:], "--warm-up", "--only"]
    running = [subprocess.Popen([*command, ",".join(part)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for part in parts]
    end = time.monotonic() + WARM_UP_SECONDS
    for one in running:
        try:
            one.wait(timeout=max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:  # the case is compiled when it is measured
            one.kill()


def warm_up_part(torch, options):
    for make in works_of(torch, options).values():
        try:
            work = make()
            for way, function in work.ways(torch).items():
                if way != "eager":
                    torch._dynamo.reset()
                    work.run(function())()
        except Exception:  # said when it is measured
            pass


def measure_peers(torch, work, clock):
    """Seconds by way; those that fail are said and left out."""
    taken = {}
    for way, function in work.ways(torch).items():
        torch._dynamo.reset()
        try:
            taken[way] = clock.seconds(work.run(function()))
        except Exception as problem:  # of any sort: the others are still worth their numbers
            print(f"{work.name}: {way} is left out: {type(problem).__name__}: {str(problem).splitlines()[:1]}", flush=True)
    return taken


def measure_ours(options, mode, files):
    """What `twinloom bench` in a mode says of each file, by name."""
    device = "cuda:0" if options.device == "cuda" else "cpu"
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [str(options.program), "bench", *map(str, files), "--device", device, "--threads", str(options.threads),
                   "--mode", mode, "--seconds", str(options.seconds), "--json", str(report)]
        done = subprocess.run(command, capture_output=True, text=True)
        if not report.exists():
            print(f"twinloom bench failed: {done.stderr.strip() or done.returncode}", flush=True)
            return {}
        found = json.loads(report.read_text())
    models = models_of(found, files)
    for model in models:
        model.setdefault("copy_gbps", found.get("copy_gbps"))
    return {pathlib.Path(model["file"]).stem: model for model in models}


def models_of(report, files):
    """The models of what `bench --json` wrote: of a single one the report itself."""
    return report["models"] if "models" in report else [dict(report, file=str(files[0]))]


def row_of(name, kind, mode, peers, runs):
    row = {"name": name, "kind": kind, "mode": mode, "peers": peers}
    good = [run[name] for run in runs if "run_ms" in run.get(name, {})]
    errors = [run[name]["error"] for run in runs if "error" in run.get(name, {})]
    if not good:
        return {**row, "failure": errors[0] if errors else "not measured"}
    row["seconds"] = [model["run_ms"] * 1e-3 for model in good]
    row["ours"] = statistics.mean(row["seconds"])
    row["kernels"] = len(good[0]["kernels"])
    floor = sum(kernel["floor_bytes"] for kernel in good[0]["kernels"])
    row["bytes"], row["share_of_copy"] = floor, floor / row["ours"] * 1e-9 / good[0]["copy_gbps"]
    row["prepare_ms"] = good[0].get("prepare_ms")
    if peers:
        row["over_best_peer"] = min(peers.values()) / row["ours"]
    return row


def measured(torch, options, folder):
    """A row a case, printed as its group is done: until --limit."""
    makers = works_of(torch, options)
    rows = []
    names, size = list(makers), GROUP if options.device == "cuda" else 1
    end = time.monotonic() + options.limit
    for first in range(0, len(names), size):
        if time.monotonic() > end:
            print(f"{len(names) - first} of {len(names)} are left out: {options.limit:.0f} s are over", flush=True)
            break
        group = names[first:first + size]
        if options.workers:
            warm_up(options, group)
        for row in measured_group(torch, options, pathlib.Path(folder), {name: makers[name] for name in group}):
            rows.append(row)
            print_row(row, options.mode)
    return rows


def measured_group(torch, options, folder, makers):
    """Ours run for all cases before and after their peers: a row a case and mode."""
    clock = Clock(torch, options.device, options.rounds)
    files = [folder / f"{name}.fx" for name in makers]
    kinds, peers, failures = {}, {}, {}
    write_texts(torch, makers, folder, failures)
    def measure_modes():
        return {mode: measure_ours(options, mode, [file for file in files if file.exists()]) for mode in options.mode}
    before = measure_modes()
    for name, make in makers.items():
        try:
            work = make()
            kinds[name] = work.kind
            peers[name] = measure_peers(torch, work, clock)
        except Exception as problem:  # of any sort, as above
            failures[name] = f"{type(problem).__name__}: {problem}"
        work = None
        if options.device == "cuda":
            torch.cuda.empty_cache()
    if options.device == "cuda":
        clock = None  # and the memory that it writes before each run
        torch.cuda.empty_cache()
    after = measure_modes()
    for name, mode in itertools.product(makers, options.mode):
        row = row_of(name, kinds.get(name, ""), mode, peers.get(name, {}), [before[mode], after[mode]])
        if name in failures:
            row["failure"] = failures[name]
        yield row


def print_row(row, modes):
    name = row["name"] if len(modes) == 1 else f"{row['name']} {row['mode']}"
    def words(seconds):
        return f"{seconds * 1e3:.4f}" if seconds else "-"
    if "failure" in row:
        print(f"{name:<34}FAILED: {row['failure']}", flush=True)
        return
    print(f"{name:<34}{row['kernels']:>3}{row['bytes'] * 1e-6:>10.2f}{words(row['ours']):>10}"
          + "".join(f"{words(row['peers'].get(way)):>10}" for way in WAYS)
          + f"{row['share_of_copy']:>8.2f}{row.get('over_best_peer', math.nan):>8.3f}", flush=True)


def print_summary(mode, rows, options):
    print(f"mode {mode}")
    by_kind = collections.defaultdict(list)
    for row in rows:
        if "over_best_peer" in row:
            by_kind[row["kind"]].append(row["over_best_peer"])
    for kind, ratios in by_kind.items():
        print(f"{kind:<20}{statistics.geometric_mean(ratios):>8.3f}  of {len(ratios)}, the lowest {min(ratios):.3f}")
    ratios = [ratio for some in by_kind.values() for ratio in some]
    failed = [row["name"] for row in rows if "failure" in row]
    below = [row["name"] for row in rows if row.get("over_best_peer", math.inf) < options.bound]
    print(f"failed: {len(failed)} {' '.join(failed)}")
    print(f"below {options.bound}: {len(below)} {' '.join(below)}")
    if ratios:
        print(f"geometric mean over the best peer {statistics.geometric_mean(ratios):.3f} ({len(ratios)} cases)")
    return bool(failed or below or not ratios or statistics.geometric_mean(ratios) < options.mean)


def check(torch, options):
    """Small sizes: our bits beside the evaluator's, and our results beside eager ones."""
    failed = 0
    for name, make in works_of(torch, options).items():
        work = make()
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / f"{name}.fx"
            file.write_text(work.text)
            done = subprocess.run([options.program, "verify", file], capture_output=True, text=True)
            words = done.stderr.strip() or done.stdout.strip()
            if done.returncode == 0:
                words = breadth_corpus.difference_from_eager(torch, work, options.program, folder)
        failed += words is not None and (done.returncode != 0 or words != "")
        print(f"{name:<34}{words or 'agrees'}", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


def write_texts(torch, makers, folder, failures):
    from torch._subclasses.fake_tensor import FakeTensorMode
    folder.mkdir(parents=True, exist_ok=True)
    with FakeTensorMode():  # no memory is needed
        for name, make in makers.items():
            try:
                (folder / f"{name}.fx").write_text(make().text)
            except Exception as problem:
                failures[name] = f"{type(problem).__name__}: {problem}"


def modes_of(words):
    modes = words.split(",")
    if unknown := [mode for mode in modes if mode not in ("strict", "fused", "fast")]:
        raise argparse.ArgumentTypeError(f"no mode '{unknown[0]}'; there are strict, fused and fast")
    return modes


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--only", default="", help="names with one of these words, divided by commas")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.3, help="that ours are measured for")
    parser.add_argument("--mode", type=modes_of, default=["fused"], help="of ours: strict, fused or fast, several with commas")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/twinloom")
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most-bytes", type=float, default=math.inf, help="of the inputs of a text of the corpus")
    parser.add_argument("--workers", type=int, default=0, help="that compile for the peers first")
    parser.add_argument("--warm-up", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds after which no group of cases is begun")
    parser.add_argument("--bound", type=float, default=0.0)
    parser.add_argument("--mean", type=float, default=0.0)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    return parser.parse_args()


def main():
    options = parse_options()
    if options.device == "cpu" and "GLIBC_TUNABLES" not in os.environ:
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "GLIBC_TUNABLES": MALLOC})
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: nothing to compare with")
        return 1
    torch.set_num_threads(options.threads)
    if options.warm_up:
        return warm_up_part(torch, options)
    if options.check:
        return check(torch, options)
    if options.write:
        failures = {}
        write_texts(torch, works_of(torch, options), options.write, failures)
        print(*(f"{name}: {words}" for name, words in failures.items()), sep="\n")
        return 1 if failures else 0
    where = torch.cuda.get_device_name() if options.device == "cuda" else f"a CPU, {options.threads} threads"
    print(f"PyTorch {torch.__version__} on {where}; ms", flush=True)
    print(f"{'case':<34}{'k':>3}{'MB':>10}{'ours':>10}" + "".join(f"{way[:9]:>10}" for way in WAYS)
          + f"{'of copy':>8}{'/best':>8}")
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(torch, options, folder)
    if options.json:
        options.json.write_text(json.dumps({"torch": torch.__version__, "device": where, "cases": rows}, indent=1) + "\n")
    bad = [print_summary(mode, [row for row in rows if row["mode"] == mode], options) for mode in options.mode]
    return 1 if any(bad) else 0


if __name__ == "__main__":
    sys.exit(main())
