"""What became of a function: which nodes became kernels, what stayed with PyTorch, and why."""
import collections
import dataclasses

import torch

from . import _backend


@dataclasses.dataclass
class Explanation:
    """As data, and as text by str()."""

    graphs: int  # that PyTorch traced
    nodes: int  # operators in them
    subgraphs: int  # that Twinloom runs
    left: list  # (operator, why, how many), the most frequent first

    def __str__(self):
        taken = self.nodes - sum(count for _, _, count in self.left)
        lines = [f"{self.graphs} graphs, {self.nodes} operators: {taken} in {self.subgraphs} subgraphs of Twinloom, the "
                 "others in PyTorch"]
        return "\n".join(lines + [f"  {count:4} {operator}: {why}" for operator, why, count in self.left])


def explain(function, *inputs, mode=None, options=None, **keywords):
    """Compiles a function or module anew, calls it once with these arguments, and says what became of it."""
    torch._dynamo.reset()
    found = []
    _backend._listeners.append(found)
    try:
        torch.compile(function, backend=_backend.backend, mode=None,
                      options={**(options or {}), **({"mode": mode} if mode else {})})(*inputs, **keywords)
    finally:
        _backend._listeners.remove(found)
        torch._dynamo.reset()
    counts = collections.Counter((target, why) for one in found for target, why in one.left.values())
    return Explanation(len(found), sum(one.nodes for one in found), sum(len(one.kernels) for one in found),
                       [(target, why, count) for (target, why), count in counts.most_common()])
