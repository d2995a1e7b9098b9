// The CUDA driver's functions that Twinloom calls, opened at run time: one binary runs with and without a
// GPU.
#pragma once

#include <cuda.h>

#include <string>

#include "backends/cuda/library.h"
#include "backends/cuda/owner.h"

namespace twinloom::cuda {

// A row is a function as cuda.h declares it, and its symbol in the version that CUDA 12.0 has, whatever
// version the header is of: an older driver than the header serves too.
#define TWINLOOM_DRIVER_FUNCTIONS(ROW)                      \
  ROW(cuInit, "cuInit")                                     \
  ROW(cuDriverGetVersion, "cuDriverGetVersion")             \
  ROW(cuGetErrorName, "cuGetErrorName")                     \
  ROW(cuGetErrorString, "cuGetErrorString")                 \
  ROW(cuDeviceGetCount, "cuDeviceGetCount")                 \
  ROW(cuDeviceGet, "cuDeviceGet")                           \
  ROW(cuDeviceGetName, "cuDeviceGetName")                   \
  ROW(cuDeviceGetAttribute, "cuDeviceGetAttribute")         \
  ROW(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain") \
  ROW(cuCtxGetCurrent, "cuCtxGetCurrent")                   \
  ROW(cuCtxPushCurrent, "cuCtxPushCurrent_v2")              \
  ROW(cuCtxPopCurrent, "cuCtxPopCurrent_v2")                \
  ROW(cuCtxSynchronize, "cuCtxSynchronize")                 \
  ROW(cuMemGetInfo, "cuMemGetInfo_v2")                      \
  ROW(cuMemPoolCreate, "cuMemPoolCreate")                   \
  ROW(cuMemPoolSetAttribute, "cuMemPoolSetAttribute")       \
  ROW(cuMemPoolTrimTo, "cuMemPoolTrimTo")                   \
  ROW(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync")   \
  ROW(cuMemFreeAsync, "cuMemFreeAsync")                     \
  ROW(cuPointerGetAttributes, "cuPointerGetAttributes")     \
  ROW(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")            \
  ROW(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")            \
  ROW(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2")            \
  ROW(cuMemsetD8Async, "cuMemsetD8Async")                   \
  ROW(cuMemHostAlloc, "cuMemHostAlloc")                     \
  ROW(cuStreamSynchronize, "cuStreamSynchronize")           \
  ROW(cuStreamCreate, "cuStreamCreate")                     \
  ROW(cuStreamGetCtx, "cuStreamGetCtx")                     \
  ROW(cuStreamWaitEvent, "cuStreamWaitEvent")               \
  ROW(cuStreamIsCapturing, "cuStreamIsCapturing")           \
  ROW(cuEventCreate, "cuEventCreate")                       \
  ROW(cuEventRecord, "cuEventRecord")                       \
  ROW(cuEventQuery, "cuEventQuery")                         \
  ROW(cuEventSynchronize, "cuEventSynchronize")             \
  ROW(cuEventElapsedTime, "cuEventElapsedTime")             \
  ROW(cuFuncGetAttribute, "cuFuncGetAttribute")             \
  ROW(cuModuleLoadData, "cuModuleLoadData")                 \
  ROW(cuModuleUnload, "cuModuleUnload")                     \
  ROW(cuModuleGetFunction, "cuModuleGetFunction")           \
  ROW(cuFuncSetAttribute, "cuFuncSetAttribute")             \
  ROW(cuLaunchKernelEx, "cuLaunchKernelEx")                 \
  ROW(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor")

// The driver's library: for CUDA 12.0 or newer, with all of these functions. Error where there is none, with
// the places that were searched and what was wrong there.
Library open_driver(const LibraryPlaces& places);

class Driver {
 public:
  // Opened and initialised once; thread-safe. Error, each time, where there is no driver (with the places
  // that were searched) or it does not start; DeviceLost in a child of the process that opened it.
  static const Driver& get();

#define TWINLOOM_ROW(name, symbol) decltype(::name)* name = nullptr;
  TWINLOOM_DRIVER_FUNCTIONS(TWINLOOM_ROW)
#undef TWINLOOM_ROW

  // Error with what was tried and the driver's own words, unless the result is success.
  void check(CUresult result, const std::string& what) const;
  std::string words(CUresult result) const;  // "CUDA_ERROR_..., ..."

 private:
  Driver();
  Owner owner_;
};

}  // namespace twinloom::cuda
