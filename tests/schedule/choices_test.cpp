// What the heuristics choose: what is stored past the caches, tiles, and parts of reductions.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/integers.h"
#include "core/cost/estimate.h"
#include "core/machine/gpu.h"
#include "core/schedule/heuristics.h"
#include "tests/schedule/run.h"

namespace twinloom::tests {

namespace {

// The text with a number in place of each `word`.
std::string with(std::string text, std::string_view word, std::string_view number) {
  for (std::size_t at = 0; (at = text.find(word)) != std::string::npos;)
    text.replace(at, word.size(), number);
  return text;
}

TEST(Law, BlocksAreEquallyLongAndNoneIsChosenOfNothing) {
  const std::string text =
      R"(program rows(x: f32[256*ROWS], w: f32[256], y: written f32[256*ROWS]; m in 0..) {
  for i < ROWS { for k < 256 { y[256*i + k] = mul(x[256*i + k], w[k]) } } })";
  for (const std::string rows : {"0", "20000"}) {
    const loops::Program nest = loops::parse(with(text, "ROWS", rows));
    machine::Machine machine = machines()[1];
    machine.blocks_at_once = 2;
    const schedule::Schedule plan = schedule::choose(nest, machine);
    ASSERT_EQ(schedule::why_illegal(nest, plan).value_or("legal"), "legal");
    if (rows == "0") continue;
    const auto split = std::ranges::find(plan.splits, "i", &schedule::SplitPlan::axis);
    ASSERT_NE(split, plan.splits.end());
    EXPECT_EQ(ceil_div(20000, split->factors.front()) % machine.blocks_at_once, 0) << print(plan);
  }
}

// Two registers of f32 make one of bf16. Rows that are no multiple of it, and short, keep one.
TEST(Law, WhatIsStoredAsBf16FillsRegisters) {
  const auto lanes = [](std::string_view columns, std::string_view dtype) {
    const std::string text = R"(program scaled(x: TYPE[64*COUNT], s: f32[64], y: written TYPE[64*COUNT]) {
  for i < 64 { start t0: max f32 for k < COUNT { t0 += f32(x[COUNT*i + k]) at k }
    for j < COUNT { y[COUNT*i + j] = TYPE(mul(f32(x[COUNT*i + j]), t0)) } } })";
    const loops::Program nest = loops::parse(with(with(text, "COUNT", columns), "TYPE", dtype));
    const schedule::Schedule plan = schedule::choose(nest, machines()[1]);
    const auto split = std::ranges::find(plan.splits, "j", &schedule::SplitPlan::axis);
    return split == plan.splits.end() ? 0 : split->factors.back();
  };
  const std::int64_t words = machines()[1].vector_bytes / 4;
  EXPECT_EQ(lanes("1024", "bf16"), 2 * words);
  EXPECT_EQ(lanes("1000", "bf16"), 2 * words);
  EXPECT_EQ(lanes("104", "bf16"), words);
  EXPECT_EQ(lanes("1024", "f16"), words);
}

// Of several sums of columns more lanes are in registers, so that the array of the others stays in L1.
TEST(Law, AccumulatorsOfColumnsInAnArrayStayInTheFirstCache) {
  machine::Machine machine = machines()[1];
  machine.memory = {{"L1", 48 << 10, 0}, {"L2", 1 << 21, 0}, {"memory", 0, 1e10}};
  const schedule::Schedule plan = schedule::choose(
      loops::parse(R"(program sums(x: f32[3211264], y: written f32[16384], z: written f32[16384]) {
  for i < 16 { for c < 1024 { start t0: sum f32 start t1: sum f32
    for k < 196 { t2 = x[200704*i + 1024*k + c] t0 += mul(t2, t2) at k t1 += t2 at k }
    y[1024*i + c] = t0 z[1024*i + c] = t1 } } })"),
      machine);
  const auto step = [&](const char* axis) {
    const auto split = std::ranges::find(plan.splits, axis, &schedule::SplitPlan::axis);
    return split == plan.splits.end() ? 1 : split->factors.back();
  };
  EXPECT_LE(step("c") * step("k") * 2 * 4, 24 << 10) << print(plan);
}

