// Which dimensions of a Scatter are sorted, and which stay outside the sort; and what scatter.cpp chooses
// from. Private to this component.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/lower/draft.h"
#include "core/lower/reader.h"

namespace twinloom::lower {

// Which dimensions and axes are sorted, and which stay outside the sort.
struct Plan {
  std::vector<std::size_t> keyed;           // dimensions of the result that the sort tells apart
  std::vector<std::size_t> sorted;          // axes of the source that are sorted
  std::map<std::size_t, std::size_t> free;  // axis of the source -> dimension of the result
  std::size_t own = 0;           // so many first dimensions and axes of these are the same: rows of their own
  index::Expr elements, places;  // how many are sorted, and into how many places
};
Plan plan_of(const graph::Graph& graph, const graph::Node& node);

// How many rows are sorted alone, and of one its elements and keys; a row's dimensions are left out of its
// keys.
struct Rows {
  index::Expr rows, elements, keys;
  std::vector<std::size_t> keyed;
};
Rows rows_of(const Plan& plan, const graph::Shape& source, const graph::Shape& result);

// Whether one sort does for both: the same indices, of as many elements, into as many places.
bool same_places(const graph::Graph& graph, graph::NodeId one, graph::NodeId other);

// The statements that set `key` to the key of the element of the source at `at`.
struct KeyedElement {
  const Rows& rows;
  const At& at;
  loops::Temp key;
};
std::vector<loops::Ref<loops::Stmt>> key_of(Reader& reader, const graph::Graph& graph, graph::NodeId id,
                                            const KeyedElement& element);

// A stable sort of elements by key as a kernel of its own: `body` sets `key` to that of the element `at`. Its
// `sizes` are those of the routine: elements and keys of a row, and rows where there are several.
struct KeySort {
  ValueId order;
  std::optional<ValueId> starts;
  std::vector<index::Expr> sizes;
  loops::Axis at;
  loops::Temp key;
  std::vector<loops::Ref<loops::Stmt>> body;
};
Draft sort_by_key(KeySort sort, Reader& reader, graph::NodeId id);

// The place of the element of the source at `at`, in all dimensions of the result. The indices that it is
// found by are the reader's next ones.
At place_of(Reader& reader, const graph::Graph& graph, graph::NodeId id, const At& at);

// Whether the elements of the source are added in memory, each to its place: where the device may do that, in
// place of sorting places.
bool adds_in_memory(const Lowering& lowering, graph::NodeId id);
std::vector<Draft> lower_atomics(Lowering& lowering, graph::NodeId id);

// Whether the contributions of each row are summed by key, in place of sorting places: where the device does
// that, what is there is part of the sum, and no dimension stays outside. A row is summed by one worker,
// which takes no longer than to sort it where it has as many elements as keys.
bool sums_pay(const Lowering& lowering, graph::NodeId id, const Plan& plan);
std::vector<Draft> lower_sums(Lowering& lowering, graph::NodeId id, const Plan& plan);

// Row-major over the picked dimensions.
index::Expr flatten(const At& at, const graph::Shape& shape, const std::vector<std::size_t>& which);
// The other way: fills the picked positions.
void unflatten(const index::Expr& flat, const graph::Shape& shape, const std::vector<std::size_t>& which,
               At& at);

}  // namespace twinloom::lower
