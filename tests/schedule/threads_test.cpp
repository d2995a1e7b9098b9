// How the threads of a block are given what a nest walks, of whole schedules chosen for a GPU.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/emit/emit.h"
#include "core/machine/gpu.h"
#include "core/schedule/schedule.h"

namespace twinloom::tests {

namespace {

std::string with_each(std::string text, std::string_view word, std::string_view instead) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += instead.size())
    text.replace(at, word.size(), instead);
  return text;
}

std::string chosen(std::string_view nest) {
  return schedule::print(schedule::choose(loops::parse(nest), machine::h200()));
}

std::int64_t threads_of_softmax(std::int64_t row, const machine::Machine& machine) {
  const loops::Program nest =
      loops::parse(with_each(R"(program softmax(x: f32[4096*ROW], y: written f32[4096*ROW]) {
  for i < 4096 {
    start t0: max f32
    for k < ROW { t0 += x[ROW*i + k] at k }
    start t1: sum f32
    for k1 < ROW { t1 += exp(sub(x[ROW*i + k1], t0)) at k1 }
    for k2 < ROW { y[ROW*i + k2] = div(exp(sub(x[ROW*i + k2], t0)), t1) }
  }
})",
                             "ROW", cat(row)));
  return emit::thread_count(schedule::apply(nest, schedule::choose(nest, machine)).front());
}

// Registers of eight blocks hold a row that one block would read three times, where they may exchange
// accumulators; what cannot be loaded four at a time is read again.
TEST(Threads, RowsAreKeptBySeveralBlocks) {
  const machine::Machine h200 = machine::h200();
  machine::Machine alone = h200;
  alone.cluster_blocks = 1;
  EXPECT_EQ(threads_of_softmax(131072, h200), 4096);
  EXPECT_EQ(threads_of_softmax(100000, h200), 4096);
  EXPECT_EQ(threads_of_softmax(60000, h200), 2048);
  for (const std::int64_t row : {16384, 100001, 400000})
    EXPECT_LE(threads_of_softmax(row, h200), 1024) << row;
  EXPECT_LE(threads_of_softmax(131072, alone), 1024);
}

// Three loads of one line have no more on their way than one: a thread takes two pairs of elements. The one
// load that finds no pairs finds its elements in the cache.
TEST(Threads, LoadsSideBySideCountAsOne) {
  const std::string schedule = chosen(R"(program p(x: f32[67108864], y: written f32[67092480]) {
  for i < 8192 { for j < 8190 { y[8190*i + j] = add(add(x[8192*i + j], x[8192*i + j + 1]), x[8192*i + j + 2]) } }
})");
  EXPECT_NE(schedule.find("split -1 j : 1024, 512, 2 mask"), std::string::npos) << schedule;
}

// There is none beside it that finds pairs.
TEST(Threads, ALoadBetweenPairsAloneIsOfElements) {
  const std::string schedule = chosen(R"(program p(x: f32[67108864], y: written f32[67092480]) {
  for i < 8192 { for j < 8190 { y[8190*i + j] = neg(x[8192*i + j + 1]) } }
})");
  EXPECT_NE(schedule.find("split -1 j : 512, 256 mask"), std::string::npos) << schedule;
}

TEST(Threads, OfSmallWindowsAThreadTakesTwoNeighbours) {
  const std::string schedule = chosen(R"(program p(x: f32[102760448], y: written f32[25690112]) {
  for n < 2048 { for i < 112 { for j < 112 { start t0: sum f32
    for k < 4 { t0 += x[50176*n + 448*i + 2*j + 224*floor_div(k, 2) + floor_mod(k, 2)] at k }
    y[12544*n + 112*i + j] = t0 } } }
})");
  EXPECT_NE(schedule.find("split -1 j : 128, 2 mask"), std::string::npos) << schedule;
}

std::string chosen_layer_norm(std::int64_t rows) {
  return chosen(with_each(R"(program p(x: f32[ROWS*768], w: f32[768], y: written f32[ROWS*768]) {
  for i < ROWS {
    start t0: sum f32 for k < 768 { t0 += x[768*i + k] at k }
    start t1: sum f32 for k1 < 768 { t2 = sub(x[768*i + k1], t0) t1 += mul(t2, t2) at k1 }
    for k2 < 768 { y[768*i + k2] = mul(div(sub(x[768*i + k2], t0), t1), w[k2]) }
  }
})",
                          "ROWS", cat(rows)));
}

