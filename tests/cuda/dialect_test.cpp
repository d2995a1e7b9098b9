// How thread loops read in CUDA: who stores, how totals of threads become one.
#include <gtest/gtest.h>

#include <array>

#include "backends/cuda/device_text.h"
#include "backends/cuda/dialect.h"
#include "core/base/error.h"
#include "core/emit/emit.h"
#include "tests/cuda/compiler.h"
#include "tests/support/thrown.h"

namespace twinloom::cuda {

namespace {

std::string text_of(std::string_view program, Handed handed = Handed::any) {
  return emit::emit(loops::parse(program), CudaDialect(handed));
}

// Of buffers that may be one memory NVRTC is not told that they lie apart.
TEST(Dialect, BuffersThatAreWrittenInPlaceAreNotRestricted) {
  const loops::Program program = loops::parse(
      "program p(x: f32[64], w: f32[64], y: written f32[64]) { for i < 64 thread { y[i] = add(x[i], w[i]) } "
      "}");
  const loops::InPlace pair{loops::Buffer{0}, loops::Buffer{2}};
  ASSERT_TRUE(loops::is_in_place(program, pair));
  const std::string text = emit::emit(program, CudaDialect(Handed::any, std::array{pair}));
  EXPECT_NE(
      text.find("twinloom_p(void* buffer_0, void* __restrict__ buffer_1, void* buffer_2, FailureRecord*"),
      std::string::npos)
      << text;
}

TEST(Dialect, ThreadsOfAWarpExchangeTheirTotals) {
  const std::string text = text_of(R"(program rows(x: f32[8*32], y: written f32[8]) {
  for i < 8 block {
    start t0: sum f32 copies (k)
    for k < 32 thread { merge t0 (x[32*i + k]) }
    combine t0 across k halves
    y[i] = t0
  }
})");
  EXPECT_EQ(text, R"(#include "cuda/routines.h"
namespace twinloom::device {
extern "C" __global__ void __launch_bounds__(32) twinloom_rows(void* __restrict__ buffer_0, void* __restrict__ buffer_1, FailureRecord* failure) {
  const Predecessors predecessors;
  const i64 thread = threadIdx.x;
  const f32* const a0 = static_cast<const f32*>(predecessors.wrote(buffer_0));
  f32* const a1 = static_cast<f32*>(predecessors.wrote(buffer_1));
  { const i64 k1 = blockIdx.x;
    f32 t2;
    t2 = -0x0p+0f;
    const auto p4 = a0 + 32 * k1;
    { const i64 k3 = thread;
      const auto p5 = p4 + k3;
      const f32 v6 = *p5;
      t2 = t2 + v6;
    }
    const f32 t7 = from_lane_across(t2, 16);
    t2 = t2 + t7;
    const f32 t8 = from_lane_across(t2, 8);
    t2 = t2 + t8;
    const f32 t9 = from_lane_across(t2, 4);
    t2 = t2 + t9;
    const f32 t10 = from_lane_across(t2, 2);
    t2 = t2 + t10;
    const f32 t11 = from_lane_across(t2, 1);
    t2 = t2 + t11;
    const auto p13 = a1 + k1;
    if (thread == 0) {
      const f32 v12 = t2;
      *p13 = v12;
    }
  }
}
}  // namespace twinloom::device
)");
}

// A thread has no registers of several lanes: each is a variable, and only what functions give is a struct.
TEST(Dialect, EachLaneIsAVariable) {
  const std::string text = text_of(R"(program sums(x: f32[n], y: f32[1], z: written f32[2]; n in 0..) {
  for i < 2 block {
    start t0: sum f32 copies (l)
    for l < 4 vector { merge t0 (mul(exp((x[4*i + l] if 4*i + l < n else 0x0p+0: f32)), y[0])) }
    combine t0 across l halves
    z[i] = t0
  }
})");
  EXPECT_EQ(text.substr(text.find("    f32 t3_0")), R"(    f32 t3_0, t3_1, t3_2, t3_3;
    t3_0 = -0x0p+0f, t3_1 = -0x0p+0f, t3_2 = -0x0p+0f, t3_3 = -0x0p+0f;
    const i64 n4 = n1 - 4 * k2;
    const auto p5 = a0 + 4 * k2;
    const Vector<f32, 4> v6 = load_first<4>(p5, n4, 0x0p+0f);
    bool v7_rare = false;
    f32 v7_0 = quick_exp(v7_rare, v6.lane[0]), v7_1 = quick_exp(v7_rare, v6.lane[1]), v7_2 = quick_exp(v7_rare, v6.lane[2]), v7_3 = quick_exp(v7_rare, v6.lane[3]);
    if (__builtin_expect(v7_rare, 0)) {
      v7_rare = false;
      v7_0 = mended_exp(v7_rare, v6.lane[0], v7_0), v7_1 = mended_exp(v7_rare, v6.lane[1], v7_1), v7_2 = mended_exp(v7_rare, v6.lane[2], v7_2), v7_3 = mended_exp(v7_rare, v6.lane[3], v7_3);
      if (v7_rare) v7_0 = rare_exp(v6.lane[0]), v7_1 = rare_exp(v6.lane[1]), v7_2 = rare_exp(v6.lane[2]), v7_3 = rare_exp(v6.lane[3]);
    }
    const f32 v9_0 = v7_0 * v8, v9_1 = v7_1 * v8, v9_2 = v7_2 * v8, v9_3 = v7_3 * v8;
    t3_0 = t3_0 + v9_0, t3_1 = t3_1 + v9_1, t3_2 = t3_2 + v9_2, t3_3 = t3_3 + v9_3;
    f32 t10;
    const f32 t11_0 = t3_0 + t3_2;
    const f32 t11_1 = t3_1 + t3_3;
    const f32 t12 = t11_0 + t11_1;
    t10 = t12;
    const f32 v13 = t10;
    const auto p14 = a2 + k2;
    *p14 = v13;
  }
}
}  // namespace twinloom::device
)");
}

