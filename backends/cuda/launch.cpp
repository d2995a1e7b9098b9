// See launch.h.
#include "backends/cuda/launch.h"

#include <algorithm>

#include "backends/cuda/device/sort_step.h"
#include "core/emit/emit.h"
#include "core/loops/rewrite.h"

namespace twinloom::cuda {

bool is_size(const loops::SizeInfo& info) { return info.range.low.value_or(-1) >= 0; }

std::size_t buffer_count(const loops::Program& program) {
  return static_cast<std::size_t>(
      std::ranges::count_if(program.buffers, [](const loops::BufferInfo& buffer) { return !buffer.local; }));
}

std::int64_t block_threads(const loops::Program& program) {
  const loops::Call* const routine = routine_of(program);
  if (routine == nullptr) return emit::block_shape(program).threads;
  return loops::has_starts(*routine) ? SORT_SHAPE.threads : ORDER_SHAPE.threads;
}

std::int64_t shared_bytes(const loops::Program& program) {
  const loops::Call* const routine = routine_of(program);
  if (routine == nullptr) return emit::scratch_layout(program).bytes;
  return loops::has_starts(*routine) ? SORT_SHAPE.shared_bytes() : ORDER_SHAPE.shared_bytes();
}

std::int64_t cluster_blocks(const loops::Program& program) {
  return routine_of(program) == nullptr ? emit::block_shape(program).blocks : 1;
}

// Of a sort as many as run at once; SortPlan tells what they do.
index::Expr block_count(const loops::Program& program, int multiprocessors) {
  const loops::Call* const routine = routine_of(program);
  if (routine == nullptr) return emit::task_count(program) * cluster_blocks(program);
  const loops::CallSizes sizes = loops::call_sizes(*routine);
  return index::greatest(1, index::least(multiprocessors * SORT_BLOCKS_EACH,
                                         index::ceil_div(sizes.rows * sizes.n, SORT_SHAPE.at_once())));
}

std::vector<void*> parameter_words(std::span<const loops::Memory> buffers,
                                   std::span<const std::int64_t> sizes, void* failure) {
  static_assert(sizeof(void*) == sizeof(std::int64_t));
  std::vector<void*> words(buffers.size() + sizes.size() + 1);
  const auto rest = std::ranges::transform(buffers, words.begin(), &loops::Memory::data).out;
  std::ranges::transform(sizes, rest, [](std::int64_t size) { return reinterpret_cast<void*>(size); });
  words.back() = failure;
  return words;
}

}  // namespace twinloom::cuda
