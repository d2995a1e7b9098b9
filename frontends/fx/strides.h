// How a parameter lies in memory, where the text prints its strides.
#pragma once

#include <optional>

#include "frontends/fx/items.h"

namespace twinloom::fx {

struct Layout {
  graph::Axes order = {};  // the axes, the largest stride first; empty: in their own order
  bool gaps = false;       // the strides leave gaps, or they are not known
};
// Without strides: row by row. Strides in any order that leave no gaps put the axes in that order.
Layout layout_of(const graph::Tensor& parameter, const std::optional<graph::Shape>& strides);

// A tensor of that layout, which as_strided looks at row by row.
Item laid_out(Item item, const Layout& layout);

}  // namespace twinloom::fx
