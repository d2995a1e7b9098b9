#!/usr/bin/env python3
"""Kernels with symbolic sizes beside the same kernels with fixed ones.

Functions of matrices of m rows and n columns are captured by make_fx twice: with symbols for m and n, as PyTorch prints
dynamic shapes, and for each pair of sizes with the numbers. `twinloom bench` times both texts of a pair in one process, or
`twinloom explain` estimates them, which needs no GPU. The ratio is symbolic over fixed. Exit code 1: something failed, or
a ratio is above --bound.

usage: symbolic.py [--device cpu|cuda:0|h200] [--estimates] [--only WORDS] [--sizes 8192x4096,65536x256] [--seconds 0.3]
                   [--threads 2] [--bound 1.1] [--json FILE] [--program FILE]
       symbolic.py --write FOLDER      only writes the texts
"""
import argparse
import collections
import dataclasses
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import breadth

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = [(8192, 4096), (65536, 256), (512, 50257), (3000, 3001), (128, 1024)]
TRACED = (66, 46)  # while symbols are traced: sizes that no operator treats in a way of their own
NAMES = ("s0", "s1")
F32, F16, BF16 = "float32", "float16", "bfloat16"
M, N = "m", "n"


@dataclasses.dataclass
class Case:
    name: str
    kind: str
    shapes: list  # of the inputs, in m, n and numbers
    function: object
    dtype: str = F32


def cases(torch):
    F = torch.nn.functional
    matrix = [(M, N)]

    def layer_norm(x, weight, bias):
        return F.layer_norm(x, x.shape[-1:], weight, bias)

    def rms_norm(x, weight):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight

    def quantize(x):
        scale = x.abs().amax(-1, keepdim=True) / 127
        return torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8), scale

    def softmax_backward(gradient, y):
        return (gradient - (gradient * y).sum(-1, keepdim=True)) * y

    return [
        Case("full_sum", "full", matrix, lambda x: x.sum()),
        Case("full_mean_bf16", "full", matrix, lambda x: x.float().mean(), BF16),
        Case("full_max", "full", matrix, lambda x: x.amax()),
        Case("squared_error", "full", matrix * 2, lambda x, y: (x - y).pow(2).mean()),
        Case("column_sum", "columns", matrix, lambda x: x.sum(0)),
        Case("column_sum_bf16", "columns", matrix, lambda x: x.float().sum(0).to(x.dtype), BF16),
        Case("column_max", "columns", matrix, lambda x: x.amax(0)),
        Case("column_mean_of_product", "columns", matrix * 2, lambda x, y: (x * y).mean(0)),
        Case("row_sum", "rows", matrix, lambda x: x.sum(1)),
        Case("row_max_f16", "rows", matrix, lambda x: x.amax(1), F16),
        Case("row_argmax", "rows", matrix, lambda x: x.argmax(1)),
        Case("softmax", "rows", matrix, lambda x: torch.softmax(x, -1)),
        Case("log_softmax_bf16", "rows", matrix, lambda x: torch.log_softmax(x, -1), BF16),
        Case("masked_softmax", "rows", matrix + [(1, N)], lambda x, mask: torch.softmax(x + mask, -1)),
        Case("softmax_backward", "rows", matrix * 2, softmax_backward),
        Case("layer_norm", "rows", matrix + [(N,)] * 2, layer_norm),
        Case("rms_norm_bf16", "rows", matrix + [(N,)], rms_norm, BF16),
        Case("quantize_rows", "rows", matrix, quantize),
        Case("rows_of_768_norm", "rows", [(M, 768), (768,), (768,)], layer_norm),
        Case("cumsum", "scans", matrix, lambda x: torch.cumsum(x, -1)),
        Case("cumsum_down", "scans", matrix, lambda x: torch.cumsum(x, 0)),
        Case("add_relu", "pointwise", matrix * 2, lambda x, y: torch.relu(x + y)),
        Case("gelu_bf16", "pointwise", matrix, lambda x: F.gelu(x), BF16),
        Case("bias", "pointwise", matrix + [(N,)], lambda x, bias: torch.relu(x + bias)),
        Case("scaled_rows_bf16", "pointwise", matrix + [(M, 1)], lambda x, scale: x * scale, BF16),
        Case("transposed", "pointwise", matrix, lambda x: x.t().contiguous()),
        Case("halves_multiplied", "pointwise", [(M, N), (M, N)], lambda x, y: torch.cat([x * y, x + y], 1)),
    ]