// Neighbours are loaded by whole registers, places that are looked up lane by lane.
TEST(Law, RowsThatAreLookedUpAreSummedUpColumnByColumn) {
  const loops::Program nest = loops::parse(R"(program bags(x: f32[12800], p: i64[320], y: written f32[1280]) {
  for i < 10 { for j < 128 { start t0: sum f32
    for k < 32 { index x0 = p[32*i + k] below 100 wraps node 1  t0 += x[128*x0 + j] at k }
    y[128*i + j] = t0 } } })");
  const auto axis_of_vectors = [](const loops::Program& given) {
    const schedule::Schedule plan = schedule::choose(given, machines()[1]);
    const auto bound = std::ranges::find(plan.loops, loops::Bind::vector, &schedule::LoopPlan::bind);
    return bound == plan.loops.end() ? "none" : bound->piece.substr(0, bound->piece.find('.'));
  };
  EXPECT_EQ(axis_of_vectors(nest), "j");
  // Most of what is read are no rows that are looked up.
  EXPECT_EQ(axis_of_vectors(loops::parse(
                R"(program biased(x: f32[40960], b: f32[800], p: i64[320], y: written f32[1280]) {
  for i < 10 { for j < 128 { start t0: sum f32
    for k < 32 { index x0 = p[32*i + k] below 100 wraps node 1  t0 += mul(x[4096*i + 32*j + k], b[j + 6*x0]) at k }
    y[128*i + j] = t0 } } })")),
            "k");
}

// Each step of a maximum with its place waits for the last of its accumulator.
TEST(Law, PlacesOfMaximaHaveSeveralAccumulators) {
  const loops::Program nest = loops::parse(R"(program places(x: f32[32000], y: written i64[10]) {
  for i < 10 { start t0: argmax f32 for k < 3200 { t0 += x[3200*i + k], count(k) at k } y[i] = t0.1 } })");
  machine::Machine machine = machines()[1];
  const auto unrolled = [&] {
    const schedule::Schedule plan = schedule::choose(nest, machine);
    const auto split = std::ranges::find(plan.splits, "k", &schedule::SplitPlan::axis);
    return split->factors.size() < 2 ? 1 : split->factors[0] / split->factors[1];
  };
  machine.vector_registers = 32;
  EXPECT_EQ(unrolled(), 4);
  machine.vector_registers = 16;
  EXPECT_EQ(unrolled(), 2);
}

// Eight exponentials hide each other's chains, of longer bodies fewer; columns of them are four registers
// wide, where there are that many.
TEST(Law, HeavyBodiesAreWalkedBesideEachOther) {
  machine::Machine machine = machines()[1];
  machine.memory = {{"L1", 1 << 15, 0}, {"L3", 1 << 20, 0}, {"memory", 0, 1e10}};
  const auto split_of = [&](std::string_view text, const char* axis) {
    const schedule::Schedule plan = schedule::choose(loops::parse(text), machine);
    const auto split = std::ranges::find(plan.splits, axis, &schedule::SplitPlan::axis);
    return split == plan.splits.end() ? std::vector<std::int64_t>{} : split->factors;
  };
  const std::int64_t words = machine.vector_bytes / 4;
  const auto rows = [&](std::string_view function) {
    const auto factors = split_of(with(R"(program rows(x: f32[65536], y: written f32[16]) {
  for i < 16 { start t0: sum f32 for k < 4096 { t0 += FUNCTION(x[4096*i + k]) at k } y[i] = t0 } })",
                                       "FUNCTION", function),
                                  "k");
    return factors.size() == 4 ? factors[1] / factors[2] : 1;
  };
  EXPECT_EQ(rows("exp"), 8);
  EXPECT_EQ(rows("erf"), 2);
  const auto columns = [&](std::string_view count) {
    return split_of(with(R"(program columns(x: f32[16*COUNT], y: written f32[COUNT]) {
  for i < COUNT { start t0: sum f32 for k < 16 { t0 += exp(x[COUNT*k + i]) at k } y[i] = t0 } })",
                         "COUNT", count),
                    "i")
        .back();
  };
  EXPECT_EQ(columns("4096"), 4 * words);
  EXPECT_EQ(columns("72"), words);
}

