// Estimates: what must hold of them whatever the constants are.
#include <gtest/gtest.h>

#include <cmath>

#include "core/cost/estimate.h"
#include "core/machine/gpu.h"

namespace twinloom::tests {

namespace {

const cost::Roof& roof_of(const cost::Estimate& estimate, std::string_view name) {
  for (const cost::Roof& roof : estimate.roofs)
    if (roof.name == name) return roof;
  throw Bug(cat("no roof ", name));
}

cost::Estimate on_h200(std::string_view text, const index::Values& sizes = {}) {
  return cost::estimate(loops::parse(text), machine::h200(), sizes);
}

machine::Machine core() {
  machine::Machine machine;
  machine.memory = {{"L1", 32 << 10, 2e11}, {"L2", 1 << 20, 5e10}, {"memory", 0, 1e10}};
  machine.clock_hertz = 3e9;
  machine.issue_each = 2;
  return machine;
}

constexpr std::string_view COPY = R"(program copy(x: f32[n*1024], y: written f32[n*1024]; n in 0..) {
  for b < n block { for t < 256 thread { for v < 4 vector { y[1024*b + 4*t + v] = x[1024*b + 4*t + v] } } }
})";

TEST(Estimate, IsNeverBelowTheBytesThatMustMove) {
  for (const std::int64_t n : {1, 100, 100000}) {
    const cost::Estimate estimate = on_h200(COPY, {{index::Symbol("n"), n}});
    EXPECT_DOUBLE_EQ(roof_of(estimate, "memory").amount, 2.0 * 4096 * static_cast<double>(n));
    EXPECT_GE(estimate.seconds, roof_of(estimate, "memory").seconds + machine::h200().launch_seconds);
  }
}

TEST(Estimate, ALargeCopyIsLimitedByMemoryAndASmallOneByItsLaunch) {
  EXPECT_EQ(on_h200(COPY, {{index::Symbol("n"), 100000}}).limiter().name, "memory");
  EXPECT_EQ(on_h200(COPY, {{index::Symbol("n"), 1}}).limiter().name, "launch");
}

TEST(Estimate, WhatHasNoBlocksTakesItsLaunch) {
  const cost::Estimate estimate = on_h200(COPY, {{index::Symbol("n"), 0}});
  EXPECT_DOUBLE_EQ(estimate.seconds, machine::h200().launch_seconds);
  EXPECT_EQ(estimate.limiter().name, "launch");
}

// Of 8 turns the third of three blocks of 4 has none.
TEST(Estimate, BlocksThatEndAtDifferentPlacesAreNotTakenForEqual) {
  const auto instructions = [](std::string_view blocks, std::string_view turns) {
    const std::string text =
        cat("program p(x: f32[4096], y: written f32[4096]) { for b < ", blocks, " block { for i < ", turns,
            " { for v < 16 vector { y[64*b + 16*i + v] = neg(x[64*b + 16*i + v]) } } } }");
    return roof_of(cost::estimate(loops::parse(text), core(), {}), "instructions").amount;
  };
  const double exact = instructions("2", "4");
  EXPECT_NEAR(instructions("3", "least(4, -4*b + 8)"), exact, 0.1 * exact);
}

// Each lane divides on its own, but for what the text has written out, which the compiler computes.
TEST(Estimate, LanesOfACoreDivideOneByOne) {
  const auto instructions = [](std::string_view bind, std::string_view offset) {
    const std::string text =
        cat("program p(x: f32[8192], y: written f32[4096]) { for b < 32 { for i < 8 ", bind,
            " { for v < 16 vector { y[128*b + 16*i + v] = x[128*b + ", offset, "] } } } }");
    return roof_of(cost::estimate(loops::parse(text), core(), {}), "instructions").amount;
  };
  const std::string_view apart = "floor_mod(16*i + v, 7) + v", near = "16*i + v";
  const double quotients = 32 * 8 * 16;
  EXPECT_GT(instructions("", apart) - instructions("", near), 2 * quotients);
  EXPECT_LT(instructions("unroll", apart), instructions("", apart) - 2 * quotients);
}

