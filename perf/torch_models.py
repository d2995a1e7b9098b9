#!/usr/bin/env python3
"""Models of transformers, timm and torchvision by torch.compile(backend="twinloom"), beside eager.

Each model, in a process of its own, is run and trained (results, gradients) and then run with five batch sizes, and
lengths of text, by one compilation. Results differ by a thousandth of their largest value at most, or by three times
what a rounding of all parameters changes in eager. A row a model: traced graphs and breaks, operators, the share of them in kernels of
Twinloom, subgraphs, what differs. Then what stayed with PyTorch, with counts. --times adds how long the first call takes,
with no kernel kept on disk and with all of them, of Twinloom and of Inductor. Exit code 1: a model failed or differs.

usage: torch_models.py [--only WORDS] [--device cpu|cuda] [--times] [--json FILE] [--workers 1]
"""
import argparse
import collections
import concurrent.futures
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "build/release/library/lib/libtwinloom.so.0"
WAYS = ("inference", "training", "sizes")
LIMIT = 900  # seconds for a model


def tensors_in(value):
    import torch
    leaves = torch.utils._pytree.tree_leaves(dict(value) if isinstance(value, dict) else value)
    return [one for one in leaves if isinstance(one, torch.Tensor) and one.is_floating_point()]


def gradients(run, model, inputs):
    import torch
    results = [one for one in tensors_in(run(**inputs)) if one.requires_grad]
    wanted = [one for one in model.parameters() if one.requires_grad]
    loss = sum((one * torch.cos(torch.arange(one.numel(), device=one.device)).view(one.shape)).mean() for one in results)
    return results + [one for one in torch.autograd.grad(loss, wanted, allow_unused=True) if one is not None]


def difference(given, wanted):
    """The largest of any tensor, in what is allowed: 1e-5, or a thousandth of its largest value."""
    if [one.shape for one in given] != [one.shape for one in wanted]:
        return float("inf")
    worst = 0.0
    for one, other in zip(given, wanted):
        if one.numel():
            worst = max(worst, float((one - other).abs().max() / max(1e-5, 1e-3 * float(other.abs().max()))))
    return worst


def moved(tensors):
    """Writes tensors that differ by a rounding."""
    import torch
    with torch.no_grad():
        for one in tensors:
            if one.is_floating_point():
                one.mul_(1 + 1.2e-7 * torch.randn_like(one).sign())


class Subject:
    """A model in one of the ways, compiled anew."""

    def __init__(self, name, device):
        import torch
        import torch_model_list
        torch.manual_seed(0)
        self.model, self.inputs_of = torch_model_list.models()[name]()
        self.model, self.device = self.model.to(device), device
        for module in self.model.modules():
            for attribute in ("p", "drop_prob"):
                if isinstance(getattr(module, attribute, None), float):
                    setattr(module, attribute, 0.0)

    def inputs(self, batch, length=16):
        import torch
        torch.manual_seed(batch)
        return {key: value.to(self.device) for key, value in self.inputs_of(batch, length).items()}

    def run(self, function, training, inputs):
        import torch
        if training:
            return gradients(function, self.model, inputs)
        with torch.no_grad():
            return tensors_in(function(**inputs))


def examined(name, way, device):
    """What becomes of a model, as numbers and words."""
    import torch
    import twinloom
    subject, training = Subject(name, device), way == "training"
    model = subject.model.train(training)
    found, counter = [], torch._dynamo.testing.CompileCounterWithBackend(twinloom.backend)
    twinloom._backend._listeners.append(found)
    run = torch.compile(model, backend=counter)
    sizes = [(2, 16), (3, 24), (5, 17), (4, 32), (7, 21)] if way == "sizes" else [(2, 16)]
    worst, compiled = 0.0, []
    for batch, length in sizes:
        inputs, state = subject.inputs(batch, length), copy.deepcopy(model.state_dict())
        if way == "sizes":
            for one in inputs.values():  # batch and length; of pictures the batch alone
                torch._dynamo.maybe_mark_dynamic(one, [0, 1] if one.dim() == 2 else 0)
        given = subject.run(run, training, inputs)
        model.load_state_dict(state)  # averages of batches
        wanted = subject.run(model, training, inputs)
        worst = max(worst, difference(given, wanted))
        compiled.append(counter.frame_count)
    if worst > 1:  # a network that was never trained may amplify roundings: activations on the other side of 0, small batches
        amplified = 0.0
        for _ in range(8):
            model.load_state_dict(state)
            moved([*model.parameters(), *inputs.values()])
            amplified = max(amplified, difference(subject.run(model, training, inputs), wanted))
        worst /= max(1.0, 3 * amplified)
    left = collections.Counter((one.operator, one.why) for each in found for one in each.left)
    nodes = sum(one.nodes for one in found)
    return {"graphs": len(found), "frames": compiled[0], "again": compiled[-1] - compiled[0], "nodes": nodes,
            "taken": nodes - sum(left.values()), "subgraphs": sum(len(one.kernels) for one in found),
            "wrong": worst, "left": [[*key, count] for key, count in left.most_common()]}


