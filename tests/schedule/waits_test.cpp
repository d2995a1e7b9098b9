// Schedules whose threads would wait for threads that never come, and those beside them whose threads do not.
#include <gtest/gtest.h>

#include "core/base/text.h"
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

constexpr std::string_view TWO_PRODUCTS =
    R"(program products(x: f32[90000], y: written f32[1]) {
  start t0: sum f32 for k < 90000 { t0 += x[k] at k }
  start t1: max i16 for j < 90000 { t1 += i16(mul(x[j], t0)) at j } y[0] = f32(t1) })";
constexpr std::string_view LONG_SCAN =
    R"(program scan(x: f32[90000], y: written f32[90000]) {
  start t0: sum f32 for k < 90000 { scan t1 = t0 (x[k]) at k y[k] = t1 } })";
constexpr std::string_view LONG_ROW =
    R"(program row(x: f32[90000*m], y: written f32[90000*m]; m in 0..) {
  for i < m { start t0: sum f32 for k < 90000 { t0 += x[90000*i + k] at k }
    for j < 90000 { y[90000*i + j] = mul(x[90000*i + j], t0) } } })";
constexpr std::string_view BY_64_WARPS =
    " split 0 k : 65536, 1024, 256, 128, 4 mask split 1 j : 65536, 1024, 256, 128, 4 mask loop -1 i.0 block "
    "loop 0 "
    "k.0 serial loop 0 k.1 thread loop 0 k.2 serial loop 0 k.3 unroll loop 0 k.4 thread loop 0 k.5 vector "
    "loop 1 "
    "j.0 serial loop 1 j.1 thread loop 1 j.2 serial loop 1 j.3 unroll loop 1 j.4 thread loop 1 j.5 vector";

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

TEST(Waits, ThreadsOfSeveralBlocksShareAccumulatorsAlone) {
  const auto words = [](std::string_view nest, const std::string& schedule) {
    return schedule::why_illegal(loops::parse(nest), schedule::parse(schedule)).value_or("legal");
  };
  EXPECT_EQ(words(LONG_ROW, cat("schedule", BY_64_WARPS)), "legal");
  EXPECT_EQ(words(LONG_ROW, cat("schedule stage x inside i.0 registers pad 0", BY_64_WARPS)), "legal");
  EXPECT_EQ(words(LONG_ROW, cat("schedule stage x inside i.0 scratch pad 0", BY_64_WARPS)),
            "2048 threads are those of several blocks: what is kept in scratch is one's");
  EXPECT_EQ(
      words(LONG_ROW, cat("schedule grid k units 64", BY_64_WARPS)),
      "2048 threads are those of several blocks: rows in parts, or beside columns or rows of neighbouring "
      "threads, are walked by one each");
  EXPECT_EQ(
      words(TWO_PRODUCTS,
            "schedule split 0 k : 1024, 256, 32 mask split 1 j : 32 mask loop 0 k.0 thread loop 0 k.1 serial "
            "loop 0 k.2 unroll loop 0 k.3 thread loop 1 j.0 serial loop 1 j.1 thread"),
      "4096 threads are those of several blocks: they exchange whole words, of which an accumulator has "
      "parts");
  EXPECT_EQ(
      words(LONG_SCAN,
            "schedule split 0 k : 65536, 1024, 32 mask loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 thread "
            "loop 0 k.3 serial"),
      "2048 threads are those of several blocks: a scan is walked by one");
  EXPECT_EQ(
      words(
          "program p(x: f32[64*64], y: written f32[64*64]) { for i < 64 { for j < 64 { "
          "y[64*i + j] = neg(x[64*i + j]) } } }",
          "schedule split -1 i : 64 exact split -1 j : 32 exact loop -1 i.0 block loop -1 j.0 block loop -1 "
          "i.1 thread loop -1 j.1 thread"),
      "2048 threads are those of several blocks: they have nothing to combine");
}

}  // namespace

}  // namespace twinloom::tests