// Pointers that are known to be packed are said to be, so that no access is preceded by a test.
TEST(Dialect, PackedPointersAreSaidToBe) {
  constexpr std::string_view program = R"(program twice(x: f32[8], y: written f32[8]) {
  for i < 2 block { for j < 4 vector { y[4*i + j] = add(x[4*i + j], x[4*i + j]) } }
})";
  const std::string packed = text_of(program, Handed::usual), any = text_of(program, Handed::any);
  EXPECT_NE(packed.find("f32* const a1 = static_cast<f32*>("
                        "__builtin_assume_aligned(predecessors.wrote(buffer_1), 16));"),
            std::string::npos)
      << packed;
  EXPECT_NE(any.find("f32* const a1 = static_cast<f32*>(predecessors.wrote(buffer_1));"), std::string::npos)
      << any;
  EXPECT_NE(packed.find("store_packed(p"), std::string::npos) << packed;
  EXPECT_EQ(any.find("_packed"), std::string::npos) << any;
}

// Not four of 2 bytes at once, see CudaDialect::argument().
TEST(Dialect, NeighboursOfOneByteAreLoadedOneByOne) {
  const std::string text = text_of(R"(program sum(x: u8[7], y: written i32[1]) {
  for i < 1 block {
    y[0] = add(add(add(i32(x[0]), i32(x[1])), add(i32(x[2]), i32(x[3]))), add(add(i32(x[4]), i32(x[5])), i32(x[6])))
  }
})",
                                   Handed::usual);
  EXPECT_NE(text.find("const u8* const a0 = static_cast<const u8*>(predecessors.wrote(buffer_0));"),
            std::string::npos)
      << text;
  TWINLOOM_NEEDS_NVRTC();
  const std::string ptx = nvrtc().compile(text, "sum", all_headers(), {"compute_90", {}}).bytes;
  EXPECT_EQ(ptx.find("ld.global.v"), std::string::npos) << ptx;
}