TEST(Threads, OfFewRowsLaterLoadsAreMadeAhead) {
  EXPECT_NE(chosen_layer_norm(32).find("stage w inside i.0 registers"), std::string::npos);
  EXPECT_EQ(chosen_layer_norm(16384).find("stage w"), std::string::npos);
}

// The sum over a channel leaves what follows it 1024 threads; one image has elements for 196 of them.
TEST(Threads, AShortAxisLeavesThreadsToTheNextOne) {
  const std::string schedule = chosen(R"(program p(x: f32[6422528], y: written f32[6422528]) {
  for c < 128 {
    start t0: sum f32
    for n < 64 { for k < 784 { t0 += x[100352*n + 784*c + k] at 784*n + k } }
    for n1 < 64 { for k1 < 784 { y[100352*n1 + 784*c + k1] = sub(x[100352*n1 + 784*c + k1], t0) } }
  }
})");
  EXPECT_NE(schedule.find("loop 1 n1.0 serial\n  loop 1 n1.1 thread\n  loop 1 k1.0 thread"),
            std::string::npos)
      << schedule;
}

// 16 matrices that the same 16 MiB are added to, which the last cache would not have any more; of 1 MiB it
// has.
TEST(Threads, BlocksThatLoadTheSameFollowEachOther) {
  const auto blocks = [](std::int64_t rows) {
    return chosen(with_each(R"(program p(x: f32[8192*ROWS], b: f32[512*ROWS], y: written f32[8192*ROWS]) {
  for n < 16 { for i < ROWS {
    start t0: sum f32
    for k < 512 { t0 += add(x[512*ROWS*n + 512*i + k], b[512*i + k]) at k }
    for k1 < 512 { y[512*ROWS*n + 512*i + k1] = div(add(x[512*ROWS*n + 512*i + k1], b[512*i + k1]), t0) }
  } }
})",
                            "ROWS", cat(rows)));
  };
  EXPECT_NE(blocks(8192).find("loop -1 i.0 block\n  loop -1 n.0 block"), std::string::npos) << blocks(8192);
  EXPECT_NE(blocks(512).find("loop -1 n.0 block\n  loop -1 i.0 block"), std::string::npos) << blocks(512);
}

// A thread with one element of a row of 230 has not enough on its way, and 88,320 blocks take time to start.
TEST(Threads, AThreadTakesSeveralRowsThatAreShort) {
  const std::string schedule = chosen(R"(program p(x: f32[19267584], y: written f32[20313600]) {
  for n < 384 { for i < 230 { for j < 230 { y[52900*n + 230*i + j] =
    (x[50176*n + 224*i + j - 675] if 3 < i + 1 && i < 227 && 3 < j + 1 && j < 227 else 0x0p+0:f32) } } }
})");
  EXPECT_NE(schedule.find("split -1 j : 256 mask"), std::string::npos) << schedule;
  EXPECT_NE(schedule.find("loop -1 i.1 unroll"), std::string::npos) << schedule;
}

TEST(Threads, RowsHaveWholeWarpsAndNoIdleOne) {
  const std::string schedule = chosen(R"(program p(x: f16[786432], y: f16[768], z: written f16[50331648]) {
  for n < 64 { for i < 1024 { for j < 768 {
    z[786432*n + 768*i + j] = f16(add(f32(x[768*i + j]), f32(y[j]))) } } }
})");
  EXPECT_NE(schedule.find("split -1 j : 768, 8 exact"), std::string::npos) << schedule;
}

// However much is computed of it.
TEST(Threads, OneOrTwoInputsAreLoadedTwice) {
  const std::string schedule = chosen(R"(program p(x: f16[67108864], y: written f16[67108864]) {
  for i < 67108864 { y[i] = f16(mul(f32(x[i]), sigmoid(f32(x[i])))) }
})");
  EXPECT_NE(schedule.find("loop -1 i.1 unroll"), std::string::npos) << schedule;
}