// Of symbolic sizes what every one of them allows: results that no cache holds, and a task for each worker.
TEST(Law, SizesOfAClassAreCutAndStreamedLikeKnownOnes) {
  machine::Machine machine = machines()[1];
  machine.memory = {{"L1", 1 << 15, 0}, {"L2", 1 << 18, 0}, {"L3", 1 << 20, 0}, {"memory", 0, 1e10}};
  machine.blocks_at_once = 2;
  const auto chosen = [&](std::string_view rows) {
    const std::string text = R"(program norm(x: f32[1024*m], y: written f32[1024*m]; m in RANGE) {
  for i < m { start t0: sum f32 for k < 1024 { t0 += x[1024*i + k] at k }
    for j < 1024 { y[1024*i + j] = mul(x[1024*i + j], t0) } } })";
    return schedule::choose(loops::parse(with(text, "RANGE", rows)), machine);
  };
  const auto block = [](const schedule::Schedule& plan) {
    const auto split = std::ranges::find(plan.splits, "i", &schedule::SplitPlan::axis);
    return split == plan.splits.end() ? 0 : split->factors.front();
  };
  const schedule::Schedule large = chosen("16385..65536 ~ 32768"), any = chosen("1.. ~ 32768");
  EXPECT_EQ(large.streams, std::vector<std::string>{"y"});
  EXPECT_EQ(any.streams, std::vector<std::string>{});
  EXPECT_EQ(block(large), 4096);
  EXPECT_LT(block(any), 64);
}

// Of a class of sizes the least has several parts too.
TEST(Law, SumsOfSymbolicSizesHaveMoreParts) {
  machine::Machine machine = machines()[1];
  machine.blocks_at_once = 2;
  const auto units = [&](std::string_view text) {
    const schedule::Schedule plan = schedule::choose(loops::parse(text), machine);
    return plan.grid ? plan.grid->units : 0;
  };
  const auto known = units(R"(program sum(x: f32[8388608], y: written f32[1]) {
  start t0: sum f32 for k < 8388608 { t0 += x[k] at k } y[0] = t0 })");
  const auto symbolic = units(R"(program sum(x: f32[n], y: written f32[1]; n in 1.. ~ 8388608) {
  start t0: sum f32 for k < n { t0 += x[k] at k } y[0] = t0 })");
  EXPECT_EQ(known, 1024);
  EXPECT_EQ(symbolic, 256);
}

// The place of what is summed up is the counter of the axes that are walked as one, though none has an
// iteration.
TEST(Law, ASumOfNothingAlongSeveralAxesIsChosenFor) {
  const loops::Program nest = loops::parse(R"(program sum(x: f32[2*m], y: written f32[2*m]; m in 1..) {
  for i < m { for i1 < 2 { start t0: sum f32
    for r0 < 0 { for r1 < floor_div(m + 1, 3) + 1 { t0 += 0x1p+0: f32 at r0*floor_div(m + 1, 3) + r0 + r1 } }
    y[2*i + i1] = sub(t0, x[2*i + i1]) } } })");
  const Arguments arguments(nest, {{index::Symbol("m"), 3}});
  for (const machine::Machine& machine : machines()) {
    schedule::Choices choices(machine);
    const schedule::Schedule plan = choices.choose(nest);
    EXPECT_EQ(schedule::why_illegal(nest, plan).value_or("legal"), "legal") << machine.name << print(plan);
    EXPECT_EQ(arguments.run(choices.apply(nest, plan)), arguments.run({nest})) << machine.name;
  }
}

