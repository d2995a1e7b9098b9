"""Training on two processes that speak through gloo, compiled and not: data parallel, sharded, tensor parallel."""
import pathlib
import re
import subprocess
import sys

import pytest
import torch

COUNT = 2


# way -> whether collectives are nodes of the compiled graphs
@pytest.mark.parametrize("way, in_graph", [("ddp", False), ("ddp_python_reducer", True), ("fsdp2", False),
                                           ("tensor_parallel", True)])
def test_training_steps_on_two_processes_are_those_of_eager(way, in_graph, tmp_path):
    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        pytest.skip("PyTorch has no gloo")
    program = pathlib.Path(__file__).parent / "ranks.py"
    ranks = [subprocess.Popen([sys.executable, program, way, str(rank), str(COUNT), str(tmp_path / "meeting")], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) for rank in range(COUNT)]
    try:
        said = [rank.communicate(timeout=300) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    for rank, (words, errors) in zip(ranks, said):
        assert rank.returncode == 0, errors[-3000:]
        subgraphs, collectives = map(int, re.search(r"(\d+) subgraphs; (\d+) collectives", words).groups())
        assert subgraphs > 5 and (collectives > 0) == in_graph
