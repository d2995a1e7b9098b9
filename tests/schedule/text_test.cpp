// Schedules as text: what is printed is read back. What is no schedule: tests/steps.
#include <gtest/gtest.h>

#include "tests/schedule/run.h"
#include "tests/support/schedules/random_schedule.h"

namespace twinloom::tests {

namespace {

TEST(Text, IsReadBack) {
  std::mt19937_64 random(3);
  const loops::Program nest =
      loops::parse(R"(program sum(x: f32[m*n], y: written f32[m]; m in 0.., n in 0..) {
  for i < m { start t0: sum f32 for k < n { t0 += x[i*n + k] at k } y[i] = t0 } })");
  for (int tries = 0; tries < 100; ++tries) {
    schedule::Schedule plan = random_schedule(nest, random);
    plan.grid = {"k", 64, 8};
    plan.temps.push_back({"x", loops::Place::scratch, "i.0", 1});
    plan.panel = random() % 2 == 0;
    plan.transposed_rows = random() % 2 == 0;
    plan.outermost_fastest = random() % 2 == 0;
    plan.prefetches.push_back({"x", 1});
    plan.streams.push_back("y");
    if (random() % 2 == 0) plan.scan_split = {"k", 24, 8};
    EXPECT_EQ(schedule::parse(print(plan)), plan) << print(plan);
  }
}

}  // namespace

}  // namespace twinloom::tests