// A schedule that writes a million instructions out is as legal as any, and nobody waits for its compilation.
TEST(Estimate, WhatIsWrittenOutHasABound) {
  const auto seconds = [](int written, const machine::Machine& machine) {
    return cost::estimate(loops::parse(cat("program p(x: f32[1048576], y: written f32[1048576]) { for b < ",
                                           1048576 / written, " block { for u < ", written, " unroll { y[",
                                           written, "*b + u] = x[", written, "*b + u] } } }")),
                          machine, {})
        .seconds;
  };
  for (const machine::Machine& machine : {core(), machine::h200()}) {
    EXPECT_TRUE(std::isfinite(seconds(1024, machine)));
    EXPECT_FALSE(std::isfinite(seconds(1 << 18, machine)));
  }
}

// The threads past the end of a row leave out what those of the next one read.
TEST(Estimate, MaskedRowsMoveAllTheirBytes) {
  const cost::Estimate estimate = on_h200(R"(program rows(x: f32[49152], y: written f32[49152]) {
  for b < 64 block { for t < 1024 thread {
    y[768*b + t] = (x[768*b + t] if t < 768 else 0x0p+0:f32) if t < 768 } }
})");
  constexpr double BYTES = 2.0 * 49152 * 4;
  EXPECT_NEAR(roof_of(estimate, "memory").amount, BYTES, 0.1 * BYTES) << "masks are sampled";
}

// Quotients and conditions that are equal are computed once, and where nothing of them changes.
TEST(Estimate, EqualQuotientsAndConditionsAreComputedOnce) {
  const auto slots = [](std::string_view value) {
    return roof_of(on_h200(cat(R"(program rows(x: f32[32768], y: f32[32768], z: written f32[32768]) {
  for b < 32 block { for t < 32 thread { for k < 32 {
    z[1024*b + 32*t + k] = )",
                               value, " } } } }")),
                   "instructions")
        .amount;
  };
  const double one = slots("add(x[floor_div(32*b + t, 7)], y[1024*b + 32*t + k])");
  const double twice = slots("add(x[floor_div(32*b + t, 7)], y[floor_div(32*b + t, 7)])");
  const double inside = slots("add(x[floor_div(32*b + t + k, 7)], y[1024*b + 32*t + k])");
  EXPECT_LE(twice, one);
  EXPECT_GT(inside, one);
}

// A row that is found is read as it lies; places that each thread finds for itself are a line each.
TEST(Estimate, OnlyPlacesThatThreadsFindApartTakeAPassEach) {
  const auto passes = [](std::string_view place, std::string_view at) {
    return roof_of(on_h200(cat(R"(program rows(x: f32[32768], i: i64[32], y: written f32[1024]) {
  for b < 32 block { for t < 32 thread { index p = i[)",
                               place, "] below 32 y[32*b + t] = x[", at, "] } } }")),
                   "wavefronts")
        .amount;
  };
  constexpr double STORED = 32, LOOKED_UP = 32;
  EXPECT_DOUBLE_EQ(passes("b", "32*p + t"), 32 + STORED + LOOKED_UP);
  EXPECT_DOUBLE_EQ(passes("t", "32*p + b"), 32 * 32 + STORED + 2 * LOOKED_UP);
  // Two places of each thread, the same for all of a warp.
  const cost::Estimate twice = on_h200(R"(program rows(x: f32[32768], i: i64[32], y: written f32[2048]) {
  for b < 32 block { for t < 32 thread { for u < 2 unroll {
    index p = i[u] below 32 y[64*b + 32*u + t] = x[32*p + t] } } } })");
  EXPECT_DOUBLE_EQ(roof_of(twice, "wavefronts").amount, 2 * (32 + STORED + LOOKED_UP));
}

// No turn walks a loop over what n leaves, and none loads beside it under the mask: neither divides by 0.
TEST(Estimate, NobodyDividesByASizeThatIsNothing) {
  const cost::Estimate walked = on_h200(R"(program p(x: f32[n*n], y: written f32[n*n]; n in 0..) {
  for b < n block { for t < 256 thread { y[b] = x[floor_div(b + t, n)] } }
})",
                                        {{index::Symbol("n"), 0}});
  EXPECT_DOUBLE_EQ(walked.seconds, machine::h200().launch_seconds);
  const cost::Estimate beside = on_h200(R"(program p(x: f32[n], y: written f32[65536]; n in 0..) {
  for b < 256 block { for t < 256 thread { y[256*b + t] = (x[floor_mod(256*b + t, n)] if 256*b + t < n else 0x1p+0:f32) } }
})",
                                        {{index::Symbol("n"), 0}});
  EXPECT_NEAR(roof_of(beside, "memory").amount, 4.0 * 65536, 32);
}

