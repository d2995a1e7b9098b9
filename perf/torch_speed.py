#!/usr/bin/env python3
"""Training steps and inference of whole models: eager PyTorch, torch.compile and Twinloom beside each other on one device.

Each way of each model (torch_speed_models.py) runs in a process of its own with caches in an empty folder, one after the
other, so that one GPU serves all: the first call, which compiles; then --seconds of steps, each waited for; then a few under
torch.profiler, which says what libraries' kernels take (products, convolutions, attention: by name) and what all others do.
On a CPU the others are what is left of the step. A step is forward and backward, without an optimizer; gradients are dropped
before it. Precision of products, caches, seed and the library of convolutions are set alike for all.

A row a way, with the memory that PyTorch's allocator gave at most after the first call, and what the process has taken of the
GPU in the end, memory of Twinloom's own and kept caches too; under them, of each model, best peer over ours, ours over
Inductor's of the time in other kernels, of memory and of the first call; the slowest other kernels of both; what Twinloom
left to PyTorch. Ways agree with eager where the loss is within
0.5 %, the norm of the gradients (or of the result) within 3 %, and samples of three of them (or of the result) within 15 % of
the samples' norm (70 % of ResNet-50's): what roundings of bf16 leave of a step of untrained networks. max-autotune runs after
all the other ways.
--limit ends it: what did not fit is said. Exit code 1: a way failed, or does not agree.

usage: torch_speed.py [--only gpt2,llama,bert,vit,resnet50] [--ways eager,inductor,twinloom,twinloom-fast,max-autotune]
                      [--device cuda|cpu] [--size full|cpu|tiny] [--f32] [--threads N] [--seconds 3] [--limit 550] [--warm]
                      [--json FILE]
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "build/release/library/lib/libtwinloom.so.0"
MODELS = ("gpt2", "llama", "bert", "vit", "resnet50")
WAYS = {"eager": None, "inductor": {}, "twinloom": {"backend": "twinloom"},
        "twinloom-fast": {"backend": "twinloom", "options": {"mode": "fast"}}, "max-autotune": {"mode": "max-autotune"}}
PROFILED = 3  # steps
TOP = 12  # kernels shown
# Names of kernels: those of ours and of Triton first, whose names tell what they were fused from, then what is a library's.
OTHERS = re.compile(r"^twinloom_|^triton_(poi|red|per|for|spl|mix)_|bn_(fw|bw)_|batch_?norm")
LIBRARIES = re.compile(r"cublas|cutlass|cudnn|flash|fmha|nvjet|xmma|gemm|gemv|splitk|wgrad|dgrad|fprop|convolve|implicit_con"
                       r"|nchwToNhwc|nhwcToNchw|^triton_(tem|mm|bmm|convolution)|winograd", re.IGNORECASE)
CPU_LIBRARIES = re.compile(r"aten::(mm|bmm|addmm|baddbmm|_?convolution|convolution_backward|_?scaled_dot_product_\w+)$"
                           r"|^(mkldnn|onednn)::")
TOLERANCES = {"loss": 0.005, "norm": 0.03, "samples": 0.15}
# Norms over batches of noise, 53 behind each other: the first gradients in bf16 are 0.4 of their norm apart from those in f32.
LOOSE = {"resnet50": {"samples": 0.7}}


class Runner:
    """A model in one way, in this process."""

    def __init__(self, arguments):
        import torch
        import torch_speed_models
        self.torch, self.arguments = torch, arguments
        self.subject = torch_speed_models.made(arguments.model, arguments.size, arguments.device, not arguments.f32)
        self.run, self.listened = self.subject.module, []

    def compile(self):
        keywords = WAYS[self.arguments.way]
        if keywords is None:
            return
        if keywords.get("backend") == "twinloom":
            import twinloom
            twinloom._backend._listeners.append(self.listened)
            keywords = {**keywords, "backend": twinloom.backend}
        self.run = self.torch.compile(self.subject.module, **keywords)

    def step(self):
        torch, subject = self.torch, self.subject
        if not subject.training:
            with torch.no_grad():
                return self.run(*subject.inputs)
        for one in subject.module.parameters():
            one.grad = None
        with torch.autocast(self.arguments.device, torch.bfloat16, enabled=subject.autocast):
            loss = self.run(*subject.inputs)
        loss.backward()
        return loss

    def wait(self):
        if self.arguments.device == "cuda":
            self.torch.cuda.synchronize()


def numbers_of(runner, result):
    """Loss, norm and samples of a step, to compare ways by."""
    torch = runner.torch
    if runner.subject.training:
        gradients = [one.grad for one in runner.subject.module.parameters() if one.grad is not None]
        norm = math.sqrt(sum(float(one.float().square().sum()) for one in gradients))
        sampled = [gradients[0], gradients[len(gradients) // 2], gradients[-1]]
    else:
        norm, sampled = float(result.float().norm()), [result]
    samples = [one.flatten()[::max(1, one.numel() // 256)][:256].float().tolist() for one in sampled]
    loss = float(result.detach().float().square().mean() if result.dim() else result.detach())
    return {"loss": loss, "norm": norm, "samples": samples}


def wake(torch, device):
    """What any first use of a device and its libraries costs is not compiling, nor is loading Python modules."""
    import torch._dynamo.backends.common
    import torch._inductor.compile_fx  # noqa: F401
    one = torch.randn(256, 256, device=device, dtype=torch.bfloat16, requires_grad=True)
    (one @ one).sum().backward()
    torch.nn.functional.conv2d(torch.ones(1, 8, 8, 8, device=device), torch.ones(8, 8, 3, 3, device=device)).sum().item()


def taken_of(torch):
    free, total = torch.cuda.mem_get_info()
    return total - free


def timed(runner):
    """Medians of steps, in milliseconds: by the clock, waited for; by events of the device."""
    torch, cuda = runner.torch, runner.arguments.device == "cuda"
    clock, events, end = [], [], time.monotonic() + runner.arguments.seconds
    while len(clock) < 5 or time.monotonic() < end:
        started = time.perf_counter()
        if cuda:
            pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            pair[0].record()
        runner.step()
        if cuda:
            pair[1].record()
        runner.wait()
        clock.append((time.perf_counter() - started) * 1e3)
        if cuda:
            events.append(pair[0].elapsed_time(pair[1]))
    return {"step": statistics.median(clock), "events": statistics.median(events) if cuda else None, "steps": len(clock)}


def on_gpu(profile):
    """Milliseconds a step in kernels of libraries, and name -> (milliseconds, calls) a step of all others."""
    library, others, calls = 0.0, {}, 0
    for one in profile.events():
        if str(one.device_type) != "DeviceType.CUDA" or one.name == "Context Sync" or getattr(one, "is_user_annotation", False):
            continue
        milliseconds = one.time_range.elapsed_us() / 1e3 / PROFILED
        calls += 1
        if LIBRARIES.search(one.name) and not OTHERS.search(one.name):
            library += milliseconds
        else:
            sums = others.setdefault(one.name, [0.0, 0])
            sums[0] += milliseconds
            sums[1] += 1 / PROFILED
    return {"library": library, "others": sum(one for one, _ in others.values()), "calls": calls / PROFILED, "named": others}


def within_library(event):
    while event is not None and not CPU_LIBRARIES.search(event.name):
        event = event.cpu_parent
    return event is not None


def on_cpu(profile, step):
    """The same from operators; the others take what is left of a step."""
    library, others = 0.0, {}
    for one in profile.events():
        if within_library(one.cpu_parent):
            continue
        if CPU_LIBRARIES.search(one.name):
            library += one.time_range.elapsed_us() / 1e3 / PROFILED
        else:
            sums = others.setdefault(one.name, [0.0, 0])
            sums[0] += one.self_cpu_time_total / 1e3 / PROFILED
            sums[1] += 1 / PROFILED
    return {"library": library, "others": step - library, "calls": None, "named": others}


def profiled(runner):
    from torch.profiler import ProfilerActivity, profile
    cuda = runner.arguments.device == "cuda"
    with profile(activities=[ProfilerActivity.CUDA if cuda else ProfilerActivity.CPU]) as found:
        started = time.perf_counter()
        for _ in range(PROFILED):
            runner.step()
        runner.wait()
        step = (time.perf_counter() - started) * 1e3 / PROFILED
    said = on_gpu(found) if cuda else on_cpu(found, step)
    slowest = sorted(said["named"].items(), key=lambda entry: -entry[1][0])[:TOP]
    return {**said, "named": [[name, *sums] for name, sums in slowest]}


def compiled_of(runner):
    """What torch.compile made of the model: graphs, breaks, kernels; of Twinloom what stays with PyTorch."""
    import collections
    import torch
    counters = torch._dynamo.utils.counters
    found = {"graphs": counters["stats"]["unique_graphs"], "breaks": sum(counters["graph_break"].values())}
    if runner.arguments.way in ("inductor", "max-autotune"):
        from torch._inductor import metrics
        found["kernels"] = metrics.generated_kernel_count
    if runner.listened:
        ran = [one.explained() for each in runner.listened for one in each.kernels]
        found["kernels"] = sum(len(one["kernels"]) for one in ran if one)
        left = collections.Counter((one.operator, one.why) for each in runner.listened for one in each.left)
        found["left"] = [[*key, count] for key, count in left.most_common()]
        found["subgraphs"] = sum(len(each.kernels) for each in runner.listened)
    return found


def examined(arguments):
    """All that is measured of a way, in a process of its own."""
    import torch
    torch.set_num_threads(arguments.threads)
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = False
    runner = Runner(arguments)
    wake(torch, arguments.device)
    runner.wait()
    started = time.perf_counter()
    runner.compile()
    result = runner.step()
    runner.wait()
    found = {"first": time.perf_counter() - started, **numbers_of(runner, result)}
    del result
    if arguments.first:
        return found
    for _ in range(3):  # CUDA graphs are recorded by the second
        runner.step()
    runner.wait()
    if arguments.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    found.update(timed(runner))
    found["peak"] = torch.cuda.max_memory_allocated() if arguments.device == "cuda" else None
    found["taken"] = taken_of(torch) if arguments.device == "cuda" else None
    device = torch.cuda.get_device_name() if arguments.device == "cuda" else "cpu"
    return {**found, **profiled(runner), **compiled_of(runner), "device": device}


def child(arguments, model, way, kept, seconds, first=False):
    """What a process of its own says, or how it failed."""
    words = {**vars(arguments), "model": model, "way": way, "first": first}
    folders = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton", "TWINLOOM_CACHE_DIR": "twinloom",
               "CUDA_CACHE_PATH": "cuda"}
    environment = {**os.environ, **{name: f"{kept}/{folder}" for name, folder in folders.items()},
                   "OMP_NUM_THREADS": str(arguments.threads)}
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([sys.executable, __file__, "--child", json.dumps(words)], stdout=said, stderr=errors,
                                   env=environment, start_new_session=True)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its compilers too
        process.wait()
        said.seek(0)
        errors.seek(0)
        if code is None:
            return {"failed": f"not done after {seconds:.0f} s"}
        if code != 0:
            lines = errors.read().strip().splitlines() or [f"exit code {code}"]
            return {"failed": lines[-1][:300], "errors": lines[-40:]}
        return json.loads(said.read().splitlines()[-1])


def measure(arguments, model, way, left):
    """A way; `warm` is the first call of a second process, which finds all that the first has kept."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as kept:
        found = child(arguments, model, way, kept, left)
        remaining = left - (time.monotonic() - started)
        if arguments.warm and WAYS[way] is not None and "failed" not in found and remaining > 5:
            found["warm"] = child(arguments, model, way, kept, remaining, first=True).get("first")
    found["took"] = time.monotonic() - started
    return found


