// The kernels of one run on a stream, places in streams, and what both take from a store of their GPU: events
// and records of failures are dear to make.
#pragma once

#include <cuda.h>

#include "backends/cuda/free_list.h"
#include "core/emit/abi.h"
#include "core/runtime/work.h"

namespace twinloom::cuda {

class Gpu;

// Events of one sort, kept for the next user. Thread-safe.
class Events {
 public:
  // One that does not measure time costs the GPU nothing; one that does a microsecond and more, in which no
  // kernel runs (H200, driver 580: a kernel of 10.9 us took 12.2).
  enum class Sort { untimed, timed };
  Events(const Gpu& gpu, Sort sort) : gpu_(gpu), sort_(sort) {}
  CUevent take();
  void give_back(CUevent event) { free_.give_back(event); }

 private:
  const Gpu& gpu_;
  const Sort sort_;
  FreeList<CUevent> free_;
};

// Records in memory of this process that kernels write too. Thread-safe.
class Records {
 public:
  explicit Records(const Gpu& gpu) : gpu_(gpu) {}
  emit::FailureRecord* take();  // empty
  void give_back(emit::FailureRecord* record) { free_.give_back(record); }

 private:
  emit::FailureRecord* make();
  const Gpu& gpu_;
  FreeList<emit::FailureRecord*> free_;
};

class CudaEvent final : public runtime::Event {
 public:
  CudaEvent(const Gpu& gpu, CUstream stream, Events& events);
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  bool reached() const override;
  void wait() const override;
  CUevent event() const { return event_; }

 private:
  const Gpu& gpu_;
  Events& events_;
  CUevent event_;
};

class CudaWork final : public runtime::Work {
 public:
  // `may_overlap`: whether kernels may be started before the last one of the stream has ended. Not while it
  // is captured: older functions that ask for a capture's dependences fail where some are of that kind.
  CudaWork(const Gpu& gpu, CUstream stream, bool may_overlap)
      : gpu_(gpu), stream_(stream), may_overlap_(may_overlap) {}
  ~CudaWork() override;  // waits
  CudaWork(const CudaWork&) = delete;
  CudaWork& operator=(const CudaWork&) = delete;

  runtime::Stream stream() const override { return stream_; }
  CUstream cuda_stream() const { return stream_; }
  bool may_overlap() const { return may_overlap_; }
  // Of the run, for its kernels that may fail.
  emit::FailureRecord* record();
  void close() override;
  bool done() const override;
  bool failed() const override;
  std::optional<loops::Failure> wait() override;

 private:
  const Gpu& gpu_;
  CUstream stream_;
  const bool may_overlap_;
  emit::FailureRecord* record_ = nullptr;
  std::unique_ptr<const CudaEvent> end_;
  bool waited_ = false;
};

}  // namespace twinloom::cuda