// A stride may be negative and a seed is any number: they are left as they are.
TEST(Dialect, SizesAreSaidToBeSmall) {
  constexpr std::string_view program =
      R"(program add(x: f32[n*m], y: written f32[n*m]; n in 1.., m in 0.., seed in -9..) {
  for i < n block { for j < ceil_div(m, 256) block {
    for k < 256 thread { y[i*m + 256*j + k] = x[i*m + 256*j + k + seed] if 256*j + k < m }
  } }
})";
  const std::string usual = text_of(program, Handed::usual), any = text_of(program);
  EXPECT_NE(usual.find("n1 = small(size_0);\n  const i64 n2 = small(size_1);\n  const i64 n3 = size_2;"),
            std::string::npos)
      << usual;
  EXPECT_NE(usual.find("short_div(n2 + 255, 256)"), std::string::npos) << usual;
  EXPECT_NE(any.find("floor_div(n2 + 255, 256)"), std::string::npos) << any;
  EXPECT_EQ(any.find("small("), std::string::npos) << any;
  TWINLOOM_NEEDS_NVRTC();
  const auto divides_64_bits = [](const std::string& text) {
    const std::string ptx = nvrtc().compile(text, "add", all_headers(), {"compute_90", {}}).bytes;
    return ptx.find("div.s64") != std::string::npos || ptx.find("div.u64") != std::string::npos;
  };
  EXPECT_FALSE(divides_64_bits(usual));
  EXPECT_TRUE(divides_64_bits(any));
}

// NVRTC 13.0 crashed where each of these quotients asked whether 32 bits do, and a failed index needs some.
TEST(Dialect, ManyQuotientsOfOneNumberAreCompiled) {
  TWINLOOM_NEEDS_NVRTC();
  constexpr std::string_view program = R"(program p(x: bf16[2807], index: i32[1125], y: written bf16[5625]) {
  for r < 38 block { for t < 2 thread { for k < 128 thread {
    index place = remainder(i64((index[45*floor_div(k, 15) + 9*floor_mod(2*r + t, 5) + 3*floor_mod(k, 3) +
      floor_mod(floor_div(2*r + t, 5), 3) + 225*floor_mod(floor_div(k, 3), 5)]
      if k < 75 && 2*r + t < 75 else 0: i32)), 5: i64) below 5 if k < 75 && 2*r + t < 75 node 8
    y[floor_div(2*r + t, 15) + 225*floor_div(k, 15) + 45*floor_mod(2*r + t, 5) + 15*floor_mod(k, 3) + place] =
      x[floor_div(2*r + t, 15) + 112*floor_div(k, 15) + 22*floor_mod(2*r + t, 5) + 7*floor_mod(k, 3) +
        2*floor_mod(floor_div(2*r + t, 5), 3) + 562*floor_mod(floor_div(k, 3), 5)] if k < 75 && 2*r + t < 75
  } } }
})";
  const std::string text = text_of(program, Handed::usual);
  EXPECT_EQ(text.find("floor_"), std::string::npos) << text;
  EXPECT_FALSE(nvrtc().compile(text, "p", all_headers(), {"compute_90", {}}).bytes.empty());
}

// Two instructions compare 64 bits. No branch either, which the loads of later iterations would not pass.
TEST(Dialect, MaskedElementsOfAThreadAreTheIdentity) {
  const std::string text = text_of(R"(program sums(x: f32[1024], y: written f32[32]) {
  for i < 1 block { for t < 32 thread {
    start t0: sum f32
    for k < 32 { merge t0 (x[32*t + k]) if 32*t + k < 1000 }
    y[t] = t0
  } }
})",
                                   Handed::usual);
  EXPECT_NE(text.find(" < 1000;"), std::string::npos) << text;
  EXPECT_NE(text.find("= i32("), std::string::npos) << text;
  EXPECT_NE(text.find(" : -0x0p+0f);"), std::string::npos) << text;
  EXPECT_EQ(text.find("if ("), std::string::npos) << text;
}

// A test of their addresses took two instructions, and eight stores stood behind it in place of four.
TEST(Dialect, RowsAtOddDistancesAreNotTestedForPackedAccess) {
  const std::string text =
      text_of(R"(program rows(x: f32[1024], y: written f32[1024], kept: local written f32[1056]) {
  for i < 1 block { scratch kept[1056] in scratch {
    for t < 32 thread { for k < 8 { for j < 4 vector { kept[33*t + 4*k + j] = x[32*t + 4*k + j] } } }
    sync
    for t < 32 thread { for k < 8 { for j < 4 vector { y[32*t + 4*k + j] = kept[33*t + 4*k + j] } } }
  } }
})",
              Handed::usual);
  EXPECT_NE(text.find("store_apart("), std::string::npos) << text;
  EXPECT_NE(text.find("load_apart<4>("), std::string::npos) << text;
  TWINLOOM_NEEDS_NVRTC();
  const std::string ptx = nvrtc().compile(text, "rows", all_headers(), {"compute_90", {}}).bytes;
  EXPECT_EQ(ptx.find("st.shared.v4"), std::string::npos) << ptx;
}

