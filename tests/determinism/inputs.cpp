// See inputs.h.
#include "tests/determinism/inputs.h"

#include <cmath>
#include <random>

#include "core/graph/bind.h"

namespace twinloom::tests {

namespace {

// Numbers of mixed size and sign, so that another order gives other bits.
ops::Number drawn(ops::DType dtype, std::mt19937_64& random) {
  if (ops::is_integer(dtype)) return ops::cast(static_cast<std::int64_t>(random() >> 40), dtype);
  const double size = std::exp2(static_cast<double>(random() % 4));
  const double sign = random() % 2 == 0 ? 1 : -1;
  return ops::cast(sign * size * (0.5 + static_cast<double>(random() >> 11) * 0x1p-54), dtype);
}

}  // namespace

Inputs inputs_of(const graph::Graph& graph) {
  std::mt19937_64 random(5);
  Inputs inputs;
  for (const auto& parameter : graph.parameters()) {
    const graph::Node& node = graph[std::get<graph::NodeId>(parameter.value)];
    std::vector<std::int64_t> sizes = graph::sizes_of(node.shape, {});
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    const std::int64_t size = ops::size_of(node.dtype);
    Memory& memory = inputs.memory.emplace_back(static_cast<std::size_t>(count * size));
    for (std::int64_t at = 0; at < count; ++at)
      ops::store_number(node.dtype, drawn(node.dtype, random), memory.data() + at * size);
    inputs.arguments.emplace_back(runtime::view_of(memory.data(), node.dtype, std::move(sizes)));
  }
  return inputs;
}

Memory memory_of(const runtime::Output& output) {
  const auto& tensor = std::get<runtime::Tensor>(output);
  const auto* bytes = static_cast<const std::byte*>(tensor.data);
  return {bytes, bytes + runtime::element_count(tensor) * ops::size_of(tensor.dtype)};
}

}  // namespace twinloom::tests
