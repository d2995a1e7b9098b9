// Memory that test.cpp hands to the function: the processor and the GPU both see it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "launch.h"

namespace twinloom::exported {

inline bool can_run() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}
inline void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  check_cuda(cudaMallocManaged(&memory, bytes + 64), "memory of a sample");
  return memory;
}
inline void release(void* memory) { cudaFree(memory); }
inline void finish() { check_cuda(cudaDeviceSynchronize(), "the kernels"); }  // what the function has begun

}  // namespace twinloom::exported
