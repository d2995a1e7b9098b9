// A Scatter becomes a select where few elements may be written to a place of its result:
//   y = scatter replace(base [n, m], value [n, 1], index [n, 1]) at [i0, i1] to [i0, f0]
// becomes
//   at = gather(iota [m], index expanded [n, m]) from [f0]        the index itself, checked and wrapped
//   y = where(eq(iota axis 1 [n, m], at), value expanded, base)
// So it is computed where it is used, whatever the base is; onto a constant it reads the source alone. With
// several candidates (scatter_places.h) the selects follow each other, and the last wins. The other modes
// combine; floats that are added or multiplied in the canonical order of those that are written:
//   slot 0, slot 1, ... = the values of the candidates that are written, in order, then the identity
//   y = where(any is written, base + tree(slots), base)
// A Scatter with more candidates than the select is worth stays one. Nodes that no result needs are left out.
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/scatter_places.h"
#include "core/graph/views.h"
#include "core/ops/canonical.h"

namespace twinloom::graph {

namespace {

struct Combining {
  ops::Monoid monoid;
  ops::Pointwise op;
};

Combining combining(Mode mode) {
  switch (mode) {
    case Mode::add:
      return {ops::Monoid::sum, ops::Pointwise::add};
    case Mode::multiply:
      return {ops::Monoid::prod, ops::Pointwise::mul};
    case Mode::least:
      return {ops::Monoid::min, ops::Pointwise::minimum};
    case Mode::greatest:
      return {ops::Monoid::max, ops::Pointwise::maximum};
    case Mode::replace:
      break;
  }
  CHECK(false, "what replaces combines nothing");
  return {};
}

class Selecting {
 public:
  Selecting(Rebuild& rebuild, NodeId id, const Candidates& candidates)
      : rebuild_(rebuild),
        id_(id),
        node_(rebuild.from()[id]),
        scatter_(std::get<Scatter>(node_.node)),
        candidates_(candidates) {}

  NodeId run() {
    const NodeId old = rebuild_[node_.inputs[0]];
    for (const Candidate& candidate : candidates_.all) {
      written_.push_back(written(candidate));
      values_.push_back(seen(rebuild_[node_.inputs[1]], candidate));
    }
    if (written_.empty()) return old;
    if (scatter_.mode == Mode::replace) return last(old);
    if (written_.size() == 1) return where(written_[0], with(old, values_[0]), old);
    const auto [monoid, op] = combining(scatter_.mode);
    const bool ordered = ops::order(monoid, ops::total_type(node_.dtype)) == ops::Order::canonical;
    return ordered ? in_order(old) : in_any_order(old);
  }

 private:
  NodeId add(Op op, std::vector<NodeId> inputs) {
    return rebuild_.add(std::move(op), std::move(inputs), id_);
  }
  NodeId compute(ops::Pointwise op, NodeId left, NodeId right) { return add(Pointwise{op}, {left, right}); }
  NodeId where(NodeId condition, NodeId yes, NodeId no) {
    if (yes == no || std::holds_alternative<Constant>(rebuild_.made()[condition].node)) return yes;
    return add(Pointwise{ops::Pointwise::where}, {condition, yes, no});
  }
  NodeId both(std::optional<NodeId> left, NodeId right) {
    return left ? compute(ops::Pointwise::logical_and, *left, right) : right;
  }
  NodeId combine(NodeId left, NodeId right) { return compute(combining(scatter_.mode).op, left, right); }
  NodeId with(NodeId old, NodeId total) { return scatter_.include_self ? combine(old, total) : total; }
  NodeId cast(NodeId value, ops::DType to) {
    return rebuild_.made()[value].dtype == to ? value : add(Cast{to, true}, {value});
  }
  NodeId number(ops::Number value, ops::DType dtype) { return add(Constant{value, dtype, node_.shape}, {}); }

  // The candidate's element of an input of the source's shape, at every place of the result; 0 outside.
  NodeId seen(NodeId input, const Candidate& candidate) {
    View view;
    view.sizes = node_.shape;
    for (std::size_t d = 0; d < node_.shape.size(); ++d)
      view.axes.push_back(axis_symbol(static_cast<int>(d)));
    view.source = candidate.element;
    view.inside = candidate.inside;
    return add_view(rebuild_.made(), input, std::move(view), node_.origin);
  }

  // What index `k` finds for the candidate, at every place; the first position outside, where there is none.
  NodeId found(std::size_t k, const Candidate& candidate) {
    const NodeId positions = add(Iota{0, ops::DType::i64, {scatter_.bounds[k]}}, {});
    const NodeId index = seen(rebuild_[node_.inputs[2 + k]], candidate);
    return found_positions(rebuild_, id_, k, positions, index, node_.shape);
  }

