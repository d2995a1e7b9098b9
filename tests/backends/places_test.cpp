// Places known only at run time: gather, scatter, atomics, sorting; and scratch.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/base/text.h"
#include "tests/backends/compare.h"

namespace twinloom::tests {

namespace {

std::vector<ops::Number> numbers(const std::vector<std::int64_t>& integers) {
  return {integers.begin(), integers.end()};
}

constexpr const char* gather =
    R"(program gather(at: i32[n], x: f32[m], y: written f32[n]; n in 0.., m in 0..) {
  for i < floor_div(n + 7, 8) block { for l < 8 vector {
    index s = i64((at[8*i + l] if 8*i + l < n else 0: i32)) below m wraps if 8*i + l < n node 5
    y[8*i + l] = (x[s] if 8*i + l < n else 0x1p+0: f32) if 8*i + l < n
  } } })";

TEST(Places, AGatherOfEveryLane) {
  const Outcome outcome = expect_same(
      gather, {.sizes = {11, 7}, .contents = {{"at", numbers({0, 6, -1, -7, 3, 3, 2, 1, 0, 5, 4})}}});
  EXPECT_FALSE(outcome.failure.has_value());
}

// Most lanes point far behind the table.
TEST(Places, AMaskedGatherTouchesOnlyWhatItsMaskHas) {
  for (const char* type : {"f32", "i64", "f64", "bf16", "u8"}) {
    for (const int lanes : {2, 8, 32}) {
      const std::string text = cat(R"(program gather(at: i32[n], x: )", type, "[m], y: written ", type,
                                   "[n]; n in 0.., m in 0..) { for i < floor_div(n, ", lanes, ") { for l < ",
                                   lanes, " vector { index s = i64(at[", lanes, "*i + l]) below 9 node 5 y[",
                                   lanes, "*i + l] = (x[1000000000000*s] if s < 1 else 0: ", type, ") } } }");
      std::vector<std::int64_t> at(64);
      for (std::size_t i = 0; i < at.size(); ++i) at[i] = i % 7 == 3 || i > 55 ? 0 : 8;
      expect_same(text, {.sizes = {64, 1}, .contents = {{"at", numbers(at)}}});
    }
  }
}

TEST(Places, AnIndexOutOfRangeIsRecordedAndTouchesNothing) {
  for (const std::int64_t bad : {7L, -8L, 1L << 30, -(1L << 31)}) {
    const Outcome outcome = expect_same(
        gather, {.sizes = {11, 7}, .contents = {{"at", numbers({0, 6, -1, -7, 3, 3, 2, 1, 0, bad, 4})}}});
    ASSERT_TRUE(outcome.failure.has_value());
    EXPECT_EQ(outcome.failure->node, 5);
    EXPECT_EQ(outcome.failure->value, bad);
    EXPECT_EQ(outcome.failure->bound, 7);
    EXPECT_EQ(outcome.failure->offset, 9);
  }
}

TEST(Places, AnEmptyTableFailsEveryIndex) {
  const Outcome outcome = expect_same(gather, {.sizes = {2, 0}, .contents = {{"at", numbers({0, 0})}}});
  EXPECT_TRUE(outcome.failure.has_value());
}

TEST(Places, AScalarIndexWithRowsOfVectors) {
  const char* text = R"(program rows(at: i64[n], x: f32[m*8], y: written f32[n*8]; n in 0.., m in 0..) {
    for i < n block {
      index s = at[i] below m node 9
      for l < 8 vector { y[8*i + l] = x[8*s + l] }
    } })";
  EXPECT_FALSE(
      expect_same(text, {.sizes = {3, 4}, .contents = {{"at", numbers({3, 0, 2})}}}).failure.has_value());
  const Outcome outcome = expect_same(text, {.sizes = {3, 4}, .contents = {{"at", numbers({3, -1, 4})}}});
  ASSERT_TRUE(outcome.failure.has_value());
  EXPECT_EQ(outcome.failure->node, 9);
}

