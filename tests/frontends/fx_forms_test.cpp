// Every form in which PyTorch prints an FX graph is read: annotations, logs, classes, results, constants.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/frontends/texts.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {
namespace {

struct Form {
  std::string_view parameter;
  std::string_view type;  // of the result, which is the parameter plus itself
};

TEST(FxForms, Annotations) {
  const Form forms[] = {
      {"x: \"f32[96, 1003]\"", "f32[96, 1003]"},
      {"x: f32[96, 1003]", "f32[96, 1003]"},
      {"x: 'f32[96, 1003]'", "f32[96, 1003]"},
      {"x: \"f32[96, 1003][1003, 1]cpu\"", "f32[96, 1003]"},
      {"x: \"f32[96, 1003][1003, 1]cuda:0\"", "f32[96, 1003]"},
      {"x: \"f32[]\"", "f32[]"},
      {"x: \"i64[0]\"", "i64[0]"},
      {"x: \"bf16[2]\"", "bf16[2]"},
      {"x: \"f32[s27, 4]\"", "f32[s27, 4]"},
      {"x: \"f32[2*s77, s27][s27, 1]cpu\"", "f32[2*s77, s27]"},
      {"x: \"f32[s0 + 1, (s1//2)]\"", "f32[s0 + 1, compound]"},
      {"x: \"f32[FloorDiv(s0, 2), Mod(s1, 3)]\"", "f32[compound, compound_0]"},
  };
  for (const Form& form : forms) {
    const std::string text =
        module_text(form.parameter, "y = torch.ops.aten.add.Tensor(x, x);  x = None", "(y,)");
    EXPECT_EQ(error_of(text), NOTHING_THROWN) << form.parameter;
    EXPECT_EQ(result_type(fx::read(text)), form.type) << form.parameter;
  }
}

TEST(FxForms, TruthsAreB8OrBool) {
  EXPECT_EQ(
      result_type(fx::read(module_text("x: \"b8[3]\"", "y = torch.ops.aten.logical_not.default(x)", "(y,)"))),
      "b8[3]");
}

TEST(FxForms, ClassesOfAnyName) {
  const std::string text =
      module_text("x: \"f32[3]\"", "y: \"f32[3]\" = torch.ops.aten.neg.default(x)", "(y,)");
  const std::string head = "class GraphModule(torch.nn.Module):";
  for (const char* name :
       {"class <lambda>(torch.nn.Module):", "class joint_helper(torch.nn.Module):",
        "class inner_f(torch.nn.Module):",
        "/usr/lib/python3/torch/fx/_lazy_graph_module.py class GraphModule(torch.nn.Module):"}) {
    EXPECT_EQ(result_type(fx::read(name + text.substr(head.size()))), "f32[3]") << name;
  }
}

TEST(FxForms, LogsAndColours) {
  const std::string text =
      module_text("x: \"f32[3]\"", "y: \"f32[3]\" = torch.ops.aten.neg.default(x);  x = None", "(y,)");
  std::string logged =
      "don't mind this line: @!? \"\nV1121 09:30:00.123000 4711 torch/a.py:12] [0/0] [__aot_graphs] TRACED "
      "GRAPH\n";
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = text.find('\n', start);
    logged += cat("V1121 09:30:00.123000 4711 torch/a.py:12] [0/0] [__aot_graphs] \x1b[34m",
                  text.substr(start, end - start), "\x1b[0m\n");
    start = end + 1;
  }
  logged += "I1121 09:30:01.000000 4711 torch/b.py:3] what's next?\n";
  EXPECT_EQ(error_of(logged), NOTHING_THROWN);
  EXPECT_EQ(result_type(fx::read(logged)), "f32[3]");
  EXPECT_EQ(fx::read("[rank0]:" + logged.substr(logged.find("V1121"))).parameters().size(), 1u);
}

TEST(FxForms, SeveralGraphs) {
  const std::string text =
      "first:\n" + module_text("x: \"f32[3]\"", "y = torch.ops.aten.neg.default(x)", "(y,)") +
      "\nsecond, isn't it:\n" + module_text("x: \"f32[5]\"", "y = torch.ops.aten.neg.default(x)", "[y]");
  EXPECT_EQ(fx::count_modules(text), 2);
  EXPECT_EQ(result_type(fx::read(text, {1, {}})), "f32[5]");
  EXPECT_EQ(error_of(text, {2, {}}), "graph 2 was asked for; the text holds 2, counted from 0");
}

