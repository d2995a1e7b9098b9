// A Concat of two parts of one value that lie one behind the other in it, in either order, is a View of that
// value; what is done to the elements of one part alone is chosen by position.
//   y = concat axis 1 (neg(view(x) from [i0, i1 + 32]), view(x) from [i0, i1])      two parts of [n, 32]
// becomes
//   a = view(x) at [i0, i1] from [i0, floor_mod(i1 + 32, 64)]
//   y = where(lt(iota [64], 32), neg(a), a)
// So are the rotated halves of a rotary embedding, and a roll that is written by slices. Each element is
// loaded once, where it had a masked load for either part. No bit changes.
#include <algorithm>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/views.h"
#include "core/ops/cost.h"

namespace twinloom::graph {

namespace {

// Neighbours along the last axis are loaded together: so many stay neighbours where they are rotated.
constexpr std::int64_t TOGETHER = 16;
// Instructions of what is done to the elements of one part alone, which each element then takes: a product, a
// conversion to 16 bits and back, but no function.
constexpr int FEW = 8;

// A part of a Concat: what is done to each element of a view, the last operator first.
struct Part {
  std::vector<NodeId> done;
  NodeId view;
};

class Joins {
 public:
  explicit Joins(const Graph& graph) : graph_(graph), rebuild_(graph) {
    for (const Result& result : graph.results())
      if (has_value(result.kind)) results_.insert(result.value);
  }

  Graph run() {
    return remove_dead(rebuild_.finish_by([&](NodeId id) { return joined(id); }));
  }

 private:
  std::optional<NodeId> joined(NodeId id) {
    const Node& node = graph_[id];
    const auto* concat = std::get_if<Concat>(&node.node);
    if (concat == nullptr || node.inputs.size() != 2) return std::nullopt;
    const auto axis = static_cast<std::size_t>(concat->axis);
    const auto first = part_of(node.inputs[0]), second = part_of(node.inputs[1]);
    if (!first || !second) return std::nullopt;
    auto view = view_of_both(*first, *second, node, axis);
    if (!view) return std::nullopt;
    const bool is_alike = are_alike(first->done, second->done);
    if (!is_alike && work_of(first->done) + work_of(second->done) > FEW) return std::nullopt;
    // A result has memory of its own, which a View that another result has too would not say.
    if (is_alike && first->done.empty() && results_.contains(id)) return std::nullopt;
    const NodeId source = rebuild_[graph_[first->view].inputs[0]];
    const NodeId all = add_view(rebuild_.made(), source, *std::move(view), node.origin);
    const NodeId yes = done_to(all, first->done);
    if (is_alike) return yes;
    return rebuild_.add(Pointwise{ops::Pointwise::where},
                        {is_in_first(id, axis), yes, done_to(all, second->done)}, id);
  }

  std::optional<Part> part_of(NodeId id) const {
    Part part{{}, id};
    for (;; part.view = graph_[part.view].inputs[0]) {
      const Node& node = graph_[part.view];
      if (const auto* view = std::get_if<View>(&node.node))
        return view->inside.all.empty() ? std::optional(part) : std::nullopt;
      const bool is_unary = std::holds_alternative<Cast>(node.node) ||
                            (std::holds_alternative<Pointwise>(node.node) && node.inputs.size() == 1);
      if (!is_unary) return std::nullopt;
      part.done.push_back(part.view);
    }
  }

  int work_of(const std::vector<NodeId>& done) const {
    int work = 0;
    for (const NodeId id : done) {
      const auto* pointwise = std::get_if<Pointwise>(&graph_[id].node);
      work += pointwise == nullptr ? 1 : ops::cost(pointwise->op);
    }
    return work;
  }
  bool are_alike(const std::vector<NodeId>& a, const std::vector<NodeId>& b) const {
    return std::ranges::equal(a, b, [&](NodeId x, NodeId y) { return graph_[x].node == graph_[y].node; });
  }

  // The view whose elements are those of both parts; nothing where there is none.
  std::optional<View> view_of_both(const Part& first, const Part& second, const Node& node,
                                   std::size_t axis) const {
    const Node &a = graph_[first.view], &b = graph_[second.view];
    const auto size = index::constant_of(node.shape[axis]), before = index::constant_of(a.shape[axis]);
    if (a.inputs != b.inputs || !size || !before || *before == 0 || *before == *size) return std::nullopt;
    View all;
    for (const index::Expr& extent : node.shape) new_axis(all, extent);
    const std::int64_t behind = *size - *before;
    const std::vector<index::Expr> from_first = source_of(a, all), from_second = source_of(b, all);
    const auto step = step_between(from_first, from_second, all.axes[axis]);
    if (step == -*before) {  // as they lie
      all.source = from_first;
      return all;
    }
    const bool stay_neighbours =
        axis + 1 < node.shape.size() || (*before % TOGETHER == 0 && behind % TOGETHER == 0);
    if (step != behind || !stay_neighbours) return std::nullopt;
    const index::Substitution rotated = {
        {all.axes[axis], index::floor_mod(index::Expr(all.axes[axis]) + behind, *size)}};
    for (const index::Expr& expr : from_second) all.source.push_back(index::substitute(expr, rotated));
    return all;
  }

  // Where the view reads, by the axes of another.
  static std::vector<index::Expr> source_of(const Node& node, const View& other) {
    const View& view = std::get<View>(node.node);
    index::Substitution here;
    for (std::size_t d = 0; d < view.axes.size(); ++d) here.emplace(view.axes[d], other.axes[d]);
    std::vector<index::Expr> source;
    for (const index::Expr& expr : view.source) source.push_back(index::substitute(expr, here));
    return source;
  }

  // How many positions along the axis the first reads behind the second, everywhere; nothing where it is no
  // such number.
  static std::optional<std::int64_t> step_between(const std::vector<index::Expr>& first,
                                                  const std::vector<index::Expr>& second,
                                                  const index::Symbol& axis) {
    std::optional<std::int64_t> step;
    for (std::size_t d = 0; d < first.size(); ++d) {
      const auto a = index::linear_in(first[d], axis), b = index::linear_in(second[d], axis);
      if (!a || !b || a->scale != b->scale) return std::nullopt;
      const auto scale = index::constant_of(a->scale), apart = index::constant_of(a->rest - b->rest);
      if (!scale || !apart) return std::nullopt;
      if (*scale == 0 && *apart == 0) continue;
      if (*scale == 0 || *apart % *scale != 0) return std::nullopt;
      const std::int64_t here = *apart / *scale;
      if (step && *step != here) return std::nullopt;
      step = here;
    }
    return step;
  }

  NodeId done_to(NodeId value, const std::vector<NodeId>& done) {
    for (std::size_t k = done.size(); k-- > 0;) value = rebuild_.add(graph_[done[k]].node, {value}, done[k]);
    return value;
  }

  NodeId is_in_first(NodeId id, std::size_t axis) {
    const Shape& shape = graph_[id].shape;
    const NodeId position = rebuild_.add(Iota{static_cast<int>(axis), ops::DType::i64, shape}, {}, id);
    const NodeId end =
        rebuild_.add(Constant{ops::Number(*index::constant_of(graph_[graph_[id].inputs[0]].shape[axis])),
                              ops::DType::i64, shape},
                     {}, id);
    return rebuild_.add(Pointwise{ops::Pointwise::lt}, {position, end}, id);
  }

  const Graph& graph_;
  Rebuild rebuild_;
  std::set<NodeId> results_;
};

}  // namespace

Graph concat_to_view(const Graph& graph) { return Joins(graph).run(); }

}  // namespace twinloom::graph