  // Whether the candidate is written, at every place; a constant where it is written everywhere.
  NodeId written(const Candidate& candidate) {
    std::optional<NodeId> all;
    for (std::size_t d = 0; d < candidates_.index_at.size(); ++d) {
      if (candidates_.index_at[d] < 0) continue;
      const NodeId at = found(static_cast<std::size_t>(candidates_.index_at[d]), candidate);
      const NodeId position = add(Iota{static_cast<int>(d), ops::DType::i64, node_.shape}, {});
      all = both(all, compute(ops::Pointwise::eq, position, at));
    }
    if (all && candidate.inside.all.empty()) return *all;
    const Shape& source = rebuild_.from()[node_.inputs[1]].shape;
    const NodeId everywhere = add(Constant{true, ops::DType::b8, source}, {});
    return both(all, seen(everywhere, candidate));
  }

  NodeId last(NodeId old) {
    NodeId result = old;
    for (std::size_t c = 0; c < written_.size(); ++c) result = where(written_[c], values_[c], result);
    return result;
  }

  NodeId in_any_order(NodeId old) {
    NodeId total = values_[0], any = written_[0];
    for (std::size_t c = 1; c < written_.size(); ++c) {
      const NodeId more = where(any, combine(total, values_[c]), values_[c]);
      total = where(written_[c], more, total);
      any = compute(ops::Pointwise::logical_or, any, written_[c]);
    }
    return where(any, with(old, total), old);
  }

  // From the last candidate to the first: one that is written moves the others up by a slot.
  NodeId in_order(NodeId old) {
    const ops::DType type = ops::total_type(node_.dtype);
    const Combining combined = combining(scatter_.mode);
    const NodeId nothing = number(ops::identity(combined.monoid, type)[0], type);
    std::vector<NodeId> slots;
    for (std::size_t c = written_.size(); c-- > 0;) {
      slots.push_back(nothing);
      for (std::size_t s = slots.size(); s-- > 1;) slots[s] = where(written_[c], slots[s - 1], slots[s]);
      slots[0] = where(written_[c], cast(values_[c], type), slots[0]);
    }
    NodeId any = written_[0];
    for (std::size_t c = 1; c < written_.size(); ++c)
      any = compute(ops::Pointwise::logical_or, any, written_[c]);
    const NodeId before = cast(old, type);
    return cast(where(any, with(before, tree(std::move(slots))), before), node_.dtype);
  }

  // The canonical halves of a unit with this many lanes.
  NodeId tree(std::vector<NodeId> slots) {
    for (auto half = static_cast<std::size_t>(ops::LANES) / 2; half >= 1; half /= 2)
      for (std::size_t l = 0; l < half && l + half < slots.size(); ++l)
        slots[l] = combine(slots[l], slots[l + half]);
    return slots[0];
  }

  Rebuild& rebuild_;
  NodeId id_;
  const Node& node_;
  const Scatter& scatter_;
  const Candidates& candidates_;
  std::vector<NodeId> written_;  // by candidate: whether it is written to the place
  std::vector<NodeId> values_;
};

}  // namespace

Graph scatter_to_select(const Graph& graph) {
  Rebuild rebuild(graph);
  const auto made = [&](NodeId id) -> std::optional<NodeId> {
    if (!std::holds_alternative<Scatter>(graph[id].node)) return std::nullopt;
    const auto found = candidates_of(graph, id);
    const auto* candidates = std::get_if<Candidates>(&found);
    if (candidates == nullptr) return std::nullopt;
    return Selecting(rebuild, id, *candidates).run();
  };
  return remove_dead(rebuild.finish_by(made));  // indices that are known
}

std::vector<ScatterForm> scatter_forms(const Graph& graph) {
  const std::vector<bool> live = live_nodes(graph);
  std::vector<ScatterForm> forms;
  for (std::uint32_t n = 0; n < live.size(); ++n) {
    if (!live[n] || !std::holds_alternative<Scatter>(graph.nodes()[n].node)) continue;
    const auto found = candidates_of(graph, NodeId{n});
    if (const auto* candidates = std::get_if<Candidates>(&found)) {
      forms.push_back({NodeId{n}, static_cast<std::int64_t>(candidates->all.size()), {}});
    } else {
      forms.push_back({NodeId{n}, 0, std::get<std::string>(found)});
    }
  }
  return forms;
}

}  // namespace twinloom::graph
