// How a parameter lies in memory, by the strides that the text prints.
#pragma once

#include <optional>

#include "frontends/fx/items.h"

namespace twinloom::fx {

// The parameter with the memory it lies in: its axes in the order of their strides.
Item in_strides(const graph::Tensor& parameter, const std::optional<graph::Shape>& strides);

}  // namespace twinloom::fx
