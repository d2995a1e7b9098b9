// The CUDA driver's functions that Twinloom calls, opened at run time: one binary runs with and without a
// GPU.
#pragma once

#include <cuda.h>

#include <string>

#include "backends/cuda/library.h"

namespace twinloom::cuda {

// A row is a function as cuda.h declares it; the symbol's version comes from there.
#define TWINLOOM_DRIVER_FUNCTIONS(ROW) \
  ROW(cuInit)                          \
  ROW(cuDriverGetVersion)              \
  ROW(cuGetErrorName)                  \
  ROW(cuGetErrorString)                \
  ROW(cuDeviceGetCount)                \
  ROW(cuDeviceGet)                     \
  ROW(cuDeviceGetName)                 \
  ROW(cuDeviceGetAttribute)            \
  ROW(cuDevicePrimaryCtxRetain)        \
  ROW(cuCtxPushCurrent)                \
  ROW(cuCtxPopCurrent)                 \
  ROW(cuCtxSynchronize)                \
  ROW(cuMemGetInfo)                    \
  ROW(cuMemPoolCreate)                 \
  ROW(cuMemPoolSetAttribute)           \
  ROW(cuMemPoolTrimTo)                 \
  ROW(cuMemAllocFromPoolAsync)         \
  ROW(cuMemFreeAsync)                  \
  ROW(cuPointerGetAttributes)          \
  ROW(cuMemcpyHtoDAsync)               \
  ROW(cuMemcpyDtoHAsync)               \
  ROW(cuMemcpyDtoDAsync)               \
  ROW(cuMemsetD8Async)                 \
  ROW(cuMemHostAlloc)                  \
  ROW(cuStreamSynchronize)             \
  ROW(cuStreamCreate)                  \
  ROW(cuStreamGetCtx)                  \
  ROW(cuStreamWaitEvent)               \
  ROW(cuEventCreate)                   \
  ROW(cuEventRecord)                   \
  ROW(cuEventQuery)                    \
  ROW(cuEventSynchronize)              \
  ROW(cuEventElapsedTime)              \
  ROW(cuFuncGetAttribute)              \
  ROW(cuModuleLoadData)                \
  ROW(cuModuleUnload)                  \
  ROW(cuModuleGetFunction)             \
  ROW(cuFuncSetAttribute)              \
  ROW(cuLaunchKernel)                  \
  ROW(cuOccupancyMaxActiveBlocksPerMultiprocessor)

class Driver {
 public:
  // Opened and initialised once; thread-safe. Error, each time, where there is no driver (with the places
  // that were searched) or it does not start.
  static const Driver& get();

#define TWINLOOM_ROW(name) decltype(::name)* name = nullptr;
  TWINLOOM_DRIVER_FUNCTIONS(TWINLOOM_ROW)
#undef TWINLOOM_ROW

  // Error with what was tried and the driver's own words, unless the result is success.
  void check(CUresult result, const std::string& what) const;
  std::string words(CUresult result) const;  // "CUDA_ERROR_..., ..."

 private:
  Driver();
};

}  // namespace twinloom::cuda
