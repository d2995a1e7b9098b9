#!/usr/bin/env python3
"""Compares every operator of the FX table with PyTorch itself.

    compare_with_torch.py --program BIN/run_texts --twinloom BIN/twinloom [--cases 200] [--seed 1]
                          [--only NAME...] [--cpu-share 0.05] [--show 5] [--table results.md]

For each operator that `twinloom ops --frontend fx` lists, and its form in place (add_) where PyTorch has one, arguments are drawn from the seed (drawing.py and
operators_*.py), PyTorch's overload is called on them on the CPU, and the text that PyTorch would print is run by
Twinloom: by the evaluator in `strict` and in `fused`, and a share of them compiled for `cpu`. Compared are whether
it is an error, types, shapes, and elements: integers and truths exactly, floats with the tolerances of a comparison
in `twinloom run --expect`. What differs has a reason in reasons.py or is a failure.

Exit code 0: nothing is unexplained; 1: something is; 77: PyTorch is not installed.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import warnings

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from drawing import Drawing  # noqa: E402
from operators import arguments_of  # noqa: E402
from reasons import NOT_COMPARED, reason_for, refused_by_one_device  # noqa: E402
from texts import as_pairs, run_all, written  # noqa: E402

Case = collections.namedtuple("Case", "operator overload seed positional keywords expected text tensors")
NAMESPACES = {"aten": torch.ops.aten, "prims": torch.ops.prims}
TRIES = 20  # for arguments that PyTorch has a kernel for


def overloads_of(row):
    """The overloads with tensors in or out that the row stands for."""
    spaces = {"prims": torch.ops.prims} if row.startswith("prims.") else NAMESPACES
    base, _, only = row.removeprefix("prims.").partition(".")
    for space in spaces.values():
        packet = getattr(space, base, None)
        if packet is None or not hasattr(packet, "overloads"):
            continue
        found = [getattr(packet, name) for name in packet.overloads() if not only or name == only]
        return [overload for overload in found if is_of_tensors(overload._schema)]
    return []


# What takes names of dimensions, generators, or lists of Python is for other users.
OTHERS = re.compile(r"Dimname|Generator|hacked_twin|str\[|\bt\[\]|str\??\[?\d?\]? (dim|outdim)|int\[\] self")


# What only checks gives nothing to compare.
CHECKS = re.compile("assert|_check|constrain|_dep_token")


def is_of_tensors(schema):
    results = [str(result.type) for result in schema.returns]
    return (bool(results) and all(kind in ("Tensor", "List[Tensor]") for kind in results)
            and not OTHERS.search(str(schema)) and not CHECKS.search(schema.name)
            and not any(argument.is_out for argument in schema.arguments)
            and schema.overload_name != "dtype" and str(schema) != "aten::where(Tensor condition) -> Tensor[]")


# These change the shape of what they are given, which Twinloom does not read.
RESHAPING = {"as_strided", "squeeze", "swapaxes", "swapdims", "t", "transpose", "unsqueeze"}


def with_forms_in_place(rows):
    """The rows, behind each its form in place where PyTorch has one: add, add_, scatter.value, scatter_.value."""
    return [name for row in rows for name in (row, in_place(row)) if name == row or name and overloads_of(name)]


def in_place(row):
    base, dot, overload = row.partition(".")
    return None if base in RESHAPING | {"prims"} or base.endswith("_") else f"{base}_{dot}{overload}"


def copied(value):
    if isinstance(value, torch.Tensor):
        return value.clone()
    return [copied(one) for one in value] if isinstance(value, (list, tuple)) else value


def called(overload, positional, keywords):
    """What PyTorch gives, or its exception."""
    try:
        result = overload(*[copied(value) for value in positional],
                          **{name: copied(value) for name, value in keywords.items()})
    except Exception as error:  # noqa: BLE001  PyTorch raises many kinds
        return error
    return list(result) if isinstance(result, tuple) else result


def draw_case(row, overload, seed):
    for attempt in range(TRIES):
        drawing = Drawing(f"{seed}/{attempt}")
        positional, keywords = arguments_of(drawing, row, overload)
        expected = called(overload, positional, keywords)
        if not refused_by_one_device(expected):
            break
    result = None if isinstance(expected, Exception) else expected
    text, tensors = written(f"torch.ops.{overload}", positional, keywords, result)
    return Case(row, overload, seed, positional, keywords, as_pairs(expected), text, tensors)


def draw_cases(row, count, seed):
    overloads = overloads_of(row)
    return [draw_case(row, overloads[k % len(overloads)], f"{seed}/{row}/{k}") for k in range(count if overloads else 0)]


def step_of(dtype, magnitude):
    """One step of a 16-bit type at that magnitude."""
    if dtype not in (torch.float16, torch.bfloat16):
        return torch.zeros_like(magnitude)
    info = torch.finfo(dtype)
    return torch.clamp(magnitude * info.eps, min=info.tiny * info.eps)


def elements_differ(want, got, slack=0):
    """Words where elements differ, else None; by `slack` of the largest they may."""
    if want.numel() == 0:
        return None
    if not want.dtype.is_floating_point:
        return None if torch.equal(want, got) else f"want {want.tolist()} got {got.tolist()}"[:300]
    a, b = want.double(), got.double()
    tight = want.dtype == torch.float64
    largest = max(0.05, a[a.isfinite()].abs().max().item() if a.isfinite().any() else 0)
    allowed = slack * largest + (1e-9 if tight else 1e-5) + (1e-9 if tight else 1e-4) * a.abs() + step_of(want.dtype, a.abs())
    fine = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= allowed) & a.isfinite()
    if fine.all():
        return None
    at = (~fine).reshape(-1).nonzero()[0].item()
    apart = torch.where(fine, 0.0, (a - b).abs() / largest).nan_to_num(nan=float("inf")).max().item()
    return f"element {at}: want {a.reshape(-1)[at].item()} got {b.reshape(-1)[at].item()} ({apart:.2e} of the largest)"


def difference(case, answer):
    """(kind, words) of how the answer differs from what PyTorch gives, or None."""
    kind, given = answer
    if kind in ("bug", "crash"):
        return kind, given
    if isinstance(case.expected, Exception):
        return None if kind == "error" else ("runs", f"PyTorch: {str(case.expected).splitlines()[0][:200]}")
    if kind == "error":
        return "refused", given
    expected = case.expected if isinstance(case.expected, list) else [case.expected]
    if len(expected) != len(given):
        return "results", f"want {len(expected)} got {len(given)}"
    for want, got in zip(expected, given):
        if want is None or got is None:
            if want is not got:
                return "results", f"want {want} got {got}"
        elif want.dtype != got.dtype or want.shape != got.shape:
            return "type", f"want {want.dtype} {list(want.shape)} got {got.dtype} {list(got.shape)}"
        elif not getattr(case, "operator") in NOT_COMPARED:
            words = elements_differ(want, got)
            if words:
                return "values", words
    return None


def widened(value, dtype=None):
    """The same in f64: tensors, in the type that is asked for first, types and lists of them."""
    if isinstance(value, torch.Tensor):
        if torch.is_complex(value):
            return value.to(torch.complex128)
        floats = value.dtype.is_floating_point
        return (value.to(dtype) if dtype and dtype.is_floating_point else value).double() if floats else value.clone()
    if isinstance(value, torch.dtype):
        return torch.float64 if value.is_floating_point else value
    return [widened(one, dtype) for one in value] if isinstance(value, (list, tuple)) else value


def is_that_of_f64(case, answer):
    """Whether the answer is what PyTorch computes in f64, rounded once; in f32, or as near to it as PyTorch's own."""
    asked = next((one for one in [*case.positional, *case.keywords.values()] if isinstance(one, torch.dtype)), None)

    def type_of(value):
        """Beside tensors with axes one without takes their type."""
        without_axes = isinstance(value, torch.Tensor) and value.dim() == 0 and answer[0] is not None
        return answer[0].dtype if without_axes and answer[0].dim() > 0 else asked

    exact = called(case.overload, [widened(value, type_of(value)) for value in case.positional],
                   {name: widened(value) for name, value in case.keywords.items()})
    if isinstance(exact, Exception):
        return False
    exact = as_pairs(exact if isinstance(exact, list) else [exact])
    if len(exact) != len(answer):
        return False
    theirs = case.expected if isinstance(case.expected, list) else [case.expected]
    return all(want is None and got is None or want is not None and got is not None and want.shape == got.shape
               and (elements_differ(want.to(got.dtype), got, 1e-6) is None or is_as_near(want, got, their))
               for want, got, their in zip(exact, answer, theirs))