// Of a nest of so many elements.
std::vector<std::string> streamed(const std::string& text, std::string_view count) {
  machine::Machine machine = machines()[1];
  machine.memory = {{"L1", 1 << 15, 0}, {"L2", 1 << 18, 0}, {"L3", 1 << 20, 0}, {"memory", 0, 1e10}};
  machine.blocks_at_once = 2;
  return schedule::choose(loops::parse(with(text, "COUNT", count)), machine).streams;
}

TEST(Law, RowsThatBeginBetweenRegistersGoThroughTheCaches) {
  const auto rows_of = [](std::string_view row) {
    const std::string text = with(R"(program norm(x: f32[COUNT*ROW], y: written f32[COUNT*ROW]) {
  for i < COUNT { start t0: sum f32 for k < ROW { t0 += x[ROW*i + k] at k }
    for j < ROW { y[ROW*i + j] = mul(x[ROW*i + j], t0) } } })",
                                  "ROW", row);
    return streamed(text, "16384");
  };
  EXPECT_EQ(rows_of("1024"), std::vector<std::string>{"y"});
  EXPECT_EQ(rows_of("1025"), std::vector<std::string>{});
}

// Loaded and converted once for both sums, without an array between them.
TEST(Law, RowsThatRegistersHoldAreWrittenOut) {
  const auto chosen = [](std::string_view row, std::string_view op) {
    const std::string text = with(R"(program norm(x: bf16[4096*ROW], y: written f32[4096]) {
  for i < 4096 { start t0: sum f32 for k < ROW { t0 += f32(x[ROW*i + k]) at k } start t1: sum f32
    for j < ROW { t1 += OP(f32(x[ROW*i + j]), t0) at j } y[i] = t1 } })",
                                  "ROW", row);
    return schedule::choose(loops::parse(with(text, "OP", op)), machines()[1]);
  };
  const auto unrolled = [](const schedule::Schedule& plan) {
    return std::ranges::count(plan.loops, loops::Bind::unroll, &schedule::LoopPlan::bind);
  };
  EXPECT_TRUE(chosen("100", "sub").temps.empty());
  EXPECT_EQ(unrolled(chosen("100", "sub")), 2);
  EXPECT_FALSE(chosen("1000", "sub").temps.empty());
  EXPECT_FALSE(chosen("100", "div").temps.empty()) << "a branch for each vector";
}

TEST(Law, ColumnsOfWhatNoCacheHoldsAreWalkedSideBySide) {
  const auto chosen = [](std::string_view columns) {
    machine::Machine machine = machines()[1];
    machine.memory = {{"L1", 1 << 15, 0}, {"L3", 1 << 20, 0}, {"memory", 0, 1e10}};
    machine.blocks_at_once = 2;
    const std::string text = R"(program columns(x: f32[2048*COUNT], y: written f32[COUNT]) {
  for i < COUNT { start t0: sum f32 for k < 2048 { t0 += x[COUNT*k + i] at k } y[i] = t0 } })";
    return schedule::choose(loops::parse(with(text, "COUNT", columns)), machine).panel;
  };
  EXPECT_TRUE(chosen("1024"));
  EXPECT_TRUE(chosen("768"));
  EXPECT_TRUE(chosen("1001"));  // its last vector is masked
  EXPECT_FALSE(chosen("256"));  // 2 MiB
}

