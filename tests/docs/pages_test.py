"""Tests run_blocks and named_tests on small pages, the first beside compilers of its own: pages_test.py FOLDER."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "tests/docs").resolve()
# In place of the compilers: "compiles" a source into a script that ends with the number in its first line, a comment.
COMPILER = """#!/bin/sh
for word; do case "$word" in *.cpp | *.c) source="$word" ;; esac; done
while [ $# -gt 0 ]; do [ "$1" = -o ] && out="$2"; shift; done
code=$(sed -n '1s,^// ,,p' "$source")
[ "$code" != broken ] || { echo "no such thing"; exit 1; }
printf '#!/bin/sh\\necho it ends with %s\\nexit %s\\n' "$code" "$code" >"$out" && chmod +x "$out"
"""


def block(language, text, mark=""):
    return f"{mark}\n```{language}\n{text}\n```\n"


def run(page, files=()):
    """The exit code and output of run_blocks on a page in a tree with these files."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"tree/examples/a.txt": "a\n", "prefix/lib/libtwinloom.so": "", "tree/page.md": page,
                           "prefix/bin/g++": COMPILER, "prefix/bin/gcc": COMPILER, **dict(files)}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755)
        done = subprocess.run([sys.executable, HERE / "run_blocks", "--source", root / "tree", "--installed", root / "prefix",
                               "page.md"], capture_output=True, text=True, check=False, env=dict(os.environ))
        return done.returncode, done.stdout


class Blocks(unittest.TestCase):
    def expect(self, page, code, words):
        found, output = run(page)
        self.assertEqual(found, code, output)
        self.assertIn(words, output)

    def test_what_a_console_block_shows_is_compared(self):
        self.expect(block("console", "$ echo one two\none two"), 0, "1 run, 0 shown, 0 not run, 0 failed")
        for shown in ("one", "one two three", "one two\nthree", "one 2"):
            self.expect(block("console", "$ echo one two\n" + shown), 1, "FAILED: page.md:2: $ echo one two")
        self.expect(block("console", "$ echo one\none\n$ echo two\nthree"), 1, "--- shows\nthree\n--- prints\ntwo\n")
        self.expect(block("console", "$ echo one\none\n$ echo two"), 1, "FAILED")  # which shows nothing
        self.expect(block("console", "$ echo one\n$ echo two"), 0, "1 run")
        self.expect(block("console", "$ echo error >&2\nerror"), 0, "1 run")

    def test_commands_must_succeed(self):
        self.expect(block("console", "$ false"), 1, "ends with 1: sh -c false")
        self.expect(block("console", "$ false || echo code $?\ncode 1"), 0, "1 run")
        self.expect(block("sh", "true\nfalse\ntrue"), 1, "ends with 1")
        self.expect(block("sh", "true; ls examples/a.txt"), 0, "1 run")
        self.expect(block("console", "$ echo one \\\n    two\none two"), 0, "1 run")

    def test_times_are_any_and_other_numbers_are_not(self):
        self.expect(block("console", "$ echo '1.5 us of 3 bytes'\n20 ms of 3 bytes"), 0, "1 run")
        self.expect(block("console", "$ echo '1.5 us of 3 bytes'\n1.5 us of 4 bytes"), 1, "FAILED")
        self.expect(block("console", "$ echo '3 bytes'\n3 ms"), 1, "FAILED")
        self.expect(block("console", "$ echo '12.00 GB/s, 4 MB'\n1 GB/s, 4 MB"), 0, "1 run")

    def test_limits_of_an_estimate_are_any(self):
        print_line = "$ echo 'estimate 1.5 us: memory 1.5 us (4 kB), chain 1 us'\n"
        self.expect(block("console", print_line + "estimate 9 us: L2 9 us"), 0, "1 run")
        self.expect(block("console", print_line + "estimate 9 us for all kernels"), 1, "FAILED")

    def test_what_was_measured_is_any_number(self):
        print_line, mark = "$ echo 'k0_sum  4.2  L3  16 %  (memcpy) 2 threads'\n", "<!-- measured: elsewhere -->"
        self.expect(block("console", print_line + "k0_sum 1 memory 5 % (stores) 16 threads", mark), 0, "1 run")
        self.expect(block("console", print_line + "k1_sum 1 memory 5 % (stores) 16 threads", mark), 1, "FAILED")
        self.expect(block("console", print_line + "k0_sum 1 memory 5 % (stores) 16 threads"), 1, "FAILED")

    def test_dots_stand_for_anything(self):
        print_lines = "$ printf 'a\\nb\\nc\\n'\n"
        self.expect(block("console", print_lines + "a\n..."), 0, "1 run")
        self.expect(block("console", print_lines + "...\nc"), 0, "1 run")
        self.expect(block("console", print_lines + "a\n...\nd"), 1, "FAILED")
        self.expect(block("console", "$ echo 'a b c'\na ... c"), 0, "1 run")
        self.expect(block("console", "$ echo 'a b c'\na ... d"), 1, "FAILED")

    def test_programs_are_compiled_and_run(self):
        self.expect(block("cpp", "// 0") + block("c", "// 0"), 0, "2 run")
        self.expect(block("cpp", "// 3"), 1, "ends with 3")
        self.expect(block("c", "// broken"), 1, "no such thing")

    def test_what_a_program_prints_is_compared(self):
        program, mark = block("cpp", "// 0"), "<!-- output: of the program -->"
        self.expect(program + block("text", "it ends with 0", mark), 0, "1 run, 1 shown")
        self.expect(program + block("text", "it ends with 1", mark), 1, "--- prints\nit ends with 0")

    def test_files_are_written_or_equal(self):
        written = block("text", "b", "<!-- file: b.txt -->") + block("console", "$ cat b.txt\nb")
        self.expect(written, 0, "1 run, 1 shown")
        self.expect(block("text", "a", "<!-- file: examples/a.txt -->"), 0, "1 shown")
        self.expect(block("text", "b", "<!-- file: examples/a.txt -->"), 1, "the file examples/a.txt is another")

    def test_what_is_not_run_is_listed_with_its_reason(self):
        self.expect(block("sh", "false", "<!-- not run: needs a GPU -->"), 0, "not run: page.md:2: needs a GPU")
        self.expect(block("sh", "true", "<!-- needs: luck -->"), 1, "there is no need 'luck'")
        self.expect(block("sh", "true", "<!-- needs: cuda -->"), 0, "needs the back end for CUDA")

    def test_no_block_is_passed_over(self):
        self.expect(block("ruby", "puts 1"), 1, "a block of the language 'ruby'")
        self.expect(block("", "ls"), 1, "a block of the language ''")
        self.expect("```sh\ntrue\n", 1, "has no end")
        self.expect("<!-- file: a -->\nwords\n", 1, "what may follow a mark")
        self.expect("``` sh\ntrue\n```\n", 1, "no fence that has a language")