def is_as_near(exact, ours, theirs):
    """Where terms of f32 cancel: whether we are at most twice as far from f64 as PyTorch is."""
    def farthest(one):
        return (one.double() - exact).abs().max().item()

    return ours.dtype == torch.float32 and farthest(ours) <= 2 * farthest(theirs)


class Tally:
    def __init__(self):
        self.cases = 0
        self.errors = 0
        self.compiled = 0
        self.explained = collections.Counter()
        self.unexplained = []


def run_row(options, row):
    tally = Tally()
    cases = draw_cases(row, options.cases, options.seed)
    share = max(1, round(1 / options.cpu_share)) if options.cpu_share > 0 else 0
    runs = [("strict", cases), ("fused", cases), ("cpu", cases[::share] if share else [])]
    tally.cases = len(cases)
    tally.errors = sum(isinstance(case.expected, Exception) for case in cases)
    for execution, chosen in runs:
        if execution == "cpu":
            tally.compiled = len(chosen)
        answers = run_all(options.program, execution, [(case.text, case.tensors) for case in chosen])
        for case, answer in zip(chosen, answers):
            found = difference(case, answer)
            if found is None:
                continue
            reason = reason_for(case, *found, lambda: is_that_of_f64(case, answer[1]))
            if reason is None:
                tally.unexplained.append((execution, case, *found))
            elif execution == "strict":
                tally.explained[reason] += 1
    return tally


