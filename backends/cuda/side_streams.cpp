// See side_streams.h.
#include "backends/cuda/side_streams.h"

#include "backends/cuda/gpu.h"

namespace twinloom::cuda {

CUstream SideStreams::take() {
  const std::lock_guard lock(mutex_);
  CUstream stream = nullptr;
  if (free_.empty()) {
    gpu_.check(gpu_.driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "a stream");
    return stream;
  }
  stream = free_.back();
  free_.pop_back();
  return stream;
}

void SideStreams::give_back(CUstream stream) {
  const std::lock_guard lock(mutex_);
  free_.push_back(stream);
}

Fork::Fork(const Gpu& gpu, CUstream stream, std::size_t count) : gpu_(gpu), stream_(stream) {
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  gpu.check(gpu.driver().cuStreamIsCapturing(stream, &capture), "a stream");
  const bool is_captured = capture != CU_STREAM_CAPTURE_STATUS_NONE;
  for (std::size_t number = 1; number < count; ++number) {
    side_.push_back(is_captured ? stream : gpu.side_streams().take());
    order(stream, side_.back());
  }
}

Fork::~Fork() {
  for (const CUstream side : side_) {
    if (side == stream_) continue;
    try {
      order(side, stream_);
      gpu_.side_streams().give_back(side);
    } catch (const Error&) {
      // A GPU that has failed says so at its next use; the stream is not used again.
    }
  }
}

// An event may be recorded anew as soon as a stream has been told to wait for it.
void Fork::order(CUstream first, CUstream then) const {
  if (first == then) return;
  const CUevent event = gpu_.events().take();
  const CUresult recorded = gpu_.driver().cuEventRecord(event, first);
  const CUresult waited =
      recorded == CUDA_SUCCESS ? gpu_.driver().cuStreamWaitEvent(then, event, 0) : recorded;
  gpu_.events().give_back(event);
  gpu_.check(waited, "a stream beside another");
}

}  // namespace twinloom::cuda
