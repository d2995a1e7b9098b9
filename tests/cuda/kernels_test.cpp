// What is chosen for an H200 becomes CUDA that NVRTC takes: every nest of the tests of schedules.
#include <gtest/gtest.h>

#include "backends/cuda/translate.h"
#include "core/base/text.h"
#include "core/emit/emit.h"
#include "core/machine/gpu.h"
#include "core/schedule/schedule.h"
#include "tests/cuda/compiler.h"
#include "tests/schedule/nests.h"

namespace twinloom::cuda {

namespace {

// How many programs are chosen, all of which NVRTC takes.
std::size_t expect_taken(std::string_view nest_text) {
  static const Translator translator("sm_90a");
  const loops::Program nest = loops::parse(nest_text);
  const auto programs = schedule::apply(nest, schedule::choose(nest, machine::h200()));
  for (const loops::Program& program : programs) {
    for (const Handed handed : {Handed::usual, Handed::any}) {
      const KernelText text = translator.text(program, handed);
      EXPECT_FALSE(translator.object(text, program.name).empty()) << text.source;
    }
    EXPECT_LE(emit::block_shape(program).threads, machine::h200().max_threads);
  }
  return programs.size();
}

class Kernels : public testing::TestWithParam<std::size_t> {};

TEST_P(Kernels, NvrtcTakesWhatIsChosen) {
  TWINLOOM_NEEDS_NVRTC();
  expect_taken(tests::nest_cases()[GetParam()].text);
}

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
  return std::string(tests::nest_cases()[info.param].name);
}
INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::Range(std::size_t{0}, tests::nest_cases().size()), name_of);

// Rows that several blocks keep.
TEST(Kernels, NvrtcTakesClusters) {
  TWINLOOM_NEEDS_NVRTC();
  EXPECT_EQ(expect_taken(R"(program softmax(x: f32[4096*100000], y: written f32[4096*100000]) {
  for i < 4096 {
    start t0: max f32
    for k < 100000 { t0 += x[100000*i + k] at k }
    start t1: sum f32
    for k1 < 100000 { t1 += exp(sub(x[100000*i + k1], t0)) at k1 }
    for k2 < 100000 { y[100000*i + k2] = div(exp(sub(x[100000*i + k2], t0)), t1) }
  }
})"),
            1u);
}

// By the shape of a scan: one long row, few long columns, short rows, of several totals.
TEST(KernelsOfScans, NvrtcTakesWhatIsChosen) {
  TWINLOOM_NEEDS_NVRTC();
  constexpr std::size_t SPLIT = 3;  // programs
  EXPECT_EQ(expect_taken(R"(program flat(x: f16[3000001], y: written f16[3000001]) {
  start t0: sum f32 for k < 3000001 { scan t1 = t0 (f32(x[k])) at k y[k] = f16(t1) } })"),
            SPLIT);
  EXPECT_EQ(expect_taken(R"(program columns(x: f64[40*70000], y: written f64[40*70000]) {
  for i < 40 { start t0: prod f64 for k < 70000 { scan t1 = t0 (x[40*k + i]) at k exclusive y[40*k + i] = t1 } } })"),
            SPLIT);
  EXPECT_EQ(
      expect_taken(R"(program short(x: bf16[72*5001], y: written f32[72*5001], z: written i64[72*5001]) {
  for i < 5001 { start t0: argmax_last f32 start t2: sum f32 for k < 72 {
    scan t1 = t0 (f32(x[72*i + k]), count(k)) at k scan t3 = t2 (f32(x[72*i + k])) at k exclusive
    y[72*i + k] = add(t1, t3) z[72*i + k] = t1.1 } } })"),
      1u);
}

// What profilers show is what the machine code's function is called; a kernel's number is no part of it, nor
// of the key.
TEST(KernelsInProfilers, AreNamedAfterWhatTheyDo) {
  TWINLOOM_NEEDS_NVRTC();
  const Translator translator("sm_90a");
  const auto text_of = [&](std::string_view name, std::string_view buffer) {
    return translator.text(
        loops::parse(cat("program ", name, "(", buffer, ": f32[64], y: written f32[64]) { for i < 64 ",
                         "thread { y[i] = exp(", buffer, "[i]) } }")),
        Handed::usual);
  };
  const KernelText text = text_of("k3_exp", "x");
  EXPECT_NE(text.source.find("void __launch_bounds__(64) twinloom_exp("), std::string::npos) << text.source;
  EXPECT_NE(translator.object(text, "k3_exp").find(".text.twinloom_exp"), std::string::npos);
  EXPECT_EQ(text_of("k17_exp", "mul_4").key, text.key);
  EXPECT_NE(text_of("k3_exp_add", "x").key, text.key);
}

// Of 1,024 threads a multiprocessor each has 64 registers, of 256 a block 255.
TEST(KernelsThatSpill, AreCompiledWithoutABoundOnBlocks) {
  TWINLOOM_NEEDS_NVRTC();
  const Translator translator("sm_90a");
  const auto wide = [](const char* bounds, bool keeps_bound = false) {
    constexpr const char* BODY = R"() twinloom_wide(float* x) {
  float values[96];
  for (int i = 0; i < 96; ++i) values[i] = x[256 * i + threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 96; ++i) x[256 * i + threadIdx.x] = values[95 - i] * x[i];
}
)";
    return KernelText{{cat("extern \"C\" __global__ void __launch_bounds__(", bounds, BODY), {}},
                      keeps_bound};
  };
  EXPECT_EQ(translator.object(wide("256, 4"), "wide"), translator.object(wide("256"), "wide"));
  EXPECT_NE(translator.object(wide("256, 4", true), "wide"), translator.object(wide("256"), "wide"));
  EXPECT_NE(translator.object(wide("256, 2"), "wide"), translator.object(wide("256"), "wide"));
}

}  // namespace

}  // namespace twinloom::cuda
