"""What became of a function: which nodes became which kernels, what stayed with PyTorch, and why."""
import collections
import dataclasses

import torch
from torch._C._dynamo import eval_frame
from torch._dynamo import convert_frame

from . import _backend
from ._pytorch import is_compiled_by


@dataclasses.dataclass
class Kernel:
    """One of Twinloom's kernels, for the sizes of the call that was explained."""

    name: str
    graph: int  # of those that PyTorch traced, from 0
    nodes: list  # names of the graph's nodes that it computes, a part of one where several kernels name it
    places: list  # "file:line" that these were traced from
    bytes: int  # that it moves
    seconds: float  # that it should take; None where there is no estimate
    limit: str  # what takes the longest: "memory", "launch", ...; None where there is no estimate

    def __str__(self):
        time = "no estimate" if self.seconds is None else f"{self.seconds * 1e6:.1f} us ({self.limit})"
        return f"graph {self.graph}, {self.name}: {self.bytes:,} bytes, {time}: {' '.join(self.nodes)}"


@dataclasses.dataclass
class Left:
    """Nodes that stay with PyTorch."""

    operator: str
    why: str
    count: int
    places: list  # "file:line" that these were traced from

    def __str__(self):
        return f"{self.count:4} {self.operator}: {self.why} ({', '.join(self.places[:3])}{', ...' * (len(self.places) > 3)})"


@dataclasses.dataclass
class Explanation:
    """As data, and as text by str()."""

    graphs: int  # that PyTorch traced
    nodes: int  # operators in them
    subgraphs: int  # that Twinloom runs
    kernels: list  # Kernels, of the subgraphs that ran, in order
    left: list  # Left, the most frequent first

    def __str__(self):
        taken = self.nodes - sum(one.count for one in self.left)
        seconds = sum(one.seconds or 0 for one in self.kernels)
        lines = [f"{self.graphs} graphs, {self.nodes} operators: {taken} in {self.subgraphs} subgraphs of Twinloom, the "
                 f"others in PyTorch", f"{len(self.kernels)} kernels: {sum(one.bytes for one in self.kernels):,} bytes, "
                 f"{seconds * 1e6:.1f} us estimated"]
        return "\n".join([*lines, *(f"  {one}" for one in self.kernels), "in PyTorch:" if self.left else "",
                          *(f"  {one}" for one in self.left)]).rstrip()


def _spelled(places):
    return [f"{file}:{line}" for file, line in dict.fromkeys(places) if file]


def _kernels_of(number, compiled):
    kernels = []
    for executable in compiled.kernels:
        for one in (executable.explained() or {"kernels": []})["kernels"]:
            estimate, computed = one["estimate"], one["computes"]
            limits = estimate and estimate["limits"]
            kernels.append(Kernel(one["name"], number, list(dict.fromkeys(each["name"] for each in computed)),
                                  _spelled((each["file"], each["line"]) for each in computed), one["bytes"],
                                  estimate and estimate["seconds"], limits and max(limits, key=limits.get)))
    return kernels


def _left_in(found):
    places = collections.defaultdict(list)
    for one in found:
        for left in one.left:
            places[left.operator, left.why].append(left.place)
    return [Left(operator, why, len(each), _spelled(each))
            for (operator, why), each in sorted(places.items(), key=lambda entry: -len(entry[1]))]


def _forget(backend, compilations):
    """Frees what a backend has compiled, in these compilations, where nothing else was compiled of the same code."""
    for reference in convert_frame.input_codes.seen:
        code = reference()
        entries = eval_frame._debug_get_cache_entry_list(code) if code else []
        if entries and all(is_compiled_by(entry, backend, compilations) for entry in entries):
            torch._dynamo.reset_code(code)


def explain(function, *inputs, mode=None, options=None, training=False, **keywords):
    """Compiles a function or module for this alone, calls it once with these arguments, and says what became of it.
    `training`: with the gradients, which are not kept. What was compiled before stays as it is."""
    found, compilations = [], set()

    def explained(gm, example_inputs, **given):
        compilations.add(torch._guards.CompileContext.current_compile_id())
        return _backend.backend(gm, example_inputs, **given)

    _backend._listeners.append(found)
    try:
        with torch._dynamo.config.patch(recompile_limit=2**20):
            run = torch.compile(function, backend=explained, options={**(options or {}), **({"mode": mode} if mode else {})})
            results = run(*inputs, **keywords)
            if training:
                _differentiate(results, function, inputs)
        kernels = [kernel for number, one in enumerate(found) for kernel in _kernels_of(number, one)]
    finally:
        _backend._listeners.remove(found)
        _forget(explained, compilations)
    return Explanation(len(found), sum(one.nodes for one in found), sum(len(one.kernels) for one in found), kernels,
                       _left_in(found))


def _differentiate(results, function, inputs):
    leaves = torch.utils._pytree.tree_leaves((list(inputs), list(getattr(function, "parameters", tuple)())))
    wanted = [one for one in leaves if isinstance(one, torch.Tensor) and one.requires_grad]
    outputs = [one for one in torch.utils._pytree.tree_leaves(results) if isinstance(one, torch.Tensor) and one.requires_grad]
    torch.autograd.grad(outputs, wanted, [torch.ones_like(one) for one in outputs], allow_unused=True)
