// What `--expect` allows on top of its tolerance in the modes that leave roundings out.
//
// An output that is made of a 16-bit value whose rounding was left out may differ from one that was
// computed with it: by one step of that 16-bit type at the largest value of the intermediate.
#pragma once

#include <span>
#include <vector>

#include "core/evaluate/evaluate.h"

namespace twinloom::tool {

// One number for each result of the graph, 0 where no rounding above it was left out. The largest values
// come from the wide evaluator.
std::vector<double> dropped_steps(const graph::Graph& graph, std::span<const evaluate::Argument> arguments,
                                  const evaluate::RunNumbers& numbers);

}  // namespace twinloom::tool
