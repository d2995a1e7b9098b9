// Sums of products by an equation of letters: "bij,bjk->bik", "...ii", "ij,jk".
#pragma once

#include <string>
#include <vector>

#include "core/graph/builder.h"

namespace twinloom::graph {

// As NumPy has it. Of f16 and bf16 products and sums are f32, and the result is rounded once.
Tensor einsum(Builder& builder, const std::string& equation, const std::vector<Tensor>& operands);

}  // namespace twinloom::graph
