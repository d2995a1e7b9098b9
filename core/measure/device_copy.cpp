// What a GPU's memory can give. See measure.h.
#include "core/measure/measure.h"
#include "core/runtime/memory_pool.h"

namespace twinloom::measure {

// Buffers past every cache.
CopyBandwidth copy_bandwidth(const runtime::Space& space) {
  constexpr std::int64_t BYTES = std::int64_t{512} << 20;
  constexpr int WARM_UP = 2, COUNTED = 15;
  runtime::MemoryPool& memory = *space.memory();
  const runtime::Tensor from = runtime::allocate(ops::DType::u8, {BYTES}, {1}, &memory);
  const runtime::Tensor to = runtime::allocate(ops::DType::u8, {BYTES}, {1}, &memory);
  std::vector<double> durations;
  for (int run = 0; run < WARM_UP + COUNTED; ++run) {
    const auto before = space.record(nullptr);
    space.copy(to.data, from.data, BYTES, nullptr);
    const auto after = space.record(nullptr);
    const double seconds = space.seconds(*before, *after);
    if (run >= WARM_UP) durations.push_back(seconds);
  }
  return {2.0 * static_cast<double>(BYTES) / median(durations), "device copy", BYTES};
}

}  // namespace twinloom::measure
