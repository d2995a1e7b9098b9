// Inside of the component: products of matrices and convolutions as sums of products of elements, in the type
// of their operands (both in f32 where they were of 16 bits).
#pragma once

#include <vector>

#include "frontends/onnx/call.h"
#include "frontends/onnx/windows.h"

namespace twinloom::onnx {

// As NumPy's matmul: axes before the last two are broadcast, one axis is a row or a column.
Tensor matrix_product(const Call& call, Tensor a, Tensor b);

// x: [batch, channels, ...], weights: [outputs, channels/groups, ...], by the node's attributes.
Tensor convolution(const Call& call, const Tensor& x, const Tensor& weights);

// The attribute that both kinds of convolutions have.
index::Expr groups_of(const Call& call);

}  // namespace twinloom::onnx