def tensors_of(torch, case, sizes):
    known = {M: sizes[0], N: sizes[1]}
    return [torch.empty([known.get(side, side) for side in shape], dtype=getattr(torch, case.dtype)) for shape in case.shapes]


def fixed_text(torch, case, sizes):
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():  # no memory is needed
        graph = breadth.captured(torch, case.function, tensors_of(torch, case, sizes))
        return graph.print_readable(print_output=False, include_stride=True)


def with_symbols(torch, case):
    """Tensors of which m and n are symbols, and the other sizes numbers."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental import symbolic_shapes as symbolic
    mode = FakeTensorMode(shape_env=symbolic.ShapeEnv())
    result = []
    for shape, tensor in zip(case.shapes, tensors_of(torch, case, TRACED)):
        sides = [symbolic.DimDynamic.DUCK if side in (M, N) else symbolic.DimDynamic.STATIC for side in shape]
        context = symbolic.StatelessSymbolicContext(dynamic_sizes=sides)
        result.append(mode.from_tensor(tensor, symbolic_context=context))
    return result


def symbolic_text(torch, case):
    """The text, with the symbols called s0 for m and s1 for n. ValueError where PyTorch fixed a size."""
    graph = breadth.captured(torch, case.function, with_symbols(torch, case), "symbolic")
    text = graph.print_readable(print_output=False, include_stride=True)
    names = {}
    inputs = [node.meta["val"] for node in graph.graph.nodes if node.op == "placeholder" and hasattr(node.meta["val"], "shape")]
    for shape, tensor in zip(case.shapes, inputs):
        for side, size in zip(shape, tensor.shape):
            if side in (M, N):
                if isinstance(size, int):
                    raise ValueError(f"PyTorch took {side} for {size}")
                names[str(size)] = NAMES[side == N]
    return re.sub(r"\bs\d+\b", lambda found: names[found.group()], text)


def has_both(case):
    return {side for shape in case.shapes for side in shape if side in (M, N)} == {M, N}


def name_of(case, sizes):
    return f"{case.name}.{sizes[0]}x{sizes[1]}"


def write_texts(torch, chosen, all_sizes, folder):
    """Names of cases that could not be captured, with why."""
    folder.mkdir(parents=True, exist_ok=True)
    failures = {}
    for case in chosen:
        try:
            (folder / f"{case.name}.symbolic.fx").write_text(symbolic_text(torch, case))
            for sizes in all_sizes:
                (folder / f"{name_of(case, sizes)}.fixed.fx").write_text(fixed_text(torch, case, sizes))
        except Exception as problem:  # of any sort: the others are still worth their numbers
            failures[case.name] = f"{type(problem).__name__}: {str(problem).splitlines()[:1]}"
    return failures


def size_options(sizes, both):
    return [word for name, size in zip(NAMES, sizes if both else sizes[:1]) for word in ("--size", f"{name}={size}")]


def measured(options, folder, chosen, sizes):
    """Milliseconds by file, of all texts of these sizes, one after the other."""
    files = [file for case in chosen for file in (folder / f"{name_of(case, sizes)}.fixed.fx",
                                                  folder / f"{case.name}.symbolic.fx")]
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    command = [options.program, "bench", *files, "--device", options.device, "--seconds", str(options.seconds), "--threads",
               str(options.threads), "--json", report, *size_options(sizes, any(map(has_both, chosen)))]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if not report.exists():
        return {file.name: f"twinloom bench failed: {done.stderr.strip() or done.returncode}" for file in files}
    models = breadth.models_of(json.loads(report.read_text()), files)
    return {pathlib.Path(model["file"]).name: model.get("run_ms", model.get("error")) for model in models}


def estimated(options, folder, chosen, sizes):
    found = {}
    for case in chosen:
        for name, given in ((f"{name_of(case, sizes)}.fixed.fx", []),
                            (f"{case.name}.symbolic.fx", size_options(sizes, has_both(case)))):
            command = [options.program, "explain", folder / name, "--device", options.device, *given]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
            seconds = re.findall(r"^estimate ([0-9.]+) us for all", done.stdout, re.MULTILINE)
            found[name] = float(seconds[-1]) * 1e-3 if seconds else done.stderr.strip() or "no estimate"
    return found


def rows_of(options, folder, chosen, all_sizes):
    rows = []
    for sizes in all_sizes:
        times = (estimated if options.estimates else measured)(options, folder, chosen, sizes)
        for case in chosen:
            fixed = times.get(f"{name_of(case, sizes)}.fixed.fx", "not measured")
            symbolic = times.get(f"{case.name}.symbolic.fx", "not measured")
            row = {"name": case.name, "kind": case.kind, "sizes": list(sizes), "fixed_ms": fixed, "symbolic_ms": symbolic}
            if isinstance(fixed, float) and isinstance(symbolic, float):
                row["ratio"] = symbolic / fixed
            rows.append(row)
            print_row(row)
    return rows


def print_row(row):
    words = f"{row['name']:<26}{'x'.join(map(str, row['sizes'])):>14}"
    if "ratio" in row:
        print(f"{words}{row['fixed_ms']:>12.4f}{row['symbolic_ms']:>12.4f}{row['ratio']:>8.3f}", flush=True)
    else:
        print(f"{words}  FAILED: {row['fixed_ms']} | {row['symbolic_ms']}", flush=True)


def print_summary(rows, failures, bound):
    by_kind = collections.defaultdict(list)
    for row in rows:
        if "ratio" in row:
            by_kind[row["kind"]].append(row["ratio"])
    for kind, ratios in by_kind.items():
        print(f"{kind:<12}geometric mean {statistics.geometric_mean(ratios):.3f}, the highest {max(ratios):.3f}, of {len(ratios)}")
    above = [f"{row['name']}.{row['sizes'][0]}x{row['sizes'][1]}" for row in rows if row.get("ratio", 0) > bound]
    failed = sorted({row["name"] for row in rows if "ratio" not in row} | set(failures))
    print(f"above {bound}: {len(above)} {' '.join(above)}")
    print(f"failed: {len(failed)} {' '.join(failed)}")
    for name, words in failures.items():
        print(f"{name}: {words}")
    return bool(above or failed or not rows)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--estimates", action="store_true", help="what `explain` says instead of measurements")
    parser.add_argument("--only", default="", help="names with one of these words, divided by commas")
    parser.add_argument("--sizes", default="", help="pairs such as 8192x4096, divided by commas")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.3, help="that each text is measured for")
    parser.add_argument("--bound", type=float, default=1.1)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/twinloom")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    return parser.parse_args()


def main():
    options = parse_options()
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: nothing captures the functions")
        return 1
    words = [word for word in options.only.split(",") if word]
    chosen = [case for case in cases(torch) if not words or any(word in case.name for word in words)]
    all_sizes = [tuple(map(int, pair.split("x"))) for pair in options.sizes.split(",") if pair] or SIZES
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.write or pathlib.Path(temporary)
        failures = write_texts(torch, chosen, all_sizes, folder)
        if options.write:
            print(*(f"{name}: {why}" for name, why in failures.items()), sep="\n")
            return 1 if failures else 0
        print(f"{'case':<26}{'sizes':>14}{'fixed ms':>12}{'symbolic':>12}{'ratio':>8}")
        rows = rows_of(options, folder, [case for case in chosen if case.name not in failures], all_sizes)
    if options.json:
        options.json.write_text(json.dumps({"device": options.device, "rows": rows}, indent=1))
    return 1 if print_summary(rows, failures, options.bound) else 0


if __name__ == "__main__":
    sys.exit(main())
