// See side_streams.h.
#include "backends/cuda/side_streams.h"

#include "backends/cuda/gpu.h"

namespace twinloom::cuda {

CUstream Fork::new_stream() const {
  CUstream stream = nullptr;
  gpu_.check(gpu_.driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "a stream");
  return stream;
}

Fork::Fork(const Gpu& gpu, CUstream stream, std::size_t count) : gpu_(gpu), stream_(stream) {
  if (count < 2) return;
  if (gpu.is_captured(stream)) {
    side_.assign(count - 1, stream);
    return;
  }
  for (std::size_t number = 1; number < count; ++number) {
    side_.push_back(gpu.side_streams().take([&] { return new_stream(); }));
    gpu.order(stream, side_.back());
  }
}

Fork::~Fork() {
  for (const CUstream side : side_) {
    if (side == stream_) continue;
    try {
      gpu_.order(side, stream_);
      gpu_.side_streams().give_back(side);
    } catch (const Error&) {
      // A GPU that has failed says so at its next use; the stream is not used again.
    }
  }
}

}  // namespace twinloom::cuda
