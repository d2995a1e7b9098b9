// See drawn.h.
#include "core/measure/drawn.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "core/ops/number.h"
#include "core/runtime/memory_pool.h"

namespace twinloom::measure {

namespace {

constexpr std::int64_t BLOCK = (1 << 20) - 1;  // odd, so that rows of usual lengths differ

// The block is copied once and doubled.
void fill(const runtime::Bytes& to, const runtime::Bytes& from, const runtime::Space* space) {
  const std::int64_t bytes = to.last - to.first;
  std::int64_t filled = std::min(bytes, from.last - from.first);
  if (filled == 0) return;
  if (space != nullptr)
    space->upload(to.first, from.first, filled);
  else
    std::memcpy(to.first, from.first, static_cast<std::size_t>(filled));
  for (; filled < bytes; filled = std::min(2 * filled, bytes)) {
    const std::int64_t more = std::min(filled, bytes - filled);
    if (space != nullptr)
      space->copy(to.first + filled, to.first, more, nullptr);
    else
      std::memcpy(to.first + filled, to.first, static_cast<std::size_t>(more));
  }
  if (space != nullptr) space->wait();
}

runtime::Tensor block_of(ops::DType dtype, std::int64_t count, std::optional<std::int64_t> index_bound) {
  constexpr std::int64_t FEW = 8;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const std::int64_t bound = dtype == ops::DType::b8 ? 2 : index_bound.value_or(FEW);
  std::uniform_int_distribution<std::int64_t> index(0, std::max<std::int64_t>(bound - 1, 0));
  const runtime::Tensor block = runtime::allocate(dtype, {count});
  auto* bytes = static_cast<std::byte*>(block.data);
  for (std::int64_t k = 0; k < count; ++k) {
    const ops::Number number =
        ops::is_floating(dtype) ? ops::Number(normal(random)) : ops::Number(index(random));
    ops::store_number(dtype, ops::cast(number, dtype), bytes + k * ops::size_of(dtype));
  }
  return block;
}

runtime::Tensor filled(ops::DType dtype, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                       const runtime::Space* space,
                       const std::function<runtime::Tensor(std::int64_t elements)>& block) {
  const runtime::Tensor tensor = runtime::allocate(dtype, std::move(sizes), std::move(strides),
                                                   space == nullptr ? nullptr : space->memory().get());
  const runtime::Bytes to = runtime::bytes_of(tensor);
  fill(to, runtime::bytes_of(block((to.last - to.first) / ops::size_of(dtype))), space);
  return tensor;
}

}  // namespace

runtime::Tensor drawn(ops::DType dtype, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                      std::optional<std::int64_t> index_bound, const runtime::Space* space) {
  return filled(dtype, std::move(sizes), std::move(strides), space, [&](std::int64_t elements) {
    return block_of(dtype, std::min(elements, BLOCK), index_bound);
  });
}

runtime::Tensor rising(ops::DType dtype, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                       std::int64_t bound, const runtime::Space* space) {
  return filled(dtype, std::move(sizes), std::move(strides), space, [&](std::int64_t elements) {
    const runtime::Tensor block = runtime::allocate(dtype, {elements});
    const std::int64_t last = std::max<std::int64_t>(bound - 1, 0),
                       steps = std::max<std::int64_t>(elements - 1, 1);
    for (std::int64_t k = 0; k < elements; ++k)
      ops::store_number(dtype, ops::cast(ops::Number(last * k / steps), dtype),
                        static_cast<std::byte*>(block.data) + k * ops::size_of(dtype));
    return block;
  });
}

}  // namespace twinloom::measure
