// Whether a GPU still works. Some failures end its context: from then on the driver answers everything with
// the same failure, in this process for good.
#pragma once

#include <cuda.h>

#include <atomic>
#include <mutex>
#include <string>

namespace twinloom::cuda {

// Of results that end a context.
bool is_fatal(CUresult result);

// Thread-safe.
class Health {
 public:
  bool lost() const { return lost_.load(std::memory_order_acquire); }
  // The first words are kept. DeviceLost with them.
  [[noreturn]] void lose(const std::string& words);
  // DeviceLost where the GPU is lost.
  void expect_alive() const {
    if (lost()) refuse();
  }

 private:
  [[noreturn]] void refuse() const;
  std::atomic<bool> lost_ = false;
  mutable std::mutex mutex_;
  std::string words_;
};

}  // namespace twinloom::cuda