// A thread loads a word of an input that is transposed, where rows have whole words.
TEST(Threads, ATileIsFilledByWords) {
  const auto program = [](std::string_view type, std::int64_t pitch) {
    const loops::Program nest = loops::parse(
        cat("program p(x: ", type, "[", 1024 * pitch, "], y: written ", type,
            "[1048576]) { for i < 1024 { for j < 1024 { y[1024*i + j] = x[", pitch, "*j + i] } } }"));
    return loops::print(schedule::apply(nest, schedule::choose(nest, machine::h200())).front());
  };
  EXPECT_NE(program("bf16", 1024).find("for x_lane < 2 vector"), std::string::npos);
  EXPECT_NE(program("u8", 1024).find("for x_lane < 4 vector"), std::string::npos);
  EXPECT_NE(program("u8", 1026).find("for x_lane < 2 vector"), std::string::npos);
  EXPECT_EQ(program("bf16", 1025).find("x_lane"), std::string::npos);
  EXPECT_EQ(program("f32", 1024).find("x_lane"), std::string::npos);
}

TEST(Threads, ShortRowsOfResultsShareABlock) {
  const std::string schedule = chosen(R"(program p(x: f32[102760448], y: written f32[25690112]) {
  for i < 458752 { for j < 56 {
    start t0: sum f32
    for r < 2 { for c < 2 { t0 += x[224*i + 2*j + 112*r + c] at 2*r + c } }
    y[56*i + j] = t0
  } }
})");
  EXPECT_NE(schedule.find("loop -1 i.1 thread"), std::string::npos) << schedule;
  EXPECT_NE(schedule.find("loop -1 j.1 thread"), std::string::npos) << schedule;
}

// The sum reads what is kept of the first sibling alone; the other two move 8 elements at once.
TEST(Threads, WhatIsKeptDoesNotSayHowMuchIsMovedAtOnce) {
  const std::string schedule = chosen(R"(program p(x: bf16[67108864], y: written bf16[67108864]) {
  for i < 65536 {
    start t0: max f32
    for r < 1024 { t0 += where(le(count(r), count(i)), f32(x[1024*i + r]), -inf:f32) at r }
    start t1: sum f32
    for s < 1024 { t1 += exp(sub(where(le(count(s), count(i)), f32(x[1024*i + s]), -inf:f32), t0)) at s }
    for u < 1024 { y[1024*i + u] = bf16(div(exp(sub(where(le(count(u), count(i)), f32(x[1024*i + u]), -inf:f32), t0)), t1)) }
  }
})");
  EXPECT_NE(schedule.find("values 2 registers"), std::string::npos) << schedule;
  EXPECT_NE(schedule.find("split 0 r : 256, 8 exact"), std::string::npos) << schedule;
}

// One read of rows that lie across memory: a block takes 32 columns, each by several threads that keep it.
TEST(Threads, RowsAcrossMemoryAreKeptByThreadsFarApart) {
  const std::string schedule = chosen(R"(program p(x: f32[33554432], y: written f32[33554432]) {
  for i < 65536 {
    start t0: max f32
    for r < 512 { t0 += x[i + 65536*r] at r }
    start t1: sum f32
    for s < 512 { t1 += exp(sub(x[i + 65536*s], t0)) at s }
    for u < 512 { y[i + 65536*u] = div(exp(sub(x[i + 65536*u], t0)), t1) }
  }
})");
  for (const char* part : {"outermost_fastest", "stage x inside i.1 registers", "loop 1 s.2 thread"})
    EXPECT_NE(schedule.find(part), std::string::npos) << schedule;
}

TEST(Threads, FewColumnsAreSummedUpByWholeBlocks) {
  const std::string schedule = chosen(R"(program p(x: f32[67108864], y: written f32[16]) {
  for i < 16 { start t0: sum f32 for r < 4194304 { t0 += x[i + 16*r] at r } y[i] = t0 }
})");
  for (const char* part : {"outermost_fastest", "split -1 i : 16 exact", "grid r units"})
    EXPECT_NE(schedule.find(part), std::string::npos) << schedule;
}

// Rows that share a warp: fewer exchanges, and more of a row on its way.
TEST(Threads, ShortRowsShareAWarp) {
  const std::string schedule = chosen(R"(program p(x: f32[104857600], y: written f32[1048576]) {
  for i < 1048576 { start t0: sum f32 for r < 100 { t0 += x[100*i + r] at r } y[i] = t0 }
})");
  for (const char* part : {"split 0 r : 16, 4 mask", "loop 0 r.0 unroll", "loop 0 r.1 thread"})
    EXPECT_NE(schedule.find(part), std::string::npos) << schedule;
}