// Rows of five: only every fourth starts at a multiple of 16 bytes.
TEST(Dialect, OffsetsThatAreNoMultiplesAreNotSaidToBePacked) {
  const std::string text = text_of(R"(program rows(x: f32[40], y: written f32[40]) {
  for i < 8 block { for j < 4 vector { y[5*i + j] = x[5*i + j] } }
})",
                                   Handed::usual);
  EXPECT_EQ(text.find("_packed"), std::string::npos) << text;
}

// A load would wait for the stores before it.
TEST(Dialect, OffsetsAreMultiplesWhereADivisorOfASizeSaysSo) {
  const auto rows = [](const std::string& size) {
    return text_of(cat("program copy(x: f32[m*n], y: written f32[m*n]; m in 1.., n in ", size,
                       ") { for i < m block { for j < 32 thread { for k < 4 vector { y[i*n + 4*j + k] = "
                       "(x[i*n + 4*j + k] "
                       "if 4*j < n else 0x0p+0:f32) if 4*j < n } } } }"),
                   Handed::usual);
  };
  EXPECT_NE(rows("1..128 % 4").find("load_packed_if("), std::string::npos);
  EXPECT_NE(rows("1..128 % 4").find("store_packed("), std::string::npos);
  EXPECT_EQ(rows("1..128 % 2").find("_packed"), std::string::npos);
}

TEST(Dialect, LoadsOfAllTurnsOfAnUnrolledLoopComeFirst) {
  const std::string text = text_of(R"(program twice(x: f32[2048], y: written f32[2048]) {
  for i < 2 block { for u < 2 unroll { for j < 4 vector { y[8*i + 4*u + j] = exp(x[8*i + 4*u + j]) } } }
})");
  const std::size_t second = text.find("load<4>", text.find("load<4>") + 1);
  EXPECT_LT(second, text.find("exp(")) << text;
  EXPECT_EQ(text.find("load<4>", second + 1), std::string::npos) << text;
}

// Members of eight threads each: a member's neighbour is eight lanes away.
TEST(Dialect, MembersOfSeveralThreadsExchangeWithTheSameThreadOfAnother) {
  const std::string text = text_of(R"(program columns(x: i32[32], y: written i32[8]) {
  start t0: sum i32 copies (w, k)
  for w < 4 thread { for k < 8 thread { merge t0 (x[8*w + k]) } }
  combine t0 across w halves
  for k < 8 thread { y[k] = t0 }
})");
  EXPECT_NE(text.find("{ const i64 k2 = thread / 8;"), std::string::npos) << text;
  EXPECT_NE(text.find("{ const i64 k3 = thread % 8;"), std::string::npos) << text;
  const std::size_t first = text.find("from_lane_across(t1, 16)"),
                    second = text.find("from_lane_across(t1, 8)");
  EXPECT_LT(first, second) << text;
  EXPECT_NE(second, std::string::npos) << text;
  for (const char* other : {"from_lane_across(t1, 4)", "from_lane_across(t1, 2)", "from_lane_across(t1, 1)"})
    EXPECT_EQ(text.find(other), std::string::npos) << text;
}

// Four lanes of eight threads: two exchanges, one and one, then one for each halving that lies between
// threads.
TEST(Dialect, LanesAreHandedOverByHalves) {
  const std::string text = text_of(R"(program sum(x: i32[32], y: written i32[1]) {
  start t0: sum i32 copies (k, v)
  for k < 8 thread { for v < 4 vector { merge t0 (x[4*k + v]) } }
  combine t0 across k halves
  combine t0 across v halves
  y[0] = t0
})");
  const auto count = [&](std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("from_lane_across("), 6u) << text;
  EXPECT_EQ(count(", 4);"), 3u) << text;
  EXPECT_EQ(count("(thread & 4) != 0"), 1u) << text;
  EXPECT_EQ(count("(thread & 2) != 0"), 1u) << text;
  EXPECT_EQ(count("(thread & 1) != 0"), 0u) << text;
}