// An element that is looked up is searched for as any other; only a list is as long as the run finds.
TEST(Law, PlacesByRankAreCountedForSeveralRanksAtOnce) {
  const schedule::Schedule plan =
      schedule::choose(loops::parse(
                           R"(program ranks(values: i64[12800], rank: i32[3200], sorted: written i64[3200]) {
  for i < 64 { for j < 50 {
    start t0: sum i32
    t1 = i32(count(j))
    for k < 50 { t0 += where(eq(rank[50*i + k], t1), i32(count(k)), 0:i32) at k }
    index x0 = i64(t0) below 50 node 97
    sorted[50*i + j] = values[200*i + x0] } } })"),
                       machines()[1]);
  const auto is_vector_of_ranks = [](const schedule::LoopPlan& loop) {
    return loop.sibling < 0 && loop.piece.starts_with("j") && loop.bind == loops::Bind::vector;
  };
  EXPECT_TRUE(std::ranges::any_of(plan.loops, is_vector_of_ranks)) << print(plan);
}

// Columns that one block walks leave the other worker nothing: their rows are cut into parts, or they into
// blocks.
TEST(Law, FewColumnsAreSummedByAllWorkers) {
  const auto chosen = [](std::string_view columns) {
    const std::string text = R"(program columns(x: f32[65536*COUNT], y: written f32[COUNT]) {
  for i < COUNT { start t0: sum f32 for k < 65536 { t0 += x[COUNT*k + i] at k } y[i] = t0 } })";
    machine::Machine machine = machines()[1];
    machine.memory = {{"L1", 1 << 15, 1e11}, {"L2", 1 << 20, 5e10}, {"memory", 0, 1e10}};
    machine.blocks_at_once = 2;
    return schedule::choose(loops::parse(with(text, "COUNT", columns)), machine);
  };
  EXPECT_TRUE(chosen("33").grid);
  const schedule::Schedule plan = chosen("100");
  EXPECT_TRUE(plan.grid || std::ranges::count(plan.loops, loops::Bind::block, &schedule::LoopPlan::bind) > 0)
      << print(plan);
  EXPECT_FALSE(chosen("4096").grid);
}

// One element a lane has no order that is to be kept: such columns are walked as any others. Of 257 a panel's
// last unit would have lanes without elements.
TEST(Law, ColumnsOfOneElementALaneAreChosenFor) {
  machine::Machine machine = machines()[1];
  machine.memory = {{"L1", 1 << 15, 0}, {"L3", 1 << 20, 0}, {"memory", 0, 1e10}};
  machine.blocks_at_once = 2;
  const std::string text =
      R"(program columns(x: f32[ROWS*16384], y: written f32[16384], z: written f32[ROWS*16384]) {
  for i < 16384 { start t0: sum f32 for k < ROWS { t1 = x[16384*k + i] t0 += mul(t1, t1) at k z[16384*k + i] = t1 }
    y[i] = t0 } })";
  for (const char* rows : {"255", "256", "257", "512"}) {
    const loops::Program nest = loops::parse(with(text, "ROWS", rows));
    const schedule::Schedule plan = schedule::choose(nest, machine);
    EXPECT_EQ(schedule::why_illegal(nest, plan).value_or("legal"), "legal") << rows << print(plan);
  }
}

TEST(Law, WhatNoCacheHoldsIsStoredPastThem) {
  const std::string doubled = R"(program doubled(x: f32[COUNT], y: written f32[COUNT]) {
  for i < COUNT { y[i] = add(x[i], x[i]) } })";
  EXPECT_TRUE(streamed(doubled, "524288").empty());
  EXPECT_EQ(streamed(doubled, "524289"), std::vector<std::string>{"y"});
  const std::string running = R"(program running(x: f32[COUNT], y: written f32[COUNT]) {
  start t0: sum f32 for i < COUNT { scan t1 = t0 (x[i]) at i y[i] = t1 } })";
  EXPECT_TRUE(streamed(running, "1000000").empty());
}

