// Outside of mode `strict`: what is added to few rows at found places is a sum for each of them, over all
// that is added, of what is for that row. The gradient of an embedding of two kinds of tokens:
//   y = scatter add (base [2, c], value [n, c], index [n, c]) at [i0, i1] to [f0, i1]
// becomes
//   at = gather(iota [2], index) from [f0]                        the index itself, checked and wrapped
//   s_k = sum(where(eq(at, k), value, -0), over [0])              [c]
//   y = base + concat(s_0, s_1)
// A list of each row is as long as all that is added, and one thread walks it; sums are taken by all, and
// read the value once together. A sum of n terms stays within the bound of canonical ones: -0 changes no
// partial sum, and those it stands for are in the list's own order.
#include <algorithm>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/scatter_places.h"

namespace twinloom::graph {

namespace {

constexpr std::int64_t MOST_SUMS = 4, LEAST_ADDED = 1024;  // to all rows, for each of their elements

// Where a scatter's values go: the result's axis of rows, and the source's axis of each other one.
struct Rows {
  std::size_t axis;
  std::int64_t count;
  std::vector<int> source_axes;  // by the result's axes; -1: that of rows
};

// The axis of the source that a place is.
std::optional<int> axis_of(const Scatter& scatter, const index::Expr& place) {
  const auto symbol = index::symbol_of(place);
  if (!symbol) return std::nullopt;
  const auto found = std::ranges::find(scatter.axes, *symbol);
  if (found == scatter.axes.end()) return std::nullopt;
  return static_cast<int>(found - scatter.axes.begin());
}

std::optional<Rows> rows_of(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const auto* scatter = std::get_if<Scatter>(&node.node);
  const bool adds = scatter != nullptr && scatter->mode == Mode::add && scatter->include_self &&
                    (node.dtype == ops::DType::f32 || node.dtype == ops::DType::f64);
  if (!adds || scatter->found.size() != 1) return std::nullopt;
  const auto count = index::constant_of(scatter->bounds[0]);
  if (!count || *count < 1 || *count > MOST_SUMS) return std::nullopt;
  const Shape& source = graph[node.inputs[1]].shape;
  std::optional<Rows> rows;
  std::vector<int> source_axes;
  for (std::size_t d = 0; d < scatter->place.size(); ++d) {
    const index::Expr& place = scatter->place[d];
    const auto axis = axis_of(*scatter, place);
    const bool is_row = index::symbol_of(place) == scatter->found[0];
    if (is_row && !rows && node.shape[d] == scatter->bounds[0]) {
      rows = Rows{d, *count, {}};
    } else if (!axis || source[static_cast<std::size_t>(*axis)] != node.shape[d] ||
               std::ranges::find(source_axes, *axis) != source_axes.end()) {
      return std::nullopt;
    }
    source_axes.push_back(is_row ? -1 : *axis);
  }
  if (rows) rows->source_axes = std::move(source_axes);
  return rows;
}

// The axes of the source that no place has; nothing where too little is added along them.
std::vector<int> summed_axes(const Rows& rows, const Shape& source) {
  std::vector<int> summed;
  std::int64_t added = 1;
  for (int axis = 0; axis < static_cast<int>(source.size()); ++axis) {
    if (std::ranges::find(rows.source_axes, axis) != rows.source_axes.end()) continue;
    const auto size = index::constant_of(source[static_cast<std::size_t>(axis)]);
    if (!size) return {};
    summed.push_back(axis);
    added *= *size;
  }
  return added >= LEAST_ADDED ? summed : std::vector<int>{};
}

class Sums {
 public:
  Sums(Rebuild& rebuild, NodeId id, Rows rows, std::vector<int> summed)
      : rebuild_(rebuild),
        id_(id),
        node_(rebuild.from()[id]),
        source_(rebuild.from()[node_.inputs[1]].shape),
        rows_(std::move(rows)),
        summed_(std::move(summed)) {}

  NodeId run() {
    const NodeId positions = add(Iota{0, ops::DType::i64, {rows_.count}}, {});
    const NodeId at = found_positions(rebuild_, id_, 0, positions, rebuild_[node_.inputs[2]], source_);
    std::vector<NodeId> sums;
    for (std::int64_t row = 0; row < rows_.count; ++row) sums.push_back(sum_of(at, row));
    const NodeId all = sums.size() == 1 ? sums[0] : add(Concat{static_cast<int>(rows_.axis)}, sums);
    return add(Pointwise{ops::Pointwise::add}, {rebuild_[node_.inputs[0]], all});
  }

 private:
  NodeId add(Op op, std::vector<NodeId> inputs) {
    return rebuild_.add(std::move(op), std::move(inputs), id_);
  }

  // With one element along the axis of rows.
  NodeId sum_of(NodeId at, std::int64_t row) {
    const NodeId number = add(Constant{ops::Number(row), ops::DType::i64, source_}, {});
    const NodeId nothing = add(Constant{ops::Number(-0.0), node_.dtype, source_}, {});
    const NodeId is_here = add(Pointwise{ops::Pointwise::eq}, {at, number});
    const NodeId here = add(Pointwise{ops::Pointwise::where}, {is_here, rebuild_[node_.inputs[1]], nothing});
    const NodeId sum = add(Reduce{ops::Monoid::sum, summed_}, {here});
    View view;
    view.source.resize(source_.size() - summed_.size());
    for (std::size_t d = 0; d < node_.shape.size(); ++d) {
      view.axes.push_back(axis_symbol(static_cast<int>(d)));
      view.sizes.push_back(d == rows_.axis ? index::Expr(1) : node_.shape[d]);
      if (d == rows_.axis) continue;
      const int axis = rows_.source_axes[d];
      const auto before = std::ranges::count_if(summed_, [&](int summed) { return summed < axis; });
      view.source[static_cast<std::size_t>(axis - before)] = view.axes.back();
    }
    return add(std::move(view), {sum});
  }

  Rebuild& rebuild_;
  NodeId id_;
  const Node& node_;
  const Shape& source_;
  const Rows rows_;
  const std::vector<int> summed_;
};

}  // namespace

Graph scatter_to_sums(const Graph& graph) {
  Rebuild rebuild(graph);
  return rebuild.finish_by([&](NodeId id) -> std::optional<NodeId> {
    auto rows = rows_of(graph, id);
    if (!rows) return std::nullopt;
    auto summed = summed_axes(*rows, graph[graph[id].inputs[1]].shape);
    if (summed.empty()) return std::nullopt;
    return Sums(rebuild, id, *std::move(rows), std::move(summed)).run();
  });
}

}  // namespace twinloom::graph