// Each thread reads an element of a line of its own: 32 bytes cross for 4.
TEST(Estimate, WhatIsNoNeighbourMovesWholeSectors) {
  const cost::Estimate estimate = on_h200(R"(program columns(x: f32[67108864], y: written f32[65536]) {
  for b < 256 block { for t < 256 thread { y[256*b + t] = x[1024*(256*b + t)] } }
})");
  EXPECT_DOUBLE_EQ(roof_of(estimate, "memory").amount, 65536.0 * (32 + 4));
}

constexpr std::string_view RUNNING = R"(program running(x: f32[32*131072], y: written f32[32*131072]) {
  for b < 1024 block { for t < 128 thread { start t0: sum f32
    for r < 32 { merge t0 (x[b*4096 + t + 128*r]) y[b*4096 + t + 128*r] = t0 } } }
})";
constexpr std::string_view RUNNING_WRITTEN_OUT =
    R"(program running(x: f32[32*131072], y: written f32[32*131072]) {
  for b < 1024 block { for t < 128 thread { start t0: sum f32
    for r < 32 unroll { t1 = x[b*4096 + t + 128*r] merge t0 (t1) y[b*4096 + t + 128*r] = t0 } } }
})";
// Measured: loads do not pass the stores of a running total.
TEST(Estimate, EachLoadOfARunningTotalIsWaitedForUnlessAllStandFirst) {
  const double waits = 32 * machine::h200().memory.back().latency_seconds;
  EXPECT_GT(roof_of(on_h200(RUNNING), "chain").seconds, waits);
  EXPECT_LT(roof_of(on_h200(RUNNING_WRITTEN_OUT), "chain").seconds, waits / 4);
}

std::string totals_of_turns(std::string_view turn) {
  return cat(
      "program turns(x: f32[65536], y: written f32[1024], next: local f32[1]) { scratch next[1] in "
      "registers { for t < 1024 thread { next[0] = x[t] } start t0: sum f32 copies (t) for r < 63 { for "
      "t < 1024 thread { ",
      turn, " } sync } for t < 1024 thread { y[t] = t0 } } }");
}
TEST(Estimate, OnlyTheNextIterationWaitsForWhatIsLoadedForIt) {
  const cost::Estimate now = on_h200(totals_of_turns("merge t0 (x[1024*r + t])"));
  const cost::Estimate ahead = on_h200(totals_of_turns("merge t0 (next[0]) next[0] = x[1024*r + t + 1024]"));
  const double waits = 63 * machine::h200().memory.back().latency_seconds;
  EXPECT_GT(roof_of(now, "chain").seconds, roof_of(ahead, "chain").seconds);
  EXPECT_GE(roof_of(ahead, "chain").seconds, waits);
}

