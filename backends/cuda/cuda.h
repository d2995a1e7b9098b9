// NVIDIA GPUs as back ends: programs become CUDA C++, which NVRTC compiles while the program runs. Driver and
// NVRTC are looked for when the first back end is made; without them everything else works.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/object_cache/object_cache.h"
#include "core/runtime/backend.h"

namespace twinloom::cuda {

struct CudaOptions {
  int device = 0;  // as the driver counts visible GPUs
  // Where machine code is kept for other processes; null: nowhere, each kernel is compiled.
  std::shared_ptr<const object_cache::ObjectCache> cache = nullptr;
};

// Error where there is no such GPU, no driver or no NVRTC, with the places that were searched.
std::unique_ptr<runtime::Backend> make_cuda(const CudaOptions& options = {});

// Has a stored machine, an H200's, and needs no GPU, driver or NVRTC: kernels have their schedules and their
// source, and running one is an Error.
std::unique_ptr<runtime::Backend> make_planner();

// One line a GPU, or one that says what is missing and where it was looked for.
std::vector<std::string> describe_devices();

}  // namespace twinloom::cuda
