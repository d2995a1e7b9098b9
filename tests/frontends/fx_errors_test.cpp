// What is wrong with a text is said in words, with the line.
#include <gtest/gtest.h>

#include "tests/frontends/texts.h"

namespace twinloom::tests {
namespace {

struct Row {
  std::string_view statements;
  std::string_view words;
};

TEST(FxErrors, OfStatements) {
  const Row rows[] = {
      {"y = torch.ops.aten.sofmax.int(x, 1)",
       "FX graph line 3: operator torch.ops.aten.sofmax.int is not known; the nearest known: '_softmax', "
       "'amax', 'argmax'"},
      {"y = torch.ops.aten.relu.default(z)", "FX graph line 3: there is no value 'z'"},
      {"y = torch.ops.aten.relu.default(xx)", "FX graph line 3: there is no value 'xx'; did you mean 'x'?"},
      {"y = torch.ops.aten.relu.default()",
       "FX graph line 3: torch.ops.aten.relu.default: argument 'self' is missing"},
      {"y: \"f32[5]\" = torch.ops.aten.relu.default(x)",
       "FX graph line 3: 'y' is a tensor f32[3, 4], the text says f32[5]"},
      {"y: \"i64[3, 4]\" = torch.ops.aten.relu.default(x)",
       "FX graph line 3: 'y' is a tensor f32[3, 4], the text says i64[3, 4]"},
      {"y: \"g32[5]\" = torch.ops.aten.relu.default(x)",
       "FX graph line 3: 'g32[5]' is not a type such as \"f32[2, s0]\" or \"Sym(s0)\""},
      {"y = torch.ops.aten.relu.default(x", "FX graph line 4: expected ',' or ')', found 'return'"},
      {"y = x[0]", "FX graph line 3: cannot take an element of a tensor f32[3, 4]"},
      {"y.z = x", "FX graph line 3: 'y.z' cannot be assigned to"},
      {"y = torch.ops.aten.mul.Tensor(x, 99999999999999999999)",
       "FX graph line 3: expected a number within 64 bits, found '99999999999999999999'"},
      {"y = 'abc", "FX graph line 3: a quote is not closed"},
      {"y = x ? 2", "FX graph line 3: '?' does not belong here"},
      {"s = torch.ops.aten.sum.default(x)\ny = torch.ops.aten.cumsum.default(s, 3)",
       "FX graph line 4: cumsum 'y': axis 3 is out of range for rank 1"},
      {"y = torch.ops.aten.arange.start(5, 2)",
       "FX graph line 3: torch.ops.aten.arange.start: from the integer 5 steps of 1 do not lead to the "
       "integer 2"},
      {"y = torch.ops.aten.foo.default(x)\nz = torch.ops.aten.sinn.default(y)\nw = "
       "torch.ops.aten.foo.default(z)",
       "FX graph: 2 operators are not known:\n  line 3: torch.ops.aten.foo.default\n  line 4: "
       "torch.ops.aten.sinn.default; the nearest known: 'sign', 'sin', 'sinh'"},
      {"y = x; x = 3", "FX graph line 3: expected 'None', found '3'"},
      {"y = ", "FX graph line 3: expected a value, found the end of the line"},
      {"= x", "FX graph line 3: expected the name of a value, found '='"},
      {"y = torch.ops.aten.pow.Tensor_Scalar(torch.ops.aten.ge.Scalar(x, 0), -2)",
       "FX graph line 3: torch.ops.aten.pow.Tensor_Scalar: integers have no powers by negative integers, "
       "'exponent' is -2"},
      {"y = torch.ops.aten.bmm.default(x, x)",
       "FX graph line 3: torch.ops.aten.bmm.default: needs tensors of 3 axes, given one of 2"},
      {"y = torch.ops.aten.mm.default(torch.ops.aten.ge.Scalar(x, 0), x)",
       "FX graph line 3: torch.ops.aten.mm.default: needs elements of a floating type, given b8"},
      {"y = torch.ops.aten.mm.default(x, x)", "FX graph line 3: matrices of 4 and 3 do not fit together"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(error_of(module_text("x: \"f32[3, 4]\"", row.statements, "(x,)")), row.words) << row.statements;
}

TEST(FxErrors, OfParameters) {
  const Row rows[] = {
      {"x", "FX graph line 2: parameter 'x' has no type"},
      {"x: \"f32[3]\", x: \"f32[3]\"", "FX graph line 2: there are two parameters 'x'"},
      {"x: \"f32[3.5]\"", "FX graph line 2: '3.5' is not a size"},
      {"x: \"f32[s0 / 0]\"", "FX graph line 2: a number is divided by 0"},
      {"x: \"f32[s0 // 0]\"", "FX graph line 2: a size is divided by 0"},
      {"x: \"Sym(s0\"", "FX graph line 2: 'Sym(s0' is not a type such as \"f32[2, s0]\" or \"Sym(s0)\""},
  };
  for (const Row& row : rows)
    EXPECT_EQ(error_of(module_text(row.statements, "y = 1", "(None,)")), row.words) << row.statements;
}

TEST(FxErrors, OfWholeTexts) {
  const Row rows[] = {
      {"", "FX graph: there is no 'class NAME(torch.nn.Module):' in the text"},
      {"def forward(self):\n  return 1\n",
       "FX graph: there is no 'class NAME(torch.nn.Module):' in the text"},
      {"class A(b):\n", "FX graph line 1: expected 'def forward', found the end of the text"},
      {"class A(b):\n  def forward(self):\n    x = 1\n",
       "FX graph line 3: expected 'return', found the end of the text"},
      {"class A(b):\n  def backward(self):\n    return 1\n",
       "FX graph line 2: expected the body of 'forward', found '('"},
  };
  for (const Row& row : rows) EXPECT_EQ(error_of(row.statements), row.words) << row.statements;
}

TEST(FxErrors, OfResults) {
  EXPECT_EQ(error_of(module_text("x: \"f32[3]\"", "y = torch.ops.aten.neg.default(x)",
                                 "(torch.ops.aten.select.int(x, 0, 5),)")),
            "FX graph line 4: select: position 5 is outside axis 0 of [3]");
  EXPECT_EQ(error_of(module_text("x: \"f32[3]\"", "y = 1", "('text',)")),
            "FX graph line 4: a graph cannot return the text 'text'");
}

TEST(FxErrors, NestingAndChainsAreLimited) {
  const std::string deep = "y = " + std::string(100000, '(') + "1" + std::string(100000, ')');
  EXPECT_EQ(error_of(module_text("x: \"f32[3]\"", deep, "(x,)")),
            "FX graph line 3: brackets are nested more than 64 deep");
  std::string chain = "y = 1";
  std::string picks = "y = x";
  std::string powers = "y = 1";
  for (int k = 0; k < 100000; ++k) chain += " + 1", picks += "[0]", powers += " ** 1";
  for (const std::string& text : {chain, picks, powers}) {
    const std::string words = error_of(module_text("x: \"f32[3]\"", text, "(x,)"));
    EXPECT_TRUE(words.starts_with("FX graph line 3: ")) << words;
  }
}

}  // namespace
}  // namespace twinloom::tests
