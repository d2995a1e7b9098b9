// See health.h.
#include "backends/cuda/health.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/runtime/errors.h"

namespace twinloom::cuda {

bool is_fatal(CUresult result) {
  static constexpr std::array fatal = {
      CUDA_ERROR_ILLEGAL_ADDRESS,       CUDA_ERROR_LAUNCH_TIMEOUT,       CUDA_ERROR_ASSERT,
      CUDA_ERROR_HARDWARE_STACK_ERROR,  CUDA_ERROR_MISALIGNED_ADDRESS,   CUDA_ERROR_ILLEGAL_INSTRUCTION,
      CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,           CUDA_ERROR_LAUNCH_FAILED,
      CUDA_ERROR_ECC_UNCORRECTABLE,     CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_CONTEXT_IS_DESTROYED,
      CUDA_ERROR_DEINITIALIZED,         CUDA_ERROR_EXTERNAL_DEVICE,      CUDA_ERROR_CONTAINED};
  return std::ranges::find(fatal, result) != fatal.end();
}

void Health::lose(const std::string& words) {
  {
    const std::lock_guard lock(mutex_);
    if (words_.empty()) words_ = words;
    lost_.store(true, std::memory_order_release);
  }
  refuse();
}

// A child asks first whose the GPU is: at fork() another thread may have held the mutex.
void Health::refuse() const {
  owner_.expect_this_process();
  const std::lock_guard lock(mutex_);
  throw runtime::DeviceLost(cat(words_, "; the GPU takes no more work in this process"));
}

}  // namespace twinloom::cuda
