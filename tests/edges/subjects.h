// What an edge case is run on: a graph of 37 elements or rows, two of which are the case, by all who give
// graphs a meaning.
#pragma once

#include "core/evaluate/evaluate.h"
#include "tests/edges/cases.h"

namespace twinloom::tests {

constexpr std::int64_t elements = 37;
// One in the body of a vector of 32 lanes or fewer, one in the tail of each.
constexpr std::int64_t places[] = {3, 36};

enum class Layout : std::uint8_t {
  pointwise,  // the case is one element of each operand
  along,      // [37, n]: along a row
  across,     // [n, 37]: lanes are different rows
};

// Of all cases with this operation, type and number of inputs.
graph::Graph graph_of(const Edge& edge, Layout layout);
// The case at both places, 1 elsewhere.
std::vector<evaluate::Argument> arguments_of(const Edge& edge, Layout layout);
// The number as an element of the type.
ops::Number number_of(const std::string& text, ops::DType dtype);

// The evaluator, the interpreter of loops, and machine code for each instruction set of this CPU; the latter
// is compiled by a caller whose floating-point state is bad, and run by one whose state is good and by one
// whose is bad.
struct Subject {
  std::string name;
  std::function<evaluate::Value(const std::vector<evaluate::Argument>&)> run;
};
std::vector<Subject> subjects_of(const graph::Graph& graph);

}  // namespace twinloom::tests
