// Whether a GPU still works. Some failures end its context: from then on the driver answers everything with
// the same failure, in this process for good. In a child of this process no GPU works that was opened before.
#pragma once

#include <cuda.h>

#include <atomic>
#include <mutex>
#include <string>

#include "backends/cuda/owner.h"

namespace twinloom::cuda {

// Of results that end a context.
bool is_fatal(CUresult result);

// Thread-safe. Of a GPU of the process that makes it.
class Health {
 public:
  bool lost() const { return lost_.load(std::memory_order_acquire) || !owner_.is_this_process(); }
  // The first words are kept. DeviceLost with them.
  [[noreturn]] void lose(const std::string& words);
  // DeviceLost where the GPU is lost.
  void expect_alive() const {
    if (lost()) refuse();
  }

 private:
  [[noreturn]] void refuse() const;
  Owner owner_;
  std::atomic<bool> lost_ = false;
  mutable std::mutex mutex_;
  std::string words_;
};

}  // namespace twinloom::cuda