// Of a row in registers a thread has two accesses, unless there are too few rows to fill the machine so.
TEST(Threads, ShortRowsAreKeptByFewThreads) {
  const auto chosen_for = [](std::string_view rows, std::string_view row) {
    return chosen(with_each(with_each(R"(program p(x: bf16[ROWS*LONG], y: written bf16[ROWS*LONG]) {
  for i < ROWS { start t0: max f32 for r < LONG { t0 += f32(x[LONG*i + r]) at r }
    for s < LONG { y[LONG*i + s] = bf16(sub(f32(x[LONG*i + s]), t0)) } }
})",
                                      "ROWS", rows),
                            "LONG", row));
  };
  for (const auto& [rows, row, split] : {std::tuple("131072", "256", "split 0 r : 128, 8 exact"),
                                         {"262144", "128", "split 0 r : 64, 8 exact"},
                                         {"64", "256", "split 0 r : 8 exact"}}) {
    const std::string schedule = chosen_for(rows, row);
    EXPECT_NE(schedule.find(split), std::string::npos) << schedule;
  }
}

// Of axes walked as one, where the last of them is a multiple of what is moved at once; and whole groups of
// units without a mask.
TEST(Threads, AxesWalkedAsOneAreMovedAsTheyLie) {
  const auto channels = [](int width) {
    return chosen(cat("program p(x: f32[", 64 * 256 * width,
                      "], y: written f32[256]) {\n  for i < 256 { start t0: sum f32 ",
                      "for n < 64 { for r < ", width, " { t0 += x[", width, "*i + ", 256 * width,
                      "*n + r] at ", width, "*n + r } } y[i] = t0 }\n}"));
  };
  const std::string whole = channels(3136), odd = channels(3135);
  EXPECT_NE(whole.find(", 128, 4 remainder"), std::string::npos) << whole;
  EXPECT_EQ(odd.find(", 128, 4"), std::string::npos) << odd;
}

// Fewer rows than would fill a block each, so that every multiprocessor has one.
TEST(Threads, FewRowsAreSpreadOverTheMachine) {
  const auto rows = [](int count) {
    return chosen(cat("program p(x: f32[", 768 * count, "], y: written f32[", 768 * count, "]) {\n  for i < ", count,
                      " { start t0: max f32 for r < 768 { t0 += x[768*i + r] at r }\n",
                      "    for s < 768 { y[768*i + s] = sub(x[768*i + s], t0) } }\n}"));
  };
  EXPECT_EQ(rows(32).find("split -1 i"), std::string::npos) << rows(32);
  EXPECT_NE(rows(8192).find("split -1 i : 4 exact"), std::string::npos) << rows(8192);
}

// What a thread loads is a word, whatever the type of its one result.
TEST(Threads, ColumnsOfSmallElementsAreLoadedInWords) {
  const std::string schedule = chosen(R"(program p(x: bf16[268435456], y: written f32[524288]) {
  for i < 524288 { start t0: sum f32 for r < 512 { t0 += f32(x[i + 524288*r]) at r } y[i] = t0 }
})");
  EXPECT_NE(schedule.find("loop -1 i.2 vector"), std::string::npos) << schedule;
}

// Several threads each, that walk it as it lies, a word of neighbours at once.
TEST(Threads, FewColumnsAreWalkedByThreadsFarApart) {
  const std::string schedule = chosen(R"(program p(x: bf16[134217728], y: written f32[1024]) {
  for i < 1024 { start t0: sum f32 for r < 131072 { t0 += f32(x[i + 1024*r]) at r } y[i] = t0 }
})");
  EXPECT_NE(schedule.find("outermost_fastest"), std::string::npos) << schedule;
  EXPECT_NE(schedule.find("split -1 i : 64, 2 exact"), std::string::npos) << schedule;
  EXPECT_NE(schedule.find("loop -1 i.2 vector"), std::string::npos) << schedule;
}

