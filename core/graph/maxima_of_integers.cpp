// The maximum of scaled integers of 8 bits is the scaled maximum of the integers, which rise together:
//   x = mul(cast(sub(cast(q: u8): i32, z)): f32, s)            m = reduce max over k (view(q, else 0))
//   y = reduce max over k (view(x, else -inf))         ->      y = mul(cast(sub(cast(m): i32, z)): f32, s)
// for a number s above 0. No bit changes, and a quarter of the bytes is read. What a view adds is below all
// others, so each maximum must be of at least one element of q. Nodes that no result needs are left out.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

using ops::DType;

bool is_8_bit_integer(DType dtype) { return ops::is_integer(dtype) && ops::bits_of(dtype) == 8; }

// An operator that rises with its first input: a conversion that is exact, or one with a number.
bool rises(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Cast>(node.node)) return node.dtype == DType::i32 || node.dtype == DType::f32;
  const bool is_sub = is_of(node, ops::Pointwise::sub), is_mul = is_of(node, ops::Pointwise::mul);
  const auto number = is_sub || is_mul ? only_number(graph, node.inputs[1]) : std::nullopt;
  if (!number) return false;
  const double value = ops::real_of(*number, node.dtype);
  return is_sub ? node.dtype == DType::i32 && std::abs(value) <= 255
                : node.dtype == DType::f32 && value > 0 && std::isfinite(value);
}

// The nodes from the integers of 8 bits to the one that is given, and these integers.
struct Rising {
  NodeId numbers;
  std::vector<NodeId> above;
};
std::optional<Rising> rising_to(const Graph& graph, NodeId id) {
  Rising found{id, {}};
  while (!is_8_bit_integer(graph[found.numbers].dtype)) {
    const Node& node = graph[found.numbers];
    if (!rises(graph, node)) return std::nullopt;
    found.above.push_back(found.numbers);
    found.numbers = node.inputs[0];
  }
  std::ranges::reverse(found.above);
  return found.above.empty() ? std::nullopt : std::optional(found);
}

// Whether some place of each maximum is inside.
class Coverage {
 public:
  Coverage(const View& view, const std::vector<int>& summed) : view_(view) {
    for (const int axis : summed) summed_.push_back(view.axes[static_cast<std::size_t>(axis)]);
  }

  // Conditions that share no axis are met apart.
  bool is_complete() const {
    std::vector<index::Less> rest = view_.inside.all;
    while (!rest.empty()) {
      index::Condition connected{{rest.back()}};
      rest.pop_back();
      for (bool grows = true; grows;) {
        const auto symbols = index::symbols_of(connected);
        const auto shares = [&](const index::Less& less) {
          return std::ranges::any_of(index::symbols_of(index::Condition{{less}}),
                                     [&](index::Symbol symbol) { return symbols.contains(symbol); });
        };
        const auto found = std::ranges::find_if(rest, shares);
        grows = found != rest.end();
        if (!grows) continue;
        connected.all.push_back(*found);
        rest.erase(found);
      }
      if (!is_met(connected)) return false;
    }
    return true;
  }

 private:
  static constexpr std::int64_t MOST = 1 << 16;  // values that are tried
  struct Extent {
    index::Symbol axis;
    std::int64_t size;
  };

  bool is_met(const index::Condition& condition) const {
    std::vector<Extent> kept, summed;
    std::int64_t count = 1;
    for (std::size_t d = 0; d < view_.axes.size(); ++d) {
      if (!index::symbols_of(condition).contains(view_.axes[d])) continue;
      const auto size = index::constant_of(view_.sizes[d]);
      if (!size || *size > MOST || (count *= *size) > MOST) return false;
      const bool is_summed = std::ranges::find(summed_, view_.axes[d]) != summed_.end();
      (is_summed ? summed : kept).push_back({view_.axes[d], *size});
    }
    index::Values values;
    if (index::symbols_of(condition).size() != kept.size() + summed.size()) return false;
    return for_all(kept, 0, values,
                   [&] { return !for_all(summed, 0, values, [&] { return !holds(condition, values); }); });
  }

  template <class Holds>
  static bool for_all(const std::vector<Extent>& axes, std::size_t from, index::Values& values,
                      const Holds& holds) {
    if (from == axes.size()) return holds();
    for (std::int64_t at = 0; at < axes[from].size; ++at) {
      values[axes[from].axis] = at;
      if (!for_all(axes, from + 1, values, holds)) return false;
    }
    return true;
  }
  static bool holds(const index::Condition& condition, const index::Values& values) {
    return std::ranges::all_of(condition.all, [&](const index::Less& less) {
      return index::evaluate(less.a, values) < index::evaluate(less.b, values);
    });
  }

  const View& view_;
  std::vector<index::Symbol> summed_;
};

class Maxima {
 public:
  explicit Maxima(Rebuild& rebuild) : rebuild_(rebuild), graph_(rebuild.from()) {}

  std::optional<NodeId> of_integers(NodeId id) {
    const Node& old = graph_[id];
    const auto* reduce = std::get_if<Reduce>(&old.node);
    if (reduce == nullptr || reduce->monoid != ops::Monoid::max || old.dtype != DType::f32)
      return std::nullopt;
    const Node& elements = graph_[old.inputs[0]];
    const auto* view = std::get_if<View>(&elements.node);
    const auto rising = rising_to(graph_, view == nullptr ? old.inputs[0] : elements.inputs[0]);
    if (!rising || (view != nullptr && !is_covered(*view, reduce->axes))) return std::nullopt;
    NodeId result = rebuild_[rising->numbers];
    if (view != nullptr) {
      View moved = *view;
      moved.fill = ops::kind(graph_[rising->numbers].dtype) == ops::TypeKind::signed_int ? -128 : 0;
      result = add_view(rebuild_.made(), result, std::move(moved), elements.origin);
    }
    result = rebuild_.add(*reduce, {result}, id);
    for (const NodeId above : rising->above) result = again(above, result, id);
    return result;
  }

 private:
  static bool is_covered(const View& view, const std::vector<int>& axes) {
    if (view.inside.all.empty()) return true;
    return ops::real_of(view.fill, DType::f32) == -std::numeric_limits<double>::infinity() &&
           Coverage(view, axes).is_complete();
  }

  // The operator over another first input.
  NodeId again(NodeId above, NodeId input, NodeId like) {
    const Node& node = graph_[above];
    std::vector<NodeId> inputs{input};
    if (node.inputs.size() > 1)
      inputs.push_back(rebuild_.add(
          Constant{*only_number(graph_, node.inputs[1]), node.dtype, graph_[like].shape}, {}, like));
    return rebuild_.add(node.node, std::move(inputs), like);
  }

  Rebuild& rebuild_;
  const Graph& graph_;
};

}  // namespace

Graph maxima_of_integers(const Graph& graph) {
  Rebuild rebuild(graph);
  Maxima maxima(rebuild);
  return remove_dead(rebuild.finish_by([&](NodeId id) { return maxima.of_integers(id); }));
}

}  // namespace twinloom::graph
