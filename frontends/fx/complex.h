// Complex numbers: two tensors, the real and the imaginary parts (Item::imaginary).
//
// As parameters and results they are one tensor with a last axis of 2, which is how they lie in memory:
// c64[4] is f32[4, 2].
#pragma once

#include "frontends/fx/items.h"
#include "frontends/fx/operators.h"

namespace twinloom::fx {

// Of a tensor whose last axis holds the two parts.
Item complex_of(const graph::Tensor& pairs);
// The other way around; the same tensor where the item is made of one.
graph::Tensor pairs_of(const Item& complex);

// What the row gives of the arguments, which may be complex or ask for complex elements: what only moves and
// adds elements, it does to each part.
Item computed(const Row& row, const Arguments& arguments);

}  // namespace twinloom::fx
