"""A long training loop, in which each step has another length: it makes a bounded number of kernels and keeps no memory.

TWINLOOM_TEST_STEPS: how many steps it has.
"""
import ctypes
import gc
import os
import random

import pytest
import torch
import twinloom
from twinloom import _library

STEPS = int(os.environ.get("TWINLOOM_TEST_STEPS", "200"))
LONGEST = 120
MOST_GRAPHS = 3  # with the first length, and with a symbol in its place; a length of 1
MOST_VARIANTS = 5  # of a subgraph: one for each of four classes of sizes, one for all
MOST_GROWTH = 24 << 20  # bytes that the process holds at the end, over what it held after half of the steps

pytestmark = pytest.mark.usefixtures("device")


class Block(torch.nn.Module):
    """A norm whose statistics are written, beside what a layer of a transformer has."""

    def __init__(self, width=32):
        super().__init__()
        self.words = torch.nn.Embedding(50, width)
        self.norm, self.running = torch.nn.LayerNorm(width), torch.nn.BatchNorm1d(width)
        self.project, self.up = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, 2 * width)
        self.down = torch.nn.Linear(2 * width, width)

    def forward(self, tokens):
        x = self.words(tokens)
        query, key, value = self.project(self.norm(x)).chunk(3, -1)
        x = x + (query @ key.transpose(1, 2) * 0.2).softmax(-1) @ value
        x = x + self.down(torch.nn.functional.gelu(self.up(x)))
        return self.running(x.transpose(1, 2)).square().mean()


class Variants:
    """Hears how often machine code is made for a subgraph."""

    def __enter__(self):
        self.count = 0
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
        self._callback = kind(lambda context, log, text: self._hear(text.decode()))
        _library.library().twinloom_set_log(b"guards", self._callback, None)
        return self

    def _hear(self, text):
        self.count += "variant is made" in text or "variant for all sizes is made" in text

    def __exit__(self, *failure):
        _library.library().twinloom_set_log(None, None, None)


def held_bytes():
    """Of memory, by the process."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_nothing_grows_with_the_number_of_steps():
    model, found, draw = Block(), [], random.Random(0)
    twinloom._backend._listeners.append(found)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    run = torch.compile(model, backend=twinloom.backend)
    torch._dynamo.utils.counters.clear()
    lengths = [16, *(draw.randint(1, LONGEST) for _ in range(STEPS - 1))]
    early = STEPS // 2
    try:
        with Variants() as variants:
            for step, length in enumerate(lengths):
                loss = run(torch.randint(0, 50, (2, length)))
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                if step == early:
                    before, objects = held_bytes(), len(gc.get_objects())
    finally:
        twinloom._backend._listeners.remove(found)
    graphs, subgraphs = torch._dynamo.utils.counters["stats"]["unique_graphs"], sum(len(one.kernels) for one in found)
    growth, more = held_bytes() - before, len(gc.get_objects()) - objects
    print(f"{STEPS} steps, {len(set(lengths))} lengths: {graphs} graphs, {subgraphs} subgraphs, {variants.count} variants; "
          f"{growth / 2**20:.1f} MiB and {more} objects more than after {early} steps")
    assert graphs <= MOST_GRAPHS
    assert 0 < variants.count <= MOST_VARIANTS * subgraphs
    assert growth < MOST_GROWTH
    for executable in (executable for one in found for executable in one.kernels):
        assert len(executable._bound) <= executable.MOST_BOUND
