// How long a GPU takes for something, by its own clock. Before it a buffer larger than the L2 cache is
// written, so that all that is measured finds the same there: nothing of its own.
#pragma once

#include "core/runtime/space.h"
#include "core/runtime/tensor.h"

namespace twinloom::measure {

constexpr std::int64_t FLUSH_BYTES = std::int64_t{256} << 20;  // more than an L2 cache holds

// FLUSH_BYTES of the GPU's memory. Error where there are not so many.
runtime::Tensor flush_buffer(const runtime::Space& space);

// Starts writing the buffer on the GPU's own stream; does not wait.
void flush(const runtime::Space& space, const runtime::Tensor& buffer);

// The time that the GPU takes for what `work` starts on its own stream, after the buffer was written. What
// `work` returns lives until the time is known.
template <class Work>
double seconds_of(const runtime::Space& space, const runtime::Tensor& buffer, Work&& work) {
  flush(space, buffer);
  const auto before = space.record(nullptr);
  [[maybe_unused]] const auto started = work();
  const auto after = space.record(nullptr);
  return space.seconds(*before, *after);
}

}  // namespace twinloom::measure
