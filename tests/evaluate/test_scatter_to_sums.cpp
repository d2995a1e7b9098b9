// Sums in place of lists, of what is added to few rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/error.h"
#include "core/graph/indexing.h"
#include "core/graph/passes.h"
#include "core/graph/views.h"
#include "tests/evaluate/arrays.h"
#include "tests/support/thrown.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder;
using graph::Mode;
using graph::Negative;
using graph::Tensor;
using ops::DType;

constexpr std::int64_t ADDED = 1500, COLUMNS = 3;

std::vector<double> drawn(std::int64_t count, double least, double most, bool whole) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(least, most);
  std::vector<double> numbers;
  for (std::int64_t k = 0; k < count; ++k)
    numbers.push_back(whole ? std::floor(uniform(random)) : uniform(random));
  return numbers;
}

bool has_scatter(const graph::Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const graph::Node& node) {
    return std::holds_alternative<graph::Scatter>(node.node);
  });
}

// ADDED rows of a source added to `rows` of a base, which lie along `axis` of both.
graph::Graph adding(int axis, std::int64_t rows, Mode mode = Mode::add, DType dtype = DType::f32,
                    std::int64_t added = ADDED) {
  Builder builder;
  const auto shape = [&](std::int64_t count) {
    return axis == 0 ? graph::Shape{count, COLUMNS} : graph::Shape{COLUMNS, count};
  };
  const Tensor base = builder.input("base", dtype, shape(rows)),
               source = builder.input("source", dtype, shape(added)),
               index = builder.input("index", DType::i64, shape(added));
  builder.output(scatter(base, axis, index, source, mode, true, Negative::wraps));
  return builder.take();
}

std::vector<Argument> arguments(int axis, std::int64_t rows, bool whole, double least_index) {
  const auto sizes = [&](std::int64_t count) {
    return axis == 0 ? std::vector<std::int64_t>{count, COLUMNS} : std::vector<std::int64_t>{COLUMNS, count};
  };
  return {
      array(DType::f32, sizes(rows), drawn(rows * COLUMNS, -9, 9, whole)),
      array(DType::f32, sizes(ADDED), drawn(ADDED * COLUMNS, -9, 9, whole)),
      array(DType::i64, sizes(ADDED), drawn(ADDED * COLUMNS, least_index, static_cast<double>(rows), true))};
}

// Of whole numbers every sum is exact; of others both are within the bound of one.
TEST(ScatterToSums, HasTheSumsOfItsLists) {
  for (const int axis : {0, 1})
    for (const std::int64_t rows : {1, 2, 4})
      for (const bool whole : {true, false}) {
        const graph::Graph before = adding(axis, rows), after = scatter_to_sums(before);
        verify(after);
        EXPECT_FALSE(has_scatter(after)) << print(after);
        const auto given = arguments(axis, rows, whole, static_cast<double>(-rows));
        const auto got = numbers_in(*evaluate(after, given, Arithmetic::strict)[0]),
                   want = numbers_in(*evaluate(before, given, Arithmetic::strict)[0]);
        for (std::size_t k = 0; k < want.size(); ++k)
          EXPECT_NEAR(got[k], want[k], whole ? 0 : 12 * 0x1p-24 * 9 * ADDED) << axis << " " << rows;
      }
}

// A row that nothing is added to keeps its bits, and what is not a number stays in its row.
TEST(ScatterToSums, RowsKeepWhatTheyAre) {
  const graph::Graph after = scatter_to_sums(adding(0, 4));
  std::vector<double> base = {-0.0, NAN, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, source(ADDED * COLUMNS, 1.0);
  source[3] = INFINITY;
  const std::vector<Argument> given{
      array(DType::f32, {4, COLUMNS}, base), array(DType::f32, {ADDED, COLUMNS}, source),
      array(DType::i64, {ADDED, COLUMNS}, std::vector<double>(ADDED * COLUMNS, 2))};
  const auto got = numbers_in(*evaluate(after, given, Arithmetic::strict)[0]);
  EXPECT_TRUE(std::signbit(got[0]));
  EXPECT_TRUE(std::isnan(got[1]));
  EXPECT_EQ(got[2], 1);
  EXPECT_EQ(got[6], INFINITY);
  EXPECT_EQ(got[7], 6 + ADDED);
  EXPECT_EQ(got[9], 8);
}

TEST(ScatterToSums, AnIndexOutOfRangeIsAnError) {
  std::vector<Argument> given = arguments(0, 2, true, 0);
  given[2] = arguments(0, 3, true, 0)[2];
  const std::string words =
      tests::words_of<Error>([&] { evaluate(scatter_to_sums(adding(0, 2)), given, Arithmetic::strict); });
  EXPECT_NE(words.find("out of range"), std::string::npos) << words;
}

TEST(ScatterToSums, OthersStayLists) {
  const graph::Graph others[] = {adding(0, 5),
                                 adding(0, 2, Mode::greatest),
                                 adding(0, 2, Mode::replace),
                                 adding(0, 2, Mode::add, DType::bf16),  // which would be rounded twice
                                 adding(0, 2, Mode::add, DType::i32),
                                 adding(0, 2, Mode::add, DType::f32, 1000)};
  for (const graph::Graph& graph : others) EXPECT_TRUE(has_scatter(scatter_to_sums(graph))) << print(graph);
}

}  // namespace
}  // namespace twinloom::evaluate
