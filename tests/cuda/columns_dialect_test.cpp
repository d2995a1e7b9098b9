// How totals of rows that lie beside each other become one, where the threads of a row are far apart.
#include <gtest/gtest.h>

#include "backends/cuda/dialect.h"
#include "backends/cuda/launch_bounds.h"
#include "core/base/text.h"
#include "core/emit/emit.h"

namespace twinloom::cuda {

namespace {

std::string text_of(std::string_view program) {
  return emit::emit(loops::parse(program), CudaDialect(Handed::any));
}

// Neighbouring threads have neighbouring rows, 64 of them: those of a row are 64 apart, and meet in scratch.
TEST(Dialect, ThreadsFarApartCombineTheTotalsOfTheirOwnRows) {
  const std::string text = text_of(R"(program columns(x: i32[256], y: written i32[64]) outermost_fastest {
  for i < 64 thread {
    start t0: sum i32 copies (k)
    for k < 4 thread { merge t0 (x[64*k + i]) }
    combine t0 across k halves
    y[i] = t0
  }
})");
  for (const char* part :
       {"__launch_bounds__(256, 4)", "{ const i64 k1 = thread % 64;", "{ const i64 k3 = thread / 64;",
        "t7[thread] = t2;", "t8[3] = t7[thread / 256 * 256 + 192 + thread % 64];",
        "t8[0] = sum(t8[0], t8[2]);", "if (thread / 64 == 0) {"})
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  EXPECT_EQ(text.find("from_lane"), std::string::npos) << text;
}

// Two rows that lie side by side are loaded at once, and what their threads have meets lane by lane.
TEST(Dialect, ThreadsFarApartTakeRowsSideBySide) {
  const std::string text = text_of(R"(program columns(x: f32[512], y: written f32[128]) outermost_fastest {
  for i < 64 thread {
    for j < 2 vector {
      start t0: sum f32 copies (k)
      for k < 4 thread { merge t0 (x[128*k + 2*i + j]) }
      combine t0 across k halves
      y[2*i + j] = t0
    }
  }
})");
  for (const char* part : {"__launch_bounds__(256, 4)", "load<2>(p5)", "t8_0[0] = t8_0[0] + t8_0[2]",
                           "t8_1[0] = t8_1[0] + t8_1[2]", "store(p10"})
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
}

// Columns of products: the loads of an iteration go ahead of its sums with all registers of a multiprocessor;
// those of one buffer, or of rows, do with a share.
TEST(Dialect, ColumnsOfProductsHaveAllRegisters) {
  const auto bounds_of = [](std::string_view value, std::string_view numbering) {
    const std::string text =
        text_of(cat("program columns(x: f32[4096], w: f32[4096], y: written f32[64]) ", numbering, R"( {
  for i < 64 thread {
    start t0: sum f32 copies (k)
    for c < 16 { for k < 4 thread { merge t0 ()",
                    value, R"() } }
    combine t0 across k halves
    y[i] = t0
  }
})"));
    const std::size_t begin = text.find("__launch_bounds__");
    return text.substr(begin, text.find(')', begin) + 1 - begin);
  };
  constexpr std::string_view product = "mul(x[256*c + 64*k + i], w[256*c + 64*k + i])";
  EXPECT_EQ(bounds_of(product, "outermost_fastest"), "__launch_bounds__(256, 1)");
  EXPECT_EQ(bounds_of(product, ""), "__launch_bounds__(256, 4)");
  EXPECT_EQ(bounds_of("x[256*c + 64*k + i]", "outermost_fastest"), "__launch_bounds__(256, 4)");
}

// Without the count a block of all registers has no more of them: nothing to compile a second time.
TEST(Dialect, ABoundIsLeftOutWhereThatGivesRegisters) {
  EXPECT_EQ(without_block_count("void __launch_bounds__(256, 4) f()"), "void __launch_bounds__(256) f()");
  EXPECT_EQ(without_block_count("void __launch_bounds__(256, 16) f()"), "void __launch_bounds__(256) f()");
  EXPECT_EQ(without_block_count("void __launch_bounds__(512, 1) f()"), "");
  EXPECT_EQ(without_block_count("void __launch_bounds__(512) f()"), "");
}

// 16 rows: two members in a warp exchange registers after the four warps have met.
TEST(Dialect, ThreadsFarApartExchangeWithinAWarpAtLast) {
  const std::string text = text_of(R"(program columns(x: i32[128], y: written i32[16]) outermost_fastest {
  for i < 16 thread {
    start t0: sum i32 copies (k)
    for k < 8 thread { merge t0 (x[16*k + i]) }
    combine t0 across k halves
    y[i] = t0
  }
})");
  const std::size_t met = text.find("t8[3] = t7[thread / 128 * 128 + 96 + thread % 32];"),
                    exchanged = text.find("from_lane_across(t2, 16)");
  EXPECT_NE(met, std::string::npos) << text;
  EXPECT_LT(met, exchanged) << text;
  EXPECT_NE(exchanged, std::string::npos) << text;
  EXPECT_EQ(text.find("from_lane_across(t2, 8)"), std::string::npos) << text;
}

}  // namespace

}  // namespace twinloom::cuda
