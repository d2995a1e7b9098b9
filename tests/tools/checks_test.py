"""Tests check_rooms and check_sizes on small trees made in a temporary folder: checks_test.py TOOLS."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "tools")


def run(tool, files):
    """The exit code and output of a check on a tree of these files: {name: text}."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, TOOLS / tool, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


def include(*names):
    return "".join(f'#include "{name}"\n' for name in names)


def function(lines, head="int f(int a) {"):
    return head + "\n" + "  ++a;\n" * (lines - 2) + "}\n"


class Rooms(unittest.TestCase):
    def expect_mistake(self, files, words):
        code, output = run("check_rooms", files)
        self.assertEqual(code, 1, output)
        self.assertIn(words, output)

    def expect_refused(self, user, used):
        self.expect_mistake({f"{used}/a.h": "", f"{user}/b.cpp": "\n" + include(f"{used}/a.h")},
                            f"{user}/b.cpp:2: {user} may not use {used}")

    def test_a_good_tree_passes(self):
        files = {"core/base/a.h": "#include <vector>\n", "core/index/b.h": include("core/base/a.h"),
                 "core/index/b.cpp": include("b.h", "core/index/b.h"), "api/c.cpp": include("core/index/b.h"),
                 "jit/clang_compiler.cpp": "#include <clang/Driver.h>\n",
                 "jit/orc_session.cpp": "#include <llvm/ExecutionEngine/Orc/LLJIT.h>\n"}
        code, output = run("check_rooms", files)
        self.assertEqual((code, output), (0, "check_rooms: 6 files, 0 mistakes\n"))

    def test_the_promises_of_the_architecture(self):
        refused = [("core/base", "core/index"), ("core/loops", "core/graph"), ("core/schedule", "core/graph"),
                   ("core/schedule", "core/lower"), ("core/emit", "core/graph"), ("core/emit", "core/lower"),
                   ("backends/cpu", "core/graph"), ("backends/cpu", "core/lower"), ("backends/cpu", "core/fuse"),
                   ("backends/cpu", "core/compile"), ("backends/cpu", "backends/reference"),
                   ("core/fuse", "backends/cpu"), ("core/graph", "tests"), ("api", "perf"), ("jit", "tools"),
                   ("jit", "core/index"), ("frontends/fx", "core/runtime"), ("core/graph", "frontends/fx")]
        for user, used in refused:
            with self.subTest(user=user, used=used):
                self.expect_refused(user, used)

    def test_algorithms_have_their_header(self):
        use = "bool f(const V& v) {\n  return std::ranges::any_of(v, g);\n}\n"
        self.expect_mistake({"core/base/a.cpp": use}, "core/base/a.cpp:2: std::ranges::any_of without <algorithm>")
        code, output = run("check_rooms", {"core/base/a.cpp": "#include <algorithm>\n" + use,
                                           "core/base/b.cpp": "auto n = std::ranges::distance(v);\n"})
        self.assertEqual(code, 0, output)

    def test_libraries_stay_in_their_places(self):
        for name, header, words in [
                ("jit/orc_session.cpp", "clang/Driver.h", "Clang belongs to"),
                ("jit/clang_compiler.cpp", "llvm/ExecutionEngine/Orc/LLJIT.h", "ORC belongs to"),
                ("core/emit/a.cpp", "llvm/IR/Module.h", "LLVM belongs to"),
                ("core/emit/a.cpp", "xsimd/xsimd.hpp", "xsimd belongs to"),
                ("core/runtime/a.cpp", "cuda_runtime.h", "CUDA belongs to")]:
            with self.subTest(name=name, header=header):
                self.expect_mistake({name: f"#include <{header}>\n"}, f"{name}:1: {words}")

    def test_a_ring_of_files(self):
        self.expect_mistake({"core/base/a.h": include("core/base/b.h"), "core/base/b.h": include("a.h")},
                            "core/base/a.h:1: a ring of files: core/base/a.h, core/base/b.h")

    def test_a_ring_of_rooms(self):
        self.expect_mistake({"core/base/a.h": "", "core/base/b.h": include("core/index/c.h"),
                             "core/index/c.h": "", "core/index/d.h": include("core/base/a.h")},
                            "core/base:1: a ring of rooms: core/base, core/index")

    def test_a_room_that_is_not_in_the_table(self):
        self.expect_mistake({"core/base/a.h": "", "core/attic/b.h": include("core/base/a.h")},
                            "room core/attic is not in the table")

    def test_an_empty_tree_is_a_mistake(self):
        self.assertEqual(run("check_rooms", {})[0], 1)