def apart(one, other):
    """How far samples are apart, in the other's norm: the worst of the tensors."""
    worst = 0.0
    for ours, theirs in zip(one["samples"], other["samples"]):
        far = math.dist(ours, theirs)
        worst = max(worst, far / max(math.hypot(*theirs), 1e-30)) if far == far else math.inf
    return worst


def differences(model, found, eager):
    """Name of a number -> how far it is from eager's, where that is more than is allowed."""
    far = {key: abs(found[key] - eager[key]) / max(abs(eager[key]), 1e-30) for key in ("loss", "norm")}
    far["samples"] = apart(found, eager)
    found["apart"] = far
    allowed = {**TOLERANCES, **LOOSE.get(model, {})}
    return {key: value for key, value in far.items() if not value <= allowed[key]}


def milliseconds(value):
    return "-" if value is None else f"{value:.2f}"


def row(model, way, found, eager):
    if "failed" in found:
        return f"{model:9} {way:13} FAILED {found['failed']}"
    wrong = differences(model, found, eager) if eager else {}
    right = "ok" if eager else "no eager beside it"
    verdict = " ".join(f"{key} DIFFERS by {value:.3g}" for key, value in wrong.items()) or right
    peak, taken = ("-" if found[key] is None else f"{found[key] / 1e9:.2f}" for key in ("peak", "taken"))
    warm = "" if found.get("warm") is None else f" warm {found['warm']:.2f} s"
    calls = found["calls"] if found["calls"] is not None else found.get("kernels", 0)
    return (f"{model:9} {way:13} {found['loss']:9.4f} {found['norm']:10.4f} {found['first']:8.2f} {found['step']:9.2f} "
            f"{milliseconds(found['events']):>9} {found['library']:9.2f} {found['others']:9.2f} {calls:8.0f} {peak:>7} "
            f"{taken:>7}  {verdict}{warm}")


