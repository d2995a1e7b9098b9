// The headers that generated CUDA may include, as texts: no file is read when a kernel is compiled. A kernel
// includes "cuda/routines.h", which includes all others.
#pragma once

#include <vector>

#include "backends/cuda/nvrtc.h"

namespace twinloom::cuda {

std::vector<Header> all_headers();

std::vector<Header> cuda_headers();   // those of backends/cuda/device
std::vector<Header> abi_headers();    // core/emit/abi.h
std::vector<Header> table_headers();  // core/ops/pointwise.def, quick.def

}  // namespace twinloom::cuda
