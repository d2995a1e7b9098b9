// Small arrays in and out of the evaluator, for tests.
#pragma once

#include <initializer_list>
#include <vector>

#include "core/evaluate/evaluate.h"
#include "core/graph/builder.h"
#include "core/ops/number.h"

namespace twinloom::evaluate {

inline Value array(ops::DType dtype, std::vector<std::int64_t> sizes, const std::vector<double>& numbers) {
  Value value{dtype, std::move(sizes), {}};
  const auto size = static_cast<std::size_t>(ops::size_of(dtype));
  value.bytes.resize(numbers.size() * size);
  for (std::size_t k = 0; k < numbers.size(); ++k)
    ops::store_number(dtype, ops::cast(numbers[k], dtype), value.bytes.data() + k * size);
  return value;
}

inline std::vector<double> numbers_in(const Value& value) {
  std::vector<double> numbers;
  const auto size = static_cast<std::size_t>(ops::size_of(value.dtype));
  for (std::size_t at = 0; at < value.bytes.size(); at += size)
    numbers.push_back(ops::real_of(ops::load_number(value.dtype, value.bytes.data() + at), value.dtype));
  return numbers;
}

// 0, 1, 2, ...
inline Value counting(ops::DType dtype, std::vector<std::int64_t> sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  std::vector<double> numbers;
  for (std::int64_t k = 0; k < count; ++k) numbers.push_back(static_cast<double>(k));
  return array(dtype, std::move(sizes), numbers);
}

// The value of one tensor for these arguments.
inline Value value_of(const graph::Tensor& x, const std::vector<Argument>& arguments,
                      Arithmetic arithmetic = Arithmetic::strict) {
  graph::Graph graph = x.builder().graph();
  graph.output({graph::Ownership::own, x.id(), -1, 0, {}});
  return *evaluate(graph, arguments, arithmetic).back();
}

}  // namespace twinloom::evaluate
