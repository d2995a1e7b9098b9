// The law of nests with sums of columns beside rows, in words.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/schedule/schedule.h"

namespace twinloom::tests {

namespace {

constexpr std::string_view SUM = R"(program row_sum(x: f32[m*n], y: written f32[m]; m in 0.., n in 0..) {
  for i < m { start t0: sum f32 for k < n { t0 += x[i*n + k] at k } y[i] = t0 } })";
constexpr std::string_view BOTH =
    R"(program both(x: f32[m*33], y: written f32[m], z: written f32[33]; m in 0..) {
  start t1: sum f32 copies (k) for i < m { start t0: max f32
    for k < 33 { t0 += x[i*33 + k] at k t1 += x[i*33 + k] at i } y[i] = t0 } for k < 33 { z[k] = t1 } })";
constexpr std::string_view BOTH_THEN_ROWS =
    R"(program both(x: f32[m*33], y: written f32[m*33], z: written f32[33]; m in 0..) {
  start t1: sum f32 copies (k) for i < m { start t0: max f32
    for k < 33 { t0 += x[i*33 + k] at k t1 += x[i*33 + k] at i }
    for k1 < 33 { y[i*33 + k1] = sub(x[i*33 + k1], t0) } } for k < 33 { z[k] = t1 } })";
constexpr std::string_view BOTH_BACKWARDS =
    R"(program both(x: f32[m*n], y: written f32[m], z: written f32[n]; m in 0.., n in 0..) {
  start t1: sum f32 copies (k) for i < m { start t0: max f32
    for k < n { t0 += x[i*n + k] at k t1 += x[i*n + k] at m - 1 - i } y[i] = t0 } for k < n { z[k] = t1 } })";
constexpr std::string_view BOTH_IN_PLACES =
    R"(program both(x: f32[m*33], y: written f32[m], z: written f32[33]; m in 0..) {
  start t1: argmax f32 copies (k) for i < m { start t0: max f32
    for k < 33 { t0 += x[i*33 + k] at k t1 += x[i*33 + k], count(i) at i } y[i] = t0 } for k < 33 { z[k] = t1 } })";

struct Refusal {
  std::string_view nest, schedule, words;
};
const std::vector<Refusal> refusals = {
    {BOTH, "schedule loop -1 i.0 block loop 0 k.0 serial",
     "columns: the schedule does not say how their totals are cut into parts"},
    {SUM,
     "schedule columns lanes 8 registers width 1 units 1 split 0 k : 1024, 256 remainder loop -1 i.0 block "
     "loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 serial",
     "columns: the nest has no totals of columns"},
    {BOTH, "schedule columns lanes 3 registers width 1 units 1 loop -1 i.0 block loop 0 k.0 serial",
     "columns: the lanes of a block are a power of two up to 256"},
    {BOTH, "schedule columns lanes 512 registers width 1 units 1 loop -1 i.0 block loop 0 k.0 serial",
     "columns: the lanes of a block are a power of two up to 256"},
    {BOTH, "schedule columns lanes 8 registers width 3 units 1 loop -1 i.0 block loop 0 k.0 serial",
     "columns: what threads take side by side is a power of two up to 1024"},
    {BOTH, "schedule columns lanes 8 registers width 2048 units 1 loop -1 i.0 block loop 0 k.0 serial",
     "columns: what threads take side by side is a power of two up to 1024"},
    {BOTH, "schedule columns lanes 8 memory width 1 units 1 loop -1 i.0 block loop 0 k.0 serial",
     "columns: totals wait in registers or scratch"},
    {BOTH, "schedule columns lanes 8 scratch width 1 units 1 loop -1 i.0 block loop 0 k.0 serial",
     "columns: only registers hold the totals of one thread"},
    {BOTH_THEN_ROWS,
     "schedule columns lanes 8 registers width 1 units 1 split 1 k1 : 8 mask loop -1 i.0 block "
     "loop 0 k.0 serial loop 1 k1.0 serial loop 1 k1.1 thread",
     "columns: a block's threads walk other rows, and one thread alone walks their totals"},
    {BOTH, "schedule columns lanes 8 registers width 1 units 1 loop -1 i.0 serial loop 0 k.0 serial",
     "columns: the common loops are not one loop over blocks, of a row each"},
    {BOTH,
     "schedule columns lanes 8 registers width 1 units 1 split -1 i : 4 clip loop -1 i.0 block loop -1 i.1 "
     "serial loop 0 k.0 serial",
     "columns: the common loops are not one loop over blocks, of a row each"},
    {BOTH_BACKWARDS, "schedule columns lanes 8 registers width 1 units 1 loop -1 i.0 block loop 0 k.0 serial",
     "columns: their number is not a constant above 0"},
    {BOTH_IN_PLACES, "schedule columns lanes 8 registers width 1 units 1 loop -1 i.0 block loop 0 k.0 serial",
     "columns: a total of several parts"},
    {BOTH,
     "schedule columns lanes 8 registers width 1 units 1 grid k units 1 loop -1 i.0 block loop 0 k.0 serial",
     "grid k: the rows of totals of columns are cut into parts already"},
    {BOTH,
     "schedule columns lanes 8 registers width 1 units 1 prefetch x in 0 ahead 1 loop -1 i.0 block loop 0 "
     "k.0 serial",
     "prefetch x: beside totals of columns only threads fetch ahead"},
};

TEST(LawOfColumns, RefusesInWords) {
  for (const Refusal& refusal : refusals) {
    const auto reason = schedule::why_illegal(loops::parse(refusal.nest), schedule::parse(refusal.schedule));
    EXPECT_EQ(reason.value_or("legal"), refusal.words) << refusal.schedule;
  }
}

}  // namespace

}  // namespace twinloom::tests
