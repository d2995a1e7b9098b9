// PyTorch's type promotion: which type an operator computes in when its arguments differ.
//
// Three categories: bool < integer < floating. Of tensors with axes, the joined type counts; a tensor
// without axes counts only where its category is higher; a Python number only where its category is
// higher than both, and then as i64, f32 or b8.
#pragma once

#include <span>

#include "frontends/fx/items.h"

namespace twinloom::fx {

// Error where two types have no common one.
ops::DType joined(ops::DType a, ops::DType b);

// Of tensors and numbers; anything else is an Error.
ops::DType result_type(const Arguments& arguments, std::span<const Item* const> items);

// The type, or f32 where it is not floating.
ops::DType floating(ops::DType dtype);

// The item as a tensor of the type, with the cast marked implicit: a number becomes a constant.
graph::Tensor as_tensor(const Arguments& arguments, const Item& item, ops::DType dtype);

graph::Tensor promoted(const Arguments& arguments, ops::Pointwise op, std::span<const Item* const> items);

}  // namespace twinloom::fx
