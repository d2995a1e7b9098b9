// The layout of the tensors that are handed in, as lowering wants it: strides as expressions, so that
// tensors of other sizes in the same order share machine code.
#pragma once

#include <span>

#include "core/graph/graph.h"
#include "core/lower/unit.h"
#include "core/runtime/tensor.h"

namespace twinloom::runtime {

// What the caller hands in for a parameter: a tensor, or the value of a size parameter.
using Argument = std::variant<Tensor, std::int64_t>;

// The strides of a tensor parameter, and the values of the symbols in them:
//   row-major                       not named
//   without gaps in another order   products of sizes: [1, n*c] for a transposed matrix
//   else                            0, 1 and -1 stay; another is a number where every size of the
//                                   parameter is known, else the symbol stP.D (parameter P, axis D)
struct BoundLayouts {
  lower::Layouts layouts;
  index::Values strides;
};
// `known_numbers` false: symbols also where every size is known.
BoundLayouts layouts_of(const graph::Graph& graph, std::span<const Argument> arguments, bool known_numbers);

// Two layouts are equal when their keys are.
std::string key_of(const lower::Layouts& layouts);

}  // namespace twinloom::runtime
