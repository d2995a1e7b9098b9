// Schedules whose threads would wait for threads that never come, and those beside them whose threads do not.
#include <gtest/gtest.h>

#include "core/schedule/schedule.h"

namespace twinloom::tests {

namespace {

constexpr std::string_view TWO_SUMS =
    R"(program two_sums(x: f32[9000], y: written f32[1]) {
  start t0: sum f32 for k < 9000 { t0 += x[k] at k }
  start t1: sum f32 for j < 9000 { t1 += mul(x[j], t0) at j } y[0] = t1 })";
constexpr std::string_view SUMS_OF_SEGMENTS =
    R"(program segments(x: f32[m], at: i64[n + 1], y: written f32[n]; m in 0.., n in 0..) {
  for i < n { index a = at[i] below m + 1 index b = at[i + 1] below m + 1
    start t0: sum f32 for k < b - a { t0 += x[a + k] at k } y[i] = t0 } })";
constexpr std::string_view SUMS_OF_ROWS =
    R"(program rows(x: f32[m*9], at: i64[n + 1], y: written f32[n*9]; m in 0.., n in 0..) {
  for i < n { for j < 9 { index a = at[i] below m + 1 index b = at[i + 1] below m + 1
    start t0: sum f32 for k < b - a { t0 += x[9*(a + k) + j] at k } y[9*i + j] = t0 } } })";
constexpr std::string_view MAXIMA_OF_SEGMENTS =
    R"(program segments(x: f32[m], at: i64[n + 1], y: written f32[n]; m in 0.., n in 0..) {
  for i < n { index a = at[i] below m + 1 index b = at[i + 1] below m + 1
    start t0: max f32 for k < b - a { t0 += x[a + k] at k } y[i] = t0 } })";

constexpr std::string_view COLUMNS =
    R"(program columns(x: f32[512*n], y: written f32[512*n]; n in 0..) {
  for j < n { start t0: sum f32 for k < 512 { t0 += x[n*k + j] at k }
    for l < 512 { y[n*l + j] = sub(x[n*l + j], t0) } } })";

