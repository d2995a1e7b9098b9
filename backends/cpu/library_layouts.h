// How the operands of a contraction lie in memory, in the dimensions that oneDNN's primitives give them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/loops/products.h"

namespace twinloom::cpu {

// The dimensions of one operand, outermost first, and their steps in memory.
struct Layout {
  std::vector<std::int64_t> dims, strides;
  void add(std::int64_t extent, std::int64_t step) { dims.push_back(extent), strides.push_back(step); }
  // Of dimensions with one element any step is true: one that lies beyond all others is none that overlaps.
  void settle();
  // One element of every dimension along which it stays where it is, as what is broadcast has them.
  void broadcast();
  // Whether it walks forwards and meets no element twice, as oneDNN wants it.
  bool is_plain() const;
  // Whether its elements are neighbours, along the last dimension first.
  bool is_row_major() const;
  // Whether channels, dimension 1, are neighbours.
  bool is_channels_last() const { return strides[1] == 1 || dims[1] == 1; }
  // Whether elements of something else lie between its own, as where it is some of the channels.
  bool has_gaps() const;
  // Of the same dimensions, channels innermost, without gaps.
  Layout channels_last() const;
};

struct Layouts {
  Layout out, left, right;
  std::vector<Layout> operands;  // of the epilogue, in the dimensions of `out`
  bool are_plain() const;
};

// Of so many operands of the epilogue.
Layouts layouts_of(const loops::MatrixProduct& of, std::size_t operands);
// Nothing where groups and the channels in each are not one dimension.
std::optional<Layouts> layouts_of(const loops::Convolution& of, std::size_t operands);

}  // namespace twinloom::cpu