TEST(Places, AScatterOfLanesAndAtomics) {
  const char* text =
      R"(program p(at: i64[n], x: i32[n], y: written i32[m], z: written i64[m]; n in 0.., m in 0..) {
    for i < floor_div(n, 8) { for l < 8 vector {
      index s = at[8*i + l] below m node 1
      y[s] = x[8*i + l]
      z[s] atomic_add 1: i64 if 2 < l
      z[0] atomic_max count(8*i + l)
    } } })";
  expect_same(text, {.sizes = {16, 5},
                     .contents = {{"at", numbers({0, 1, 2, 3, 4, 0, 1, 2, 3, 3, 3, 9, 0, 1, 4, -1})}}});
}

// One task: the order of several is nobody's.
TEST(Places, RealsAreAddedInMemory) {
  const char* text =
      R"(program p(at: i64[n], x: f32[8*n], y: written f32[8*m], z: written f64[m]; n in 0.., m in 1..) {
    for k < 8*m { y[k] = 0x1p+0:f32 }
    for h < m { z[h] = 0x1p+0:f64 }
    for i < n {
      index s = at[i] below m node 1
      z[s] atomic_add f64(x[8*i])
      for l < 8 vector { y[8*s + l] atomic_add x[8*i + l] }
    } })";
  expect_same(text, {.sizes = {6, 3}, .contents = {{"at", numbers({2, 0, 2, 3, 2, 0})}}});
}

TEST(Places, AStableSortLeavesOutKeysOutOfRange) {
  const char* text =
      R"(program sort(key: i32[n], order: written i64[n], starts: written i64[m + 1]; n in 0.., m in 0..) {
    call stable_sort (order, starts) sizes (n, m) { slot t0 at (p) { t0 = i64(key[p]) } } })";
  const Outcome outcome =
      expect_same(text, {.sizes = {8, 4}, .contents = {{"key", numbers({3, 0, 1, 0, 4, -1, 3, 1})}}});
  const auto& order = outcome.buffers.at("order");
  EXPECT_EQ(order[0].integer(), 1);
  EXPECT_EQ(order[7].integer(), -1);
  for (const std::int64_t n : {0, 1, 1000}) expect_same(text, {.sizes = {n, 13}});
  expect_same(text, {.sizes = {5, 0}});
}

// Rows of one key each, which a CPU does not move, beside one of several.
TEST(Places, AStableSortOfRowsOfOneKey) {
  const char* text =
      R"(program sort(key: i64[n*r], order: written i64[n*r], starts: written i64[4*r + 1]; n in 0.., r in 0..) {
    call stable_sort (order, starts) sizes (n, 4, r) { slot t0 at (p) { t0 = key[p] } } })";
  const std::vector<std::int64_t> keys = {0, 0, 0, 3, 3, 3, 2, 1, 2, 1, 1, 1};
  expect_same(text, {.sizes = {3, 4}, .contents = {{"key", numbers(keys)}}, .threads = 2});
  expect_same(text, {.sizes = {3, 1}, .contents = {{"key", numbers({9, 9, 9})}}});
}

// Few and many rows, elements and keys; none of them.
TEST(Places, AStableSortOfRows) {
  const char* text =
      R"(program sort(key: i64[n*r], order: written i64[n*r], starts: written i64[m*r + 1]; n in 0.., m in 0.., r in 0..) {
    call stable_sort (order, starts) sizes (n, m, r) { slot t0 at (p) { index s = key[p] below m t0 = count(s) } } })";
  struct Sizes {
    std::int64_t n, bound, rows;
  };
  for (const auto& [n, bound, rows] :
       {Sizes{5, 3, 0}, {100, 64, 1}, {5, 0, 3}, {0, 3, 7}, {100, 64, 7}, {1, 1, 2}}) {
    std::vector<std::int64_t> keys(static_cast<std::size_t>(rows * n));
    for (std::size_t p = 0; p < keys.size(); ++p)
      keys[p] = bound == 0 ? 0 : static_cast<std::int64_t>(p * p * 7) % bound;
    expect_same(text, {.sizes = {n, bound, rows}, .contents = {{"key", numbers(keys)}}, .threads = 3});
  }
}

