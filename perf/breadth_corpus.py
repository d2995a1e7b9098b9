"""Fused kernels of real models, for breadth.py: the texts of a corpus as PyTorch runs them.

The corpus is an archive of FX texts with an index.json beside it (its README says what they are). Its parameters and the
integers that they take are read by what tests/corpus reads them with.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tarfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "tests/corpus"))
import sizes  # noqa: E402


def sample(archive, count, seed, most_bytes):
    """name -> (text, bounds of integers by name) of `count` texts; all where there are fewer."""
    index = json.loads((archive.parent / "index.json").read_text())
    with tarfile.open(archive) as members:
        texts = {pathlib.Path(member.name).stem: members.extractfile(member).read().decode()
                 for member in members if member.isfile() and member.name.endswith(".fx")}
    names = sorted(name for name in texts if index[name]["in_bytes"] <= most_bytes)
    random.Random(seed).shuffle(names)
    return {name: (texts[name], sizes.bounds_of(index[name]["gens"], {}), index[name]["kind"]) for name in names[:count]}


class Work:
    """A text on a device: its inputs, and the function that PyTorch runs."""

    trains = False

    def __init__(self, torch, name, text, bounds, kind, device):
        import torch._inductor.inductor_prims  # noqa: F401, prims.fma and its like
        self.name, self.text, self.bounds, self.kind = name, text, bounds, kind
        generator = torch.Generator(device=device).manual_seed(1)
        self.tensors = [self.drawn(torch, generator, device, *parameter) for parameter in sizes.parameters_of(text)]
        if device == "cuda" and any(not one.is_floating_point() for one in self.tensors):
            self.try_on_the_cpu(torch)
        self.function = function_of(torch, text, device)

    def try_on_the_cpu(self, torch):
        """An integer that is out of range where it is an index is an error there; on a GPU it would end this process."""
        torch.set_num_threads(1)  # threads that wait for work take the host from what is measured
        function_of(torch, self.text, "cpu")(*(one.cpu() for one in self.tensors))

    def drawn(self, torch, generator, device, name, dtype, shape, strides):
        import eager
        kind = eager.TYPES[dtype]
        if kind.is_floating_point:
            values = torch.randn(shape, generator=generator, device=device).to(kind)
        else:
            low, high = self.bounds.get(name, (0, 1 if kind == torch.bool else 7))
            values = torch.randint(low, high + 1, shape, generator=generator, device=device).to(kind)
        return values if strides is None else laid_out(torch, values, strides)

    def run(self, function):
        return lambda: function(*self.tensors)

    def ways(self, torch):
        return {"eager": lambda: self.function, "compiled": lambda: torch.compile(self.function, dynamic=False)}


def laid_out(torch, values, strides):
    """The same elements in memory with these strides; where they reach an element twice, one of its values."""
    room = 1 + sum((size - 1) * stride for size, stride in zip(values.shape, strides))
    memory = torch.zeros(max(room, 1), dtype=values.dtype, device=values.device).as_strided(values.shape, strides)
    if 0 in strides:
        return memory
    return memory.copy_(values)


def function_of(torch, text, device):
    names = {"torch": torch, "device": lambda *_, **__: torch.device(device), "inf": float("inf"), "nan": float("nan")}
    exec(re.sub(r'(\w+): "[^"]*"', r"\1", text), names)
    module = next(value for value in names.values() if isinstance(value, type))

    def function(*tensors):
        return module.forward(None, *tensors)
    return function


def difference_from_eager(torch, work, program, folder):
    """Words for what our results miss of eager ones by more than rounding does, else nothing."""
    import eager
    import numpy
    archive, written = pathlib.Path(folder) / "in.npz", pathlib.Path(folder) / "out.npz"
    numpy.savez(archive, **eager.archive(work.tensors, "in"))
    done = subprocess.run([program, "run", f"{folder}/{work.name}.fx", "--inputs", archive, "--outputs", written],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()

    def flat(results):
        return list(results) if isinstance(results, (tuple, list)) else [results]

    # Wide only as far as inputs go: what a function makes by itself stays as it is, so some steps more are rounding.
    results = flat(work.function(*work.tensors))
    meant = flat(work.function(*(one.double() if one.is_floating_point() else one for one in work.tensors)))
    found = eager.read_archive(written, len(results))
    words = [eager.difference(ours, theirs, wide, steps=32) for ours, theirs, wide in zip(found, results, meant)]
    return "; ".join(f"result {k}: {word}" for k, word in enumerate(words) if word)
