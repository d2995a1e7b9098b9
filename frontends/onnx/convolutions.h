// Inside of the component: convolutions as sums of products of elements, in the type of their operands (both
// in f32 where they were of 16 bits).
#pragma once

#include <vector>

#include "frontends/onnx/call.h"
#include "frontends/onnx/windows.h"

namespace twinloom::onnx {

// x: [batch, channels, ...], weights: [outputs, channels/groups, ...], by the node's attributes.
Tensor convolution(const Call& call, const Tensor& x, const Tensor& weights);

// The attribute that both kinds of convolutions have.
index::Expr groups_of(const Call& call);

}  // namespace twinloom::onnx
