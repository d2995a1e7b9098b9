// Memory for the inputs of a run: layouts and contents. See stages.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/graph/bind.h"
#include "tests/conformance/random.h"
#include "tests/conformance/stages.h"

namespace twinloom::tests {

namespace {

using runtime::Tensor;

std::vector<std::int64_t> strides_of(const InputPlan& plan, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides = runtime::contiguous_strides(sizes);
  if (sizes.empty()) return strides;
  const auto axis = static_cast<std::size_t>(plan.axis);
  switch (plan.layout) {
    case Layout::contiguous:
      break;
    case Layout::other_order:
      for (std::size_t at = 0; at < sizes.size(); ++at)
        strides[at] = at == 0 ? 1 : strides[at - 1] * std::max<std::int64_t>(1, sizes[at - 1]);
      break;
    case Layout::zero:
      strides[axis] = 0;
      break;
    case Layout::negative:
      strides[axis] = -strides[axis];
      break;
    case Layout::overlapping:
      for (std::size_t at = 0; at + 1 < sizes.size(); ++at)
        strides[at] = std::max<std::int64_t>(1, strides[at] / 2);
      break;
    case Layout::gaps:
      for (std::int64_t& stride : strides) stride *= 2;
      break;
  }
  return strides;
}

ops::Number special_number(ops::DType dtype, Random& random) {
  if (!ops::is_floating(dtype))
    return ops::cast(ops::Number(static_cast<std::int64_t>(random.next())), dtype);
  const double subnormal = dtype == ops::DType::f64 ? 3e-310 : dtype == ops::DType::f16 ? 3e-6 : 4e-40;
  const std::array<double, 9> numbers = {std::nan(""), HUGE_VAL, -HUGE_VAL, subnormal, -subnormal,
                                         0.0,          -0.0,     6e4,       -1.5};
  return random.pick(numbers);
}

ops::Number element(const InputPlan& plan, ops::DType dtype, std::int64_t bound, Random& random) {
  if (plan.contents == Contents::indices) return random.below(std::max<std::int64_t>(1, bound));
  if (plan.contents == Contents::wrapping)
    return random.between(-std::max<std::int64_t>(1, bound), std::max<std::int64_t>(1, bound) - 1);
  if (plan.contents == Contents::special && random.chance(6)) return special_number(dtype, random);
  if (dtype == ops::DType::b8) return random.below(2);
  if (ops::is_integer(dtype))
    return random.between(ops::kind(dtype) == ops::TypeKind::signed_int ? -9 : 0, 9);
  return random.real() * (random.chance(10) ? 20 : 2);
}

// Puts row-major elements where the tensor has them.
void scatter_elements(const evaluate::Value& value, const Tensor& tensor) {
  const auto size = static_cast<std::size_t>(ops::size_of(value.dtype));
  for (std::size_t e = 0; e * size < value.bytes.size(); ++e) {
    auto rest = static_cast<std::int64_t>(e);
    std::int64_t offset = 0;
    for (std::size_t axis = tensor.sizes.size(); axis-- > 0; rest /= tensor.sizes[axis])
      offset += rest % tensor.sizes[axis] * tensor.strides[axis];
    std::memcpy(static_cast<std::byte*>(tensor.data) + offset * static_cast<std::int64_t>(size),
                value.bytes.data() + e * size, size);
  }
}

// The first elements of a tensor of special numbers hold every kind of them, whatever the size.
constexpr std::int64_t kinds_of_special = 3;

}  // namespace

void Arguments::add(const Tensor& like, const InputPlan& plan, const index::Values& sizes, Random& random) {
  const runtime::Extent extent = runtime::extent_of(like);
  const auto size = static_cast<std::size_t>(ops::size_of(like.dtype));
  const std::int64_t count = extent.last - extent.first;
  Guarded& memory = memory_.emplace_back(static_cast<std::size_t>(count) * size, side_);
  const std::int64_t bound = index::evaluate(plan.bound, sizes);
  const bool floating = ops::is_floating(like.dtype);
  for (std::int64_t at = 0; at < count; ++at) {
    ops::Number number = element(plan, like.dtype, bound, random);
    if (plan.contents == Contents::special && floating && at < kinds_of_special && count >= 16)
      number = std::array<double, kinds_of_special>{std::nan(""), HUGE_VAL,
                                                    like.dtype == ops::DType::f16 ? 3e-6
                                                    : like.dtype == ops::DType::f64
                                                        ? 3e-310
                                                        : 4e-40}[static_cast<std::size_t>(at)];
    ops::store_number(like.dtype, ops::cast(number, like.dtype),
                      memory.data() + static_cast<std::size_t>(at) * size);
  }
  Tensor tensor = like;
  tensor.data = memory.data() - extent.first * static_cast<std::int64_t>(size);
  copies_.emplace_back(memory.data(), memory.data() + memory.size());
  tensors_.emplace_back(std::move(tensor));
}

Arguments::Arguments(const graph::Graph& graph, const std::vector<InputPlan>& inputs,
                     const index::Values& sizes, std::uint64_t seed, Against side)
    : side_(side) {
  for (const InputPlan& plan : inputs) {
    const auto& parameter = graph.parameters()[static_cast<std::size_t>(plan.parameter)].value;
    const graph::Node& node = graph[std::get<graph::NodeId>(parameter)];
    std::vector<std::int64_t> shape = graph::sizes_of(node.shape, sizes);
    std::vector<std::int64_t> strides = strides_of(plan, shape);
    Random random(seed * 1000 + static_cast<std::uint64_t>(plan.parameter));
    add({nullptr, node.dtype, std::move(shape), std::move(strides), nullptr}, plan, sizes, random);
  }
}

Arguments::Arguments(const std::vector<Given>& given, Against side) : side_(side) {
  for (const Given& each : given) {
    if (const auto* size = std::get_if<std::int64_t>(&each.value)) {
      tensors_.emplace_back(*size);
      continue;
    }
    const auto& value = std::get<evaluate::Value>(each.value);
    Tensor tensor =
        runtime::view_of(nullptr, value.dtype, value.sizes,
                         each.strides.empty() ? runtime::contiguous_strides(value.sizes) : each.strides);
    const runtime::Extent extent = runtime::extent_of(tensor);
    const auto size = static_cast<std::size_t>(ops::size_of(value.dtype));
    Guarded& memory = memory_.emplace_back(static_cast<std::size_t>(extent.last - extent.first) * size, side);
    tensor.data = memory.data() - extent.first * static_cast<std::int64_t>(size);
    scatter_elements(value, tensor);
    copies_.emplace_back(memory.data(), memory.data() + memory.size());
    tensors_.emplace_back(std::move(tensor));
  }
}

std::vector<Given> Arguments::given() const {
  std::vector<Given> given;
  for (evaluate::Argument& value : values()) given.push_back({std::move(value), {}});
  for (std::size_t p = 0; p < given.size(); ++p)
    if (const auto* tensor = std::get_if<Tensor>(&tensors_[p])) given[p].strides = tensor->strides;
  return given;
}

std::vector<evaluate::Argument> Arguments::values() const {
  std::vector<evaluate::Argument> values;
  for (const runtime::Argument& argument : tensors_) {
    if (const auto* size = std::get_if<std::int64_t>(&argument)) {
      values.emplace_back(*size);
      continue;
    }
    const Tensor tensor = runtime::contiguous(std::get<Tensor>(argument));
    const auto* bytes = static_cast<const std::byte*>(tensor.data);
    const std::int64_t count = runtime::element_count(tensor) * ops::size_of(tensor.dtype);
    values.emplace_back(evaluate::Value{tensor.dtype, tensor.sizes, {bytes, bytes + count}});
  }
  return values;
}

void Arguments::check() const {
  for (std::size_t at = 0; at < memory_.size(); ++at) {
    memory_[at].check();
    CHECK(std::ranges::equal(copies_[at], std::span(memory_[at].data(), memory_[at].size())), "input memory ",
          at, " was written");
  }
}

}  // namespace twinloom::tests
