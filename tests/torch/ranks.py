"""A training step of a small transformer on several processes, compiled and not: run by test_distributed.
   ranks.py WAY RANK COUNT FILE     WAY: ddp, ddp_python_reducer, fsdp2, tensor_parallel
Exits with 0 where losses and parameters after three steps are those of eager, on every process."""
import contextlib
import sys

import torch
import torch.distributed as dist
import twinloom
from torch._dynamo import compiled_autograd
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

F = torch.nn.functional
WIDTH, HEADS, WORDS, LENGTH = 32, 4, 64, 16


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention, self.before_network = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.queries, self.keys, self.values, self.attended = (torch.nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        y = self.before_attention(x)
        heads = [linear(y).unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2)
                 for linear in (self.queries, self.keys, self.values)]
        y = F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2)
        x = x + self.attended(y)
        return x + self.down(F.gelu(self.up(self.before_network(x))))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(WORDS, WIDTH)
        self.blocks = torch.nn.ModuleList(Block() for _ in range(2))
        self.norm, self.head = torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        x = self.embedding(words)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def data_parallel(model, count):
    return DistributedDataParallel(model)


def sharded(model, count):
    for block in model.blocks:
        fully_shard(block)
    return fully_shard(model)


def tensor_parallel(model, count):
    plan = {"queries": ColwiseParallel(), "keys": ColwiseParallel(), "values": ColwiseParallel(), "attended": RowwiseParallel(),
            "up": ColwiseParallel(), "down": RowwiseParallel()}
    mesh = init_device_mesh("cpu", (count,))
    for block in model.blocks:
        parallelize_module(block, mesh, plan)
    return model


WAYS = {"ddp": data_parallel, "ddp_python_reducer": data_parallel, "fsdp2": sharded, "tensor_parallel": tensor_parallel}


def trained(way, rank, count, backend):
    """Losses of three steps, and the parameters after them."""
    torch.manual_seed(0)
    model = WAYS[way](Model(), count)
    run = torch.compile(model, backend=backend) if backend else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for step in range(3):
        torch.manual_seed(100 * step + (0 if way == "tensor_parallel" else rank))
        words = torch.randint(0, WORDS, (4, LENGTH + 1))
        loss = F.cross_entropy(run(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad()
        reduces_in_graph = backend and way == "ddp_python_reducer"
        with compiled_autograd._enable(torch.compile(backend=backend)) if reduces_in_graph else contextlib.nullcontext():
            loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses, [one.detach().to_local() if isinstance(one, DTensor) else one.detach() for one in model.parameters()]


def check_order(graph):
    """Nothing but a wait takes the result of a collective, and a wait stands right before what needs it."""
    for node in graph.nodes:
        name = str(node.target)
        if name.startswith("_c10d_functional.wait_tensor"):
            after = node.next
            while str(after.target).startswith("_c10d_functional.wait_tensor"):
                after = after.next
            assert after in node.users or not node.users, f"{node} waits before {after}, which does not need it"
        elif name.startswith("_c10d_functional."):
            assert all(str(user.target).startswith("_c10d_functional.wait_tensor") for user in node.users), node


def check_same_on_all(parameters, count):
    for one in parameters:
        others = [torch.empty_like(one) for _ in range(count)]
        dist.all_gather(others, one.contiguous())
        assert all(torch.equal(one, other) for other in others)


def main(way, rank, count, file):
    dist.init_process_group("gloo", rank=rank, world_size=count, init_method=f"file://{file}")
    torch.set_num_threads(1)
    torch._dynamo.config.optimize_ddp = "python_reducer" if way == "ddp_python_reducer" else True
    wanted = trained(way, rank, count, None)
    found, stored = [], twinloom._backend.Stored.of
    twinloom._backend._listeners.append(found)
    twinloom._backend.Stored.of = lambda gm, subgraphs: (check_order(gm.graph), stored(gm, subgraphs))[1]
    given = trained(way, rank, count, twinloom.backend)
    for one, other in zip(given[0] + given[1], wanted[0] + wanted[1], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
    if way.startswith("ddp"):
        check_same_on_all(given[1], count)
    left = [one.operator for each in found for one in each.left]
    print(f"{sum(len(one.kernels) for one in found)} subgraphs; {sum('_c10d' in one for one in left)} collectives")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
