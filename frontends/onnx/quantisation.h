// Inside of the component: what operators with quantised numbers have in common.
#pragma once

#include <optional>

#include "frontends/onnx/call.h"

namespace twinloom::onnx {

// Rounded to even, moved by the zero point and kept inside of the type.
Tensor saturated(const Tensor& x, const Tensor& zero, const ElementType& type);
// Of the zero point's type.
Tensor saturated(const Call& call, const Tensor& x, const Tensor& zero);

// Integers of 32 bits, without their zero point.
Tensor centred(const Tensor& x, const std::optional<Tensor>& zero);
// Numbers of the rows of the left matrix, beside matrices of two axes or more.
std::optional<Tensor> of_rows(const std::optional<Tensor>& numbers);

// Sums of integers that stand for sums * factor, as numbers of this scale and zero point.
Tensor rescaled(const Call& call, const Tensor& sums, const Tensor& factor, const Tensor& scale,
                const Tensor& zero);

// Of u8, so that its least and greatest elements, and 0, are inside.
struct Quantised {
  Tensor numbers, scale, zero;
};
Quantised quantised(const Call& call, const Tensor& x);

}  // namespace twinloom::onnx