// A row that every block reads twice is read from memory once where all rows in flight fit the L2 cache.
constexpr std::string_view TWICE = R"(program twice(x: f32[m*n], y: written f32[m*n]; m in 0.., n in 0..) {
  for b < m block {
    start t0: max f32 copies (t)
    for k < floor_div(n, 256) { for t < 256 thread { merge t0 (x[n*b + 256*k + t]) } }
    combine t0 across t halves
    for k1 < floor_div(n, 256) { for t1 < 256 thread { y[n*b + 256*k1 + t1] = sub(x[n*b + 256*k1 + t1], t0) } }
  }
})";

TEST(Estimate, CachesHoldWhatFitsThem) {
  const auto bytes = [](std::int64_t m, std::int64_t n) {
    return roof_of(on_h200(TWICE, {{index::Symbol("m"), m}, {index::Symbol("n"), n}}), "memory").amount;
  };
  EXPECT_DOUBLE_EQ(bytes(4096, 1024), 4.0 * 4096 * 1024 * 2);
  EXPECT_DOUBLE_EQ(bytes(4096, 256 * 1024), 4.0 * 4096 * 256 * 1024 * 3);
}

TEST(Estimate, FewBlocksTakeLongerThanMany) {
  const auto seconds = [](std::int64_t blocks, std::int64_t rows) {
    const std::string text =
        cat("program p(x: f32[", blocks * rows * 256, "], y: written f32[", blocks * rows * 256,
            "]) { for b < ", blocks, " block { for k < ", rows, " { for t < 256 thread { y[", rows * 256,
            "*b + 256*k + t] = x[", rows * 256, "*b + 256*k + t] } } } }");
    return on_h200(text).seconds;
  };
  EXPECT_GT(seconds(4, 8192), 8 * seconds(4096, 8));
}

TEST(Estimate, AFullMaskHalvesWhatIsMovedWhereItHoldsForHalf) {
  const cost::Estimate estimate = on_h200(R"(program half(x: f32[1048576], y: written f32[1048576]) {
  for b < 4096 block { for t < 256 thread { y[256*b + t] = (x[256*b + t] if b < 2048 else 0x0p+0:f32) } }
})");
  EXPECT_NEAR(roof_of(estimate, "memory").amount, 1.5 * 4 * 1048576, 0.3 * 4 * 1048576);
}