def show(unexplained, most):
    for execution, case, kind, words in unexplained[:most]:
        print(f"--- {execution} {kind}: {words}\n{case.text}", end="")
        for k, tensor in enumerate(case.tensors):
            print(f"    arg{k}_1 = {str(tensor.tolist())[:300]}")


def table_of(tallies, options):
    total = sum(tally.cases for tally in tallies.values())
    lines = [
        "# Operators of the FX table beside PyTorch",
        "",
        f"Written by `compare_with_torch.py --cases {options.cases} --seed {options.seed}`, PyTorch "
        f"{torch.__version__.split('+')[0]} on the CPU. {total} cases, each in `strict` and `fused`, "
        f"{sum(tally.compiled for tally in tallies.values())} of them compiled for `cpu` too. Unexplained differences: "
        f"{sum(len(tally.unexplained) for tally in tallies.values())}. `errors` are cases that PyTorch refuses; a",
        "difference with its reason is counted once.", "",
        "| operator | cases | errors | differences, with reason |", "| --- | --- | --- | --- |",
    ]
    for row, tally in tallies.items():
        words = "; ".join(f"{count}: {reason}" for reason, count in tally.explained.most_common())
        if tally.unexplained:
            words = "; ".join(filter(None, [words, f"**{len(tally.unexplained)} unexplained**"]))
        lines.append(f"| `{row}` | {tally.cases} | {tally.errors} | {words} |")
    return "\n".join(lines) + "\n"


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="run_texts")
    parser.add_argument("--twinloom", required=True, help="the program that lists the operators")
    parser.add_argument("--cases", type=int, default=200, help="for each operator")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="these operators alone")
    parser.add_argument("--cpu-share", type=float, default=0.05, help="of the cases that are compiled too")
    parser.add_argument("--show", type=int, default=3, help="how many unexplained differences of an operator")
    parser.add_argument("--table", help="where the table is written")
    return parser.parse_args()


def main():
    options = parse_options()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    listed = subprocess.run([options.twinloom, "ops", "--frontend", "fx"], capture_output=True, text=True, check=True)
    rows = [row for row in with_forms_in_place(listed.stdout.split()) if not options.only or row in options.only]
    tallies = {}
    for row in rows:
        tally = run_row(options, row)
        if tally.cases == 0:
            continue
        tallies[row] = tally
        if tally.unexplained:
            kinds = collections.Counter(kind for _, _, kind, _ in tally.unexplained)
            print(f"== {row}: {len(tally.unexplained)} unexplained of {tally.cases}: {dict(kinds)}")
            show(tally.unexplained, options.show)
            sys.stdout.flush()
    if options.table:
        pathlib.Path(options.table).write_text(table_of(tallies, options))
    unexplained = sum(len(tally.unexplained) for tally in tallies.values())
    total = sum(tally.cases for tally in tallies.values())
    print(f"{total} cases of {len(tallies)} operators: {unexplained} unexplained differences")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