TEST(FxForms, CommentsGiveOrigins) {
  const std::string text = module_text("x: \"f32[3]\"",
                                       "# No stacktrace found for following nodes\n # File: model.py:12 in "
                                       "forward, code: y = -x\ny: \"f32[3]\" = torch.ops.aten.neg.default(x)",
                                       "(y,)");
  const graph::Graph graph = fx::read(text);
  const graph::Origin& origin = graph[graph.results()[0].value].origin;
  EXPECT_EQ(origin.file, "model.py");
  EXPECT_EQ(origin.line, 12);
  EXPECT_EQ(origin.name, "y");
}

TEST(FxForms, ResultsOfEveryKind) {
  const graph::Graph graph = fx::read(module_text(
      "s0: \"Sym(s0)\", x: \"f32[s0]\"", "y = torch.ops.aten.neg.default(x)", "[y, None, s0, x, y]"));
  EXPECT_EQ(result_type(graph, 0), "f32[s0]");
  EXPECT_EQ(result_type(graph, 1), "None");
  EXPECT_EQ(result_type(graph, 2), "size s0");
  EXPECT_EQ(graph.results()[3].kind, graph::Ownership::input);
  EXPECT_EQ(graph.results()[4].kind, graph::Ownership::view);
}

// The gradient of a linear layer, its heads put together, and its transposed view for the next product.
TEST(FxForms, ViewsOfOneCloneShareItsMemory) {
  const auto graph_of = [](std::string_view last) {
    const std::string body =
        cat("p = torch.ops.aten.permute.default(x, [0, 2, 1, 3])\n"
            "c = torch.ops.aten.clone.default(p, memory_format = torch.contiguous_format)\n"
            "y = torch.ops.aten.view.default(c, [10, 12])\n",
            last);
    return fx::read(module_text("x: \"f32[2, 3, 5, 4]\"", body, "(y, z)"));
  };
  const graph::Graph shared = graph_of("z = torch.ops.aten.permute.default(y, [1, 0])");
  EXPECT_EQ(shared.results()[0].kind, graph::Ownership::own);
  EXPECT_EQ(shared.results()[1].kind, graph::Ownership::view);
  EXPECT_EQ(shared.results()[1].base, shared.results()[0].value);
  const graph::Graph cloned =
      graph_of("q = torch.ops.aten.permute.default(y, [1, 0])\nz = torch.ops.aten.clone.default(q)");
  EXPECT_EQ(cloned.results()[1].kind, graph::Ownership::own);
}

// A clone has memory of its own, and so has what a view operator makes of it; what only looks like a view is
// a copy.
TEST(FxForms, ResultsShareMemoryAsInPyTorch) {
  const auto results_of = [](std::string_view statements, std::string_view result) {
    const graph::Graph graph = fx::read(module_text("x: \"f32[4, 6]\"", statements, result));
    const std::string text = graph::print(graph);
    return text.substr(text.find("result"));
  };
  EXPECT_EQ(results_of("y = torch.ops.aten.exp.default(x)\nt = torch.ops.aten.t.default(y)", "(t, y, y)"),
            "result \"\" = view %2 of %1\nresult \"\" = own %1\nresult \"\" = view %1 of %1\n");
  EXPECT_EQ(results_of("y = torch.ops.aten.exp.default(x)\nc = torch.ops.aten.clone.default(y)\n"
                       "t = torch.ops.aten.t.default(c)",
                       "(y, c, t)"),
            "result \"\" = own %1\nresult \"\" = own %1\nresult \"\" = own %2\n");
  EXPECT_EQ(results_of("c = torch.ops.aten.clone.default(x)\nt = torch.ops.aten.t.default(c)", "(x, t)"),
            "result \"\" = input 0 %0\nresult \"\" = own %1\n");
  EXPECT_EQ(
      results_of("c = torch.ops.aten.clone.default(x)\nv = torch.ops.aten.view.default(c, [24])", "(c, v)"),
      "result \"\" = own %0\nresult \"\" = view %1 of %0\n");
  EXPECT_EQ(
      results_of("r = torch.ops.aten.repeat.default(x, [1, 1])\nf = torch.ops.aten.flip.default(x, [0])",
                 "(r, f)"),
      "result \"\" = own %0\nresult \"\" = own %1\n");
  EXPECT_EQ(results_of("y = torch.ops.aten.exp.default(x)\ns = torch.ops.aten.split.Tensor(y, 2, 1)",
                       "(s[0], s[1], s[2])"),
            "result \"\" = view %2 of %1\nresult \"\" = view %3 of %1\nresult \"\" = view %4 of %1\n");
}

