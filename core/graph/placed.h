// x with other elements at some of its places: what slice_scatter and its relatives are made of.
#pragma once

#include <string_view>

#include "core/graph/builder.h"

namespace twinloom::graph {

// Element `axes` of the result is element `source` of `source` where `inside` holds, else that of x.
Tensor put_in_place(const Tensor& x, const Tensor& source, View map);

// Error, or a requirement, where the source has not the type of x and the expected shape.
void check_source(const Tensor& x, const Tensor& source, const Shape& expected, std::string_view what);

}  // namespace twinloom::graph
