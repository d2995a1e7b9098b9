// Scans cut over blocks: why they may not be, and where they are. That they give equal bits is equal_test's.
#include <gtest/gtest.h>

#include "core/cost/estimate.h"
#include "core/machine/gpu.h"
#include "core/schedule/schedule.h"
#include "tests/schedule/run.h"

namespace twinloom::tests {

namespace {

constexpr std::string_view SUM = R"(program row_sum(x: f32[n], y: written f32[1]; n in 0..) {
  start t0: sum f32 for k < n { t0 += x[k] at k } y[0] = t0 })";
constexpr std::string_view SCAN = R"(program cumsum(x: f32[n], y: written f32[n]; n in 0..) {
  start t0: sum f32 for k < n { scan t1 = t0 (x[k]) at k y[k] = t1 } })";
constexpr std::string_view SCAN_OF_SCAN = R"(program cumsum(x: f32[n], y: written f32[n]; n in 0..) {
  start t0: sum f32 start t2: sum f32 for k < n {
    scan t1 = t0 (x[k]) at k t4 = neg(t1) scan t3 = t2 (t4) at k y[k] = t3 } })";
constexpr std::string_view SCAN_BESIDE_A_STORE =
    R"(program cumsum(x: f32[n], y: written f32[n], z: written f32[1]; n in 0..) {
  start t0: sum f32 for k < n { scan t1 = t0 (x[k]) at k y[k] = t1 } z[0] = 0x0p+0: f32 })";
constexpr std::string_view SCAN_OF_SEGMENTS =
    R"(program cumsum(x: f32[m], at: i64[n], y: written f32[m*n]; m in 0.., n in 0..) {
  for i < n { index a = at[i] below m + 1 start t0: sum f32
    for k < a { scan t1 = t0 (x[k]) at k y[i*m + k] = t1 } } })";
constexpr std::string_view SCAN_OF_A_SHARE =
    R"(program cumsum(x: f32[n], y: written f32[n]; n in 0..) {
  start t2: sum f32 for k1 < n { t2 += x[k1] at k1 }
  start t0: sum f32 for k < n { scan t1 = t0 (div(x[k], t2)) at k y[k] = t1 } })";

struct Refusal {
  std::string_view nest, plan, words;  // the plan but for the loops of one thread along k
};
const std::vector<Refusal> refusals = {
    {SCAN, "split_scan j chunks 1 carries 1", "split_scan j: it is not the axis of the scan"},
    {SCAN, "split_scan k chunks 0 carries 1", "split_scan k: a part has at least one chunk"},
    {SCAN, "split_scan k chunks 1 carries 3",
     "split_scan k: the totals that are loaded together are a power of two up to 1024"},
    {SCAN_BESIDE_A_STORE, "split_scan k chunks 1 carries 1",
     "split_scan k: a store beside the scan would be done by each part"},
    {SCAN_OF_SEGMENTS, "loop -1 i.0 block split_scan k chunks 1 carries 1",
     "split_scan k: how many parts there are depends on a"},
    {SCAN_OF_SCAN, "split_scan k chunks 1 carries 1", "split_scan k: a scan reads another's result"},
    {SCAN, "split_scan k chunks 1 carries 1 stage x inside task registers pad 0",
     "stage x: the parts of a split scan have no rows"},
    {SCAN, "split_scan k chunks 1 carries 1 prefetch x in 0 ahead 1",
     "prefetch x: the parts of a split scan have no rows"},
    {SCAN, "split_scan k chunks 1 carries 1 grid k units 1", "grid k: the first sibling has no totals"},
    {SCAN, "split_scan k chunks 1 carries 1", "legal"},
};

std::string why(std::string_view nest, std::string_view plan) {
  return schedule::why_illegal(loops::parse(nest), schedule::parse(plan)).value_or("legal");
}