TEST(Estimate, SharedMemoryCostsItsBankConflicts) {
  const auto passes = [](std::string_view stride) {
    const std::string text =
        cat(R"(program p(x: f32[1024], y: written f32[1024], s: local written f32[2048]) {
  for b < 1 block { scratch s[2048] in scratch {
    for t < 32 thread { for k < 32 { s[)",
            stride, R"(*t + k] = x[32*k + t] } }
    sync
    for t1 < 32 thread { for k1 < 32 { y[32*k1 + t1] = s[)",
            stride, R"(*t1 + k1] } }
  } }
})");
    return roof_of(on_h200(text), "wavefronts").amount;
  };
  EXPECT_GT(passes("32"), 10 * passes("33"));
}

// Accesses of 16 bytes meet no other where threads stand side by side; with twice that between them each
// meets one more.
TEST(Estimate, WideAccessesOfSharedMemoryConflictToo) {
  const auto passes = [](std::int64_t apart) {
    return roof_of(
               on_h200(cat("program p(y: written f32[128], s: local written f32[256]) { for b < 1 block { ",
                           "scratch s[256] in scratch { for t < 32 thread { for v < 4 vector { s[", apart,
                           "*t + v] = 0x0p+0:f32 } } } } }")),
               "wavefronts")
        .amount;
  };
  EXPECT_EQ(passes(4), 4);
  EXPECT_EQ(passes(8), 8);
}

TEST(Estimate, ABlockThatIsTooLargeNeverRuns) {
  const auto seconds = [](std::int64_t elements, std::int64_t threads) {
    return on_h200(cat("program p(y: written f32[1024], s: local written f64[", elements,
                       "]) { for b < 1 block { scratch s[", elements, "] in scratch { for t < ", threads,
                       " thread { s[t] = 0x0p+0:f64 } sync for t1 < ", threads,
                       " thread { y[t1] = f32(s[t1]) } } } }"))
        .seconds;
  };
  EXPECT_TRUE(std::isfinite(seconds(28000, 512)));
  EXPECT_TRUE(std::isinf(seconds(33792, 512)));
  EXPECT_TRUE(std::isinf(seconds(2048, 2048)));
}

// A thread of 1,024 has 64 registers: of three inputs with 16 elements each some are stored and loaded again.
TEST(Estimate, WhatHasNoRegisterPassesThroughTheCache) {
  const auto passes = [](std::int64_t threads, std::int64_t blocks) {
    const auto at = cat("[", 16 * threads, "*b + ", threads, "*v + t]");
    return roof_of(on_h200(cat("program p(x: f32[1048576], y: f32[1048576], z: f32[1048576], ",
                               "w: written f32[1048576]) { for b < ", blocks, " block { for t < ", threads,
                               " thread { for v < 16 vector { w", at, " = add(x", at, ", mul(y", at, ", z",
                               at, ")) } } } }")),
                   "wavefronts")
        .amount;
  };
  EXPECT_EQ(passes(512, 128), passes(256, 256));
  EXPECT_GT(passes(1024, 64), 1.05 * passes(512, 128));
}

// What iterations that are written out load is on its way together, in words of which a vector of 16-bit
// elements fills half as many; accumulators count while they are alive.
TEST(Estimate, LoadsOfWrittenOutIterationsHaveRegisters) {
  const auto registers = [](std::string_view type, std::string_view loop, int rows,
                            std::string_view mask = "") {
    const std::string_view load = "x[128*b + 2*t + v + 16384*r]";
    const std::string value =
        mask.empty() ? std::string(load) : cat("(", load, mask, " else 0x0p+0: ", type, ")");
    return on_h200(cat("program p(x: ", type,
                       "[262144], y: written f32[16384]) { for b < 128 block { for t < 64 thread { ",
                       "for v < 2 vector { start t0: sum f32 for r < ", rows, loop, " { merge t0 (f32(",
                       value, ")) } y[128*b + 2*t + v] = t0 } } } }"))
        .registers;
  };
  const double few = registers("f32", " unroll", 2);
  EXPECT_NEAR(registers("f32", " unroll", 16) - few, 2 * 14, 8);
  EXPECT_NEAR(registers("bf16", " unroll", 16) - few, 14 - 2, 8);
  EXPECT_EQ(registers("f32", "", 16), registers("f32", "", 2));
  EXPECT_NEAR(registers("f32", " unroll", 16, " if 3*r + b < 170") - few, 2 * 5, 8)
      << "each load inside of a mask holds one of seven predicates";
}

// On an H100 and an H200 copies whose stores lie apart took the time of 64 bytes an element, whatever its
// size, also where the block's other warps stored the rest of each sector; a buffer that the cache holds does
// not.
TEST(Estimate, StoresThatLieApartMoveTheirSectorsTwice) {
  const auto bytes = [](std::int64_t columns, std::string_view store) {
    const std::string text = cat("program p(x: f32[n*", columns, "], y: written f32[n*", columns,
                                 "]; n in 0..) { for b < n block { ", "for t < ", columns, " thread { y[",
                                 store, "] = x[", columns, "*b + t] } } }");
    return roof_of(on_h200(text, {{index::Symbol("n"), 1 << 20}}), "memory").amount / (1 << 20) / 32;
  };
  EXPECT_NEAR(bytes(32, "32*b + t"), 8, 1);
  EXPECT_NEAR(bytes(32, "1048576*t + b"), 64 + 4, 4);
  const auto small = [](std::int64_t n) {
    return roof_of(
               on_h200("program p(x: f32[n*32], y: written f32[n*32]; n in 0..) { for b < n block { for t "
                       "< 32 thread { y[1024*t + b] = x[32*b + t] } } }",
                       {{index::Symbol("n"), n}}),
               "memory")
        .amount;
  };
  EXPECT_LE(small(1024), 3.0 * 4 * 32 * 1024);
}

// Of lanes whose offsets are quotients each has its own.
TEST(Estimate, LanesHaveOffsetsOfTheirOwn) {
  const auto instructions = [](std::string_view offset) {
    return roof_of(
               on_h200(cat("program p(x: f32[1048576], y: written f32[1048576]) { for b < 512 block { for t "
                           "< 128 thread { for v < 16 vector { y[2048*b + 16*t + v] = x[",
                           offset, "] } } } }")),
               "instructions")
        .amount;
  };
  const double linear = instructions("2048*b + 16*t + v");
  EXPECT_GT(instructions("2048*b + 16*t + 7*floor_div(v + t, 7)") - linear, 16 * 6 * 512 * 4 * 0.9);
}

// The same bytes by blocks of one warp, with an element a thread, are limited by how fast blocks start.
TEST(Estimate, ManySmallBlocksAreLimitedByTheirStarts) {
  const cost::Estimate estimate = on_h200(R"(program copy(x: f32[67108864], y: written f32[67108864]) {
  for b < 2097152 block { for t < 32 thread { y[32*b + t] = x[32*b + t] } }
})");
  EXPECT_EQ(estimate.limiter().name, "blocks");
  EXPECT_GT(estimate.seconds, 2 * on_h200(COPY, {{index::Symbol("n"), 65536}}).seconds);
}

TEST(Estimate, VectorsOfACoreAreAsWideAsItsRegisters) {
  constexpr std::string_view text = R"(program p(x: f32[4096], y: written f32[4096]) {
  for i < 256 { for v < 16 vector { y[16*i + v] = exp(x[16*i + v]) } }
})";
  machine::Machine wide = core(), narrow = core();
  wide.vector_bytes = 64;
  narrow.vector_bytes = 32;
  const auto instructions = [&](const machine::Machine& machine) {
    return roof_of(cost::estimate(loops::parse(text), machine, {}), "instructions").amount;
  };
  EXPECT_GT(instructions(narrow), 1.8 * instructions(wide));
}