TEST(Dialect, AThreadGivesTheLanesThatTheOtherGoesOnWith) {
  const std::string text = text_of(R"(program sum(x: i32[8], y: written i32[1]) {
  start t0: sum i32 copies (k, v)
  for k < 4 thread { for v < 2 vector { merge t0 (x[2*k + v]) } }
  combine t0 across k halves
  combine t0 across v halves
  y[0] = t0
})");
  EXPECT_NE(text.find(R"(  const bool m6 = (thread & 2) != 0;
  const i32 t7 = m6 ? t1_1 : t1_0;
  const i32 t8 = m6 ? t1_0 : t1_1;
  const i32 t9 = from_lane_across(t8, 2);
  const i32 t10 = sum(t7, t9);
  const i32 t11 = from_lane_across(t10, 1);
  const i32 t12 = sum(t10, t11);
  const i32 t13 = from_lane_across(t12, 2);
  const i32 t14 = sum(t12, t13);
  t5 = t14;
)"),
            std::string::npos)
      << text;
}

// The second loop has more threads than the first: those beyond are told the total too.
TEST(Dialect, ATotalIsHandedToThreadsThatHaveNoPartInIt) {
  const std::string text = text_of(R"(program row(x: f32[16], y: written f32[32]) {
  start t0: sum f32 copies (k)
  for k < 16 thread { merge t0 (x[k]) }
  combine t0 across k halves
  for j < 32 thread { y[j] = t0 }
})");
  EXPECT_NE(text.find("if (const i64 k2 = thread; k2 < 16) {"), std::string::npos) << text;
  EXPECT_NE(text.find("from_lane_across(t1, 8)"), std::string::npos) << text;
  EXPECT_EQ(text.find("from_lane_across(t1, 16)"), std::string::npos) << text;
  EXPECT_NE(text.find("t1 = from_lane(t1, int(thread % 32 / 32 * 32));"), std::string::npos) << text;
}

int waits_of(const std::string& text) {
  constexpr std::string_view wait = "__syncthreads();";
  int waits = 0;
  for (std::size_t at = 0; (at = text.find(wait, at)) != std::string::npos; at += wait.size()) ++waits;
  return waits;
}

// More threads than a warp has: through scratch, with a wait before it is read.
TEST(Dialect, WarpsExchangeTheirTotalsThroughScratch) {
  const std::string text = text_of(R"(program row(x: f32[256], y: written f32[1]) {
  start t0: sum f32 copies (k)
  for k < 256 thread { merge t0 (x[k]) }
  combine t0 across k halves
  y[0] = t0
})");
  EXPECT_NE(text.find("__shared__ f32 t"), std::string::npos) << text;
  EXPECT_LT(text.find("[thread] = "), text.find("__syncthreads();")) << text;
  EXPECT_EQ(waits_of(text), 1) << text;
}

// It is written again in the next turn of a loop: after another wait, where nothing else is waited for.
TEST(Dialect, WarpsThatExchangeAgainWaitInBetween) {
  constexpr std::string_view head = "program row(x: f32[2048], y: written f32[16]) { for i < 8 {";
  const std::string total = R"(
  start t0: sum f32 copies (k)
  for k < 256 thread { merge t0 (x[256*i + k]) }
  combine t0 across k halves
  y[i] = t0)";
  const std::string other = R"(
  start t1: sum f32 copies (j)
  for j < 256 thread { merge t1 (mul(x[256*i + j], t0)) }
  combine t1 across j halves
  y[8 + i] = t1)";
  EXPECT_EQ(waits_of(text_of(cat(head, total, "}}"))), 2);
  EXPECT_EQ(waits_of(text_of(cat(head, total, other, "}}"))), 2);
  EXPECT_EQ(waits_of(text_of(cat(head, total, "\nfor l < 2 {", other, "}}}"))), 4);
  EXPECT_EQ(waits_of(text_of(cat(head, total, "\nsync }}"))), 2);
}

