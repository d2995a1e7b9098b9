// The other schedules that measurements compare with the chosen one.
#include <gtest/gtest.h>

#include <set>

#include "core/machine/gpu.h"
#include "core/schedule/schedule.h"
#include "tests/schedule/nests.h"
#include "tests/schedule/run.h"

namespace twinloom::tests {

namespace {

TEST(Candidates, AreLegalAndDistinctAndNotTheChosenOne) {
  constexpr int MOST = 6;
  const machine::Machine machine = machine::h200();
  std::size_t found = 0;
  for (const NestCase& given : nest_cases()) {
    const loops::Program nest = loops::parse(given.text);
    std::set<std::string> seen = {schedule::print(schedule::choose(nest, machine))};
    const auto candidates = schedule::candidates(nest, machine, MOST, 1);
    EXPECT_LE(candidates.size(), std::size_t{MOST}) << given.name;
    for (const schedule::Schedule& candidate : candidates) {
      EXPECT_EQ(schedule::why_illegal(nest, candidate), std::nullopt) << given.name;
      EXPECT_TRUE(seen.insert(schedule::print(candidate)).second) << given.name << "\n"
                                                                  << schedule::print(candidate);
    }
    found += candidates.size();
  }
  EXPECT_GT(found, nest_cases().size());
}

// Usual sizes are chosen one by one: together they may divide by what no run has.
TEST(Usual, SizesThatDivideByNothingAreScheduledAllTheSame) {
  for (const char* usual : {"1", "2", "4096"}) {
    const loops::Program nest = loops::parse(
        cat("program p(x: f32[n], y: written f32[4*n]; m in 0.. ~", usual, ", n in 1.. ~64) {",
            "for i < floor_div(m*n, m - 2) { for j < 4 { y[4*i + j] = x[floor_mod(i, n)] } } }"));
    for (const machine::Machine& machine : machines())
      EXPECT_FALSE(schedule::why_illegal(nest, schedule::choose(nest, machine)))
          << usual << " " << machine.name;
  }
}

}  // namespace

}  // namespace twinloom::tests
