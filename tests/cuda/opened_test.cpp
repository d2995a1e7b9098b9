// Which libraries are taken for the NVIDIA driver and NVRTC, and what is said of the others.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/driver.h"
#include "backends/cuda/nvrtc.h"

namespace twinloom::cuda {
namespace {

// Beside the folder of this program, in a build and in the bundle.
std::string stand_ins() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "stand_ins").string();
}

template <class Open>
std::string failure(const Open& open, const std::vector<std::string>& names) {
  try {
    return cat("opened ", open({names, {stand_ins()}}).path());
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Opened, ADriverThatIsTooOldIsSaidWithItsVersion) {
  EXPECT_EQ(failure(open_driver, {"libold_driver.so"}),
            cat("the NVIDIA driver (for CUDA 12.0 or newer) was not found; looked for:\n"
                "  libold_driver.so (the loader's own search)\n  ",
                stand_ins(), "/libold_driver.so (is for CUDA 11.4)"));
}

TEST(Opened, EveryFunctionThatADriverLacksIsNamed) {
  const std::string words = failure(open_driver, {"libpart_of_driver.so"});
  EXPECT_NE(words.find(cat(stand_ins(), "/libpart_of_driver.so (has no function 'cuGetErrorName', '")),
            std::string::npos)
      << words;
#define NAMED(name, symbol)                                                                            \
  {                                                                                                    \
    const std::string_view text = symbol;                                                              \
    const bool missing = text != "cuInit" && text != "cuDriverGetVersion";                             \
    EXPECT_EQ(words.find(cat("'", text, "'")) != std::string::npos, missing) << text << "\n" << words; \
  }
  TWINLOOM_DRIVER_FUNCTIONS(NAMED)
#undef NAMED
}

TEST(Opened, ADriverOfCuda12IsTakenBehindOneThatIsTooOld) {
  EXPECT_EQ(failure(open_driver, {"libold_driver.so", "libpart_of_driver.so", "libdriver.so"}),
            cat("opened ", stand_ins(), "/libdriver.so"));
}

TEST(Opened, AnNvrtcThatIsTooOldIsSaidWithItsVersion) {
  EXPECT_EQ(failure(open_nvrtc, {"libold_nvrtc.so", "libdriver.so"}),
            cat("NVRTC (version 12 or newer) was not found; looked for:\n"
                "  libold_nvrtc.so (the loader's own search)\n"
                "  libdriver.so (the loader's own search)\n  ",
                stand_ins(), "/libold_nvrtc.so (is version 11.2)\n  ", stand_ins(),
                "/libdriver.so (has no function 'nvrtcVersion', 'nvrtcGetErrorString', 'nvrtcCreateProgram', "
                "'nvrtcCompileProgram', 'nvrtcDestroyProgram', 'nvrtcGetProgramLogSize', "
                "'nvrtcGetProgramLog', 'nvrtcGetCUBINSize', 'nvrtcGetCUBIN', 'nvrtcGetPTXSize', "
                "'nvrtcGetPTX')"));
}

TEST(Opened, WhatLiesBesideNvrtcIsOpenWhenItAsks) {
  failure(open_nvrtc, {"libold_nvrtc.so"});
  EXPECT_NE(dlopen(cat(stand_ins(), "/libold_nvrtc-builtins.so").c_str(), RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

}  // namespace
}  // namespace twinloom::cuda
