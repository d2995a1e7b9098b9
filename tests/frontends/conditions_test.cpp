// Conditions on sizes that a text states: each becomes a requirement that refuses the sizes that break it,
// and none is there for nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/graph/bind.h"
#include "core/index/divisors.h"
#include "tests/evaluate/arrays.h"
#include "tests/frontends/texts.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Row {
  std::string_view statements;
  Sizes held, broken;  // by s0
};

// What PyTorch 2.11 prints for torch._check, assert, views and slices, and spellings of other releases.
const Row rows[] = {
    {"a = s0 >= 4\nb = torch.ops.aten._assert_scalar.default(a, 'too short')", {4, 9}, {0, 3}},
    {"a: \"Sym(s0 >= 4)\" = s0 >= 4\nb = torch.ops.aten._assert_scalar.default(a, 'too short')", {4}, {3}},
    {"a = operator.lt(s0, 4)\nb = torch.ops.aten._assert_scalar.default(a, 'too long')", {0, 3}, {4}},
    {"a: \"Sym(Eq(s0, 4))\" = s0 == 4\nb = torch.ops.aten._assert_scalar.default(a, '')", {4}, {3, 5}},
    {"a = s0 != 4\nb = torch.ops.aten._assert_scalar.default(a, '')", {3, 5}, {4}},
    {"a = s0 < 3\nc = torch.sym_not(a)\nb = torch.ops.aten._assert_scalar.default(c, '')", {3}, {2}},
    {"a = s0 > 3\nc = s0 < 8\nd = a & c\nb = torch.ops.aten._assert_scalar.default(d, '')", {4, 7}, {3, 8}},
    {"a = s0 < 4\nc = s0 > 6\nd = operator.or_(a, c)\nb = torch.ops.aten._assert_scalar.default(d, '')",
     {3, 7},
     {4, 6}},
    {"a = s0 < 4\nc = s0 > 2\nd = a ^ c\nb = torch.ops.aten._assert_scalar.default(d, '')", {2, 4}, {3}},
    {"a = s0 % 2\nc = a == 0\nb = torch.ops.aten._assert_scalar.default(c, 'must be even')", {0, 4}, {1}},
    {"a = s0 // 3\nc = a >= 2\nb = torch.ops.aten._assert_scalar.default(c, '')", {6}, {5}},
    {"a: \"Sym(IntTrueDiv(s0, 4))\" = s0 / 4\nc = a <= 1.5\nb = torch.ops.aten._assert_scalar.default(c, '')",
     {6},
     {7}},
    {"a = s0 / 3\nc = a == 2\nb = torch.ops.aten._assert_scalar.default(c, '')", {6}, {5, 7}},
    {"a = torch.sym_max(s0, 6)\nc = a <= 6\nb = torch.ops.aten._assert_scalar.default(c, '')", {0, 6}, {7}},
    {"a = torch.sym_min(s0, 6)\nc = a >= 5\nb = torch.ops.aten._assert_scalar.default(c, '')", {5}, {4}},
    {"a = torch.sym_sum((s0, s0, 1))\nc = a > 7\nb = torch.ops.aten._assert_scalar.default(c, '')", {4}, {3}},
    {"a = s0 > 4\nc = torch.sym_ite(a, s0, 2)\nd = c > 2\nb = torch.ops.aten._assert_scalar.default(d, '')",
     {5},
     {4}},
    {"a = s0 / 3\nc = math.floor(a)\nd = c >= 2\nb = torch.ops.aten._assert_scalar.default(d, '')", {6}, {5}},
    {"a = s0 * 0.5\nc = math_ceil(a)\nd = c < 3\nb = torch.ops.aten._assert_scalar.default(d, '')", {4}, {5}},
    {"a = -s0\nc = a // 4\nd = c == -2\nb = torch.ops.aten._assert_scalar.default(d, '')", {5, 8}, {4, 9}},
    {"a = s0 ** 2\nd = a < 17\nb = torch.ops.aten._assert_scalar.default(d, '')", {4}, {5}},
    {"a = s0 >= 4\nb = torch._check(a)", {4}, {3}},
    {"b = torch.ops.aten.sym_constrain_range_for_size.default(s0, min = 2, max = 5)", {2, 5}, {1, 6}},
    {"b = torch.ops.aten.sym_constrain_range.default(s0, max = 5)", {5}, {6}},
    {"a = s0 // 2\nb = torch.ops.aten.view.default(x, [2, a])", {4, 6}, {5}},
    {"a = 12 // s0\nb = torch.ops.aten.mul.Tensor(x, a)", {1, 5}, {0}},
    {"a = 12 / s0\nb = torch.ops.aten.mul.Tensor(x, a)", {1, 5}, {0}},
    {"a = s0 - 5\nc = 7 / a\nb = torch.ops.aten.mul.Tensor(x, c)", {4, 6}, {5}},
    {"a = s0 - 3\nb = torch.ops.aten.slice.Tensor(x, 0, 0, a)\nc: \"f32[s0 - 3]\" = "
     "torch.ops.aten.neg.default(b)",
     {3, 7},
     {1, 2}},
    {"b = torch.ops.aten.select.int(x, 0, 3)", {4}, {3}},
    {"b = torch.ops.aten.arange.start(3, s0)", {3, 5}, {2}},
    {"b = torch.ops.aten.arange.start_step(7, s0, -2)", {7, 5}, {8}},
    {"a = s0 / 2\nb = torch.ops.aten.arange.start_step(1.5, a, 0.5)", {3, 4}, {2}},
    {"b = torch.ops.aten.split.Tensor(x, 4)\nc = b[1]\nd = torch.ops.aten.neg.default(c)", {5, 8}, {3}},
};