cost::Estimate on_a_core(std::string_view text, const machine::Machine& machine = core()) {
  return cost::estimate(loops::parse(text), machine, {});
}

// A quotient by a size is computed lane by lane, one by a number of lanes that are neighbours is not one of
// theirs.
TEST(Estimate, WhatEachLaneComputesIsTextForEachLane) {
  const auto text_of = [](int lanes, std::string_view place) {
    const std::string program =
        cat("program p(x: f32[1024], y: written f32[1024]; m in 1..32) { for k < 2 { for v < ", lanes,
            " vector { y[512*k + v] = x[", place, "] } } }");
    return cost::estimate(loops::parse(program), core(), {{index::Symbol("m"), 8}});
  };
  EXPECT_GT(text_of(64, "floor_mod(v, m)").text, 3.5 * text_of(16, "floor_mod(v, m)").text);
  EXPECT_LT(text_of(64, "v + floor_mod(k, m)").text, text_of(16, "floor_mod(v, m)").text);
  EXPECT_TRUE(std::isfinite(text_of(512, "floor_mod(v, m)").seconds));
  EXPECT_TRUE(std::isinf(text_of(512, "floor_mod(v, m) + 3*floor_div(v, m)").seconds));
}

// The 16 columns of a line are read together, down all rows; the line of a lane is not read again for the
// next.
TEST(Estimate, LanesOfAVectorReadTheirLineOnce) {
  const cost::Estimate estimate = on_a_core(R"(program p(x: f32[4194304], y: written f32[16]) {
  for v < 16 vector { start t0: sum f32 for r < 262144 { merge t0 (x[16*r + v]) } y[v] = t0 }
})");
  EXPECT_NEAR(roof_of(estimate, "memory").amount, 4.0 * 4194304, 64 * 2);
}

