// PyTorch's type promotion: which type an operator computes in when its arguments differ.
//
// Three categories: bool < integer < floating. Of tensors with axes, the joined type counts; a tensor
// without axes counts only where its category is higher; a Python number only where its category is
// higher than both, and then as i64, f32 or b8.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "frontends/fx/items.h"

namespace twinloom::fx {

// Error where two types have no common one.
ops::DType joined(ops::DType a, ops::DType b);

// Whether what is computed in one type may be written to a tensor of another: not where the category is
// lower.
bool can_become(ops::DType computed, ops::DType written);

// Of tensors and numbers; anything else is an Error.
ops::DType result_type(const Arguments& arguments, std::span<const Item* const> items);

// The type, or f32 where it is not floating.
ops::DType floating(ops::DType dtype);

// The item as a tensor of the type, with the cast marked implicit: a number becomes a constant.
graph::Tensor as_tensor(const Arguments& arguments, const Item& item, ops::DType dtype);

// The item as an operand of an operator whose result is of the type, in its compute type. Beside 16-bit
// tensors, sums and products take a number as it is, products a tensor without axes too; what else there is,
// is rounded to the type first.
graph::Tensor operand(const Arguments& arguments, ops::Pointwise op, const Item& item, ops::DType type);

// The first tensors by these names, in the type that they are promoted to.
std::vector<graph::Tensor> promoted_tensors(const Arguments& arguments,
                                            std::span<const std::string_view> names);

// The number in the type; Error where the type cannot hold it.
ops::Number fitting(const Arguments& arguments, ops::Number number, ops::DType dtype);

// The item as what fills a tensor of the type: as_tensor, where a number must fit.
graph::Tensor filling(const Arguments& arguments, const Item& item, ops::DType dtype);

graph::Tensor promoted(const Arguments& arguments, ops::Pointwise op, std::span<const Item* const> items);

}  // namespace twinloom::fx
