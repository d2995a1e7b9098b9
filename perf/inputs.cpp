// See inputs.h.
#include "perf/inputs.h"

#include "core/graph/index_bounds.h"
#include "core/measure/drawn.h"

namespace twinloom::perf {

namespace {

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

}  // namespace

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
    arguments.emplace_back(measure::drawn(node.dtype, std::move(sizes), std::move(steps), bound, space));
  }
  return arguments;
}

}  // namespace twinloom::perf