struct Waiting {
  std::string_view nest, schedule, words;
};
const std::vector<Waiting> schedules = {
    {TWO_SUMS,
     "schedule split 0 k : 4096, 1024, 256, 8 mask split 1 j : 2048, 1024, 256, 32 mask loop 0 k.0 serial "
     "loop 0 k.1 "
     "thread loop 0 k.2 serial loop 0 k.3 thread loop 0 k.4 unroll loop 1 j.0 serial loop 1 j.1 thread loop "
     "1 j.2 serial "
     "loop 1 j.3 thread loop 1 j.4 unroll",
     "loop j.1: 16 threads walk units, and wait for the rest of their warp"},
    {TWO_SUMS,
     "schedule split 0 k : 4096, 1024, 256, 8 mask split 1 j : 2048, 1024, 256, 8 mask loop 0 k.0 serial "
     "loop 0 k.1 "
     "thread loop 0 k.2 serial loop 0 k.3 thread loop 0 k.4 unroll loop 1 j.0 serial loop 1 j.1 thread loop "
     "1 j.2 serial "
     "loop 1 j.3 thread loop 1 j.4 unroll",
     "legal"},
    {TWO_SUMS,
     "schedule split 0 k : 4096, 1024, 256, 4 mask split 1 j : 2048, 1024, 256, 4 mask loop 0 k.0 serial "
     "loop 0 k.1 "
     "thread loop 0 k.2 serial loop 0 k.3 thread loop 0 k.4 unroll loop 1 j.0 serial loop 1 j.1 thread loop "
     "1 j.2 serial "
     "loop 1 j.3 thread loop 1 j.4 unroll",
     "loop j.1: 64 threads of a unit wait for a block of which only 128 of 256 threads walk units"},
    {TWO_SUMS,
     "schedule grid k units 1 threads 64 split 0 k : 1024, 256, 8 mask split 1 j : 2048, 1024, 256, 32 mask "
     "loop 0 k.0 "
     "serial loop 0 k.1 serial loop 0 k.2 thread loop 0 k.3 unroll loop 1 j.0 serial loop 1 j.1 thread loop "
     "1 j.2 "
     "serial loop 1 j.3 thread loop 1 j.4 unroll",
     "loop j.1: 16 threads walk units, and wait for the rest of their warp"},
    {SUMS_OF_SEGMENTS,
     "schedule split -1 i : 4 mask split 0 k : 1024, 256, 8 mask loop -1 i.0 block loop -1 i.1 thread loop 0 "
     "k.0 serial "
     "loop 0 k.1 serial loop 0 k.2 thread loop 0 k.3 unroll",
     "legal"},
    {SUMS_OF_SEGMENTS,
     "schedule split -1 i : 4 mask split 0 k : 1024, 256, 16 mask loop -1 i.0 block loop -1 i.1 thread loop "
     "0 k.0 serial "
     "loop 0 k.1 serial loop 0 k.2 thread loop 0 k.3 unroll",
     "axis k: rows of a block end at different turns, and 16 threads of a row, which are not a warp, wait "
     "for each other "
     "in each"},
    {SUMS_OF_SEGMENTS,
     "schedule split -1 i : 4 mask split 0 k : 1024, 256, 4 mask loop -1 i.0 block loop -1 i.1 thread loop 0 "
     "k.0 serial "
     "loop 0 k.1 serial loop 0 k.2 thread loop 0 k.3 unroll",
     "axis k: rows of a block end at different turns, and 64 threads of a row, which are not a warp, wait "
     "for each other "
     "in each"},
    {SUMS_OF_SEGMENTS,
     "schedule split 0 k : 1024, 256, 4 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 serial loop 0 "
     "k.2 thread loop "
     "0 k.3 unroll",
     "legal"},
    {SUMS_OF_ROWS,
     "schedule split -1 j : 4 mask split 0 k : 1024, 256, 16 mask loop -1 i.0 block loop -1 j.0 block loop "
     "-1 j.1 thread loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 thread loop 0 k.3 unroll",
     "legal"},
    {MAXIMA_OF_SEGMENTS,
     "schedule split -1 i : 4 mask split 0 k : 16 mask loop -1 i.0 block loop -1 i.1 thread loop 0 k.0 "
     "serial loop 0 k.1 "
     "thread",
     "legal"},
    {MAXIMA_OF_SEGMENTS,
     "schedule split -1 i : 4 mask split 0 k : 16 remainder loop -1 i.0 block loop -1 i.1 thread loop 0 k.0 "
     "serial loop 0 "
     "k.1 thread",
     "axis k: rows of a block end at different turns, and 16 threads of a row, which are not a warp, wait "
     "for each other "
     "in each"},
    {COLUMNS,
     "schedule split -1 j : 32 mask split 0 k : 256, 16 mask split 1 l : 256, 16 mask loop -1 j.0 block loop "
     "-1 j.1 thread loop 0 k.0 unroll loop 0 k.2 thread loop 0 k.1 vector loop 1 l.0 unroll loop 1 l.2 "
     "thread loop 1 l.1 vector outermost_fastest",
     "legal"},
    {COLUMNS,
     "schedule split -1 j : 32 mask split 0 k : 256, 16 mask split 1 l : 256, 8 mask loop -1 j.0 block loop "
     "-1 j.1 thread loop 0 k.0 unroll loop 0 k.2 thread loop 0 k.1 vector loop 1 l.0 unroll loop 1 l.2 "
     "thread loop 1 l.1 vector outermost_fastest",
     "outermost_fastest: axis l: all siblings have one loop of 16 threads each"},
    {COLUMNS,
     "schedule split 0 k : 256, 16 mask split 1 l : 256, 16 mask loop -1 j.0 block loop 0 k.0 unroll loop 0 "
     "k.2 thread loop 0 k.1 vector loop 1 l.0 unroll loop 1 l.2 thread loop 1 l.1 vector outermost_fastest",
     "outermost_fastest: the common loops have one thread loop, of a power of two"},
    {SUMS_OF_SEGMENTS,
     "schedule split -1 i : 4 mask split 0 k : 1024, 256, 32 mask loop -1 i.0 block loop -1 i.1 thread loop "
     "0 k.0 serial loop 0 k.1 serial loop 0 k.3 thread loop 0 k.2 unroll outermost_fastest",
     "outermost_fastest: rows of a block end at different turns"},
    {TWO_SUMS,
     "schedule split 0 k : 4096, 1024, 256, 4 mask split 1 j : 4096, 1024, 256, 4 mask loop 0 k.0 serial "
     "loop 0 k.1 thread loop 0 k.2 serial loop 0 k.3 thread loop 0 k.4 unroll loop 1 j.0 serial loop 1 j.1 "
     "thread loop 1 j.2 serial loop 1 j.3 thread loop 1 j.4 unroll outermost_fastest",
     "outermost_fastest: the common loops have one thread loop, of a power of two"}};

TEST(Waits, AreRefusedWhereSomeThreadsNeverCome) {
  for (const Waiting& given : schedules) {
    const auto reason = schedule::why_illegal(loops::parse(given.nest), schedule::parse(given.schedule));
    EXPECT_EQ(reason.value_or("legal"), given.words) << given.schedule;
  }
}

}  // namespace

}  // namespace twinloom::tests