class NamedTests(unittest.TestCase):
    def expect(self, page, code, words):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            (tree / "tests/sums").mkdir(parents=True)
            (tree / "tests/sums/room.cmake").write_text("add_test(NAME sums.Script\n         COMMAND script)\n")
            (tree / "tests/sums/a.cpp").write_text("TEST(Order, IsOne) {\n}\nTEST_P(Order, HoldsForAll) {\n}\n")
            (tree / "page.md").write_text(page)
            done = subprocess.run([sys.executable, HERE / "named_tests", tree, tree / "page.md"], capture_output=True,
                                  text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout)
        self.assertIn(words, done.stdout)

    def test_every_sentence_has_a_test_that_exists(self):
        self.expect("# A\n\nWords.\n\n- One. Proved by `sums.Order.IsOne`, `sums.Script`.\n", 0, "1 sentences, 2 tests, 0 mis")
        self.expect("- One, which goes\n  on: `sums.Order.HoldsForAll`\n", 0, "1 sentences, 1 tests, 0 mistakes")
        self.expect("- One. `sums.Order.IsTwo`\n", 1, "page.md:1: there is no test 'sums.Order.IsTwo'")
        self.expect("- One. `sums.Order.IsOne`\n- Two: `README.md`\n", 1, "page.md:2: names no test")
        self.expect("| a | b |\n| --- | --- |\n| 1 | `sums.Script` |\n", 0, "1 sentences, 1 tests")
        self.expect("Words alone.\n", 1, "0 sentences")


if __name__ == "__main__":
    unittest.main()
