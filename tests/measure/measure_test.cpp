// Statistics by hand, the rules of repetition, and that the copy bandwidth is a plausible number.
#include "core/measure/measure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/loops/interpret.h"
#include "core/measure/passes.h"

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

// The interpreter says what they are: y is x, or ones, or the sum of all passes, or what the arithmetic
// gives.
TEST(Passes, DoWhatTheySay) {
  machine::Machine machine;
  machine.vector_bytes = 16;
  const std::vector<std::int64_t> sizes = {2 * passed_elements(machine), 3};
  const auto elements = static_cast<std::size_t>(sizes[0]);
  std::vector<float> x(elements, 4), y(elements);
  std::vector<std::int32_t> whole(elements, 7), sum(1);
  const auto run = [&](const loops::Program& program, const std::vector<loops::Memory>& memory) {
    loops::verify(program, loops::Stage::program);
    EXPECT_FALSE(loops::interpret(program, memory, sizes).has_value());
  };
  const loops::Memory from = {x.data(), 0, sizes[0]}, to = {y.data(), 0, sizes[0]};
  run(cpu_pass(Pass::copy, machine), {from, to});
  EXPECT_EQ(y, x);
  for (const Pass pass : {Pass::write, Pass::stream}) {
    y.assign(elements, 0);
    run(cpu_pass(pass, machine), {to});
    EXPECT_EQ(y, std::vector<float>(elements, 1));
  }
  run(cpu_pass(Pass::read, machine), {{whole.data(), 0, sizes[0]}, {sum.data(), 0, 1}});
  EXPECT_EQ(sum[0], 3 * 7 * sizes[0]);
  run(cpu_arithmetic(machine), {from, to});
  EXPECT_NEAR(y.back(), 2 + 2 * std::pow(0.5, ARITHMETIC / 2), 1e-6);
  y.assign(elements, 5);
  run(cpu_tasks(), {to});
  EXPECT_EQ(y, std::vector<float>(elements, 0));
}

}  // namespace
}  // namespace twinloom::measure
