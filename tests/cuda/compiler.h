// NVRTC for tests, opened once. It needs no GPU; where it is not installed a test says so and is skipped.
#pragma once

#include <gtest/gtest.h>

#include "backends/cuda/nvrtc.h"

namespace twinloom::cuda {

// What keeps it from being opened, or nothing.
const std::string& nvrtc_missing();
const Nvrtc& nvrtc();

}  // namespace twinloom::cuda

#define TWINLOOM_NEEDS_NVRTC() \
  if (!nvrtc_missing().empty()) GTEST_SKIP() << nvrtc_missing()
