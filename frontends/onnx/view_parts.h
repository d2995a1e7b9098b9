// Inside of the component: Views whose axes are several side by side.
//   view[i0] = x[floor_mod(i0, 3), floor_div(i0, 3)]  ->  view[part0, part1] = x[part1, part0]
#pragma once

#include "core/graph/graph.h"

namespace twinloom::onnx {

// The axes of the result that are several: a = p0*d0 + p1*d1 + ... where floor_div(a, d) and floor_mod(a, d)
// are looked at.
struct Split {
  graph::View view;                // over the parts
  std::vector<std::size_t> first;  // part of each axis, and one behind the last
  bool is_any = false;
};
Split split_axes(const graph::View& view, const index::Facts& facts);

}  // namespace twinloom::onnx
