// One GPU: its primary context, its memory, the stream of kernels for which the caller names none. The
// context that the caller's thread has is back when a call returns.
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>

#include "backends/cuda/driver.h"
#include "backends/cuda/free_list.h"
#include "backends/cuda/health.h"
#include "backends/cuda/staging.h"
#include "backends/cuda/work.h"
#include "core/machine/machine.h"
#include "core/runtime/space.h"

namespace twinloom::cuda {

class Gpu final : public runtime::Space {
 public:
  // Error where there is no such GPU.
  explicit Gpu(int number);

  static int count();  // 0 where none is visible

  int device() const override { return number_; }
  runtime::Block allocate(std::int64_t bytes, runtime::Stream stream) const override;
  void trim() const override;
  std::int64_t free_bytes() const override;
  void order(runtime::Stream first, runtime::Stream then) const override;
  void upload(void* to, const void* from, std::int64_t bytes) const override;
  void download(void* to, const void* from, std::int64_t bytes) const override;
  void wait() const override { wait(stream_); }
  std::unique_ptr<runtime::Work> begin(runtime::Stream stream) const override;
  std::unique_ptr<runtime::Event> record(runtime::Stream stream) const override;
  double seconds(const runtime::Event& from, const runtime::Event& to) const override;
  void copy(void* to, const void* from, std::int64_t bytes, runtime::Stream stream) const override;
  void clear(void* to, std::int64_t bytes, runtime::Stream stream) const override;

  const Driver& driver() const { return driver_; }
  CUmemoryPool pool() const { return pool_; }
  // Error with what was tried and this GPU's name, unless the result is success; DeviceLost, from then on
  // always, where the result is one after which nothing works.
  void check(CUresult result, std::string_view what) const {
    if (result != CUDA_SUCCESS) [[unlikely]]
      fail(result, what);
  }
  bool is_lost() const { return health_.lost(); }
  void wait(CUstream stream) const;
  Events& events() const { return events_; }  // that measure no time
  Records& records() const { return records_; }
  // Beside that of a run; see side_streams.h.
  FreeList<CUstream>& side_streams() const { return side_streams_; }
  std::string name() const { return name_; }
  std::string architecture() const;  // "sm_90a"
  // Also where it cannot be asked: the next launch says why.
  bool is_captured(CUstream stream) const;
  const machine::Machine& machine() const { return machine_; }
  int attribute(CUdevice_attribute which) const;

  // For what gives back: in the GPU's context, and nothing where it cannot be had.
  template <class Release>
  void release(Release&& free) const noexcept {
    CUcontext popped = nullptr;
    if (health_.lost() || driver_.cuCtxPushCurrent(context_) != CUDA_SUCCESS) return;
    free(driver_);
    driver_.cuCtxPopCurrent(&popped);
  }

  // Makes the GPU's context current as long as it lives. DeviceLost where the GPU is lost.
  class Scope {
   public:
    explicit Scope(const Gpu& gpu);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const Gpu& gpu_;
    bool is_pushed_;  // callers that use the GPU have its context already: two calls of the driver less
  };

 private:
  CUstream stream_of(runtime::Stream stream) const {
    return stream == nullptr ? stream_ : static_cast<CUstream>(stream);
  }
  [[noreturn]] void fail(CUresult result, std::string_view what) const;
  void make_pool();
  machine::Machine ask_for_machine() const;
  void free(CUdeviceptr memory, runtime::Stream stream) const noexcept;
  const Driver& driver_;
  int number_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUmemoryPool pool_ = nullptr;
  std::string name_;
  bool overlaps_kernels_ = false;  // whether a kernel can be started before the last one has ended
  machine::Machine machine_;  // asking the driver for clocks takes a millisecond
  mutable Health health_;
  mutable Events events_{*this, Events::Sort::untimed}, timed_events_{*this, Events::Sort::timed};
  mutable Records records_{*this};
  mutable FreeList<CUstream> side_streams_;
  mutable Staging staging_{*this};
};

}  // namespace twinloom::cuda