// Bytes that lanes store apart would only seem to go past them: whatever the size, a tile is stored by rows.
TEST(Law, WhatNoCacheHoldsIsStoredByRows) {
  machine::Machine machine = machines()[1];
  machine.memory = {
      {"L1", 48 << 10, 358.4e9}, {"L2", 1 << 20, 89.6e9}, {"L3", 16 << 20, 44.8e9}, {"memory", 0, 10e9}};
  machine.memory.back().workers = 1;
  machine.vector_bytes = 64;
  machine.clock_hertz = 2.8e9;
  machine.issue_each = 2;
  machine.blocks_at_once = 2;
  for (const char* size : {"1024", "8192"}) {
    const loops::Program nest =
        loops::parse(with(R"(program turned(x: u8[SIZE*SIZE], y: written u8[SIZE*SIZE]) {
  for i < SIZE { for j < SIZE { y[SIZE*i + j] = x[SIZE*j + i] } } })",
                          "SIZE", size));
    const schedule::Schedule plan = schedule::choose(nest, machine);
    ASSERT_EQ(plan.temps.size(), 1u) << size << print(plan);
    EXPECT_EQ(plan.temps[0].buffer, "x");
  }
}

// A tile's rows stand in one set of the first cache where they are stored 4096 bytes apart.
TEST(Law, ATileThatIsStoredIntoOneSetHasFewRows) {
  const auto rows = [](const char* columns) {
    const loops::Program nest =
        loops::parse(with(R"(program turned(x: f32[4096*COLUMNS], y: written f32[4096*COLUMNS]) {
  for i < 4096 { for j < COLUMNS { y[COLUMNS*i + j] = x[4096*j + i] } } })",
                          "COLUMNS", columns));
    const schedule::Schedule plan = schedule::choose(nest, machines()[1]);
    for (const schedule::SplitPlan& split : plan.splits)
      if (split.axis == "i") return split.factors.front();
    return std::int64_t{0};
  };
  EXPECT_EQ(rows("2048"), 64);
  EXPECT_EQ(rows("2064"), 256);
}

// Lines that a scan of columns stores are far apart; those of rows come one behind the other.
TEST(Law, WhatAScanOfColumnsStoresGoesPastTheCaches) {
  const std::string down = R"(program down(x: f32[512*COUNT], y: written f32[512*COUNT]) {
  for i < COUNT { start t0: sum f32 for k < 512 { scan t1 = t0 (x[COUNT*k + i]) at k y[COUNT*k + i] = t1 } } })";
  EXPECT_EQ(streamed(down, "512"), std::vector<std::string>{"y"});
  EXPECT_TRUE(streamed(down, "256").empty()) << "512 KiB, which the second caches hold";
  EXPECT_TRUE(streamed(down, "520").empty()) << "lines of two rows in one";
}

TEST(Law, ATileIsChosenOfWhatLiesTurnedOver) {
  const auto staged = [](std::string_view offset) {
    const std::string text =
        cat("program turned(x: f32[786432], z: f32[786432], y: written f32[786432]) {"
            " for i < 1024 { for j < 768 {"
            " y[i*768 + j] = add(x[",
            offset, "], z[i*768 + j]) } } }");
    return schedule::choose(loops::parse(text), machines()[1]).temps;
  };
  const auto temps = staged("j*1024 + i");
  ASSERT_EQ(temps.size(), 1u);
  EXPECT_EQ(temps[0].buffer, "x");
  EXPECT_TRUE(staged("i*768 + j").empty());
  EXPECT_TRUE(staged("i").empty());
}

// Elements that are only moved fill a register as they lie in memory; so do tiles of them.
TEST(Law, ATileOfSmallElementsIsAsWideAsARegister) {
  for (const auto& [type, lanes] : {std::pair("u8", 64), std::pair("bf16", 32), std::pair("f32", 16)}) {
    const std::string nest = cat("program turned(x: ", type, "[786432], y: written ", type, "[786432]) {",
                                 " for i < 1024 { for j < 768 { y[i*768 + j] = x[j*1024 + i] } } }");
    const schedule::Schedule plan = schedule::choose(loops::parse(nest), machines()[1]);
    EXPECT_EQ(plan.temps.size(), 1u) << type;
    const auto split = std::ranges::find(plan.splits, "j", &schedule::SplitPlan::axis);
    ASSERT_NE(split, plan.splits.end());
    EXPECT_EQ(split->factors.back(), lanes) << type;
  }
}

