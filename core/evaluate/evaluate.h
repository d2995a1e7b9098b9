// The meaning of a graph, node by node over plain arrays: slow, obvious, and independent of lowering,
// fusion and emitted code.
//
//   strict  every operator rounds to its type; sums, scans and scatters in the canonical order. What
//           every back end must give bit for bit.
//   wide    floating values are doubles all through, nothing is rounded in between, casts between
//           floating types included; integers are as in strict. What tolerances are measured against.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::evaluate {

enum class Arithmetic : std::uint8_t { strict, wide };

// A tensor: row-major, without gaps.
struct Value {
  ops::DType dtype;
  std::vector<std::int64_t> sizes;
  std::vector<std::byte> bytes;
};
// One for each parameter of the graph: a tensor, or the value of a size parameter.
using Argument = std::variant<Value, std::int64_t>;

// Seed and offset of the random numbers of a run.
struct RunNumbers {
  std::int64_t seed = 0;
  std::int64_t offset = 0;
};

// One for each result, in order: `none` gives nothing, a size gives an i64 of rank 0. In wide, results of
// floating types are f64. Error where the inputs do not fit the graph, and where an index is out of
// range (names the node, the position, the value and the bound).
std::vector<std::optional<Value>> evaluate(const graph::Graph& graph, std::span<const Argument> arguments,
                                           Arithmetic arithmetic, RunNumbers numbers = {});

}  // namespace twinloom::evaluate
