// Nests that are one contraction: c[i, j] = f(sum over k of a[i, k] * b[k, j]). For the inside of this
// component.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/loops/nest.h"
#include "core/steps/steps.h"

namespace twinloom::schedule {

// In the names of its axes and buffers.
struct Contraction {
  std::vector<std::string> others;  // common axes that stay as they are
  loops::NestLoop rows, columns,
      depth;                // of the left operand only, of the right one only, of both and summed over
  std::string left, right;  // buffers
  std::string total;
  bool right_is_dense = false;  // neighbouring columns are neighbours in the right operand
};
// Nothing where the nest is something else.
std::optional<Contraction> find_contraction(const loops::Program& nest);

constexpr std::int64_t CHAIN = 128;  // products that are added up one after the other: errors grow with it
struct Tile {
  std::int64_t rows, vectors;  // of registers
};
struct Blocks {
  std::int64_t rows, columns;         // of a task
  std::optional<std::int64_t> depth;  // that is copied at once; nothing: all of it
};
// Steps that walk it by tiles of registers, in blocks of tasks or without them; see choose_product.cpp.
std::vector<steps::Step> tiled(const Contraction& of, const std::optional<Blocks>& blocks, const Tile& tile,
                               std::int64_t lanes, bool packs_right);

}  // namespace twinloom::schedule