// Totals across the same threads are waited for once.
TEST(Dialect, WarpsExchangeNeighbouringTotalsTogether) {
  const std::string text = text_of(R"(program row(x: f32[2048], y: written f32[16]) {
  for i < 8 {
    start t0: sum f32 copies (k)
    start t1: max f32 copies (k)
    for k < 256 thread { merge t0 (x[256*i + k]) merge t1 (x[256*i + k]) }
    combine t0 across k halves
    combine t1 across k halves
    y[i] = t0
    y[8 + i] = t1
  }
})");
  EXPECT_EQ(waits_of(text), 2) << text;
  EXPECT_LT(text.rfind("[thread] = "), text.find("__syncthreads();")) << text;
}

// The loads of all turns that a thread writes out stand before its first store.
TEST(Dialect, AThreadLoadsForAllTurnsAtOnce) {
  const std::string text = text_of(R"(program row(x: f32[512], y: written f32[512]) {
  for u < 4 unroll { for k < 128 thread { t0 = mul(x[128*u + k], x[128*u + k]) y[128*u + k] = add(t0, t0) } }
})");
  EXPECT_EQ(text.find("const i64 k", text.find("const i64 k") + 1), std::string::npos) << text;
  EXPECT_LT(text.find("p2 + 384"), text.find(" = v")) << text;
}

// Warps that still have totals of their own are not told the first one's.
TEST(Dialect, ATotalIsHandedOutOnlyWhereNoOtherCopiesAreLeft) {
  const std::string text = text_of(R"(program row(x: i32[256], y: written i32[1]) {
  start t0: sum i32 copies (w, k)
  for w < 8 thread { for k < 32 thread { merge t0 (x[32*w + k]) } }
  combine t0 across k halves
  combine t0 across w halves
  y[0] = t0
})");
  const std::size_t in_warp = text.find("from_lane_across(t1, 1)"), scratch = text.find("__shared__");
  EXPECT_NE(in_warp, std::string::npos) << text;
  EXPECT_GT(scratch, in_warp) << text;
  EXPECT_NE(text.find("[8];", scratch), std::string::npos) << text;
  EXPECT_EQ(text.find("[1];", scratch), std::string::npos) << text;
}

// Units of so many threads each, beside a loop of all 128.
TEST(Dialect, ThreadsDoNotWaitForThoseThatNeverCome) {
  const auto said_of = [](int units, int threads) {
    const std::string count = cat(threads);
    const std::string program =
        cat("program p(x: i32[128], y: written i32[128]) { start t0: sum i32 copies (u)\n for u < ", units,
            " thread { start t1: sum i32 copies (k) for k < ", count, " thread { merge t1 (x[", count,
            "*u + k]) }\n combine t1 across k halves merge t0 (t1) }\n combine t0 across u neighbours "
            "for i < 128 thread { y[i] = t0 } }");
    return tests::words_of<Bug>([&] { text_of(program); });
  };
  EXPECT_EQ(said_of(2, 32), tests::NOTHING_THROWN);
  EXPECT_EQ(said_of(4, 16), tests::NOTHING_THROWN);
  EXPECT_EQ(said_of(2, 64), tests::NOTHING_THROWN);
  EXPECT_NE(
      said_of(1, 64).find("threads combine across k where only 64 of them are, and would wait for the block"),
      std::string::npos);
  EXPECT_NE(said_of(2, 8).find("threads combine across k where only 16 of a warp are"), std::string::npos);
}

std::string bounds_of(std::string_view program) {
  const std::string text = text_of(program);
  const std::size_t begin = text.find("__launch_bounds__(");
  return text.substr(begin, text.find(')', begin) + 1 - begin);
}

// Of elements that come by rising places none takes the place of an equal one before it.
TEST(Dialect, PlacesThatRiseAreNotCompared) {
  const auto text = [](std::string_view place) {
    return text_of(
        cat("program row(x: f32[8192], y: written i64[1]) {\n  start t0: argmax f32 copies (k)\n",
            "  for i < 8 { for j < 4 { for k < 256 thread { merge t0 (x[1024*i + 256*j + k], count(", place,
            ")) } } }\n  combine t0 across k halves\n  y[0] = t0.1\n}"));
  };
  EXPECT_NE(text("1024*i + 256*j + k").find("argmax_after("), std::string::npos);
  EXPECT_EQ(text("256*i + 2048*j + k").find("argmax_after("), std::string::npos)
      << "not in the order of the loops";
  EXPECT_EQ(text("512*i + 256*j + k").find("argmax_after("), std::string::npos) << "j passes the next i";
}