// Neighbouring threads walk one list, whatever estimates say of few columns and many lists.
TEST(Law, ThreadsThatAreNeighboursWalkTheSameList) {
  const loops::Program nest = loops::parse(R"(program sums(
      ends: i64[1025], more: i64[1025], x: f32[12582912], y: written f32[786432], z: written f32[786432]) {
  for i < 1024 { for j < 768 {
    index a = ends[i] below 16385 index b = ends[i + 1] below 16385
    start t0: sum f32 for k < -a + b { t0 += x[768*(a + k) + j] at k } y[768*i + j] = t0
    index c = more[i] below 16385 index d = more[i + 1] below 16385
    start t1: sum f32 for l < -c + d { t1 += x[768*(c + l) + j] at l } z[768*i + j] = t1 } } })");
  for (const std::size_t rank : {0u, 1u}) {
    schedule::Parameters parameters;
    parameters.vector_rank = rank;
    const schedule::Schedule plan = schedule::choose(schedule::Forms(nest), machine::h200(), parameters);
    EXPECT_EQ(schedule::print(plan).find("loop -1 i.1 thread"), std::string::npos) << schedule::print(plan);
  }
}

TEST(Grid, ALongSumIsCutForManyWorkers) {
  const loops::Program nest = loops::parse(R"(program full_sum(x: f32[33554432], y: written f32[1]) {
  start t0: sum f32 for k < 33554432 { t0 += x[k] at k } y[0] = t0 })");
  const schedule::Schedule plan = schedule::choose(nest, machines()[1]);
  ASSERT_TRUE(plan.grid);
  EXPECT_EQ(plan.grid->units, 512);
  const auto programs = schedule::apply(nest, plan);
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(programs[0].buffers.back().name, "partial");
  EXPECT_EQ(index::constant_of(programs[0].buffers.back().count), 64);
}

// One vector walks all columns, so that one worker would do everything.
TEST(Grid, FewColumnsAreCutForManyWorkers) {
  const auto nest = [](std::int64_t rows) {
    return loops::parse(cat("program narrow(x: f32[", 16 * rows, "], y: written f32[16]) {\n",
                            "  for i < 16 { start t0: sum f32 for k < ", rows,
                            " { t0 += x[16*k + i] at k } y[i] = t0 } }"));
  };
  const schedule::Schedule plan = schedule::choose(nest(262144), machines()[1]);
  ASSERT_TRUE(plan.grid);
  EXPECT_EQ(schedule::apply(nest(262144), plan).size(), 2u);
  EXPECT_FALSE(schedule::choose(nest(2048), machines()[1]).grid) << "parts of a microsecond";
}

// Sums of 512 columns: a total of a column is one chain of additions, which in the canonical order are chains
// of 4 that are combined.
TEST(Orders, AFreeSumIsMadeByFewerInstructions) {
  const machine::Machine machine = machines()[1];
  const loops::Program nest = loops::parse(R"(program columns(x: f32[524288], y: written f32[512]) {
  for i < 512 { start t0: sum f32 for k < 1024 { t0 += x[512*k + i] at k } y[i] = t0 } })");
  schedule::Choices choices(machine);
  const loops::Program chosen = schedule::choose_orders(nest, choices);
  EXPECT_NE(loops::print(chosen).find("sum f32 free"), std::string::npos);
  const auto instructions = [&](const loops::Program& of) {
    const auto programs = schedule::apply(of, schedule::choose(of, machine));
    for (const cost::Roof& roof : cost::estimate(programs, machine, {}).roofs)
      if (roof.name == "instructions") return roof.seconds;
    return 0.0;
  };
  EXPECT_LT(instructions(chosen), instructions(nest));
  EXPECT_LE(choices.chosen_seconds(chosen), choices.chosen_seconds(nest));
}

