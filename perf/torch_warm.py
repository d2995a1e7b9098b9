#!/usr/bin/env python3
"""What the first call of a known model costs a second process: torch.compile(model, backend="twinloom") with all caches empty,
and then again in processes that find them filled. Seconds of the first call, its backward pass included where it trains, by the
clock and of the CPU; an eager step of the same and what the backend `eager`, Dynamo alone, takes stand beside them.

usage: torch_warm.py [--models resnet50,gpt2,bert] [--ways eager,twinloom] [--rounds 3] [--precompile]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def step_of(torch, model, run, inputs, keywords):
    """A step: with gradients where the model is trained. Gives a number that depends on all of it."""
    def step():
        if not model.training:
            with torch.no_grad():
                result = run(*inputs, **keywords)
            return (result if isinstance(result, torch.Tensor) else result[0]).double().sum().item()
        result = run(*inputs, **keywords)
        loss = (result if isinstance(result, torch.Tensor) else result[0]).square().mean()
        loss.backward()
        return loss.item() + sum(one.grad.double().abs().sum().item() for one in model.parameters() if one.grad is not None)

    return step


def child(name, way, precompile):
    """Prints what a first call took."""
    import torch
    torch.set_num_threads(1)
    import torch_warm_models as models
    import twinloom
    torch.manual_seed(0)
    model, inputs, keywords = models.MODELS[name]()
    if precompile:
        torch._dynamo.config.caching_precompile = True
        model = models.Plain(model).train(model.training)
    import torch._dynamo
    import torch._inductor.compile_fx
    clock, cpu = time.perf_counter(), time.process_time()
    options = {"options": {"guard_filter_fn": twinloom.storable_guards}} if precompile else {}
    run = model if way == "plain" else torch.compile(model, backend=twinloom.backend if way == "twinloom" else way, **options)
    torch.manual_seed(1)
    value = step_of(torch, model, run, inputs, keywords)()
    found = {"clock": time.perf_counter() - clock, "cpu": time.process_time() - cpu, "value": value,
             "counters": {key: dict(one) for key, one in torch._dynamo.utils.counters.items() if key == "twinloom" or "cache" in key}}
    if precompile:
        torch.compiler.save_cache_artifacts()
    print(json.dumps(found))


def measured(name, way, folder, precompile):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "frontends" / "torch"), "TWINLOOM_CACHE_DIR": f"{folder}/twinloom",
                   "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor"}
    words = [sys.executable, __file__, "--child", name, "--ways", way] + ["--precompile"] * precompile
    ended = subprocess.run(words, env=environment, capture_output=True, text=True)
    if ended.returncode:
        sys.exit(ended.stderr)
    return json.loads(ended.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="resnet50,gpt2,bert")
    parser.add_argument("--ways", default="plain,eager,twinloom")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--precompile", action="store_true", help="with torch._dynamo.config.caching_precompile")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments.child, arguments.ways, arguments.precompile)
    for name in arguments.models.split(","):
        for way in arguments.ways.split(","):
            with tempfile.TemporaryDirectory() as folder:
                os.mkdir(f"{folder}/twinloom", 0o700)
                first, *later = [measured(name, way, folder, arguments.precompile) for _ in range(1 + arguments.rounds)]
            print(f"{name:10} {way:10} cold: {first['cpu']:6.2f} s of CPU, {first['clock']:6.2f} s"
                  f"   warm: {statistics.median(one['cpu'] for one in later):6.2f} s of CPU,"
                  f" {statistics.median(one['clock'] for one in later):6.2f} s"
                  f"   {later[-1]['counters'] if later else ''}   {'the same' if all(one['value'] == first['value'] for one in later) else 'ANOTHER VALUE'}", flush=True)


if __name__ == "__main__":
    main()
