#!/usr/bin/env python3
"""Training steps and inference of whole models: eager PyTorch, torch.compile and Twinloom beside each other on one device.

Each way of each model (torch_speed_models.py) runs in a process of its own with caches in an empty folder (torch_speed_child.py):
the first call, which compiles; then --seconds of steps, each waited for; then a few under torch.profiler, which says what
libraries' kernels take and what all others do. On a GPU one way follows the other, so that it serves all; on a CPU a model's
ways, compiled one after the other, then run by turns, and the others are what is left of the step. A step is forward and
backward, without an optimizer; gradients are dropped before it. Precision of products, caches, seed and the library of
convolutions are set alike for all.

A row a way, with the memory that PyTorch's allocator gave at most after the first call, and what the process has taken of the
GPU in the end, memory of Twinloom's own and kept caches too; under them, of each model, best peer over ours, ours over
Inductor's of the time in other kernels, of memory and of the first call; the slowest other kernels of both; what Twinloom
left to PyTorch. Ways agree with eager where the loss is within
0.5 %, the norm of the gradients (or of the result) within 3 %, and samples of three of them (or of the result) within 15 % of
the samples' norm (70 % behind norms of batches): what roundings of bf16 leave of a step of untrained networks. max-autotune runs
after all the other ways.
--limit ends it: what did not fit is said. Exit code 1: a way failed, or does not agree.

usage: torch_speed.py [--only gpt2,llama,bert,vit,resnet50,t5,convnext,mobilenet] [--steps training,inference]
                      [--ways eager,traced,inductor,twinloom,twinloom-fast,twinloom-gaps,twinloom-cudagraphs,max-autotune]
                      [--device cuda|cpu] [--size full|cpu|tiny] [--f32] [--threads N] [--seconds 3] [--limit 550] [--warm]
                      [--json FILE]
On a GPU, where neither models nor steps are given, five models run, BERT and ViT in inference and the others in training; on a
CPU all models run, in both.
"""
import argparse
import contextlib
import json
import os
import pathlib
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from torch_speed_child import MARK, WAYS
from torch_speed_table import HEAD, differences, row, show_means, show_model

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "build/release/library/lib/libtwinloom.so.0"
MODELS = ("gpt2", "llama", "bert", "vit", "resnet50", "t5", "convnext", "mobilenet")
STEPS = ("training", "inference")
ON_A_GPU = ("gpt2 training", "llama training", "bert inference", "vit inference", "resnet50 training")
ROUNDS = 5  # by turns, on a CPU


class Child:
    """A way of a model in a process of its own, with caches in a folder."""

    def __init__(self, arguments, model, way, kept, end):
        """`end`: when it has to be done."""
        name, step = model.split()
        words = {**vars(arguments), "model": name, "training": step == "training", "way": way}
        folders = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton", "TWINLOOM_CACHE_DIR": "twinloom",
                   "CUDA_CACHE_PATH": "cuda"}
        environment = {**os.environ, **{name: f"{kept}/{folder}" for name, folder in folders.items()},
                       "OMP_NUM_THREADS": str(arguments.threads)}
        self.way, self.end, self.found = way, end, {}
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([sys.executable, str(ROOT / "perf/torch_speed_child.py"), json.dumps(words)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=environment,
                                        start_new_session=True)

    def ask(self, *command):
        """What the process answers; nothing where it failed, now or before, which is among what was found then."""
        if "failed" in self.found:
            return None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        while select.select([self.process.stdout], [], [], max(0.0, self.end - time.monotonic()))[0]:
            line = self.process.stdout.readline()
            if line.startswith(MARK):
                return json.loads(line[len(MARK):])
            if not line:
                self.errors.seek(0)
                lines = self.errors.read().strip().splitlines() or [f"exit code {self.process.wait()}"]
                self.found = {"failed": lines[-1][:300], "errors": lines[-40:]}
                return None
        self.found = {"failed": "the time was over"}
        return None

    def add(self, *command):
        """Adds an answer to what was found."""
        self.found.update(self.ask(*command) or {})

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # its compilers too
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def run_by_turns(children, seconds, rounds):
    """Steps and profiles of ways that are compiled; of each what a median step takes."""
    for child in children:
        child.add("warmed")
    answers = {child: [] for child in children}
    for _ in range(rounds):
        for child in children:
            answers[child].append((child.ask("steps", seconds / rounds), child.ask("profiled")))
    for child in children:
        if "failed" in child.found:
            continue
        timed, profiles = zip(*answers[child])
        clock, events = ([one for each in timed for one in each[key]] for key in ("clock", "events"))
        child.found.update({"step": statistics.median(clock), "steps": len(clock),
                            "events": statistics.median(events) if events else None,
                            **{key: statistics.median(one[key] for one in profiles) for key in ("library", "others")},
                            "calls": profiles[-1]["calls"], "named": profiles[-1]["named"]})
        child.add("memory")
        child.add("compiled")


def measure(arguments, model, ways, end):
    """Way -> what was found; `warm` is the first call of a second process, which finds all that the first has kept."""
    with contextlib.ExitStack() as stack:
        folders = {way: stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)) for way in ways}
        children = []
        for way in ways:
            children.append(Child(arguments, model, way, folders[way], end))
            stack.callback(children[-1].stop)
            children[-1].add("first")
        run_by_turns(children, arguments.seconds, ROUNDS if arguments.device == "cpu" else 1)
        for child in children:
            child.stop()
            if arguments.warm and WAYS[child.way] is not None and "failed" not in child.found:
                again = Child(arguments, model, child.way, folders[child.way], end)
                stack.callback(again.stop)
                child.found["warm"] = (again.ask("first") or {}).get("first")
                again.stop()
        return {child.way: child.found for child in children}


