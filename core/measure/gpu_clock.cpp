// See gpu_clock.h.
#include "core/measure/gpu_clock.h"

#include "core/runtime/memory_pool.h"

namespace twinloom::measure {

runtime::Tensor flush_buffer(const runtime::Space& space) {
  return runtime::allocate(ops::DType::u8, {FLUSH_BYTES}, {1}, space.memory().get());
}

void flush(const runtime::Space& space, const runtime::Tensor& buffer) {
  const runtime::Bytes bytes = runtime::bytes_of(buffer);
  space.clear(bytes.first, bytes.last - bytes.first, nullptr);
}

}  // namespace twinloom::measure
