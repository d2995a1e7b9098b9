// What comparisons allow on top of their tolerance in the modes that are not strict.
//
// An output that is made of a 16-bit value whose rounding was left out may differ from one that was
// computed with it: by one step of that 16-bit type at the largest value of the intermediate. One that is
// made of a sum in free order, as of a contraction, by the bound of NUMERICS.md A.2 on that sum; of functions
// that are approximated by 2^-21 of the largest and 4 units in its last place, as often as there are any; and
// by one step of each 16-bit value between: what is rounded there may have changed sides.
#pragma once

#include <span>
#include <vector>

#include "core/evaluate/evaluate.h"
#include "core/runtime/variant.h"

namespace twinloom::tool {

// One number for each result of the graph, 0 where no rounding above it was left out. The largest values
// come from the wide evaluator.
std::vector<double> dropped_steps(const graph::Graph& graph, std::span<const evaluate::Argument> arguments,
                                  const evaluate::RunNumbers& numbers);

// One number for each result of the variant's graph, 0 where no sum or product in free order and no function
// that is approximated stands above it: the largest of their bounds and of those steps. With u of the type
// that is summed in, 8 u rms sqrt(n log2 n) of n terms with the root mean square rms, and n u of a product of
// n, both by the wide evaluator.
std::vector<double> relaxed_errors(const runtime::Variant& variant,
                                   std::span<const evaluate::Argument> arguments,
                                   const evaluate::RunNumbers& numbers);

}  // namespace twinloom::tool