def planned(arguments):
    """Pairs of a model and ways that are measured together."""
    ways = [way for way in WAYS if way in arguments.ways.split(",")]
    models = [f"{model} {step}" for model in MODELS if model in arguments.only.split(",")
              for step in STEPS if step in arguments.steps.split(",")]
    if arguments.device == "cuda" and arguments.only == ",".join(MODELS) and arguments.steps == ",".join(STEPS):
        models = ON_A_GPU
    unknown = sorted({*arguments.only.split(","), *arguments.ways.split(","), *arguments.steps.split(",")} -
                     {*MODELS, *WAYS, *STEPS})
    if unknown:
        raise SystemExit(f"torch_speed.py: there is no model, no way and no step {unknown[0]!r}; "
                         f"models are {', '.join(MODELS)}, ways {', '.join(WAYS)}, steps {', '.join(STEPS)}")
    if arguments.device == "cpu":
        return [(model, ways) for model in models]
    found = [(model, [way]) for model in models for way in ways if way != "max-autotune"]
    return found + [(model, [way]) for model in models for way in ways if way == "max-autotune"]


def main():
    arguments = parsed()
    end = time.monotonic() + arguments.limit
    groups = planned(arguments)
    print(HEAD, flush=True)
    results, skipped, bad = {}, [], 0
    for model, ways in groups:
        if end - time.monotonic() < 8:
            skipped.append(f"{model} {' '.join(ways)}")
            continue
        results.setdefault(model, {}).update(measure(arguments, model, ways, end))
        eager = results[model].get("eager")
        eager = eager if eager and "failed" not in eager else None
        for way in ways:
            found = results[model][way]
            print(row(model, way, found, eager), flush=True)
            bad += "failed" in found or bool(eager and differences(model, found, eager))
        if arguments.json:
            pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1))
    for model, found in results.items():
        show_model(model, found)
    show_means(results)
    if skipped:
        print(f"not measured, as {arguments.limit:.0f} s were over: {', '.join(skipped)}")
    print(f"{sum(len(ways) for ways in results.values())} runs, {bad} failed or differ")
    return 1 if bad else 0


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--ways", default="eager,inductor,twinloom")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--size", choices=["full", "cpu", "tiny"])
    parser.add_argument("--f32", action="store_true", help="no 16-bit types")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--limit", type=float, help="seconds; 550 on a GPU, two hours on a CPU")
    parser.add_argument("--warm", action="store_true", help="the first call of a second process too")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    arguments.size = arguments.size or ("full" if arguments.device == "cuda" else "cpu")
    arguments.threads = arguments.threads or (2 if arguments.device == "cpu" else os.cpu_count())
    arguments.limit = arguments.limit or (550.0 if arguments.device == "cuda" else 7200.0)
    return arguments


if __name__ == "__main__":
    os.environ.setdefault("TWINLOOM_LIBRARY", str(LIBRARY))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "frontends/torch"), os.environ.get("PYTHONPATH", "")])
    sys.exit(main())
