// See stream_memory.h.
#include "backends/cuda/stream_memory.h"

#include "backends/cuda/gpu.h"
#include "core/base/text.h"

namespace twinloom::cuda {

StreamMemory::StreamMemory(const Gpu& gpu, std::int64_t bytes, CUstream stream, const std::string& user)
    : gpu_(gpu), stream_(stream) {
  const auto allocate = [&] {
    return gpu.driver().cuMemAllocFromPoolAsync(&data_, static_cast<std::size_t>(bytes), gpu.pool(), stream);
  };
  CUresult result = allocate();
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    gpu.trim();
    result = allocate();
  }
  if (result != CUDA_SUCCESS) gpu.check(result, cat(bytes, " bytes of memory for ", user));
}

StreamMemory::~StreamMemory() {
  gpu_.release([&](const Driver& driver) { driver.cuMemFreeAsync(data_, stream_); });
}

}  // namespace twinloom::cuda