TEST(SplitScan, ChunksOfAPartAreNotUnrolled) {
  constexpr std::string_view THREE_CHUNKS = R"(program cumsum(x: f32[2050], y: written f32[2050]) {
    start t0: sum f32 for k < 2050 { scan t1 = t0 (x[k]) at k y[k] = t1 } })";
  EXPECT_EQ(why(THREE_CHUNKS,
                "schedule split_scan k chunks 2 carries 1 split 0 k : 1024, 32 mask loop 0 k.0 unroll "
                "loop 0 k.1 serial loop 0 k.2 serial"),
            "split_scan k: the last part may have fewer iterations of k.0, which cannot be unrolled then");
}

TEST(SplitScan, IsRefusedInWords) {
  for (const Refusal& given : refusals)
    EXPECT_EQ(why(given.nest, cat("schedule ", given.plan,
                                  " split 0 k : 1024, 32 clip loop 0 k.0 serial loop 0 k.1 serial loop 0 "
                                  "k.2 serial")),
              given.words)
        << given.plan;
}

TEST(SplitScan, IsOfOneScanAndNothingBeside) {
  constexpr std::string_view words = "split_scan k: there is not one scan and nothing beside it";
  EXPECT_EQ(why(SUM,
                "schedule split_scan k chunks 1 carries 1 split 0 k : 1024, 256 remainder loop 0 k.0 "
                "serial loop 0 k.1 serial loop 0 k.2 serial"),
            words);
  EXPECT_EQ(why(SCAN_OF_A_SHARE,
                "schedule split_scan k chunks 1 carries 1 split 0 k1 : 1024, 256 remainder split 1 k : 1024, "
                "32 clip loop 0 k1.0 serial loop 0 k1.1 serial loop 0 k1.2 serial loop 1 k.0 serial loop 1 "
                "k.1 serial loop 1 k.2 serial"),
            words);
}

TEST(SplitScan, PartsAreWholeStepsOfTheirBlocks) {
  EXPECT_EQ(why(SCAN,
                "schedule split_scan k chunks 1 carries 1 split 0 k : 2048, 1024, 32 mask loop 0 k.0 "
                "serial loop 0 k.1 thread loop 0 k.2 thread loop 0 k.3 serial"),
            "split_scan k: a part of 1024 elements is no multiple of the steps of 2048");
}

TEST(ThreadScan, RowsOfABlockEndTogether) {
  EXPECT_EQ(why(SCAN_OF_SEGMENTS,
                "schedule split -1 i : 4 mask split 0 k : 1024, 32 mask loop -1 i.0 block "
                "loop -1 i.1 thread loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 serial"),
            "axis k: rows of a block end at different turns, and their threads wait for each other");
}

schedule::Schedule chosen(const machine::Machine& machine, std::int64_t rows, std::int64_t size,
                          bool columns) {
  const std::string at = columns ? cat("k*", rows, " + i") : cat("i*", size, " + k");
  const std::string count = cat(rows * size);
  const std::string text =
      cat("program cumsum(x: f32[", count, "], y: written f32[", count, "]) { for i < ", rows,
          " { start t0: sum f32 for k < ", size, " { scan t1 = t0 (x[", at, "]) at k y[", at, "] = t1 } } }");
  return schedule::choose(loops::parse(text), machine);
}

TEST(SplitScan, IsChosenWhereRowsDoNotFillAGpu) {
  const machine::Machine h200 = machine::h200();
  EXPECT_TRUE(chosen(h200, 1, 1 << 25, false).scan_split);
  EXPECT_TRUE(chosen(h200, 8, 1 << 22, false).scan_split);
  EXPECT_TRUE(chosen(h200, 64, 1 << 20, true).scan_split);
  EXPECT_FALSE(chosen(h200, 1, 1024, false).scan_split);
  EXPECT_FALSE(chosen(h200, 16384, 2048, false).scan_split);
  EXPECT_FALSE(chosen(h200, 1 << 18, 4096, true).scan_split);
}

