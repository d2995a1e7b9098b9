#!/usr/bin/env python3
"""A test of the tests: are bugs that we put in found?

Copies the tracked files of the project to a folder, and there applies each bug of bugs.txt alone, builds the
test programs and runs them, that of the bug's room first, until one fails. A bug that does not compile is no test of the tests and counts
as not found. Writes results.md beside this file.

usage: run.py [--check] [--work FOLDER] [--build FOLDER] [--graphs N] [--only WORDS...]
  --check   only says whether every anchor stands exactly once in its file
  --build   a build folder of the copy that is set up already; else WORK/build is
  --only    bugs with one of these in their names; the rows of the others stay in results.md
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAMS = ["test_index", "test_ops", "test_loops", "test_steps", "test_schedule", "test_emit", "test_cuda", "test_backends", "test_lower",
            "test_kernels", "test_conformance", "test_sort_races"]
WANTED = 64


def read_bugs():
    bugs = []
    for line in (HERE / "bugs.txt").read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word == "bug":
            bugs.append({"bug": rest})
        elif word in ("file", "was", "now"):
            bugs[-1][word] = rest
    for bug in bugs:
        bug["now"] = "" if bug["now"] == "-" else bug["now"]
    return bugs


def misplaced(bugs, root):
    wrong = []
    for bug in bugs:
        times = (root / bug["file"]).read_text().count(bug["was"])
        if times != 1:
            wrong.append(f"{bug['file']}: the text of '{bug['bug']}' stands {times} times, expected once")
    return wrong


def copy_tree(work):
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if not (ROOT / name).is_file():
            continue
        target = work / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
            shutil.copy(ROOT / name, target)  # with the time of now, so that it is built again


def set_up(work):
    """A build folder of its own for the copy."""
    folder = work / "build"
    command = ["cmake", "-S", str(work), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
               "-DTWINLOOM_PRECOMPILE=OFF"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder


def build(folder, program):
    command = ["cmake", "--build", str(folder), "--target", program]
    return subprocess.run(command, capture_output=True, text=True).returncode == 0


def in_order(file):
    """The programs, that of the file's own room first."""
    own = "test_" + pathlib.PurePath(file).parts[1]
    return sorted(PROGRAMS, key=lambda program: program != own)


def judge_programs(programs, folder, graphs):
    """Builds and runs one program after the other, until one fails: what happened to that, or None."""
    environment = {**os.environ, "TWINLOOM_GRAPHS": str(graphs)}
    for program in programs:
        if not build(folder, program):
            return "does not compile"
        try:
            command = [str(folder / "bin" / program), "--gtest_brief=1", "--gtest_fail_fast"]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=900)
        except subprocess.TimeoutExpired:
            return f"found by {program} (no end)"
        if done.returncode != 0:
            return f"found by {program}"
    return None


def judge(bug, work, folder, graphs):
    path = work / bug["file"]
    whole = path.read_text()
    path.write_text(whole.replace(bug["was"], bug["now"]))
    try:
        return judge_programs(in_order(bug["file"]), folder, graphs) or "not found"
    finally:
        path.write_text(whole)


def kept_results():
    """What results.md says of each bug."""
    rows = [line.split(" | ") for line in (HERE / "results.md").read_text().splitlines() if line.startswith("| ")]
    return {row[0].removeprefix("| "): row[2].removesuffix(" |") for row in rows[2:]}


def write_results(bugs, results):
    known = [bug for bug in bugs if bug["bug"] in results]
    found = sum(results[bug["bug"]].startswith("found") for bug in known)
    table = [f"| {bug['bug']} | {bug['file']} | {results[bug['bug']]} |" for bug in known]
    text = ["# Seeded bugs", "", f"{found} of {len(known)} found.", "", "| bug | file | result |", "| --- | --- | --- |", *table]
    (HERE / "results.md").write_text("\n".join(text) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "seeded_bugs")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--graphs", type=int, default=60)
    parser.add_argument("--only", nargs="+", default=[])
    options = parser.parse_args()
    bugs = read_bugs()
    wrong = misplaced(bugs, ROOT)
    if wrong or options.check:
        print("\n".join(wrong) or f"{len(bugs)} bugs, each anchor stands once")
        return 1 if wrong else 0
    copy_tree(options.work)
    folder = options.build or set_up(options.work)
    if wrong := judge_programs(PROGRAMS, folder, options.graphs):
        print("the tree without bugs does not pass:", wrong)
        return 1
    chosen = [bug for bug in bugs if not options.only or any(words in bug["bug"] for words in options.only)]
    results = kept_results() if options.only else {}
    for bug in chosen:
        start = time.time()
        results[bug["bug"]] = judge(bug, options.work, folder, options.graphs)
        print(f"{bug['bug']}: {results[bug['bug']]} ({time.time() - start:.0f} s)", flush=True)
    write_results(bugs, results)
    found = sum(results[bug["bug"]].startswith("found") for bug in chosen)
    return 0 if found >= min(WANTED, len(chosen)) else 1


if __name__ == "__main__":
    sys.exit(main())