// Keys of a row, so that the first has counts[0] values, the next counts[1], all of them mixed.
std::vector<std::int64_t> keys_of(const std::vector<std::int64_t>& counts, std::uint64_t seed) {
  std::vector<std::int64_t> keys;
  for (std::size_t k = 0; k < counts.size(); ++k)
    keys.insert(keys.end(), static_cast<std::size_t>(counts[k]), static_cast<std::int64_t>(k));
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(seed));
  return keys;
}

std::string sums_text(const char* type) {
  return cat("program sums(key: i64[n*r], x: ", type, "[n*r], y: written ", type, "[m*r], list: written ",
             type, R"([n*r], ends: written i64[m*r];
        n in 0.., m in 0.., r in 0..) {
      call sums_by_key (y, list, ends) sizes (n, m, r) {
        slot t0 at (j, p) { index s = key[n*j + p] below m node 2 t0 = count(s) }
        slot t1 at (k, q) { t1 = x[n*k + q] }
      } })");
}

// Lists of every length at which the order of a sum has another form, among values of which some are zeros of
// both signs, infinite, subnormal or none.
TEST(Places, SumsByKeyOfRows) {
  const std::vector<std::vector<std::int64_t>> rows = {
      {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 255, 256, 257, 1023, 1024, 1025, 3000},
      {5, 0, 0, 2100, 1},
      {6000},
      {0, 0, 0, 0},
      {1}};
  for (const char* type : {"f32", "f64"}) {
    const std::string text = sums_text(type);
    for (const auto& counts : rows) {
      for (const int threads : {1, 3}) {
        const auto bound = static_cast<std::int64_t>(counts.size());
        std::vector<std::int64_t> keys;
        for (std::uint64_t row = 1; row <= 4; ++row) {
          const auto own = keys_of(counts, row);
          keys.insert(keys.end(), own.begin(), own.end());
        }
        const auto n = static_cast<std::int64_t>(keys.size()) / 4;
        expect_same(
            text,
            {.sizes = {n, bound, 4}, .contents = {{"key", numbers(keys)}}, .threads = threads, .seed = 7});
      }
    }
    const RunPlan none = {.sizes = {5, 3, 0}};
    expect_same(text, none);
    const Outcome outside =
        expect_same(text, {.sizes = {3, 4, 2}, .contents = {{"key", numbers({3, 0, 1, 0, 4, 3})}}});
    ASSERT_TRUE(outside.failure.has_value());
    EXPECT_EQ(outside.failure->value, 4);
    EXPECT_EQ(outside.failure->node, 2);
    const Outcome empty =
        expect_same(text, {.sizes = {2, 0, 2}, .contents = {{"key", numbers({0, 0, 0, 0})}}});
    EXPECT_TRUE(empty.failure.has_value());
  }
}

// Rows whose keys have few values each, which wait side by side; every `uneven`th row has one key with more
// of them than have room there.
TEST(Places, SumsByKeyOfManyRows) {
  constexpr std::int64_t ROWS = 24, KEYS = 37;
  for (const char* type : {"f32", "f64"}) {
    for (const std::int64_t n : {10, 150, 300, 740}) {
      for (const std::int64_t uneven : {2, 11, 100}) {
        std::mt19937_64 random(static_cast<std::uint64_t>(n));
        std::vector<std::int64_t> keys;
        for (std::int64_t row = 0; row < ROWS; ++row)
          for (std::int64_t p = 0; p < n; ++p)
            keys.push_back(row % uneven == 1 && p % 2 == 0 ? 5 : static_cast<std::int64_t>(random() % KEYS));
        for (const int threads : {1, 3})
          expect_same(sums_text(type), {.sizes = {n, KEYS, ROWS},
                                        .contents = {{"key", numbers(keys)}},
                                        .threads = threads,
                                        .seed = 7});
      }
    }
  }
}

TEST(Places, ScratchIsFilledAndReadAgain) {
  expect_same(R"(program p(x: f32[8*n], y: written f32[8*n], row: local written f32[8]; n in 0..) {
    for i < n block {
      scratch row[8] in registers {
        for l < 8 vector { row[l] = x[8*i + l] }
        for l2 < 8 vector { y[8*i + l2] = row[7 - l2] }
      }
    } })",
              {.sizes = {9}, .threads = 2});
}

}  // namespace

}  // namespace twinloom::tests