TEST(FxForms, TuplesAndTheirElements) {
  const std::string text = module_text("x: \"f32[4, 6]\"",
                                       "split = torch.ops.aten.split.Tensor(x, 2, 1)\na: \"f32[4, 2]\" = "
                                       "split[0]\nb: \"f32[4, 2]\" = split[2];  split = None\n"
                                       "y: \"f32[4, 2]\" = torch.ops.aten.add.Tensor(a, b);  a = b = None",
                                       "(y,)");
  EXPECT_EQ(error_of(text), NOTHING_THROWN);
  const std::string beyond =
      module_text("x: \"f32[4, 6]\"", "split = torch.ops.aten.split.Tensor(x, 2, 1)\na = split[3]", "(a,)");
  EXPECT_EQ(error_of(beyond), "FX graph line 4: element 3 of a list of 3 does not exist");
}

TEST(FxForms, SizesAreComputed) {
  const std::string parameters = "a: \"Sym(s1)\", b: \"Sym(s2)\", x: \"f32[s1, s2]\"";
  const std::string infix = module_text(
      parameters, "m: \"Sym(s1*s2)\" = a * b\ny: \"f32[s1*s2]\" = torch.ops.aten.view.default(x, [m])",
      "(y, m)");
  EXPECT_EQ(error_of(infix), NOTHING_THROWN);
  EXPECT_EQ(result_type(fx::read(infix), 1), "size s1*s2");
  const std::string calls =
      module_text(parameters,
                  "n = torch.ops.aten.sym_size.int(x, 0)\nm: \"Sym(2*s1)\" = _operator.mul(n, 2);  n = None\n"
                  "y = torch.ops.aten.expand.default(torch.ops.aten.unsqueeze.default(x, 0), [m, -1, -1])",
                  "(y,)");
  EXPECT_EQ(error_of(calls), NOTHING_THROWN);
  EXPECT_EQ(result_type(fx::read(calls)), "f32[2*s1, s1, s2]");
}

TEST(FxForms, NumbersOfPython) {
  const std::string text = module_text(
      "x: \"f32[8]\"",
      "a = torch.ops.aten.slice.Tensor(x, 0, 2, 9223372036854775807)\nb = torch.ops.aten.clamp.default(a, "
      "-inf, inf)\n"
      "c = torch.ops.aten.mul.Tensor(b, 1e-05)\nd: \"f32[]\" = torch.ops.aten.sum.dim_IntList(c, [])",
      "(d,)");
  EXPECT_EQ(error_of(text), NOTHING_THROWN);
}

// Whole exponents keep integers, others make them real; what PyTorch computes is new memory.
TEST(FxForms, PowersByNumbers) {
  struct Row {
    std::string_view parameter, call, type;
    bool has_pow;
  };
  const Row rows[] = {
      {"x: \"f32[3]\"", "pow.Tensor_Scalar(x, 2)", "f32[3]", false},
      {"x: \"bf16[3]\"", "pow.Tensor_Scalar(x, -0.5)", "bf16[3]", false},
      {"x: \"f32[3]\"", "pow.Tensor_Scalar(x, 2.5)", "f32[3]", true},
      {"x: \"i64[3]\"", "pow.Tensor_Scalar(x, 3)", "i64[3]", false},
      {"x: \"i64[3]\"", "pow.Tensor_Scalar(x, 3.0)", "f32[3]", false},
      {"x: \"b8[3]\"", "square.default(x)", "i64[3]", false},
      {"x: \"f32[3]\"", "square.default(x)", "f32[3]", false},
      {"x: \"f32[3]\"", "pow.Scalar(2, x)", "f32[3]", true},
      {"x: \"f32[3]\"", "pow.Tensor_Tensor(x, x)", "f32[3]", true},
  };
  for (const Row& row : rows) {
    const graph::Graph graph =
        fx::read(module_text(row.parameter, cat("y = torch.ops.aten.", row.call), "(y,)"));
    EXPECT_EQ(result_type(graph), row.type) << row.call;
    EXPECT_EQ(graph::print(graph).find("pow(") != std::string::npos, row.has_pow) << row.call;
  }
  const graph::Graph same =
      fx::read(module_text("x: \"f32[3]\"", "y = torch.ops.aten.pow.Tensor_Scalar(x, 1)", "(y,)"));
  EXPECT_EQ(same.results().front().kind, graph::Ownership::own);
}