// What is rounded and bounded before it becomes a short integer is converted by one instruction and bounded
// after it; a NaN gives 0, so that the bounds must hold 0.
TEST(Dialect, RoundedWithinBoundsIsConvertedAtOnce) {
  const auto text = [](std::string_view value) {
    return text_of(
        cat("program p(x: f32[256], y: written i8[256]) { for k < 256 thread { y[k] = i8(", value, ") } }"));
  };
  const std::string both = text("minimum(maximum(round(x[k]), -0x1p+7:f32), 0x1.fcp+6:f32)");
  EXPECT_NE(both.find("rounded_within<i8>("), std::string::npos) << both;
  EXPECT_NE(both.find(", -128, 127)"), std::string::npos) << both;
  const std::string wide = text("maximum(minimum(round(x[k]), 0x1p+9:f32), -0x1p+6:f32)");
  EXPECT_NE(wide.find(", -64, 127)"), std::string::npos) << wide;
  for (const char* other :
       {"minimum(maximum(round(x[k]), 0x1p+0:f32), 0x1.fcp+6:f32)", "minimum(round(x[k]), 0x1p+6:f32)",
        "minimum(maximum(round(x[k]), -0x1.8p+0:f32), 0x1.fcp+6:f32)"})
    EXPECT_EQ(text(other).find("rounded_within"), std::string::npos) << other;
  TWINLOOM_NEEDS_NVRTC();
  EXPECT_EQ(nvrtc().compile(both, "both", all_headers(), {"sm_90a", {}}).log, "");
}

// Registers for loads on their way, where threads walk an axis for a total. Rows in registers, and what has
// no total, are left to ptxas.
TEST(Dialect, KernelsWithTotalsAreCompiledForFewerThreads) {
  EXPECT_EQ(bounds_of(R"(program row(x: f32[65536], y: written f32[1]) {
  start t0: sum f32 copies (k)
  for i < 256 { for k < 256 thread { merge t0 (x[256*i + k]) } }
  combine t0 across k halves
  y[0] = t0
})"),
            "__launch_bounds__(256, 4)");
  const auto columns = [](int threads) {
    return bounds_of(
        cat("program columns(x: f32[65536], y: written f32[128]) { for k < ", threads,
            " thread { start t0: sum f32 for i < 512 { merge t0 (x[128*i + k]) } y[k] = t0 } }"));
  };
  EXPECT_EQ(columns(128), "__launch_bounds__(128, 4)");
  EXPECT_EQ(columns(8), "__launch_bounds__(8)");
  EXPECT_EQ(bounds_of(R"(program many(x: f32[65536], y: written f32[1]) {
  start t0: argmax f32 copies (u, k)
  for u < 16 unroll { for k < 256 thread { merge t0 (x[256*u + k], count(256*u + k)) } }
  combine t0 across u halves
  combine t0 across k halves
  y[0] = t0
})"),
            "__launch_bounds__(256)");
  const auto many_totals = [](std::string_view other) {
    return bounds_of(cat(R"(program columns(x: f32[2097152], z: f32[2097152], y: written f32[256]) {
  for k < 256 thread {
    start t0: sum f32 copies (u)
    for i < 64 { for u < 128 unroll { merge t0 (mul(x[32768*i + 256*u + k], )",
                         other, R"()) } }
    combine t0 across u halves
    y[k] = t0
  }
})"));
  };
  EXPECT_EQ(many_totals("z[32768*i + 256*u + k]"), "__launch_bounds__(256, 1)")
      << "all loads of an iteration are on their way, not one pair after the other";
  EXPECT_EQ(many_totals("x[32768*i + 256*u + k]"), "__launch_bounds__(256)");
  EXPECT_EQ(many_totals("z[k]"), "__launch_bounds__(256)") << "the same for all iterations";
  EXPECT_EQ(bounds_of(R"(program kept(x: f32[1024], y: written f32[1024], row: local written f32[8]) {
  scratch row[8] in registers {
    start t0: sum f32 copies (k)
    for u < 8 unroll { for k < 128 thread { row[u] = x[128*u + k] merge t0 (row[u]) } }
    combine t0 across k halves
    for u < 8 unroll { for k < 128 thread { y[128*u + k] = mul(row[u], t0) } }
  }
})"),
            "__launch_bounds__(128)");
  EXPECT_EQ(bounds_of("program twice(x: f32[256], y: written f32[256]) { for k < 256 thread { y[k] = "
                      "add(x[k], x[k]) } }"),
            "__launch_bounds__(256)");
}

// 25 elements of which a thread has some: 32 lanes are never all inside, and an access of 32 would have the
// array lie in memory.
TEST(Dialect, ArraysOfFewerElementsThanLanesStayInRegisters) {
  const std::string text =
      text_of(R"(program rows(x: f32[6272], y: written f32[6272], row: local written f32[25]) {
  scratch row[25] in registers {
    for k < 128 thread {
      for u < 32 vector { row[u] = (x[128*u + k] if 2*u + floor_div(k, 64) < 49 else 0x0p+0: f32) if 2*u + floor_div(k, 64) < 49 }
      for u < 32 vector { y[128*u + k] = (row[u] if 2*u + floor_div(k, 64) < 49 else 0x0p+0: f32) if 2*u + floor_div(k, 64) < 49 }
    }
  }
})");
  EXPECT_NE(text.find("store_first_of<24, 25>(a2, "), std::string::npos) << text;
  EXPECT_NE(text.find("load_first_of<32, 24, 25>(a2, "), std::string::npos) << text;
  EXPECT_NE(text.find("first_lanes<32, 24, 25>("), std::string::npos) << text;
  EXPECT_EQ(text.find("store_first("), std::string::npos) << text;
  TWINLOOM_NEEDS_NVRTC();
  EXPECT_EQ(nvrtc().compile(text, "rows", all_headers(), {"sm_90a", {}}).log, "");
}

