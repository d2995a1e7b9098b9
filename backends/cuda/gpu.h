// One GPU: its primary context, its memory, the stream of its kernels. The context that the caller's thread
// has is back when a call returns.
#pragma once

#include <cuda.h>

#include <string>

#include "backends/cuda/driver.h"
#include "core/machine/machine.h"
#include "core/runtime/space.h"

namespace twinloom::cuda {

class Gpu final : public runtime::Space {
 public:
  // Error where there is no such GPU.
  explicit Gpu(int number);

  static int count();  // 0 where none is visible

  int device() const override { return number_; }
  runtime::Block allocate(std::int64_t bytes) const override;
  void upload(void* to, const void* from, std::int64_t bytes) const override;
  void download(void* to, const void* from, std::int64_t bytes) const override;
  void wait() const override;

  const Driver& driver() const { return driver_; }
  CUstream stream() const { return stream_; }
  std::string name() const { return name_; }
  std::string architecture() const;  // "sm_90a"
  machine::Machine machine() const;
  int attribute(CUdevice_attribute which) const;

  // Makes the GPU's context current as long as it lives.
  class Scope {
   public:
    explicit Scope(const Gpu& gpu);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const Gpu& gpu_;
  };

 private:
  const Driver& driver_;
  int number_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  std::string name_;
};

}  // namespace twinloom::cuda
