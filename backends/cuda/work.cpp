// See work.h.
#include "backends/cuda/work.h"

#include <atomic>

#include "backends/cuda/gpu.h"
#include "core/base/text.h"

namespace twinloom::cuda {

namespace {

constexpr std::size_t RECORDS_AT_ONCE = 128;  // a page of memory

}  // namespace

CUevent Events::take() {
  return free_.take([&] {
    CUevent event = nullptr;
    const unsigned flags = sort_ == Sort::timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING;
    gpu_.check(gpu_.driver().cuEventCreate(&event, flags), "an event");
    return event;
  });
}

emit::FailureRecord* Records::make() {
  void* memory = nullptr;
  gpu_.check(gpu_.driver().cuMemHostAlloc(&memory, RECORDS_AT_ONCE * sizeof(emit::FailureRecord),
                                          CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
             "memory for records of failures");
  auto* const records = static_cast<emit::FailureRecord*>(memory);
  for (std::size_t at = 1; at < RECORDS_AT_ONCE; ++at) free_.give_back(records + at);
  return records;
}

emit::FailureRecord* Records::take() {
  emit::FailureRecord* const record = free_.take([&] { return make(); });
  *record = {};
  return record;
}

CudaEvent::CudaEvent(const Gpu& gpu, CUstream stream, Events& events) : gpu_(gpu), events_(events) {
  const Gpu::Scope scope(gpu);
  event_ = events.take();
  try {
    gpu.check(gpu.driver().cuEventRecord(event_, stream), "a stream");
  } catch (...) {
    events.give_back(event_);
    throw;
  }
}

CudaEvent::~CudaEvent() { events_.give_back(event_); }

bool CudaEvent::reached() const {
  if (gpu_.is_lost()) return true;
  const Gpu::Scope scope(gpu_);
  return gpu_.driver().cuEventQuery(event_) != CUDA_ERROR_NOT_READY;
}

void CudaEvent::wait() const {
  const Gpu::Scope scope(gpu_);
  gpu_.check(gpu_.driver().cuEventSynchronize(event_), "the kernels");
}

CudaWork::~CudaWork() {
  try {
    wait();
  } catch (const Error&) {
    // A GPU that has failed says so at its next use; what was started there is over.
  }
  if (record_ != nullptr) gpu_.records().give_back(record_);
}

emit::FailureRecord* CudaWork::record() {
  if (record_ == nullptr) record_ = gpu_.records().take();
  return record_;
}

void CudaWork::close() { end_ = std::make_unique<const CudaEvent>(gpu_, stream_, gpu_.events()); }

bool CudaWork::done() const { return waited_ || (end_ != nullptr && end_->reached()); }

bool CudaWork::failed() const { return record_ != nullptr && std::atomic_ref(record_->claimed).load() != 0; }

// Without an end, a launch was refused: what was started before it may still run.
std::optional<loops::Failure> CudaWork::wait() {
  if (!waited_) {
    waited_ = true;
    if (end_ != nullptr)
      end_->wait();
    else
      gpu_.wait(stream_);
  }
  if (record_ == nullptr || record_->claimed == 0) return std::nullopt;
  return loops::Failure{static_cast<int>(record_->node), record_->value, record_->bound, record_->offset};
}

}  // namespace twinloom::cuda
