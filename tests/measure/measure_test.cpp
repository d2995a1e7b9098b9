// Statistics by hand, the rules of repetition, and that the copy bandwidth is a plausible number.
#include "core/measure/measure.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace twinloom::measure {
namespace {

TEST(Statistics, MedianOfOddAndEven) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Statistics, QuantilesInterpolate) {
  EXPECT_EQ(quantile({0, 10, 20, 30, 40}, 0), 0);
  EXPECT_EQ(quantile({0, 10, 20, 30, 40}, 1), 40);
  EXPECT_EQ(quantile({0, 10, 20, 30, 40}, 0.375), 15);
}

TEST(Statistics, NothingHasNoMedian) {
  EXPECT_THROW(median({}), Bug);
  EXPECT_THROW(least({}), Bug);
}

TEST(Repeat, RunsAtLeastAndAtMost) {
  int runs = 0;
  EXPECT_EQ(repeat({2, 5, 100, 0}, [&] { ++runs; }).size(), 5u);
  EXPECT_EQ(runs, 7);
  EXPECT_EQ(repeat({0, 1, 9, 1e9}, [&] { ++runs; }).size(), 9u);
}

TEST(CopyBandwidth, IsPlausible) {
  const CopyBandwidth copy = copy_bandwidth(1);
  EXPECT_GT(copy.bytes_per_second, 1e8);
  EXPECT_LT(copy.bytes_per_second, 1e13);
  EXPECT_GE(copy.buffer_bytes, std::min(4 * last_level_cache_bytes(), std::int64_t{1} << 30) - 64);
  EXPECT_TRUE(copy.way == "memcpy" || copy.way == "streaming stores") << copy.way;
}

}  // namespace
}  // namespace twinloom::measure
