// Index expressions over many positions at once: a block of neighbouring row-major elements is looked at
// together, so an expression costs one pass over the block for each of its operators.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/index/expr.h"

namespace twinloom::evaluate {

using Numbers = std::vector<std::int64_t>;

inline constexpr std::int64_t BLOCK = 1024;

// The numbers that each symbol has at the positions of a block.
struct Columns {
  std::size_t count = 0;
  std::vector<std::pair<index::Symbol, Numbers>> symbols;
};

// The positions along `axes` of elements first, first + 1, ... of a tensor of these sizes.
Columns positions(std::span<const index::Symbol> axes, std::span<const std::int64_t> sizes,
                  std::int64_t first, std::int64_t count);

// The value of the expression, or whether the condition holds, at each position.
Numbers values_of(const index::Expr& expr, const Columns& columns);
std::vector<bool> holds_at(const index::Condition& condition, const Columns& columns);

std::int64_t count_of(std::span<const std::int64_t> sizes);
std::vector<std::int64_t> strides_of(std::span<const std::int64_t> sizes);

// Position `element` of a row-major tensor, along each axis.
std::vector<std::int64_t> position_of(std::int64_t element, std::span<const std::int64_t> sizes);

// The sizes of a run put in place of their symbols.
index::Expr with_sizes(const index::Expr& expr, const index::Values& sizes);

}  // namespace twinloom::evaluate
