// The headers that generated CUDA may include, as texts: no file is read when a kernel is compiled. A kernel
// includes "cuda/routines.h", which includes all others.
#pragma once

#include <string_view>
#include <vector>

#include "backends/cuda/nvrtc.h"

namespace twinloom::cuda {

std::vector<Header> all_headers();

// What such a text needs of them, in place of "cuda/routines.h"; for NVRTC 12.3 and newer.
std::string needed_headers(std::string_view text);
constexpr NvrtcVersion NEEDED_SINCE = {12, 3};
constexpr const char* ENTRY_HEADER = "cuda/routines.h";

std::string_view flat_headers();  // all as one text, whose macros are expanded

std::vector<Header> cuda_headers();   // those of backends/cuda/device
std::vector<Header> abi_headers();    // core/emit/abi.h
std::vector<Header> table_headers();  // core/ops/pointwise.def, quick.def

}  // namespace twinloom::cuda