// 64 warps are four blocks: what each warp has is sent to all of them, of which a lane combines two
// neighbours.
TEST(Dialect, ThreadsOfSeveralBlocksSendEachOtherTheirTotals) {
  const loops::Program program = loops::parse(R"(program rows(x: f32[5*2048], y: written f32[5]) {
  for i < 5 block {
    start t0: sum f32 copies (u)
    for u < 64 thread {
      start t1: sum f32 copies (k)
      for k < 32 thread { merge t1 (x[2048*i + 32*u + k]) }
      combine t1 across k halves
      merge t0 (t1)
    }
    combine t0 across u neighbours
    y[i] = t0
  }
})");
  const std::string text = emit::emit(program, CudaDialect(Handed::any));
  for (const std::string_view words :
       {"__launch_bounds__(512, 2) __cluster_dims__(4, 1, 1) twinloom_rows(", "= blockIdx.x / 4;",
        "const i64 thread = Exchanges::block() * 512 + threadIdx.x;", "exchanges.receive(256);",
        "if (thread % 32 == 0) for (int block = 0; block < 4; ++block) exchanges.send(&",
        "[thread % 32 * 2 + 1]"})
    EXPECT_NE(text.find(words), std::string::npos) << words << " is not in\n" << text;
  EXPECT_EQ(text.find("__syncthreads"), std::string::npos) << text;
  EXPECT_EQ(block_threads(program), 512);
  EXPECT_EQ(block_count(program, 132), index::Expr(20));
}

// ptxas 13.0 needs it so: see held().
TEST(Dialect, ABoundOfALoopThatIsKnownWhenItRunsIsHeld) {
  const std::string text = text_of(R"(program rows(ends: i64[8], x: f32[100], y: written f32[8]) {
  for i < 8 block {
    index x0 = ends[i] below 101
    start t0: sum f32
    for r < x0 { merge t0 (x[r]) }
    for s < 4 { merge t0 (x[s]) }
    y[i] = t0
  }
})");
  EXPECT_NE(text.find("for (i64 k6 = 0, end_k6 = held(s4.place); k6 < end_k6; ++k6) {"), std::string::npos)
      << text;
  EXPECT_NE(text.find("for (i64 k9 = 0; k9 < 4; ++k9) {"), std::string::npos) << text;
}

}  // namespace

}  // namespace twinloom::cuda
