// Inside of the component: tensors whose last axis holds the heads of an attention, one behind the other.
#pragma once

#include "frontends/onnx/call.h"

namespace twinloom::onnx {

// [batch, length, heads * size] -> [batch, heads, length, size], and back.
Tensor split_heads(const Call& call, const Tensor& x, std::int64_t heads);
Tensor join_heads(const Tensor& x);

}  // namespace twinloom::onnx