HEAD = (f"{'model':9} {'way':13} {'loss':>9} {'norm':>10} {'first s':>8} {'step ms':>9} {'events':>9} {'libraries':>9} "
        f"{'others':>9} {'kernels':>8} {'peak GB':>7} {'taken':>7}")


def ratios_of(ways):
    """Best peer over ours of a step; ours over Inductor's of the rest."""
    good = {way: one for way, one in ways.items() if "failed" not in one}
    mine = {way: one for way, one in good.items() if way.startswith("twinloom")}
    peers = {way: one for way, one in good.items() if way not in mine}
    found = {}
    for way, ours in mine.items():
        if not peers:
            continue
        best = min(peers, key=lambda one: peers[one]["step"])
        ratios = {"best": best, "best peer / ours": peers[best]["step"] / ours["step"]}
        if "inductor" in peers:
            theirs = peers["inductor"]
            ratios.update({"inductor / ours": theirs["step"] / ours["step"],
                           "others ours / inductor": ours["others"] / theirs["others"],
                           "libraries ours / inductor": ours["library"] / max(theirs["library"], 1e-9),
                           "first call ours / inductor": ours["first"] / theirs["first"]})
            if ours["peak"]:
                ratios["peak ours / inductor"] = ours["peak"] / theirs["peak"]
        found[way] = ratios
    return found


