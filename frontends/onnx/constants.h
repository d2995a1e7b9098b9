// Inside of the component: constants of numbers that are known while a model is read.
#pragma once

#include <vector>

#include "frontends/onnx/call.h"

namespace twinloom::onnx {

// Row by row, each number cast to the type.
template <class Number>
Tensor constant_of(graph::Builder& builder, const std::vector<Number>& numbers, ops::DType dtype,
                   std::vector<std::int64_t> sizes) {
  const auto size = static_cast<std::size_t>(ops::size_of(dtype));
  std::vector<std::byte> bytes(numbers.size() * size);
  for (std::size_t e = 0; e < numbers.size(); ++e)
    ops::store_number(dtype, ops::cast(ops::Number(numbers[e]), dtype), bytes.data() + e * size);
  return builder.constant(graph::Array{dtype, std::move(sizes), std::move(bytes)});
}
template <class Number>
Tensor constant_of(graph::Builder& builder, const std::vector<Number>& numbers, ops::DType dtype) {
  return constant_of(builder, numbers, dtype, {static_cast<std::int64_t>(numbers.size())});
}

}  // namespace twinloom::onnx