TEST(FxForms, NoneInsideIndices) {
  const std::string text =
      module_text("x: \"f32[4, 5, 6]\", i: \"i64[3]\"",
                  "y: \"f32[4, 3, 6]\" = torch.ops.aten.index.Tensor(x, [None, i])", "(y,)");
  EXPECT_EQ(error_of(text), NOTHING_THROWN);
}

TEST(FxForms, DevicesAreIgnored) {
  const std::string text =
      module_text("x: \"f32[3]\"",
                  "z = torch.ops.aten.full.default([3], 2, dtype = torch.float32, layout = torch.strided, "
                  "device = device(type='cuda', index=0), pin_memory = False)\n"
                  "y: \"f32[3]\" = torch.ops.aten.add.Tensor(x, z)",
                  "(y,)");
  EXPECT_EQ(error_of(text), NOTHING_THROWN);
}

TEST(FxForms, OutputMasksGiveNone) {
  const std::string text = module_text(
      "g: \"f32[2, 8]\", x: \"f32[2, 8]\", m: \"f32[2, 1]\", r: \"f32[2, 1]\", w: \"f32[8]\", b: \"f32[8]\"",
      "n = torch.ops.aten.native_layer_norm_backward.default(g, x, [8], m, r, w, b, [False, True, True])\na "
      "= n[0]\nc: \"f32[8]\" = n[1]",
      "(a, c)");
  EXPECT_EQ(error_of(text), NOTHING_THROWN);
  EXPECT_EQ(result_type(fx::read(text), 0), "None");
}

TEST(FxForms, ConstantsOfTheModule) {
  const std::string text =
      module_text("x: \"f32[2]\"", "_tensor_constant0 = self._tensor_constant0;  y: \"f32[2]\"", "(x,)");
  const std::string good = module_text(
      "x: \"f32[2]\"",
      "k: \"f32[2]\" = self._tensor_constant0\ny: \"f32[2]\" = torch.ops.aten.add.Tensor(x, k)", "(y,)");
  EXPECT_EQ(
      error_of(good),
      "FX graph line 3: the text reads the constant self._tensor_constant0, which was not given; name it "
      "const__tensor_constant0 in the inputs' .npz");
  fx::ReadOptions options;
  options.constants["_tensor_constant0"] = {ops::DType::f32, {2}, std::vector<std::byte>(8)};
  EXPECT_EQ(error_of(good, options), NOTHING_THROWN);
  EXPECT_NE(error_of(text, options), NOTHING_THROWN);
}

// What copy_ writes is held by the parameter at the end; what reads it before sees what it held, what reads
// it later the value.
TEST(FxForms, WrittenParameters) {
  const std::string parameters = "x: \"f32[2, 3]\", z: \"f32[3]\"";
  const auto results = [&](std::string_view statements, std::string_view returned) {
    const std::string text = module_text(parameters, statements, returned);
    EXPECT_EQ(error_of(text), "nothing was thrown") << statements;
    const std::string printed = graph::print(fx::read(text));
    return printed.substr(printed.find("\nresult") + 1);
  };
  const std::string copy =
      "y = torch.ops.aten.neg.default(x)\nc: \"f32[2, 3]\" = torch.ops.aten.copy_.default(x, y)";
  EXPECT_EQ(results(copy, "(y, c)"), "result \"\" = own %2\nresult \"\" = written 0 %2\n");
  EXPECT_EQ(results(copy, "(c, x)"), "result \"\" = written 0 %2\nresult \"\" = written 0 %2\n");
  // Not returned, it stands behind the others.
  EXPECT_EQ(results(copy, "(z,)"), "result \"\" = input 1 %1\nresult \"\" = written 0 %2\n");
  // A view from before looks at the value.
  EXPECT_EQ(results("t = torch.ops.aten.permute.default(x, [1, 0])\n" + copy, "(t, c)"),
            "result \"\" = own %4\nresult \"\" = written 0 %3\n");
  // What is computed from it before is not touched.
  EXPECT_EQ(results("r = torch.ops.aten.relu.default(x)\n" + copy, "(r, c)"),
            "result \"\" = own %2\nresult \"\" = written 0 %3\n");
}

}  // namespace
}  // namespace twinloom::tests
