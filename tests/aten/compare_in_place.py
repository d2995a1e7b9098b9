#!/usr/bin/env python3
"""Compares random programs of views and operators in place with PyTorch.

    compare_in_place.py --program BIN/run_texts [--cases 2000] [--seed 1] [--cpu-share 0.02] [--show 3]

Each text (programs.py) returns every parameter and every value, as they are when all has run. Its numbers are small
integers: a result is equal or wrong. Twinloom may refuse a text in the words of REFUSALS; how often is printed.

Exit code 0: all agree; 1: some do not; 77: PyTorch is not installed.
"""

import collections
import pathlib
import re
import sys

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from programs import Program  # noqa: E402
from texts import parse_options, run_all  # noqa: E402

REFUSALS = re.compile("which the text does not tell|a tensor that unfold gave cannot be written to|"
                      "may show elements more than once|lies in a parameter whose elements are not in order")


def difference(program, answer):
    """Words for what is wrong, or None."""
    kind, given = answer
    if kind != "ok":
        return f"{kind}: {given}"
    for name, want, got in zip(program.names, program.results(), given, strict=True):
        if not torch.equal(want, got):
            return f"{name}: want {want.tolist()}, got {got.tolist()}"
    return None


def main():
    options = parse_options(__doc__, cases=2000, cpu_share=0.02)
    torch.set_num_threads(1)
    programs = [Program(f"{options.seed}/{k}") for k in range(options.cases)]
    share = max(1, round(1 / options.cpu_share)) if options.cpu_share > 0 else 0
    runs = {"strict": programs, "cpu": programs[::share] if share else []}
    wrong, refused = [], collections.Counter()
    for execution, chosen in runs.items():
        answers = run_all(options.program, execution, [(one.text(), one.inputs) for one in chosen])
        for program, answer in zip(chosen, answers):
            refusal = REFUSALS.search(answer[1]) if answer[0] == "error" else None
            words = None if refusal else difference(program, answer)
            if refusal and execution == "strict":
                refused[refusal.group()] += 1
            if words:
                wrong.append((execution, program, words))
    for execution, program, words in wrong[:options.show]:
        print(f"--- {execution}: {words}\n{program.text()}", *(f"    {one.tolist()}\n" for one in program.inputs), sep="")
    print(f"{len(programs)} programs: {len(wrong)} differences; refused: {dict(refused)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