graph::Graph graph_of(const Row& row) {
  return fx::read(module_text("s0: \"Sym(s0)\", x: \"f32[s0]\"",
                              cat(row.statements, "\ny = torch.ops.aten.neg.default(x)"), "(y,)"));
}

std::string bound(const graph::Graph& graph, std::int64_t size) {
  return words_of<Error>([&] {
    graph::bind_sizes(graph, std::vector<graph::ParameterSizes>{size, Sizes{size}});
  });
}

TEST(Conditions, RefuseTheSizesThatBreakThem) {
  for (const Row& row : rows) {
    const graph::Graph graph = graph_of(row);
    for (const std::int64_t size : row.held) EXPECT_EQ(bound(graph, size), NOTHING_THROWN) << row.statements;
    for (const std::int64_t size : row.broken)
      EXPECT_NE(bound(graph, size), NOTHING_THROWN) << row.statements << "\ns0 = " << size;
  }
}

bool holds(const graph::Require& require, const index::Values& values) {
  return !index::bad_divisor(require.condition, values) && index::evaluate(require.condition, values);
}

// Whether sizes break this requirement alone: a graph without it would take them.
bool is_needed(const graph::Graph& graph, std::size_t at, const Sizes& candidates) {
  const auto all = graph.requirements();
  return std::ranges::any_of(candidates, [&](std::int64_t size) {
    const index::Values values{{index::Symbol("s0"), size}};
    for (std::size_t k = 0; k < all.size(); ++k)
      if (holds(all[k], values) == (k == at)) return false;
    return true;
  });
}

TEST(Conditions, AreEachNeeded) {
  std::size_t count = 0;
  for (const Row& row : rows) {
    const graph::Graph graph = graph_of(row);
    Sizes candidates(40);
    for (std::size_t k = 0; k < candidates.size(); ++k) candidates[k] = static_cast<std::int64_t>(k);
    for (std::size_t k = 0; k < graph.requirements().size(); ++k, ++count)
      EXPECT_TRUE(is_needed(graph, k, candidates)) << row.statements << "\n"
                                                   << graph.requirements()[k].message;
  }
  EXPECT_GE(count, std::size(rows));
}

TEST(Conditions, SayInWordsWhatFailedAndWhere) {
  EXPECT_EQ(bound(graph_of(rows[0]), 3),
            "FX graph line 4: torch.ops.aten._assert_scalar.default 'b': too short: 3 < s0 does not hold (s0 "
            "= 3 from the size 's0')");
  EXPECT_EQ(error_of(module_text("x: \"f32[3]\"",
                                 "a = torch.ops.aten._assert_scalar.default(False, 'never mind')", "(x,)")),
            "FX graph line 3: torch.ops.aten._assert_scalar.default 'a': never mind: it never holds");
}

// A value of sizes is computed in the run: result 0 for s0 = 0, 1, 2, ...
struct Value {
  std::string_view statements;
  std::vector<double> numbers;
};

TEST(Conditions, AreValuesWhereTheyAreNotAsserted) {
  const Value values[] = {
      {"a: \"Sym(s0 < 2)\" = s0 < 2\ny = torch.ops.aten.full.default([], a)", {1, 1, 0, 0}},
      {"a = s0 < 2\nc = a + 1\ny = torch.ops.aten.full.default([], c)", {2, 2, 1, 1}},
      {"a = s0 / 2\ny = torch.ops.aten.full.default([], a)", {0, 0.5, 1, 1.5}},
      {"a = s0 ** 0.5\nc = a * a\nd = round(c)\ny = torch.ops.aten.full.default([], d)", {0, 1, 2, 3}},
      {"a = s0 / 2\nc = round(a)\ny = torch.ops.aten.full.default([], c)", {0, 0, 1, 2, 2, 2, 3, 4, 4}},
      {"a = s0 * -0.5\nc = math_trunc(a)\ny = torch.ops.aten.full.default([], c)", {0, 0, -1, -1, -2}},
      {"a = 1 - s0\nc = a % 3\ny = torch.ops.aten.full.default([], c)", {1, 0, 2, 1, 0}},
      {"a = 1 - s0\nc = a // 2\ny = torch.ops.aten.full.default([], c)", {0, 0, -1, -1, -2}},
      {"a = s0 & 1\ny = torch.ops.aten.full.default([], a)", {0, 1, 0, 1}},
      {"a = s0 == 2\nc = torch.sym_ite(a, 7, s0)\ny = torch.ops.aten.full.default([], c)", {0, 1, 7, 3}},
  };
  for (const Value& row : values) {
    const graph::Graph graph =
        fx::read(module_text("s0: \"Sym(s0)\", x: \"f32[s0]\"", row.statements, "(y,)"));
    for (std::size_t size = 0; size < row.numbers.size(); ++size) {
      const auto n = static_cast<std::int64_t>(size);
      const std::vector<evaluate::Argument> arguments{n, evaluate::counting(ops::DType::f32, {n})};
      const auto results = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
      EXPECT_EQ(evaluate::numbers_in(*results.front()), std::vector<double>{row.numbers[size]})
          << row.statements << "\ns0 = " << size;
    }
  }
}

}  // namespace
}  // namespace twinloom::tests
