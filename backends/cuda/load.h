// Kernels of machine code that another process compiled: runtime::Code holds the cubin for Handed::usual and
// the one for Handed::any. Needs a GPU and no NVRTC.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backends/cuda/gpu.h"
#include "core/runtime/backend.h"

namespace twinloom::cuda {

// One object for each lives as long as the process: memory may be given back until it ends. Error where there
// is no such GPU.
const Gpu& gpu_of(int number);

// "cuda sm_90a": what machine code for the architecture is made for.
std::string target_of(std::string_view architecture);

// Error where the code is none that the GPU takes.
std::unique_ptr<const runtime::Kernel> load_kernel(const Gpu& gpu, const loops::Program& program,
                                                   const runtime::Code& code);

}  // namespace twinloom::cuda