def show_model(model, ways):
    for way, ratios in ratios_of(ways).items():
        said = ", ".join(f"{key} {value:.2f}" for key, value in ratios.items() if key != "best")
        print(f"\n{model}, {way} (best peer: {ratios['best']}): {said}")
    for way in ways:
        found = ways[way]
        if way == "eager" or "failed" in found:
            continue
        print(f"  {way}: graphs {found['graphs']}, breaks {found['breaks']}, compiled kernels {found.get('kernels', 0)}; "
              f"slowest outside of libraries, ms and calls a step:")
        for name, one, calls in found["named"]:
            print(f"    {one:9.3f} {calls:6.1f}  {name[:150]}")
        if found.get("left"):
            print("    in PyTorch: " + ", ".join(f"{count} {operator} ({why})" for operator, why, count in found["left"]))


def show_means(results):
    logs = {}
    for ways in results.values():
        for way, ratios in ratios_of(ways).items():
            for key, value in ratios.items():
                if key != "best" and value > 0:
                    logs.setdefault((way, key), []).append(math.log(value))
    print("\ngeometric means")
    for (way, key), values in logs.items():
        print(f"  {way:13} {key}: {math.exp(statistics.mean(values)):.2f} of {len(values)} models, worst "
              f"{math.exp(min(values) if key.endswith('/ ours') else max(values)):.2f}")


def main():
    arguments = parsed()
    end = time.monotonic() + arguments.limit
    chosen = [model for model in MODELS if model in arguments.only.split(",")]
    ways = [way for way in WAYS if way in arguments.ways.split(",")]
    unknown = sorted({*arguments.only.split(","), *arguments.ways.split(",")} - {*MODELS, *WAYS})
    if unknown:
        raise SystemExit(f"torch_speed.py: there is no model and no way {unknown[0]!r}; "
                         f"models are {', '.join(MODELS)}, ways {', '.join(WAYS)}")
    planned = [(model, way) for model in chosen for way in ways if way != "max-autotune"]
    planned += [(model, way) for model in chosen for way in ways if way == "max-autotune"]
    print(HEAD, flush=True)
    results, skipped, bad = {}, [], 0
    for model, way in planned:
        left = end - time.monotonic()
        if left < 8:
            skipped.append(f"{model} {way}")
            continue
        found = results.setdefault(model, {})[way] = measure(arguments, model, way, left)
        eager = results[model].get("eager")
        eager = eager if eager and "failed" not in eager else None
        print(row(model, way, found, eager), flush=True)
        bad += "failed" in found or bool(eager and differences(model, found, eager))
        if arguments.json:
            pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1))
    for model, found in results.items():
        show_model(model, found)
    show_means(results)
    if skipped:
        print(f"not measured, as {arguments.limit:.0f} s were over: {', '.join(skipped)}")
    print(f"{len(planned) - len(skipped)} runs, {bad} failed or differ")
    return 1 if bad else 0


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--ways", default="eager,inductor,twinloom")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--size", choices=["full", "cpu", "tiny"])
    parser.add_argument("--f32", action="store_true", help="no 16-bit types")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--limit", type=float, default=550.0)
    parser.add_argument("--warm", action="store_true", help="the first call of a second process too")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    arguments.size = arguments.size or ("full" if arguments.device == "cuda" else "cpu")
    arguments.threads = arguments.threads or (2 if arguments.device == "cpu" else os.cpu_count())
    return arguments


if __name__ == "__main__":
    os.environ.setdefault("TWINLOOM_LIBRARY", str(LIBRARY))
    sys.path.insert(0, str(ROOT / "frontends/torch"))
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(examined(argparse.Namespace(**json.loads(sys.argv[2])))))
    else:
        sys.exit(main())
