// The other schedules that measurements compare with the chosen one.
#include <gtest/gtest.h>

#include <set>

#include "core/emit/emit.h"
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

void expect_threads_that_a_block_has(const loops::Program& nest, const schedule::Schedule& schedule,
                                     const machine::Machine& machine, std::string_view name) {
  for (const loops::Program& program : schedule::apply(nest, schedule))
    EXPECT_LE(emit::block_shape(program).threads, machine.max_threads) << name << "\n"
                                                                       << schedule::print(schedule);
}

// The siblings of the last nest pack 4 elements and 1.
TEST(Candidates, HaveNoMoreThreadsThanABlock) {
  constexpr int MOST = 6;
  const machine::Machine machine = machine::h200();
  std::vector<NestCase> cases(nest_cases().begin(), nest_cases().end());
  cases.push_back(
      {"unlike_siblings",
       "program p(a: i16[n], k: i64[8], b: i16[8], y: written b8[n], z: written i32[1]; n in 4097..8191 "
       "~4608) {\n"
       "  for i < n { y[i] = signbit(sub(a[i], a[i])) }\n"
       "  start t0: max i16\n"
       "  for j < 8 { index x0 = k[j] below n\n t0 += where(lt(count(x0), count(j)), a[x0], b[j]) at j }\n"
       "  z[0] = i32(t0)\n}\n",
       {},
       {}});
  for (const NestCase& given : cases) {
    const loops::Program nest = loops::parse(given.text);
    expect_threads_that_a_block_has(nest, schedule::choose(nest, machine), machine, given.name);
    for (const schedule::Schedule& candidate : schedule::candidates(nest, machine, MOST, 1))
      expect_threads_that_a_block_has(nest, candidate, machine, given.name);
  }
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
