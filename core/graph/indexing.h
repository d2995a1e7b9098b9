// Reading and writing at places that are computed: gather, index, scatter and their relatives. An index
// out of range is an Error of the run that names the node. Indices are of any integer type.
#pragma once

#include "core/graph/builder.h"

namespace twinloom::graph {

// Whether a negative index counts from the end, once.
enum class Negative : std::uint8_t { refused, wraps };

// result[i][j] = x[i][index[i][j]] for axis 1 (aten.gather, ONNX GatherElements).
Tensor take_along(const Tensor& x, int axis, const Tensor& index, Negative negative = Negative::refused);
// The axis is replaced by the axes of `index` (aten.index_select, ONNX Gather).
Tensor take(const Tensor& x, int axis, const Tensor& index, Negative negative = Negative::refused);
// Rows of a table: take(table, 0, index).
Tensor embedding(const Tensor& table, const Tensor& index);
// NumPy's advanced indexing. Entry k speaks of axis k; none, and what is left out, is a whole axis. The
// indices are broadcast; the result has their axes in place of the indexed ones where those are
// neighbours, else in front. A b8 index is an Error (the result's size would depend on data).
using Indices = std::vector<std::optional<Tensor>>;
Tensor index(const Tensor& x, const Indices& indices, Negative negative = Negative::wraps);
// index(x, indices) = values (broadcast), or += with Mode::add. A b8 mask as the only index, for as many axes
// as it has, is a select; the values' axis for the elements that it takes has size 1.
Tensor index_put(const Tensor& x, const Indices& indices, const Tensor& values, Mode mode = Mode::replace,
                 Negative negative = Negative::wraps);
// result[i][index[i][j]] = source[i][j] for axis 1; `source` may be larger than `index`. Of truths, Mode::add
// is "or" and Mode::multiply "and", here and above.
Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& source,
               Mode mode = Mode::replace, bool include_self = true, Negative negative = Negative::refused);
Tensor scatter(const Tensor& x, int axis, const Tensor& index, ops::Number value, Mode mode = Mode::replace,
               bool include_self = true, Negative negative = Negative::refused);
// result[i][places[i][j]] = x[i][j] for axis 1, where the places of a row are 0, 1, .. in some order: the
// caller answers for that.
Tensor permute_along(const Tensor& x, int axis, const Tensor& places);
// The mean of the sources at a place, and of what was there with `include_self`; of integers rounded down.
Tensor scatter_mean(const Tensor& x, int axis, const Tensor& index, const Tensor& source,
                    bool include_self = true);
// x with source[.., j, ..] put (or combined) at x[.., index[j], ..]: index_add, index_copy, index_reduce.
Tensor index_update(const Tensor& x, int axis, const Tensor& index, const Tensor& source, Mode mode,
                    bool include_self = true, Negative negative = Negative::refused);
// A new last axis: 1 where the index is, else 0. An index outside 0..classes-1 gives only zeros.
Tensor one_hot(const Tensor& index, const index::Expr& classes, ops::DType dtype);

}  // namespace twinloom::graph
