// How long a GPU takes for something, by its own clock.
#pragma once

#include "api/twinloom/twinloom.h"

namespace twinloom::perf {

constexpr std::int64_t FLUSH_BYTES = std::int64_t{256} << 20;  // more than an L2 cache holds

// The time that the GPU takes for what `work` starts on it, after `flushed` was written, so that all that is
// measured finds the same in the L2 cache.
template <class Work>
double seconds_of(const runtime::Space& space, const Tensor& flushed, Work&& work) {
  const runtime::Bytes flush = runtime::bytes_of(flushed);
  space.clear(flush.first, flush.last - flush.first, nullptr);
  const auto before = space.record(nullptr);
  [[maybe_unused]] const auto started = work();  // lives until the times are known
  const auto after = space.record(nullptr);
  return space.seconds(*before, *after);
}

}  // namespace twinloom::perf