class Sizes(unittest.TestCase):
    def expect(self, files, code, words):
        found, output = run("check_sizes", files)
        self.assertEqual(found, code, output)
        self.assertIn(words, output)

    def test_lengths_of_functions(self):
        self.expect({"a.cpp": function(40)}, 0, "0 mistakes, 0 warnings")
        self.expect({"a.cpp": function(41)}, 0, "a.cpp:1: f has 41 lines (warning)")
        self.expect({"a.cpp": function(60)}, 0, "0 mistakes, 1 warnings")
        self.expect({"a.cpp": function(61)}, 1, "a.cpp:1: f has 61 lines; over 60")

    def test_a_reason_above_the_head(self):
        for reason in ("table", "match"):
            long = f"// What it does.\n// Long because it is a {reason}: one case a kind.\n" + function(80)
            self.expect({"a.cpp": long}, 0, "0 mistakes, 1 warnings")
        self.expect({"a.cpp": "// Long because it is a table:\n" + function(80)}, 1, "1 mistakes")
        self.expect({"a.cpp": "// Long because of reasons\n" + function(80)}, 1, "1 mistakes")
        self.expect({"a.cpp": "// Long because it is a table: it is.\n\n" + function(80)}, 1, "1 mistakes")

    def test_functions_of_many_forms(self):
        heads = ["Thing::Thing(int x) : x_(x) {", "auto f(int x) -> int {", "template <class T>\nint f(T x) {",
                 "TEST(A, B) {", "static int f(int a,\n             int b) {", "bool operator==(const A& a) const {"]
        for head in heads:
            with self.subTest(head=head):
                self.expect({"a.cpp": "namespace n {\n" + function(70, head) + "}\n"}, 1, "1 mistakes")
        self.expect({"a.h": "class A {\n public:\n" + function(70, "  int f() const {") + "};\n"}, 1, "a.h:3: f has 70")

    def test_what_is_no_function(self):
        body = "  int f() { return 1; }\n" * 30
        for head, end in [("namespace n {", "}"), ("struct A {", "};"), ("enum class E {", "};"),
                          ("template <class T>\nclass A : public B<T> {", "};"), ("extern \"C\" {", "}")]:
            with self.subTest(head=head):
                self.expect({"a.cpp": head + "\n" + body * 3 + end + "\n"}, 0, "0 mistakes, 0 warnings")
        self.expect({"a.cpp": "const int table[] = {\n" + "  1,\n" * 90 + "};\n"}, 0, "0 mistakes, 0 warnings")

    def test_braces_in_text_do_not_count(self):
        tricky = 'int f() {\n  g("}{{", \'{\', R"x(}}{)x");  // {{{\n  /* } */\n}\n'
        self.expect({"a.cpp": tricky + function(30)}, 0, "0 mistakes, 0 warnings")
        self.expect({"a.cpp": tricky + function(61)}, 1, "a.cpp:5: f has 61")

    def test_rows_of_a_macro_are_no_head(self):
        self.expect({"a.h": "ROW(exp, std::exp)\n" * 80 + function(5)}, 0, "0 mistakes, 0 warnings")

    def test_lengths_of_files(self):
        lines = "int x;\n"
        self.expect({"a.cpp": lines * 400}, 0, "0 mistakes, 0 warnings")
        self.expect({"a.cpp": lines * 401}, 0, "a.cpp:1: the file has 401 lines (warning)")
        self.expect({"a.cpp": lines * 601}, 1, "a.cpp:1: the file has 601 lines")
        free = {"ops.def": lines * 900, "core/ops/device/a.h": lines * 900, "b.cpp": ""}
        self.expect(free, 0, "0 mistakes, 0 warnings")


if __name__ == "__main__":
    unittest.main()
