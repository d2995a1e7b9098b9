// Ways to compute a nest, run on what is drawn for it: in memory of this process, and on a device whose
// memory nobody else sees.
#include "core/measure/trials.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/schedule/schedule.h"
#include "tests/support/programs/program_interpreter.h"
#include "tests/support/sealed/sealed_device.h"

namespace twinloom::measure {
namespace {

machine::Machine small_machine() {
  machine::Machine machine;
  machine.name = "small";
  machine.blocks_at_once = 2;
  machine.memory = {{"memory", 0, 1e10}};
  return machine;
}

std::vector<std::shared_ptr<const runtime::Backend>> backends() {
  const auto interpreter = tests::interpreter_of_programs(small_machine());
  return {interpreter, tests::sealed_device(interpreter)};
}

const std::string SUMS = R"(program sums(x: f32[n*5000], y: written f32[n]; n in 1..) {
  for i < n { start t0: sum f32 for k < 5000 { t0 += x[5000*i + k] at k } y[i] = t0 } })";

Way usual_way(const loops::Program& nest) {
  return schedule::apply(nest, schedule::choose(nest, small_machine()));
}

void expect_times(const std::vector<Taken>& taken) {
  for (const Taken& one : taken) {
    EXPECT_GT(one.seconds, 0) << one.failure;
    EXPECT_EQ(one.failure, "");
  }
}

TEST(Trials, TimeEveryWay) {
  const loops::Program nest = loops::parse(SUMS);
  std::vector<Way> ways = {usual_way(nest)};
  for (const auto& other : schedule::candidates(nest, small_machine(), 1, 1))
    ways.push_back(schedule::apply(nest, other));
  ways.push_back(schedule::apply(
      nest, schedule::parse(
                "schedule grid k units 1 split 0 k : 1024, 256, 8 mask loop -1 i.0 block loop 0 k.0 serial "
                "loop 0 k.2 serial loop 0 k.3 vector loop 0 k.1 serial")));
  const Subject subject{nest, {{{3, 5000}, {5000, 1}}, {{3}, {1}}}, {{index::Symbol("n"), 3}}, 1};
  for (const auto& backend : backends()) expect_times(try_ways(*backend, subject, ways, {.rounds = 1}));
}

// Places outside of a buffer would be a Bug of the interpreter, and of these a failure.
TEST(Trials, IntegersAreSuchAsAreFound) {
  const loops::Program gather = loops::parse(
      R"(program gather(x: f32[90], at: i64[70], other: i32[70], y: written f32[70]) {
  for i < 70 { t0 = i64(other[i]) index a = at[i] below 90 index b = t0 below 7
    y[i] = x[a] if b < 7 } })");
  const Subject subject{gather, {{{90}, {1}}, {{70}, {1}}, {{70}, {1}}, {{70}, {1}}}, {}, 1};
  expect_times(try_ways(*backends().front(), subject, std::vector<Way>{usual_way(gather)}, {.rounds = 2}));
}

TEST(Trials, RowsThatIntegersEndHaveLengths) {
  const loops::Program segments = loops::parse(
      R"(program segments(x: f32[400], at: i64[n + 1], y: written f32[n]; n in 0..) {
  for i < n { index a = at[i] below 401 index b = at[i + 1] below 401
    start t0: max f32 for k < b - a { t0 += x[a + k] at k } y[i] = t0 } })");
  const Subject subject{segments, {{{400}, {1}}, {{51}, {1}}, {{50}, {1}}}, {{index::Symbol("n"), 50}}, 1};
  expect_times(try_ways(*backends().front(), subject, std::vector<Way>{usual_way(segments)}, {.rounds = 2}));
}

TEST(Trials, AnIndexOutOfRangeIsAFailure) {
  const loops::Program shifted = loops::parse(
      R"(program shifted(x: f32[90], at: i64[70], y: written f32[70]) {
  for i < 70 { index a = add(at[i], 1000:i64) below 90 y[i] = x[a] } })");
  const Subject subject{shifted, {{{90}, {1}}, {{70}, {1}}, {{70}, {1}}}, {}, 1};
  for (const auto& backend : backends()) {
    const auto taken = try_ways(*backend, subject, std::vector<Way>{usual_way(shifted)});
    EXPECT_EQ(taken[0].seconds, 0);
    EXPECT_NE(taken[0].failure.find(" is out of range; expected 0 <= index < 90"), std::string::npos)
        << taken[0].failure;
  }
}

TEST(Trials, SizesMustBeKnown) {
  const loops::Program nest = loops::parse(SUMS);
  EXPECT_FALSE(has_sizes(nest, {}));
  EXPECT_TRUE(has_sizes(nest, {{index::Symbol("n"), 3}, {index::Symbol("m"), 4}}));
}

}  // namespace
}  // namespace twinloom::measure