def first_call(name, way, device, backend):
    import torch
    subject = Subject(name, device)
    subject.model.train(way == "training")
    run, started = torch.compile(subject.model, backend=backend), time.perf_counter()
    subject.run(run, way == "training", subject.inputs(2))
    return {"seconds": time.perf_counter() - started}


def child(words, environment=None):
    """What a process of its own says, or how it failed."""
    try:
        ended = subprocess.run([sys.executable, __file__, "--child", *words], capture_output=True, text=True, timeout=LIMIT,
                               env={**os.environ, **(environment or {})})
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {LIMIT} s"}
    if ended.returncode != 0:
        return {"failed": (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1][:300]}
    return json.loads(ended.stdout.splitlines()[-1])


def times(name, way, device):
    """Seconds of first calls: of both, with nothing kept and with all."""
    found = {}
    for backend in ("twinloom", "inductor"):
        with tempfile.TemporaryDirectory() as kept:
            folders = {"XDG_CACHE_HOME": kept, "TORCHINDUCTOR_CACHE_DIR": kept + "/inductor"}
            for state in ("cold", "warm"):
                said = child([name, way, device, backend], folders)
                found[f"{backend}_{state}"] = said.get("seconds")
    return found


def examine_all(name, arguments):
    found = {way: child([name, way, arguments.device]) for way in WAYS}
    if arguments.times:
        for way in ("inference", "training"):
            found[way]["times"] = times(name, way, arguments.device)
    return found


def row(name, way, found):
    if "failed" in found:
        return f"{name:32} {way:9} FAILED {found['failed']}"
    verdict = "ok" if found["wrong"] <= 1 else f"WRONG by {found['wrong']:.1f} bounds"
    again = f", compiled {found['again']} times more" if found["again"] else ""
    shown = "".join(f" {seconds:6.1f}" if seconds else "      -" for seconds in found.get("times", {}).values())
    share = 100 * found["taken"] / max(found["nodes"], 1)
    return (f"{name:32} {way:9} {found['frames']:6} {found['graphs']:6} {found['nodes']:6} {share:6.1f} "
            f"{found['subgraphs']:9}{shown}  {verdict}{again}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    import torch_model_list
    names = [name for name in torch_model_list.models() if any(one in name for one in arguments.only.split(","))]
    columns = " tw cold   warm  ind cold warm" if arguments.times else ""
    print(f"{'model':32} {'way':9} frames graphs  nodes share% subgraphs{columns}")
    results, left, bad = {}, collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        for name, found in zip(names, pool.map(lambda name: examine_all(name, arguments), names)):
            results[name] = found
            for way, each in found.items():
                print(row(name, way, each), flush=True)
                left.update({(operator, why): count for operator, why, count in each.get("left", [])})
                bad += "failed" in each or each["wrong"] > 1
    print("in PyTorch:")
    for (operator, why), count in left.most_common(40):
        print(f"  {count:6} {operator}: {why}")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1))
    print(f"{len(names)} models, {bad} of {len(WAYS) * len(names)} runs failed or are wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    os.environ.setdefault("TWINLOOM_LIBRARY", str(LIBRARY))
    sys.path.insert(0, str(ROOT / "frontends/torch"))
    if sys.argv[1:2] == ["--child"]:
        name, way, device, *backend = sys.argv[2:]
        import torch
        torch._dynamo.utils  # noqa: B018, loads what testing needs
        import torch._dynamo.testing
        import twinloom
        if backend == ["twinloom"]:
            backend = [twinloom.backend]
        print(json.dumps(first_call(name, way, device, *backend) if backend else examined(name, way, device)))
    else:
        sys.exit(main())
