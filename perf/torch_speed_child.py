"""A model in one way, in a process of its own, that does what torch_speed.py asks for: a line of JSON each on standard input and
output. Parts of a step by torch.profiler: what libraries' kernels take (products, convolutions, attention: by name) and what all
others do."""
import argparse
import json
import math
import re
import sys
import time

# The first call of "traced" is what PyTorch's own tracing and cutting takes of the others' first calls.
WAYS = {"eager": None, "traced": {"backend": "aot_eager_decomp_partition"}, "inductor": {}, "twinloom": {"backend": "twinloom"},
        "twinloom-fast": {"backend": "twinloom", "options": {"mode": "fast"}},
        "twinloom-gaps": {"backend": "twinloom", "options": {"gaps": True}},
        "twinloom-cudagraphs": {"backend": "twinloom", "options": {"cudagraphs": True}}, "max-autotune": {"mode": "max-autotune"}}
MARK = "torch_speed: "  # in front of an answer, as others may print too
PROFILED = 3  # steps
TOP = 12  # kernels shown
# Names of kernels: those of ours and of Triton first, whose names tell what they were fused from, then what is a library's.
OTHERS = re.compile(r"^twinloom_|^triton_(poi|red|per|for|spl|mix)_|bn_(fw|bw)_|batch_?norm")
LIBRARIES = re.compile(r"cublas|cutlass|cudnn|flash|fmha|nvjet|xmma|gemm|gemv|splitk|wgrad|dgrad|fprop|convolve|implicit_con"
                       r"|nchwToNhwc|nhwcToNchw|^triton_(tem|mm|bmm|convolution)|winograd", re.IGNORECASE)
CPU_LIBRARIES = re.compile(r"aten::(mm|bmm|addmm|baddbmm|_?convolution|convolution_backward|_?scaled_dot_product_\w+)$"
                           r"|^(mkldnn|onednn)::")


class Runner:
    """A model in one way, in this process."""

    def __init__(self, arguments):
        import torch
        import torch_speed_models
        self.torch, self.arguments = torch, arguments
        self.subject = torch_speed_models.made(arguments.model, arguments.training, arguments.size, arguments.device,
                                               not arguments.f32)
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


def first(runner):
    """The first call, which compiles."""
    wake(runner.torch, runner.arguments.device)
    runner.wait()
    started = time.perf_counter()
    runner.compile()
    result = runner.step()
    runner.wait()
    return {"first": time.perf_counter() - started, **numbers_of(runner, result)}


def warmed(runner):
    """What follows is a step like any other: CUDA graphs are recorded by the second."""
    for _ in range(3):
        runner.step()
    runner.wait()
    if runner.arguments.device == "cuda":
        runner.torch.cuda.reset_peak_memory_stats()
    return {}


def steps(runner, seconds):
    """Milliseconds of each step: by the clock, waited for; by events of the device."""
    torch, cuda = runner.torch, runner.arguments.device == "cuda"
    clock, events, end = [], [], time.monotonic() + seconds
    while len(clock) < 3 or time.monotonic() < end:
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
    return {"clock": clock, "events": events}


def memory(runner):
    """Bytes that PyTorch's allocator gave at most, and that the process has taken of a GPU."""
    torch, cuda = runner.torch, runner.arguments.device == "cuda"
    return {"peak": torch.cuda.max_memory_allocated() if cuda else None, "taken": taken_of(torch) if cuda else None,
            "device": torch.cuda.get_device_name() if cuda else "cpu"}


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


ANSWERS = {"first": first, "warmed": warmed, "steps": steps, "profiled": profiled, "memory": memory, "compiled": compiled_of}


def main():
    import torch
    arguments = argparse.Namespace(**json.loads(sys.argv[1]))
    torch.set_num_threads(arguments.threads)
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = False
    runner = Runner(arguments)
    for line in sys.stdin:
        name, *given = json.loads(line)
        print(MARK + json.dumps(ANSWERS[name](runner, *given)), flush=True)


if __name__ == "__main__":
    main()
