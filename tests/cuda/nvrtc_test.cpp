// Texts become machine code, and what NVRTC refuses is said with the lines it speaks of.
#include <gtest/gtest.h>
#include <thread>

#include "tests/cuda/compiler.h"

namespace twinloom::cuda {
namespace {

constexpr const char* KERNEL =
    "extern \"C\" __global__ void kernel(float* x) { x[threadIdx.x] *= FACTOR; }\n";

TEST(Nvrtc, MakesMachineCodeAndPtx) {
  TWINLOOM_NEEDS_NVRTC();
  EXPECT_GE(nvrtc().version().major, 12);
  const Compiled cubin = nvrtc().compile(KERNEL, "half", {}, {"sm_90a", {"-DFACTOR=0.5f"}});
  EXPECT_TRUE(cubin.bytes.starts_with("\177ELF")) << cubin.bytes.size();
  EXPECT_EQ(cubin.log, "");
  const Compiled ptx = nvrtc().compile(KERNEL, "half", {}, {"compute_90", {"-DFACTOR=0.5f"}});
  EXPECT_NE(ptx.bytes.find(".target sm_90"), std::string::npos) << ptx.bytes;
}

TEST(Nvrtc, HeadersAreTexts) {
  TWINLOOM_NEEDS_NVRTC();
  const std::vector<Header> headers = {{"folder/factor.h", "#define FACTOR 2.0f\n"}};
  const std::string text = cat("#include \"folder/factor.h\"\n", KERNEL);
  EXPECT_FALSE(nvrtc().compile(text, "twice", headers, {"sm_90a", {}}).bytes.empty());
}

TEST(Nvrtc, AWarningIsInTheLog) {
  TWINLOOM_NEEDS_NVRTC();
  const Compiled taken = nvrtc().compile("extern \"C\" __global__ void kernel() { int unused = 1; }\n",
                                         "warned", {}, {"sm_90a", {}});
  EXPECT_NE(taken.log.find("warned.cu(1): warning"), std::string::npos) << taken.log;
}

// 64 values of each of 1,024 threads, of which a multiprocessor has registers for half as many or a quarter.
constexpr const char* WIDE = R"(extern "C" __global__ void __launch_bounds__(BOUNDS) kernel(float* x) {
  float values[64];
  for (int i = 0; i < 64; ++i) values[i] = x[1024 * i + threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 64; ++i) x[1024 * i + threadIdx.x] = values[63 - i] * x[i];
}
)";

TEST(Nvrtc, SaysWhereRegistersAreSpilled) {
  TWINLOOM_NEEDS_NVRTC();
  const auto spills = [](const char* bounds) {
    return nvrtc().compile(WIDE, "wide", {}, {"sm_90a", {cat("-DBOUNDS=", bounds)}}).spills;
  };
  EXPECT_TRUE(spills("1024"));
  EXPECT_FALSE(spills("256"));
  EXPECT_TRUE(spills("256, 8"));
}

TEST(Nvrtc, ARefusedTextIsABug) {
  TWINLOOM_NEEDS_NVRTC();
  try {
    nvrtc().compile("\nextern \"C\" __global__ void kernel() { nowhere(); }\n", "refused", {},
                    {"sm_90a", {}});
    FAIL();
  } catch (const Bug& bug) {
    const std::string words = bug.what();
    EXPECT_TRUE(words.starts_with("NVRTC refuses the text 'refused' for sm_90a: ")) << words;
    EXPECT_NE(words.find("refused.cu(2): error: identifier \"nowhere\" is undefined"), std::string::npos)
        << words;
    EXPECT_NE(words.find("2  extern \"C\" __global__ void kernel() { nowhere(); }"), std::string::npos)
        << words;
  }
}

TEST(Nvrtc, ThreadsCompileAtOnce) {
  TWINLOOM_NEEDS_NVRTC();
  const auto compile = [](const char* factor) {
    return nvrtc().compile(KERNEL, "kernel", {}, {"sm_90a", {factor}}).bytes;
  };
  const std::string first = compile("-DFACTOR=3.0f"), second = compile("-DFACTOR=5.0f");
  std::string threaded[2];
  std::thread one([&] { threaded[0] = compile("-DFACTOR=3.0f"); });
  std::thread two([&] { threaded[1] = compile("-DFACTOR=5.0f"); });
  one.join();
  two.join();
  EXPECT_TRUE(threaded[0] == first && threaded[1] == second && first != second);
}

}  // namespace
}  // namespace twinloom::cuda