TEST(SplitScan, IsChosenWhereACpuHasMoreWorkersThanRows) {
  const machine::Machine two = machines()[0], many = machines()[1];
  EXPECT_EQ(two.blocks_at_once, 2);
  EXPECT_TRUE(chosen(two, 1, 1 << 20, false).scan_split);
  EXPECT_FALSE(chosen(two, 2, 1 << 20, false).scan_split);
  EXPECT_TRUE(chosen(many, 4, 1 << 20, false).scan_split);
  EXPECT_FALSE(chosen(many, 1, 1 << 12, false).scan_split);
}

// Of whole numbers every order gives the same bits: of chunks that are no multiple of the threads, of fewer
// than threads, and of none.
TEST(SplitScan, CarriesInFreeOrderAreCombinedInRuns) {
  const loops::Program nest =
      loops::parse(R"(program cumsum(x: i8[n*m], y: written f32[n*m]; n in 0.., m in 0..) {
  for i < m { start t0: sum f32 free for k < n { scan t1 = t0 (f32(x[i*n + k])) at k y[i*n + k] = t1 } } })");
  const schedule::Schedule plan = schedule::parse(
      "schedule split_scan k chunks 2 carries 4 split 0 k : 2048, 1024, 32 mask loop -1 i.0 block loop 0 k.0 "
      "serial loop 0 k.1 thread loop 0 k.2 thread loop 0 k.3 serial");
  ASSERT_EQ(schedule::why_illegal(nest, plan).value_or("legal"), "legal");
  const auto programs = schedule::apply(nest, plan);
  ASSERT_EQ(programs.size(), 3u);
  EXPECT_EQ(loops::print(programs[1]).find("group"), std::string::npos);
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{20'000, 1}, {3000, 2}, {70, 1}, {0, 1}}) {
    const Arguments arguments(nest, {{index::Symbol("n"), n}, {index::Symbol("m"), m}});
    EXPECT_EQ(arguments.run({nest}), arguments.run(programs)) << n << " elements of " << m << " rows";
  }
}

// The carries of 32,768 chunks, one after the other, take a thread no less than a nanosecond each.
TEST(SplitScan, EstimatesHaveTheChainOfCarries) {
  const auto seconds = [](std::string_view order) {
    const loops::Program nest =
        loops::parse(cat("program cumsum(x: f32[33554432], y: written f32[33554432]) { start t0: sum f32 ",
                         order, " for k < 33554432 { scan t1 = t0 (x[k]) at k y[k] = t1 } }"));
    const machine::Machine h200 = machine::h200();
    return cost::estimate(schedule::apply(nest, schedule::choose(nest, h200)), h200, {}).seconds;
  };
  EXPECT_GT(seconds("") - seconds("free"), 32768 * 1e-9);
}

TEST(SplitScan, HandsOnTwoNumbersAChunk) {
  const loops::Program nest = loops::parse(R"(program cumsum(x: f16[100000], y: written f16[100000]) {
  start t0: sum f32 for k < 100000 { scan t1 = t0 (f32(x[k])) at k y[k] = f16(t1) } })");
  const auto programs = schedule::apply(
      nest, schedule::parse("schedule split_scan k chunks 2 carries 1 split 0 k : 1024, 32 clip loop 0 k.0 "
                            "serial loop 0 k.1 serial loop 0 k.2 serial"));
  ASSERT_EQ(programs.size(), 3u);
  const std::vector<std::string> names = {"cumsum_totals", "cumsum_carries", "cumsum"};
  for (std::size_t number = 0; number < 3; ++number) {
    const loops::Program& program = programs[number];
    EXPECT_EQ(program.name, names[number]);
    ASSERT_EQ(program.buffers.size(), 4u);
    for (const std::size_t handed : {2u, 3u}) {
      EXPECT_EQ(program.buffers[handed].dtype, ops::DType::f32);
      EXPECT_EQ(index::constant_of(program.buffers[handed].count), 98);
      EXPECT_EQ(program.buffers[handed].written, handed == number + 2);
    }
  }
}

}  // namespace

}  // namespace twinloom::tests