// A tile needs neighbours in what it covers of an axis only: heads are two axes that are walked as one.
TEST(Threads, ATileOfAxesWalkedAsOne) {
  const std::string schedule = chosen(R"(program p(x: bf16[16777216], y: written bf16[16777216]) {
  for b < 512 { for d < 64 { for s < 512 {
    y[32768*b + 512*d + s] = x[d + 4096*s + 2097152*floor_div(b, 64) + 64*floor_mod(b, 64)] } } }
})");
  EXPECT_NE(schedule.find("stage x inside task scratch"), std::string::npos) << schedule;
}

// Channels that take turns: a tile's lanes load every other one.
TEST(Threads, ATileOfChannelsThatTakeTurns) {
  const auto of_groups = [](int groups) {
    const auto nest = R"(program p(x: bf16[11640832], y: written bf16[11640832]) {
  for b < 128 { for g < GROUPS { for c < CHANNELS { for s < 784 {
    y[90944*b + EACH*g + 784*c + s] = x[90944*b + g + GROUPS*c + 116*s] } } } }
})";
    return chosen(with_each(with_each(with_each(nest, "GROUPS", cat(groups)), "CHANNELS", cat(116 / groups)),
                            "EACH", cat(784 * (116 / groups))));
  };
  EXPECT_NE(of_groups(2).find("stage x inside task scratch"), std::string::npos) << of_groups(2);
  EXPECT_EQ(of_groups(29).find("stage"), std::string::npos) << "those of a warp would lie far apart";
}

// The channels of a group are few beside its elements, which are walked as one and kept in scratch.
TEST(Threads, RowsBesideFewChannelsAreKept) {
  const std::string schedule = chosen(R"(program p(x: f32[6422528], w: f32[128], y: written f32[6422528]) {
  for n < 64 { for g < 16 {
    start t0: sum f32
    for r < 6272 { t0 += x[100352*n + 6272*g + r] at r }
    start t1: sum f32
    for c < 8 { t1 += w[8*g + c] at c }
    start t2: sum f32
    for s < 6272 { t3 = sub(x[100352*n + 6272*g + s], t0) t2 += mul(t3, t3) at s }
    for d < 8 { for e < 784 {
      y[100352*n + 6272*g + 784*d + e] = mul(sub(x[100352*n + 6272*g + 784*d + e], t2), mul(t1, w[8*g + d])) } }
  } }
})");
  EXPECT_NE(schedule.find("stage x inside g."), std::string::npos) << schedule;
}

// What a lookup found is kept like what is computed, so that each place is looked up once; so is what is
// drawn.
TEST(Threads, WhatIsFoundOrDrawnIsKept) {
  const loops::Program nest = loops::parse(R"(program p(x: bf16[33554432], i: i64[512], b: bf16[1024],
    y: written bf16[33554432], z: written b8[33554432]; seed in 0..) {
  for n < 65536 {
    start t0: max f32
    for r < 512 { index f0 = i[r] below 1024 node 1 t0 += add(f32(x[512*n + r]), f32(b[f0])) at r }
    for q < 512 { z[512*n + q] = gt(random_uniform(count(512*n + q), count(seed), count(5), 0:i64), 0x1p-3:f32) }
    for s < 512 {
      index f1 = i[s] below 1024 node 1
      t1 = f32(gt(random_uniform(count(512*n + s), count(seed), count(5), 0:i64), 0x1p-3:f32))
      y[512*n + s] = bf16(mul(t1, sub(add(f32(x[512*n + s]), f32(b[f1])), t0)))
    }
  }
})");
  const schedule::Schedule schedule = schedule::choose(nest, machine::h200());
  EXPECT_EQ(schedule.kept_values, 2) << schedule::print(schedule);
  const std::string program = loops::print(schedule::apply(nest, schedule).front());
  EXPECT_EQ(program.find("index", program.find("index") + 1), std::string::npos) << program;
}

// 512 rows by a warp each would leave most of the machine idle.
TEST(Threads, RowsOfUnlikeLengthsAreWalkedBySeveralWarps) {
  const std::string schedule =
      chosen(R"(program p(x: f32[3145728], y: written f32[3072000], z: written f32[512]) {
  for i < 512 {
    start t0: sum f32
    for r < 6144 { t0 += x[6144*i + r] at r }
    z[i] = t0
    for s < 6000 { y[6000*i + s] = x[6144*i + s] }
  }
})");
  EXPECT_NE(schedule.find("loop 0 r.0 thread"), std::string::npos) << schedule;
}

}  // namespace

}  // namespace twinloom::tests
