// What threads sum up along lists, and along columns beside rows: what is chosen, and its estimates.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/cost/estimate.h"
#include "core/machine/gpu.h"
#include "core/schedule/heuristics.h"

namespace twinloom::tests {

namespace {

constexpr std::int64_t ROWS = 50257;

// The gradient of a table of ROWS rows: each sums up those of `entries` rows of x that belong to it.
loops::Program gradient(std::int64_t columns, std::int64_t entries = 8192) {
  return loops::parse(cat("program sums(ends: i64[", ROWS + 1, "], entries: i64[", entries, "], x: f32[",
                          entries * columns, "], y: written f32[", ROWS * columns, "]) {\n  for i < ", ROWS,
                          " { for j < ", columns, " {\n    index a = ends[i] below ", entries + 1,
                          " index b = ends[i + 1] below ", entries + 1,
                          "\n    start t0: sum f32 for k < -a + b { index c = entries[k + a] below ", entries,
                          " t0 += x[j + ", columns, "*c] at k } y[", columns, "*i + j] = t0 } } }"));
}

std::int64_t elements_of_thread(std::int64_t columns) {
  const schedule::Schedule plan = schedule::choose(schedule::Forms(gradient(columns)), machine::h200(), {});
  const auto split = std::ranges::find(plan.splits, "j", &schedule::SplitPlan::axis);
  return split == plan.splits.end() ? 0 : split->factors.back();
}

TEST(Lists, AThreadTakesEightElementsOfALongRow) {
  EXPECT_EQ(elements_of_thread(768), 8);
  EXPECT_EQ(elements_of_thread(256), 8);
  EXPECT_EQ(elements_of_thread(64), 4);
}

// What most lists are as long as is loaded at once.
TEST(Lists, ShortUnitsAreOfUsualLists) {
  const auto lengths = [](std::int64_t entries) {
    return schedule::choose(schedule::Forms(gradient(768, entries)), machine::h200(), {})
        .splits.back()
        .shorts;
  };
  using Lengths = std::vector<std::int64_t>;
  EXPECT_EQ(lengths(8192), (Lengths{2, 64}));
  EXPECT_EQ(lengths(ROWS), (Lengths{4, 64}));
  EXPECT_EQ(lengths(5 * ROWS), (Lengths{16, 64}));
  EXPECT_EQ(lengths(60 * ROWS), (Lengths{8, 128}));
}

// Most of these lists are empty: neither the accumulators of a whole unit, which a loop walks, nor what its
// elements would touch count.
TEST(Lists, EstimatesAreOfUsualLists) {
  const loops::Program nest = gradient(768);
  const schedule::Schedule plan = schedule::choose(schedule::Forms(nest), machine::h200(), {});
  const cost::Estimate estimate = cost::estimate(schedule::apply(nest, plan), machine::h200(), {});
  const auto bytes = [&](std::string_view level) {
    return std::ranges::find(estimate.roofs, level, &cost::Roof::name)->amount;
  };
  EXPECT_LT(bytes("L2"), 1.5 * bytes("memory"));
  EXPECT_LE(estimate.registers, 128);
}

// A search that only estimates lead finds no schedule of one warp a block.
TEST(Lists, BlocksHaveSeveralWarps) {
  const std::string plan = schedule::print(schedule::choose(gradient(768), machine::h200()));
  EXPECT_NE(plan.find("split -1 j : 1024, 8 mask"), std::string::npos) << plan;
}

// Sums of rows and of columns of one matrix.
std::int64_t lanes_of(std::int64_t rows, std::int64_t columns) {
  const loops::Program nest = loops::parse(
      cat("program both(x: f32[", rows * columns, "], y: written f32[", rows, "], z: written f32[", columns,
          "]) {\n  start t1: sum f32 copies (k) for i < ", rows, " { start t0: sum f32\n    for k < ",
          columns, " { t0 += x[", columns, "*i + k] at k t1 += x[", columns,
          "*i + k] at i } y[i] = t0 }\n  for k < ", columns, " { z[k] = t1 } }"));
  return schedule::choose(schedule::Forms(nest), machine::h200(), {}).columns->lanes;
}

// As many as leave blocks for the machine once: blocks of more rows write fewer parts.
TEST(ColumnsBesideRows, LanesFillTheMachineOnce) {
  EXPECT_EQ(lanes_of(2048, 1024), 1);
  EXPECT_EQ(lanes_of(8192, 1024), 2);
  EXPECT_EQ(lanes_of(16384, 1024), 4);
  EXPECT_EQ(lanes_of(65536, 1024), 8);
}

}  // namespace

}  // namespace twinloom::tests
