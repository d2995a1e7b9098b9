#!/usr/bin/env python3
"""What a call of a compiled function costs the host besides its kernels: x + 1 of so many tensors of 8 elements, with
torch.compile's default and with Twinloom, by turns in one process. Columns: inference, and a training step of the same.

Exit code 1: a call of 10 tensors costs more than --most times Inductor's.

usage: torch_calls.py [--device cpu|cuda] [--counts 1,2,10,50] [--most 1.0] [--rounds 15]
"""
import argparse
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALLS = 300  # between two looks at the clock
DECIDES = 10  # tensors


def increments(*tensors):
    return [one + 1 for one in tensors]


def timed(torch, call, device):
    """Microseconds a call."""
    started = time.perf_counter()
    for _ in range(CALLS):
        call()
    seconds = time.perf_counter() - started
    if device == "cuda":
        torch.cuda.synchronize()
    return seconds / CALLS * 1e6


def step_of(torch, run, tensors):
    """A training step: gradients for one of the tensors."""
    def step():
        torch.autograd.backward(run(*tensors)[0].sum())
        tensors[0].grad = None

    return step


def ways_of(torch, twinloom, tensors, training):
    torch._dynamo.reset()
    ways = {}
    for way, keywords in (("inductor", {}), ("twinloom", {"backend": twinloom.backend})):
        run = torch.compile(increments, **keywords)
        ways[way] = step_of(torch, run, tensors) if training else lambda run=run: run(*tensors)
    return ways


def medians(torch, ways, arguments):
    """Way -> median of the rounds, which go by turns."""
    found = {way: [] for way in ways}
    for number in range(arguments.rounds + 1):
        for way, call in ways.items():
            microseconds = timed(torch, call, arguments.device)
            if number:  # the first compiles
                found[way].append(microseconds)
    return {way: statistics.median(several) for way, several in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--counts", default="1,2,10,50")
    parser.add_argument("--most", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    os.environ.setdefault("TWINLOOM_LIBRARY", str(ROOT / "build/release/library/lib/libtwinloom.so.0"))
    sys.path.insert(0, str(ROOT / "frontends/torch"))
    import torch
    import twinloom
    torch.set_num_threads(1)
    decided = 0.0
    print(f"{'tensors':>8}{'inductor':>12}{'twinloom':>12}{'ratio':>8}{'inductor':>14}{'twinloom':>12}{'ratio':>8}   microseconds a call, "
          "and a training step")
    for count in map(int, arguments.counts.split(",")):
        line = f"{count:8}"
        for training in (False, True):
            tensors = [torch.randn(8, device=arguments.device, requires_grad=training and k == 0) for k in range(count)]
            with torch.set_grad_enabled(training):
                found = medians(torch, ways_of(torch, twinloom, tensors, training), arguments)
            ratio = found["twinloom"] / found["inductor"]
            line += f"{found['inductor']:{14 if training else 12}.1f}{found['twinloom']:12.1f}{ratio:8.2f}"
            if count == DECIDES and not training:
                decided = ratio
        print(line, flush=True)
    return 1 if decided > arguments.most else 0


if __name__ == "__main__":
    sys.exit(main())