// What is kept of a nest's choice is what it is without.
TEST(Choices, AreThoseOfTheNestAlone) {
  const machine::Machine machine = machine::h200();
  const std::string text = R"(program rows(x: f32[n], y: written f32[64]; n in 4096..) {
  for i < 64 { start t0: sum f32 for k < floor_div(n, 64) { t0 += x[64*k + i] at k } y[i] = t0 } })";
  loops::Program nest = loops::parse(text);
  schedule::Choices choices(machine);
  const double usual = choices.usual_seconds(nest);
  for (const std::int64_t rows : {65536, 4194304}) {
    nest.sizes.front().usual = rows;
    const schedule::Schedule plan = schedule::choose(nest, machine);
    EXPECT_EQ(choices.choose(nest), plan);
    EXPECT_EQ(choices.choose(nest), plan);
    loops::Program renamed = nest;
    renamed.name = "others";
    const auto programs = choices.apply(renamed, plan), applied = schedule::apply(renamed, plan);
    ASSERT_EQ(programs.size(), applied.size());
    for (std::size_t k = 0; k < programs.size(); ++k)
      EXPECT_EQ(loops::print(programs[k]), loops::print(applied[k]));
    EXPECT_EQ(choices.chosen_seconds(nest), schedule::chosen_seconds(nest, machine));
    EXPECT_GE(choices.usual_seconds(nest), choices.chosen_seconds(nest));
    EXPECT_NE(choices.usual_seconds(nest), usual);
  }
}

TEST(Orders, WhatHasNoSumsStaysAsItIs) {
  const loops::Program nest = loops::parse(R"(program rows(x: f32[4096], y: written f32[64]) {
  for i < 64 { start t0: max f32 for k < 64 { t0 += x[64*i + k] at k } y[i] = t0 } })");
  schedule::Choices choices(machine::h200());
  EXPECT_EQ(schedule::choose_orders(nest, choices).body, nest.body);
}

// A core walks a list by one masked vector; threads keep the short units, which have more loads on their way.
TEST(Orders, ListsAreFreeOnCores) {
  const loops::Program nest = loops::parse(R"(program sums(ends: i64[65], x: f32[1000], y: written f32[64]) {
  for i < 64 {
    index a = ends[i] below 1001 index b = ends[i + 1] below 1001
    start t0: sum f32 for k < -a + b { t0 += x[a + k] at k } y[i] = t0 } })");
  const machine::Machine core = machines()[1], threads = machine::h200();
  schedule::Choices of_core(core), of_threads(threads);
  EXPECT_NE(schedule::choose_orders(nest, of_core).body, nest.body);
  EXPECT_EQ(schedule::choose_orders(nest, of_threads).body, nest.body);
}

// Where a block adds more than once to a place, it adds up in shared memory first; a core has no threads for
// it.
TEST(Choice, UpdatesAreAddedUpInSharedMemoryWhereTheyMeet) {
  const auto chosen = [](std::string_view elements, const machine::Machine& machine) {
    const std::string text =
        R"(program histograms(k: i64[256*COUNT], x: f32[256*COUNT], y: written f32[256*1024]) {
  for i < 256 { for j < COUNT {
    index at = k[COUNT*i + j] below 1024
    y[1024*i + at] atomic_add x[COUNT*i + j]
  } } })";
    return print(schedule::choose_by_estimate(loops::parse(with(text, "COUNT", elements)), machine));
  };
  EXPECT_NE(chosen("65536", machine::h200()).find("cache y at j.0 in scratch filled by place0"),
            std::string::npos);
  EXPECT_EQ(chosen("1000", machine::h200()).find("cache"), std::string::npos);
  EXPECT_EQ(chosen("65536", machines()[1]).find("cache"), std::string::npos);
}

}  // namespace

}  // namespace twinloom::tests
