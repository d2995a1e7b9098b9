// Which results lie in the memory of parameters: of those that the caller donates, whose contents he no
// longer needs, and of those that the graph writes.
//
//   x donated, y = x + 1           y lies in the memory of x, which the kernel reads and writes in place
//   x donated, y = exp(x) @ w      the kernel of exp reads x last; that of the product writes y there
//   x becomes x + 1                the kernel writes x; otherwise its value is copied there at the end
//
// A result takes the memory of a parameter where both have as many bytes, the parameter's lie side by side
// from its element 0 on, no result is a view of the parameter, and its last read comes before the result's
// first write: in an earlier kernel, or in the same one as loops::is_in_place says. A parameter that is
// written takes no other value than its own, in its own layout, and none in a variant that may fail at an
// index, for it keeps what it holds then.
#pragma once

#include <span>
#include <vector>

#include "core/runtime/layout.h"
#include "core/runtime/variant.h"

namespace twinloom::runtime {

constexpr int NO_PARAMETER = -1;

// Whether a result may lie in the memory of the graph's parameter: it is donated or written.
bool gives_memory(const graph::Graph& graph, int parameter);

// The pairs that Step::in_place has, of one kernel's arguments.
std::vector<loops::InPlace> in_place_pairs(const graph::Graph& graph, std::span<const lower::Value> values,
                                           const loops::Program& program,
                                           std::span<const lower::ValueId> arguments);

// The parameter whose memory each value of the variant takes, by value; `results` are the values as tensors
// without memory, of those that are results.
std::vector<int> reused_parameters(const Variant& variant, std::span<const Argument> arguments,
                                   std::span<const Tensor> results);

// Whether the memory of this run's parameter may be taken: it overlaps no other argument, and elements of the
// type may lie there. Of one that has no memory, which is only planned with: yes.
bool may_be_taken(std::span<const Argument> arguments, int parameter, ops::DType dtype);

}  // namespace twinloom::runtime
