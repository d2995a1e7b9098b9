// The sort of a GPU, by threads of this process that stand in for a block's: blocks run one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <vector>

#include "backends/cuda/sort.h"
#include "core/base/error.h"
#include "tests/cuda/block.h"
#include "tests/support/thrown.h"

// After the block's words.
#include "backends/cuda/device/block_sum.h"
#include "backends/cuda/device/row_network.h"

// After these.
#include "backends/cuda/device/order.h"
#include "backends/cuda/device/sort.h"

namespace twinloom::device {
namespace {

struct Sorted {
  std::vector<i64> order, starts;
  friend bool operator==(const Sorted&, const Sorted&) = default;
};

Sorted expected(const std::vector<i64>& keys, i64 bound) {
  Sorted sorted{{}, {0}};
  std::vector<std::vector<i64>> having(static_cast<std::size_t>(bound));
  for (std::size_t p = 0; p < keys.size(); ++p)
    if (keys[p] >= 0 && keys[p] < bound)
      having[static_cast<std::size_t>(keys[p])].push_back(static_cast<i64>(p));
  for (const std::vector<i64>& places : having) {
    sorted.order.insert(sorted.order.end(), places.begin(), places.end());
    sorted.starts.push_back(static_cast<i64>(sorted.order.size()));
  }
  sorted.order.resize(keys.size(), -1);
  return sorted;
}

constexpr i64 CACHE = i64{1} << 30;
// So few threads that those of a process stand in for them; by passes, also of keys that a word does not
// hold, and by ranges of keys where that is little.
constexpr cuda::SortShape PASSES = {64, 2, 4, 0}, PARTS_OF_KEYS = {64, 2, 4, 0, 5}, RANGES = {64, 2, 4, 3};
// Rows of one warp's threads, of several warps, and longer ones by passes.
constexpr cuda::OrderShape WARPS = {64, 2, 4}, ITEMS = {64, 8, 3};

// Counts how often the index of each key is checked.
std::vector<std::atomic<int>>* checks_of = nullptr;
struct Checked {};
void count_check(Unchecked, i64) {}
void count_check(Checked, i64 p) { ++(*checks_of)[static_cast<std::size_t>(p)]; }

// Runs `step(step, key)` by the blocks of each launch. Each key is checked once.
template <class Step>
void run_plan(const cuda::SortPlan& plan, int threads, const std::vector<i64>& keys, const Step& step) {
  std::vector<std::atomic<int>> times(keys.size());
  checks_of = &times;
  std::vector<i64> workspace(static_cast<std::size_t>(plan.workspace_bytes()) / sizeof(i64), -9);
  const auto key = [&](i64 p, auto checked) {
    count_check(checked, p);
    return keys[static_cast<std::size_t>(p)];
  };
  for (const cuda::SortLaunch& launch : plan.launches(workspace.data()))
    tests::run_blocks(static_cast<int>(launch.blocks), threads, [&] { step(launch.step, key); });
  for (std::size_t p = 0; p < times.size(); ++p) EXPECT_EQ(times[p], 1) << "key " << p;
}

// Rows of n keys, each with keys of its own below `bound`, by so many blocks.
template <cuda::SortShape shape>
Sorted sorted_by(i64 blocks, const std::vector<i64>& keys, const cuda::SortSizes& sizes) {
  Sorted sorted{std::vector<i64>(keys.size(), -7),
                std::vector<i64>(static_cast<std::size_t>(sizes.rows * sizes.bound) + 1, -7)};
  run_plan({sizes, {blocks, CACHE}, shape}, shape.threads, keys, [&](const cuda::SortStep& step, auto key) {
    BlockSort<shape, true, Checked>{step, {}}(sorted.order.data(), sorted.starts.data(), sizes.n, sizes.bound,
                                              sizes.rows, key);
  });
  return sorted;
}

// The same where nobody asks where keys begin; the epilogue is given the order too.
template <cuda::OrderShape shape, int key_bits = 32>
std::vector<i64> ordered_by(i64 blocks, const std::vector<i64>& keys, const cuda::SortSizes& sizes) {
  std::vector<i64> order(keys.size(), -7), given(keys.size(), -7);
  const auto epilogue = [&](i64 row, i64 p, i64 element, Checked) {
    given[static_cast<std::size_t>(row * sizes.n + p)] = element;
  };
  const auto run = [&](const cuda::SortStep& step, auto key) {
    BlockOrder<shape, key_bits, cuda::OrderTasks::either, Checked>{step, {}}(
        order.data(), nullptr, sizes.n, sizes.bound, sizes.rows, key, epilogue);
  };
  run_plan({sizes, {blocks, CACHE}, PASSES, shape}, shape.threads, keys, run);
  EXPECT_EQ(given, order) << "of the epilogue";
  return order;
}

std::vector<i64> drawn(std::size_t count, i64 low, i64 high) {
  std::mt19937_64 random(count);
  std::vector<i64> keys(count);
  for (i64& key : keys) key = low + static_cast<i64>(random() % static_cast<u64>(high - low));
  return keys;
}

void expect_sorted(const std::vector<i64>& keys, i64 bound) {
  const Sorted right = expected(keys, bound);
  const auto n = static_cast<i64>(keys.size());
  for (const i64 blocks : {1, 3, 40}) {
    EXPECT_EQ(sorted_by<PASSES>(blocks, keys, {1, n, bound}), right)
        << n << " keys below " << bound << " by " << blocks << " blocks";
    EXPECT_EQ(sorted_by<PARTS_OF_KEYS>(blocks, keys, {1, n, bound}), right)
        << n << " keys below " << bound << " in parts by " << blocks << " blocks";
    EXPECT_EQ(sorted_by<RANGES>(blocks, keys, {1, n, bound}), right)
        << n << " keys below " << bound << " in ranges of " << blocks << " blocks";
  }
}

std::vector<cuda::SortLaunch> launches_of(i64 rows, i64 n, i64 bound, i64 blocks) {
  return cuda::SortPlan({rows, n, bound}, {blocks, CACHE}, RANGES).launches(nullptr);
}

TEST(Sort, KeepsTheOrderOfEqualKeys) {
  for (const i64 bound : {1, 2, 15, 16, 17, 50})
    for (const std::size_t count : {0u, 1u, 31u, 64u, 700u}) expect_sorted(drawn(count, 0, bound), bound);
}

// Several passes, and turns of a block; places that no key has.
TEST(Sort, KeysOfManyDigits) {
  expect_sorted(drawn(1100, 0, 70'000), 70'000);
  expect_sorted(drawn(2600, 0, 70), 70);
  expect_sorted(drawn(40, 0, 300), 2000);
  expect_sorted({}, 70'000);
}

TEST(Sort, OneKeyOfAll) { expect_sorted(std::vector<i64>(600, 20), 33); }

// Of few elements in ranges: those of a range are gathered, but for ranges with more than a warp has room
// for.
TEST(Sort, RangesOfAFewElementsAndOfMany) {
  expect_sorted(std::vector<i64>(380, 20), 33);
  std::vector<i64> keys = drawn(380, 0, 300);
  expect_sorted(keys, 300);
  std::fill(keys.begin() + 200, keys.begin() + 300, 150);
  expect_sorted(keys, 300);
  std::ranges::sort(keys);
  expect_sorted(keys, 300);
}

TEST(Sort, LeavesOutKeysOutsideOfTheRange) {
  expect_sorted(drawn(600, -5, 45), 40);
  expect_sorted(drawn(70, 40, 50), 40);
  expect_sorted(drawn(70, -3, 3), 0);
}

TEST(Sort, RunsOfKeysUpAndDown) {
  std::vector<i64> keys(650);
  for (std::size_t p = 0; p < keys.size(); ++p) keys[p] = static_cast<i64>(p / 13);
  expect_sorted(keys, 50);
  std::reverse(keys.begin(), keys.end());
  expect_sorted(keys, 50);
}

// Several rows a block and several blocks a row, the last segment with fewer rows; as many keys as digits,
// one less and one more; of one pass and of two.
TEST(Sort, RowsHaveKeysOfTheirOwn) {
  struct Rows {
    i64 rows, n, bound;
  };
  for (const auto& [rows, n, bound] : {Rows{5, 130, 20},
                                       {5, 40, 4},
                                       {9, 40, 4},
                                       {3, 128, 15},
                                       {3, 128, 16},
                                       {3, 128, 17},
                                       {2, 400, 16},
                                       {2, 400, 300},
                                       {40, 3, 7},
                                       {3, 0, 5}}) {
    const std::vector<i64> keys = drawn(static_cast<std::size_t>(rows * n), 0, bound);
    std::vector<i64> flat = keys;
    for (std::size_t p = 0; p < flat.size(); ++p) flat[p] += static_cast<i64>(p) / n * bound;
    for (const i64 blocks : {1, 7, 60}) {
      EXPECT_EQ(sorted_by<PASSES>(blocks, keys, {rows, n, bound}), expected(flat, rows * bound))
          << rows << " rows of " << n << " keys below " << bound << " by " << blocks << " blocks";
      EXPECT_EQ(sorted_by<PARTS_OF_KEYS>(blocks, keys, {rows, n, bound}), expected(flat, rows * bound))
          << rows << " rows of " << n << " keys below " << bound << " in parts by " << blocks << " blocks";
      EXPECT_EQ(sorted_by<RANGES>(blocks, keys, {rows, n, bound}), expected(flat, rows * bound))
          << rows << " rows of " << n << " keys below " << bound << " in ranges of " << blocks << " blocks";
    }
  }
}

// Where keys begin is not asked for.
std::vector<i64> expected_order(const std::vector<i64>& keys, i64 n) {
  std::vector<i64> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](i64 p) { return std::pair(p / n, keys[static_cast<std::size_t>(p)]); });
  for (i64& element : order) element %= n;
  return order;
}
cuda::SortSizes order_of(i64 rows, i64 n, i64 bound) { return {rows, n, bound, false}; }
// With many of the greatest key, which is that of words past the end too.
std::vector<i64> drawn_with_equal(const cuda::SortSizes& sizes) {
  std::vector<i64> keys = drawn(static_cast<std::size_t>(sizes.rows * sizes.n), 0, sizes.bound);
  for (std::size_t p = 0; p < keys.size(); p += 3)
    keys[p] = sizes.bound - 1 - static_cast<i64>(p % 2) * (sizes.bound / 2);
  return keys;
}

// A row's threads are some of a warp, a warp or several, and a row ends at each of their words; a row of
// several tiles, whose last one is short, full, or has one element.
TEST(Sort, OfNothingButTheOrder) {
  const i64 most = i64{1} << 32;
  for (const cuda::SortSizes& sizes :
       {order_of(1, 128, most), order_of(1, 129, most), order_of(7, 30, most), order_of(40, 3, 7),
        order_of(1, 1, 1), order_of(5, 128, 50), order_of(3, 65, most), order_of(9, 64, most),
        order_of(2, 400, most), order_of(2, 1000, 9), order_of(2, 512, most), order_of(2, 513, 300),
        order_of(2, 1024, 70'000), order_of(1, 0, 5), order_of(0, 5, 5), order_of(4, 2, most)}) {
    const std::vector<i64> keys = drawn_with_equal(sizes),
                           order = expected_order(keys, std::max<i64>(sizes.n, 1));
    for (const i64 blocks : {1, 3, 40}) {
      const std::string words =
          cat(sizes.rows, " rows of ", sizes.n, " keys below ", sizes.bound, " by ", blocks, " blocks");
      EXPECT_EQ(ordered_by<WARPS>(blocks, keys, sizes), order) << words;
      EXPECT_EQ(ordered_by<ITEMS>(blocks, keys, sizes), order) << words << ", many of a thread";
    }
  }
}

// Whose words have 32 bits.
TEST(Sort, OrdersRowsByShortKeys) {
  for (const cuda::SortSizes& sizes :
       {order_of(5, 90, 1 << 16), order_of(3, 512, 1 << 16), order_of(2, 128, 2)}) {
    const std::vector<i64> keys = drawn_with_equal(sizes), order = expected_order(keys, sizes.n);
    EXPECT_EQ((ordered_by<WARPS, 16>(3, keys, sizes)), order);
    EXPECT_EQ((ordered_by<ITEMS, 16>(3, keys, sizes)), order);
  }
}

// Equal keys, and rows that are sorted up or down.
TEST(Sort, OrdersRunsOfKeys) {
  for (const i64 n : {100, 600}) {
    std::vector<i64> keys(static_cast<std::size_t>(n), 12);
    EXPECT_EQ(ordered_by<ITEMS>(3, keys, order_of(1, n, 100)), expected_order(keys, n));
    for (std::size_t p = 0; p < keys.size(); ++p) keys[p] = static_cast<i64>(p / 7);
    EXPECT_EQ(ordered_by<ITEMS>(3, keys, order_of(1, n, 100)), expected_order(keys, n));
    std::ranges::reverse(keys);
    EXPECT_EQ(ordered_by<ITEMS>(3, keys, order_of(1, n, 100)), expected_order(keys, n));
  }
}

TEST(Sort, RowsWithoutPlaces) {
  const Sorted none{std::vector<i64>(15, -1), {0}};
  EXPECT_EQ(sorted_by<PASSES>(3, std::vector<i64>(15, 0), {3, 5, 0}), none);
  EXPECT_EQ(sorted_by<RANGES>(3, std::vector<i64>(15, 0), {3, 5, 0}), none);
  EXPECT_EQ(sorted_by<PASSES>(3, {}, {0, 5, 4}), (Sorted{{}, {0}}));
  EXPECT_EQ(sorted_by<RANGES>(3, {}, {0, 5, 4}), (Sorted{{}, {0}}));
}

// As after an index that is out of range, whose run has failed: what reads the order reads elements.
TEST(Sort, KeysOutsideOfARowLeaveNoHole) {
  std::vector<i64> keys = drawn(3 * 400, 0, 16);
  keys[5] = 16, keys[600] = -3;
  for (const Sorted& sorted :
       {sorted_by<PASSES>(3, keys, {3, 400, 16}), sorted_by<RANGES>(3, keys, {3, 400, 16})}) {
    for (const i64 element : sorted.order) {
      EXPECT_GE(element, 0);
      EXPECT_LT(element, 3 * 400);
    }
  }
}

TEST(Sort, IsAsManyLaunchesAsItNeeds) {
  EXPECT_EQ(launches_of(1, 385, 15, 100).size(), 2u);   // of four iterations, one pass
  EXPECT_EQ(launches_of(1, 385, 16, 100).size(), 5u);   // two, for a key may be outside
  EXPECT_EQ(launches_of(2, 385, 16, 100).size(), 2u);   // of a row none is
  EXPECT_EQ(launches_of(1, 2500, 15, 100).size(), 3u);  // counts of many blocks
}

// As many whole rows as a block has threads for, unless multiprocessors would have none.
TEST(Sort, RowsThatABlockHoldsAreOneLaunchWhereTheOrderIsAll) {
  struct Case {
    i64 rows, n, blocks, segments;
  };
  for (const auto& [rows, n, blocks, segments] :
       {Case{1, 128, 40, 1}, {400, 30, 40, 100}, {50, 30, 40, 17}, {10, 30, 40, 10}, {3, 65, 1, 3}}) {
    const cuda::SortPlan plan({rows, n, i64{1} << 32, false}, {blocks, CACHE}, PASSES, WARPS);
    const auto launches = plan.launches(nullptr);
    ASSERT_EQ(launches.size(), 1u) << rows << " rows of " << n;
    EXPECT_EQ(launches.front().blocks, segments) << rows << " rows of " << n;
    EXPECT_EQ(plan.workspace_bytes(), 0);
  }
  EXPECT_EQ(cuda::SortPlan({1, 129, i64{1} << 32, false}, {1, CACHE}, PASSES, WARPS).launches(nullptr).size(),
            10u)
      << "eight passes, before them what they count in and counts";
  EXPECT_TRUE(cuda::SortPlan({0, 129, 5, false}, {1, CACHE}).launches(nullptr).empty());
}

// A range for each multiprocessor, of two blocks; no more digits than a block has; not too many ranges.
TEST(Sort, FewElementsAreOneLaunch) {
  struct Case {
    i64 rows, bound, blocks, ranges;
  };
  for (const auto& [rows, bound, blocks, ranges] :
       {Case{1, 50, 100, 32}, {1, 50, 4, 4}, {1, 1, 100, 1}, {3, 50, 30, 12}, {100, 16, 100, 100}}) {
    const auto launches = launches_of(rows, 384, bound, blocks);
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_EQ(launches.front().blocks, ranges);
    EXPECT_EQ(cuda::SortPlan({rows, 384, bound}, {blocks, CACHE}, RANGES).workspace_bytes(), 0);
  }
  EXPECT_EQ(launches_of(40, 5000, 16, 40).size(), 1u) << "a row for each block, however long";
  EXPECT_EQ(launches_of(39, 5000, 16, 40).size(), 2u);
  EXPECT_EQ(launches_of(1, 384, 255, 4).size(), 1u);
  EXPECT_EQ(launches_of(1, 384, 256, 4).size(), 7u);
}

// Rows of many blocks where so many rows at once would not stay in the cache.
TEST(Sort, ACacheThatHoldsFewRowsIsGivenFew) {
  const cuda::SortPlan plan({50, 1000, 16}, {100, 200'000}, RANGES);
  ASSERT_EQ(plan.launches(nullptr).size(), 2u);
  EXPECT_EQ(plan.launches(nullptr).front().blocks, 400);
}

TEST(Sort, TooManyElementsOrKeysAreRefused) {
  const i64 most = i64{1} << 31;
  const auto words = [](i64 rows, i64 n, i64 bound) {
    return cuda::SortPlan({rows, n, bound}, {264, CACHE}).refusal();
  };
  EXPECT_EQ(words(1, most, 5),
            "a sort of 2147483648 elements by keys below 5; on a GPU there are less than 2147483648 and "
            "281474976710656");
  EXPECT_NE(words(1, 5000, i64{1} << 48), "");
  EXPECT_EQ(cuda::SortPlan({1, 5000, (i64{1} << 32) + 1, false}, {264, CACHE}).refusal(),
            "a sort of 5000 elements by keys below 4294967297; on a GPU there are less than 2147483648 and "
            "4294967297");
  EXPECT_EQ(words(1, 5000, most), "");
  EXPECT_EQ(words(3, most - 1, most - 1), "");
}

// Rows that would share a segment do not where their keys are too many for a word together.
TEST(Sort, RowsShareASegmentAsLongAsAWordHoldsTheirKeys) {
  const auto segments = [](i64 bound) {
    return cuda::SortPlan({100, 10, bound}, {264, CACHE}, PARTS_OF_KEYS)
        .launches(nullptr)
        .front()
        .step.segments;
  };
  EXPECT_EQ(segments(1), 8);
  EXPECT_EQ(segments(10), 34);
  EXPECT_EQ(segments(40), 100);
}

}  // namespace
}  // namespace twinloom::device
