"""Nodes that become calls: the graph gives what it gave, whatever was cut out of it, and in the order in which it stood."""
import random

import pytest
import torch
from torch import fx
from twinloom._splice import Part, splice


def random_graph(seed, count=60):
    """Sums and products of earlier values, and for each node the part that it is of; nothing: it stays as it is. Parts are
    those of levels, as cut() makes them."""
    draw, graph, level, part_of = random.Random(seed), fx.Graph(), {}, {}
    values = [graph.placeholder(f"x{k}") for k in range(3)]
    level.update(dict.fromkeys(values, 0))
    for _ in range(count):
        operands = draw.sample(values[-12:], 2)
        node = graph.call_function(draw.choice((torch.add, torch.mul)), tuple(operands))
        level[node] = max(level[one] + (one not in part_of and one.op != "placeholder") for one in operands)
        if draw.random() < 0.7:
            part_of[node] = level[node]
        values.append(node)
    graph.output(tuple(values[-5:]))
    for node in values:
        node.meta["val"] = torch.empty(())
    return fx.GraphModule(torch.nn.Module(), graph), part_of


def as_function(part):
    """What computes the part's nodes."""
    graph, copies = fx.Graph(), {}
    for node in part.inputs:
        copies[node] = graph.placeholder(node.name)
    for node in part.nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output(tuple(copies[one] for one in part.results))
    return fx.GraphModule(torch.nn.Module(), graph).forward


@pytest.mark.parametrize("seed", range(20))
def test_a_graph_gives_what_it_gave(seed):
    gm, part_of = random_graph(seed)
    inputs = [torch.randn(4, dtype=torch.float64) for _ in range(3)]
    wanted = gm(*inputs)
    parts = [Part([node for node, part in part_of.items() if part == level]) for level in sorted(set(part_of.values()))]
    for number, part in enumerate(parts):
        if number % 4 == 3:  # one that could not be compiled
            continue
        setattr(gm, f"part_{number}", as_function(part))
        part.call = f"part_{number}", []
    splice(gm.graph, parts)
    gm.recompile()
    assert sum(node.op == "call_module" for node in gm.graph.nodes) == sum(part.call is not None for part in parts)
    for given, expected in zip(gm(*inputs), wanted, strict=True):
        assert torch.equal(given, expected)


def test_what_need_not_move_stays_where_it_stood():
    graph = fx.Graph()
    x = graph.placeholder("x")
    first = graph.call_function(torch.neg, (x,))
    a = graph.call_function(torch.exp, (x,))
    second = graph.call_function(torch.sin, (x,))
    b = graph.call_function(torch.add, (a, first))
    graph.output((b, second))
    for node in (x, first, a, second, b):
        node.meta["val"] = torch.empty(())
    part = Part([a, b])
    part.call = "part", []
    splice(graph, [part])
    assert [node.name for node in graph.nodes] == ["x", "neg", "sin", "part", "getitem", "output"]
