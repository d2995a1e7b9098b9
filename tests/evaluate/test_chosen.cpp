// Sums of what is 0 but at one place of a row, and what is done to a select: fewer operators, the same values
// to the last bit, whatever the rows are worth.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "core/graph/indexing.h"
#include "core/graph/passes.h"
#include "core/graph/print.h"
#include "core/graph/rebuild.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "tests/evaluate/arrays.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Tensor;
using ops::DType;

constexpr double INFINITE = std::numeric_limits<double>::infinity(), NONE = std::nan("");
const std::vector<double> WORTHS = {1.5, 0.0, -0.0, INFINITE, -INFINITE, NONE, -3e38, 1e-45};
constexpr std::int64_t ROWS = 8, CLASSES = 40;

// The results for an index and a worth of each row.
using Made = std::function<std::vector<Tensor>(const Tensor& at, const Tensor& worth)>;
Graph graph_of(const Made& made) {
  Builder builder;
  const Tensor at = builder.input("at", DType::i64, {ROWS, 1});
  const Tensor worth = builder.input("worth", DType::f32, {ROWS, 1});
  for (const Tensor& result : made(at, worth)) builder.output(result);
  return scatter_to_select(builder.take());
}
Tensor gradient(const Tensor& at, const Tensor& worth, double elsewhere = 0.0, DType dtype = DType::f32) {
  const Tensor all = at.builder().constant(elsewhere, dtype, {ROWS, CLASSES});
  return scatter(all, 1, at, -1.0) * cast(worth, dtype);
}

// Equal bytes, but for those of NaNs.
void expect_same(const std::optional<Value>& a, const std::optional<Value>& b) {
  ASSERT_TRUE(a && b);
  const std::vector<double> of_a = numbers_in(*a), of_b = numbers_in(*b);
  ASSERT_EQ(of_a.size(), of_b.size());
  for (std::size_t k = 0; k < of_a.size(); ++k) {
    const bool equal = of_a[k] == of_b[k] && std::signbit(of_a[k]) == std::signbit(of_b[k]);
    EXPECT_TRUE(equal || (std::isnan(of_a[k]) && std::isnan(of_b[k])))
        << k << ": " << of_a[k] << ", " << of_b[k];
  }
}
void expect_same_results(const Graph& before, const Graph& after) {
  verify(after);
  SCOPED_TRACE(print(after));
  const std::vector<Argument> arguments{array(DType::i64, {ROWS, 1}, {0, 39, 5, 6, 7, 8, 38, 20}),
                                        array(DType::f32, {ROWS, 1}, WORTHS)};
  const auto expected = evaluate(before, arguments, Arithmetic::strict);
  const auto results = evaluate(after, arguments, Arithmetic::strict);
  for (std::size_t k = 0; k < expected.size(); ++k) expect_same(results[k], expected[k]);
}
template <class Kind>
std::size_t count_of(const Graph& graph) {
  std::size_t count = 0;
  for (const graph::Node& node : graph.nodes())
    if (std::holds_alternative<Kind>(node.node)) ++count;
  return count;
}
bool is_left_out(const Made& made) {
  const Graph before = graph_of(made), after = sum_chosen(before);
  expect_same_results(before, after);
  return count_of<graph::Reduce>(after) < count_of<graph::Reduce>(before);
}

TEST(SumsOfOneChosen, AreWhatIsChosen) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
    EXPECT_TRUE(is_left_out([&](const Tensor& at, const Tensor& worth) {
      const Tensor of = cast(gradient(at, worth, 0.0, dtype), DType::f32);
      return std::vector{sum(of, {1}, true), of};
    })) << ops::name(dtype);
  EXPECT_TRUE(is_left_out([](const Tensor& at, const Tensor& worth) {
    const Tensor of = worth * gradient(at, worth);
    return std::vector{sum(of, {1}) * 2.0, of * of};
  }));
}

TEST(SumsOfOneChosen, StayWhereTheyAreOfMore) {
  EXPECT_FALSE(is_left_out([](const Tensor& at, const Tensor& worth) {
    const Tensor of = gradient(at, worth, 2.0);
    return std::vector{sum(of, {1}), of};
  }));
  EXPECT_FALSE(is_left_out([](const Tensor& at, const Tensor& worth) {  // of rows
    const Tensor of = gradient(at, worth);
    return std::vector{sum(of, {0}), of};
  }));
  EXPECT_FALSE(is_left_out([](const Tensor& at, const Tensor& worth) {
    const Tensor of = gradient(at, worth) + 0.0;
    return std::vector{sum(of, {1}), of};
  }));
}

// Who else reads them says that an index is out of range.
TEST(SumsOfOneChosen, StayWhereNothingElseLooksUpTheIndex) {
  EXPECT_FALSE(is_left_out(
      [](const Tensor& at, const Tensor& worth) { return std::vector{sum(gradient(at, worth), {1})}; }));
}

std::int64_t elements_of_products(const Graph& graph) {
  std::int64_t elements = 0;
  for (const graph::Node& node : graph.nodes())
    if (graph::is_of(node, ops::Pointwise::mul)) elements += *index::constant_of(index::product(node.shape));
  return elements;
}

TEST(Selects, AreMadeOfWhatIsDoneToBothSides) {
  const auto products = [](const Made& made) {
    const Graph before = graph_of(made), after = apply_before_select(before);
    expect_same_results(before, after);
    return elements_of_products(after);
  };
  EXPECT_EQ(products([](const Tensor& at, const Tensor& worth) { return std::vector{gradient(at, worth)}; }),
            2 * ROWS);
  EXPECT_EQ(products([](const Tensor& at, const Tensor& worth) {
              return std::vector{exp(cast(gradient(at, worth, 2.0, DType::bf16), DType::f32)) * worth};
            }),
            4 * ROWS);
  EXPECT_EQ(products([](const Tensor& at, const Tensor& worth) {  // of more values than two a row
              const Tensor positions = at.builder().iota({ROWS, CLASSES}, 1, DType::f32);
              return std::vector{gradient(at, worth, 2.0) * positions};
            }),
            2 * ROWS + ROWS * CLASSES);
}

}  // namespace
}  // namespace twinloom::evaluate
