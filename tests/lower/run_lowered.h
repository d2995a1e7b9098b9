// Runs lowered units through the interpreter and compares what comes out with the graph evaluator, bit for
// bit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/evaluate/evaluate.h"
#include "core/lower/lower.h"

namespace twinloom::tests {

using Results = std::vector<std::optional<evaluate::Value>>;

// The results in order; row-major, whatever strides they were written with. Bug when an index is out of
// range.
Results run_lowered(const graph::Graph& graph, const lower::Lowered& lowered,
                    const std::vector<evaluate::Argument>& arguments, const index::Values& strides = {});

// The first difference in words, or nothing. All NaNs are one.
std::optional<std::string> difference(const Results& given, const Results& expected);

// Arguments for every parameter: floats in [-2, 2) with a few special values, integers in [0, below), sizes
// as given by name.
std::vector<evaluate::Argument> random_arguments(const graph::Graph& graph, unsigned seed,
                                                 const index::Values& sizes = {}, std::int64_t below = 3);

// lower == fuse(lower) == evaluate strict, for random arguments. Returns the number of kernels after fusion.
std::size_t expect_same_bits(const graph::Graph& graph, const index::Values& sizes = {},
                             std::int64_t below = 3, const lower::Routines& routines = {});

}  // namespace twinloom::tests
