#!/usr/bin/env python3
"""A test of the tests: are bugs that we put in found?

Copies the tracked files of the project to a folder, and there applies each bug of bugs.txt alone, builds the
test programs and runs them, that of the bug's room first, until one fails. A bug that does not compile is no test of the tests and counts
as not found. Writes results.md beside this file.

usage: run.py [--check] [--work FOLDER] [--graphs N] [--only WORDS]
  --check   only says whether every anchor stands exactly once in its file
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
PROGRAMS = ["test_index", "test_ops", "test_loops", "test_schedule", "test_emit", "test_cuda", "test_backends", "test_lower",
            "test_kernels", "test_conformance"]
WANTED = 30


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


def build(work, program):
    command = ["cmake", "--build", str(work / "build"), "--target", program]
    return subprocess.run(command, capture_output=True, text=True).returncode == 0


def in_order(file):
    """The programs, that of the file's own room first."""
    own = "test_" + pathlib.PurePath(file).parts[1]
    return sorted(PROGRAMS, key=lambda program: program != own)


def judge_programs(programs, work, graphs):
    """Builds and runs one program after the other, until one fails: what happened to that, or None."""
    environment = {**os.environ, "TWINLOOM_GRAPHS": str(graphs)}
    for program in programs:
        if not build(work, program):
            return "does not compile"
        try:
            command = [str(work / "build" / "bin" / program), "--gtest_brief=1", "--gtest_fail_fast"]
            done = subprocess.run(command, cwd=work, env=environment, capture_output=True, timeout=900)
        except subprocess.TimeoutExpired:
            return f"found by {program} (no end)"
        if done.returncode != 0:
            return f"found by {program}"
    return None


def judge(bug, work, graphs):
    path = work / bug["file"]
    whole = path.read_text()
    path.write_text(whole.replace(bug["was"], bug["now"]))
    try:
        return judge_programs(in_order(bug["file"]), work, graphs) or "not found"
    finally:
        path.write_text(whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "seeded_bugs")
    parser.add_argument("--graphs", type=int, default=60)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    bugs = read_bugs()
    wrong = misplaced(bugs, ROOT)
    if wrong or options.check:
        print("\n".join(wrong) or f"{len(bugs)} bugs, each anchor stands once")
        return 1 if wrong else 0
    copy_tree(options.work)
    setup = ["cmake", "-S", str(options.work), "-B", str(options.work / "build"), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             "-DTWINLOOM_PRECOMPILE=OFF"]
    subprocess.run(setup, check=True, stdout=subprocess.DEVNULL)
    if wrong := judge_programs(PROGRAMS, options.work, options.graphs):
        print("the tree without bugs does not pass:", wrong)
        return 1
    rows = []
    for bug in bugs:
        if options.only not in bug["bug"]:
            continue
        start = time.time()
        rows.append((bug, judge(bug, options.work, options.graphs)))
        print(f"{bug['bug']}: {rows[-1][1]} ({time.time() - start:.0f} s)", flush=True)
    found = sum(result.startswith("found") for _, result in rows)
    table = [f"| {bug['bug']} | {bug['file']} | {result} |" for bug, result in rows]
    text = ["# Seeded bugs", "", f"{found} of {len(rows)} found.", "", "| bug | file | result |", "| --- | --- | --- |", *table]
    if not options.only:
        (HERE / "results.md").write_text("\n".join(text) + "\n")
    return 0 if found >= min(WANTED, len(rows)) else 1


if __name__ == "__main__":
    sys.exit(main())
