// See inputs.h.
#include "perf/inputs.h"

#include <cstring>
#include <random>

#include "core/graph/index_bounds.h"
#include "core/runtime/memory_pool.h"

namespace twinloom::perf {

namespace {

constexpr std::int64_t BLOCK = (1 << 20) - 1;  // odd, so that rows of usual lengths differ

std::int64_t number_of(const SizeExpr& size) {
  const auto number = index::constant_of(size);
  if (!number) throw Error(cat("a size is ", size, "; expected a number"));
  return *number;
}

std::vector<std::int64_t> numbers_of(const graph::Shape& shape) {
  std::vector<std::int64_t> numbers;
  for (const SizeExpr& size : shape) numbers.push_back(number_of(size));
  return numbers;
}

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

Tensor block_of(DType dtype, std::int64_t count, std::optional<std::int64_t> index_bound) {
  constexpr std::int64_t FEW = 8;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const std::int64_t bound = dtype == DType::b8 ? 2 : index_bound.value_or(FEW);
  std::uniform_int_distribution<std::int64_t> index(0, std::max<std::int64_t>(bound - 1, 0));
  const Tensor block = allocate(dtype, {count});
  auto* bytes = static_cast<std::byte*>(block.data);
  for (std::int64_t k = 0; k < count; ++k) {
    const Number number = ops::is_floating(dtype) ? Number(normal(random)) : Number(index(random));
    ops::store_number(dtype, ops::cast(number, dtype), bytes + k * ops::size_of(dtype));
  }
  return block;
}

}  // namespace

Tensor drawn(DType dtype, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
             std::optional<std::int64_t> index_bound, const runtime::Space* space) {
  const Tensor tensor = runtime::allocate(dtype, std::move(sizes), std::move(strides),
                                          space == nullptr ? nullptr : space->memory().get());
  const runtime::Bytes to = runtime::bytes_of(tensor);
  const std::int64_t elements = (to.last - to.first) / ops::size_of(dtype);
  fill(to, runtime::bytes_of(block_of(dtype, std::min(elements, BLOCK), index_bound)), space);
  return tensor;
}

std::vector<Argument> drawn_arguments(const Graph& graph,
                                      std::span<const std::optional<graph::Shape>> strides,
                                      const Device& device) {
  const runtime::Space* space = device.backend().space();
  const auto bounds = graph::index_bounds(graph);
  std::vector<Argument> arguments;
  for (std::size_t p = 0; p < graph.parameters().size(); ++p) {
    const graph::Parameter& parameter = graph.parameters()[p];
    if (const auto* size = std::get_if<index::Expr>(&parameter.value)) {
      arguments.emplace_back(number_of(*size));
      continue;
    }
    const graph::Node& node = graph[std::get<graph::NodeId>(parameter.value)];
    std::vector<std::int64_t> sizes = numbers_of(node.shape);
    const bool strided = p < strides.size() && strides[p];
    std::vector<std::int64_t> steps = strided ? numbers_of(*strides[p]) : runtime::contiguous_strides(sizes);
    const auto bound = bounds[p] ? std::optional(number_of(*bounds[p])) : std::nullopt;
    arguments.emplace_back(drawn(node.dtype, std::move(sizes), std::move(steps), bound, space));
  }
  return arguments;
}

}  // namespace twinloom::perf
