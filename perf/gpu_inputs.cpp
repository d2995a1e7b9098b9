// See gpu_inputs.h.
#include "perf/gpu_inputs.h"

#include <cmath>
#include <limits>

#include "core/measure/drawn.h"
#include "core/runtime/memory_pool.h"

namespace twinloom::perf {

namespace {

std::byte* element(const Tensor& tensor, std::int64_t offset) {
  return static_cast<std::byte*>(tensor.data) + offset * ops::size_of(tensor.dtype);
}

// Of the element that is `at`-th in row-major order.
std::int64_t offset_of(const Tensor& tensor, std::int64_t at) {
  std::int64_t offset = 0;
  for (std::size_t axis = tensor.sizes.size(); axis-- > 0; at /= tensor.sizes[axis])
    offset += at % tensor.sizes[axis] * tensor.strides[axis];
  return offset;
}

double number_at(const Tensor& tensor, std::int64_t at) {
  return ops::load_number(tensor.dtype, element(tensor, offset_of(tensor, at))).real();
}

}  // namespace

std::vector<std::int64_t> channels_last_strides(std::span<const std::int64_t> sizes) {
  const std::int64_t channels = sizes[1], width = sizes[3];
  return {channels * width * sizes[2], 1, channels * width, channels};
}

GpuInputs::GpuInputs(const Device& device) : space_(device.backend().space()), memory_(space_->memory()) {}

Tensor GpuInputs::empty(std::int64_t bytes) const {
  return runtime::allocate(DType::u8, {bytes}, {1}, memory_.get());
}

Tensor GpuInputs::drawn(DType dtype, std::vector<std::int64_t> sizes, const GpuCase& given) const {
  const bool last = given.channels_last && sizes.size() == 4;
  std::vector<std::int64_t> strides =
      last ? channels_last_strides(sizes) : runtime::contiguous_strides(sizes);
  return measure::drawn(dtype, std::move(sizes), std::move(strides), given.index_bound, space_);
}

std::vector<Argument> GpuInputs::drawn(const Graph& graph, const GpuCase& given) const {
  std::vector<Argument> arguments;
  for (const graph::Parameter& parameter : graph.parameters()) {
    const graph::Node& node = graph[std::get<graph::NodeId>(parameter.value)];
    std::vector<std::int64_t> sizes;
    for (const SizeExpr& size : node.shape) sizes.push_back(*index::constant_of(size));
    arguments.emplace_back(drawn(node.dtype, std::move(sizes), given));
  }
  return arguments;
}

double largest_difference(const Tensor& given, const Tensor& expected) {
  constexpr std::int64_t SAMPLES = 1000003;
  const std::int64_t count = runtime::element_count(expected);
  const std::int64_t step = std::max<std::int64_t>(1, count / SAMPLES);
  double difference = 0, size = std::numeric_limits<double>::min();
  for (std::int64_t at = 0; at < count; at += step) {
    const double a = number_at(given, at), b = number_at(expected, at);
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::abs(a - b));
    size = std::max(size, std::abs(b));
  }
  return difference / size;
}

}  // namespace twinloom::perf
