// Nests that are one contraction: c[i, j] = f(sum over k of a[i, k] * b[k, j]). For the inside of this
// component.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/loops/nest.h"

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

}  // namespace twinloom::schedule
