// The sort of a GPU, by threads of this process that stand in for a block's: blocks run one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "backends/cuda/sort.h"
#include "tests/cuda/block.h"

// After the block's words.
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

// By so many blocks, whatever the number of elements.
Sorted sorted_by(int blocks, int threads, const std::vector<i64>& keys, i64 bound) {
  const auto count = static_cast<i64>(keys.size());
  Sorted sorted{std::vector<i64>(keys.size(), -7), std::vector<i64>(static_cast<std::size_t>(bound) + 1, -7)};
  std::vector<i64> workspace(static_cast<std::size_t>(cuda::sort_bytes(count, blocks)) / sizeof(i64), -9);
  for (const cuda::SortLaunch& launch : cuda::sort_launches(count, bound, blocks, workspace.data())) {
    tests::run_blocks(static_cast<int>(launch.blocks), threads, [&] {
      StableSort{launch.step}(sorted.order.data(), sorted.starts.data(), count, bound,
                              [&](i64 p) { return keys[static_cast<std::size_t>(p)]; });
    });
  }
  return sorted;
}

std::vector<i64> drawn(std::size_t count, i64 low, i64 high) {
  std::mt19937_64 random(count);
  std::vector<i64> keys(count);
  for (i64& key : keys) key = low + static_cast<i64>(random() % static_cast<u64>(high - low));
  return keys;
}

void expect_sorted(const std::vector<i64>& keys, i64 bound) {
  const Sorted right = expected(keys, bound);
  EXPECT_EQ(sorted_by(1, 64, keys, bound), right) << keys.size() << " keys below " << bound;
  EXPECT_EQ(sorted_by(3, 96, keys, bound), right) << keys.size() << " keys below " << bound;
}

TEST(Sort, KeepsTheOrderOfEqualKeys) {
  for (const i64 bound : {1, 2, 15, 16, 17, 50})
    for (const std::size_t count : {0u, 1u, 31u, 64u, 700u}) expect_sorted(drawn(count, 0, bound), bound);
}

// Several passes, and turns of a block; places that no key has.
TEST(Sort, KeysOfManyDigits) {
  expect_sorted(drawn(1100, 0, 70'000), 70'000);
  expect_sorted(drawn(40, 0, 300), 2000);
}

TEST(Sort, OneKeyOfAll) { expect_sorted(std::vector<i64>(600, 20), 33); }

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

TEST(Sort, RowsHaveKeysOfTheirOwn) {
  constexpr i64 rows = 5, count = 130, bound = 20;
  const std::vector<i64> keys = drawn(rows * count, 0, bound);
  std::vector<i64> flat = keys;
  for (std::size_t p = 0; p < flat.size(); ++p) flat[p] += static_cast<i64>(p) / count * bound;
  Sorted sorted{std::vector<i64>(keys.size(), -7), std::vector<i64>(rows * bound + 1, -7)};
  std::vector<i64> workspace(static_cast<std::size_t>(cuda::sort_bytes(rows * count, 2)) / sizeof(i64), -9);
  for (const cuda::SortLaunch& launch :
       cuda::sort_launches(rows * count, rows * bound, 2, workspace.data())) {
    tests::run_blocks(static_cast<int>(launch.blocks), 64, [&] {
      StableSort{launch.step}(sorted.order.data(), sorted.starts.data(), count, bound, rows,
                              [&](i64 p) { return keys[static_cast<std::size_t>(p)]; });
    });
  }
  EXPECT_EQ(sorted, expected(flat, rows * bound));
}

}  // namespace
}  // namespace twinloom::device