// 16 registers become one by 15 additions and one number by 4 more: 256 additions and loads stand before
// them.
TEST(Estimate, CopiesOfAVectorAreCombinedByRegisters) {
  machine::Machine wide = core();
  wide.vector_bytes = 64;
  wide.vector_registers = 64;
  const cost::Estimate estimate = on_a_core(R"(program p(x: f32[4096], y: written f32[1]) {
  start t0: sum f32 copies (u, v)
  for k < 16 { for u < 16 unroll { for v < 16 vector { merge t0 (x[256*k + 16*u + v]) } } }
  combine t0 across u halves combine t0 across v halves y[0] = t0
})",
                                            wide);
  EXPECT_NEAR(roof_of(estimate, "instructions").amount, 2 * 256 + 15 + 4 * 3, 40);
}

// 256 rows that are as far apart as a set of the cache is wide push each other out before their lines are
// used up.
TEST(Estimate, APitchOfAPowerOfTwoCrowdsASet) {
  const auto bytes = [](int pitch) {
    return roof_of(on_a_core(cat("program p(x: f32[", 256 * pitch, "], y: written f32[", 256 * 256, R"(]) {
  for i < 256 { for k < 16 { for v < 16 vector { y[256*i + 16*k + v] = x[i + )",
                                 16 * pitch, "*k + ", pitch, "*v] } } } }")),
                   "L2")
        .amount;
  };
  EXPECT_GT(bytes(1024), 4 * bytes(1024 + 16));
}

machine::Machine two_cores() {
  machine::Machine machine = core();
  machine.blocks_at_once = 2;
  machine.launch_seconds = 1e-6;
  machine.wake_seconds = 5e-6;
  return machine;
}

// Below worth_a_thread_seconds no one is woken, and one core does all.
TEST(Estimate, WorkersAreWokenForWhatIsWorthIt) {
  const auto launch = [](int elements) {
    return roof_of(
               on_a_core(cat("program p(x: f32[", elements, "], y: written f32[", elements,
                             "]) { for b < 4 block { for k < ", elements / 64, " { for v < 16 vector { y[",
                             elements / 4, "*b + 16*k + v] = x[", elements / 4, "*b + 16*k + v] } } } }"),
                         two_cores()),
               "launch")
        .seconds;
  };
  EXPECT_DOUBLE_EQ(launch(1 << 12), 1e-6);
  EXPECT_DOUBLE_EQ(launch(1 << 20), 6e-6);
}

TEST(Estimate, WhatIsStreamedPassesTheCachesBy) {
  const auto estimate = [](std::string_view how) {
    return on_a_core(cat("program p(x: f32[4194304], y: written ", how, R"( f32[4194304]) {
  for k < 262144 { for v < 16 vector { y[16*k + v] = x[16*k + v] } }
})"));
  };
  const cost::Estimate plain = estimate(""), streamed = estimate("streamed");
  EXPECT_NEAR(roof_of(plain, "memory").amount, 2 * 4.0 * 4194304, 128);
  EXPECT_NEAR(roof_of(streamed, "memory").amount, 4.0 * 4194304, 128);
  EXPECT_DOUBLE_EQ(roof_of(streamed, "streamed").amount, 4.0 * 4194304);
  EXPECT_LT(streamed.seconds, plain.seconds);
}

// Segments that lie between offsets have as many elements on average as there are for each.
TEST(Estimate, SegmentsShareWhatTheirOffsetsBound) {
  const auto instructions = [](int elements) {
    const std::string text = cat("program p(offsets: i64[1001], x: f32[", elements,
                                 R"(], y: written f32[1000]) { for i < 1000 {
  index a = offsets[i] below )",
                                 elements + 1, " index b = offsets[i + 1] below ", elements + 1,
                                 R"( start t0: sum f32 for r < b - a { merge t0 (x[a + r]) } y[i] = t0 } })");
    return roof_of(on_a_core(text), "instructions").amount;
  };
  EXPECT_NEAR((instructions(400000) - instructions(200000)) / (instructions(200000) - instructions(100000)),
              2, 0.05);
}

// Each multiprocessor has one block, which walks a long row by itself.
TEST(Estimate, FewThreadsDoNotReachTheBandwidth) {
  const auto memory = [](int threads) {
    const std::string text =
        cat("program sums(x: f32[134217728], y: written f32[128]) { for i < 128 block { start t0: "
            "sum f32 copies (l, v) for r < ",
            1048576 / threads / 4, " { for l < ", threads,
            " thread { for v < 4 vector { merge t0 (x[1048576*i + ", 4 * threads,
            "*r + 4*l + v]) } } } y[i] = t0 } }");
    return roof_of(cost::estimate(loops::parse(text), machine::h200(), {}), "memory").seconds;
  };
  EXPECT_NEAR(memory(256) / memory(1024), 2, 0.01);
  EXPECT_DOUBLE_EQ(memory(512), memory(1024));
}

// By pairs of bf16 a warp loads a line, by single ones half of it: where it does nothing but sum up.
TEST(Estimate, HalvesOfLinesTakeMemoryLonger) {
  const auto memory = [](int packed) {
    const std::string text =
        cat("program sums(x: bf16[134217728], y: written f32[1048576]) { for i < ", 32 / packed,
            " block { for w < 32 thread { for v < ", packed,
            " vector { start t0: sum f32 for r < 131072 { merge t0 (f32(x[", 32 * packed, "*i + ", packed,
            "*w + v + 1024*r])) } y[", 32 * packed, "*i + ", packed, "*w + v] = t0 } } } }");
    const cost::Estimate estimate = cost::estimate(loops::parse(text), machine::h200(), {});
    return roof_of(estimate, "memory").seconds / roof_of(estimate, "memory").amount;
  };
  EXPECT_NEAR(memory(1) / memory(2), 1.3 / 2, 0.01);  // of twice as many blocks
}

// What blocks leave for later ones, of 16 matrices of 16.8 MB with one: the last cache of 62.9 MB has 0.6 of
// it.
TEST(Estimate, BlocksLeaveWhatTheLastCacheHolds) {
  const auto bytes = [](std::int64_t elements) {
    const std::string text =
        cat("program p(x: f32[", 16 * elements, "], b: f32[", elements, "], y: written f32[", 16 * elements,
            "]) { for n < 16 block { for i < ", elements / 512,
            " block { for w < 128 thread { for v < 4 vector { y[", elements, "*n + 512*i + 4*w + v] = add(x[",
            elements, "*n + 512*i + 4*w + v], b[512*i + 4*w + v]) } } } } }");
    return roof_of(cost::estimate(loops::parse(text), machine::h200(), {}), "memory").amount;
  };
  EXPECT_NEAR(bytes(1 << 21), 4.0 * (1 << 21) * 33, 1e5);
  EXPECT_NEAR(bytes(1 << 22), 4.0 * (1 << 22) * 48, 1e5);
}

TEST(Estimate, ProgramsThatFollowOneAnotherAddUp) {
  const std::vector<loops::Program> programs(2, loops::parse(COPY));
  const index::Values sizes = {{index::Symbol("n"), 1000}};
  const cost::Estimate both = cost::estimate(programs, machine::h200(), sizes);
  const cost::Estimate one = cost::estimate(programs.front(), machine::h200(), sizes);
  // The second one starts while the first one ends.
  const double start = machine::h200().launch_seconds;
  EXPECT_LT(both.seconds, 2 * one.seconds - start / 8);
  EXPECT_GT(both.seconds, 2 * one.seconds - start);
  EXPECT_NEAR(roof_of(both, "launch").seconds, start + both.seconds - 2 * one.seconds + start, 1e-12);
  EXPECT_DOUBLE_EQ(roof_of(both, "memory").amount, 2 * roof_of(one, "memory").amount);
}

}  // namespace

}  // namespace twinloom::tests
