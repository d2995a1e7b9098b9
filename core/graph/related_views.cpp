// See related_views.h.
#include "core/graph/related_views.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/graph/inside.h"
#include "core/index/simplify.h"

namespace twinloom::graph {

namespace {

constexpr std::size_t MOST_AXES = 5;  // all of whose permutations are tried: 120

// Positions of a tensor of these sizes, of its element number `place` in row-major order.
std::vector<index::Expr> unravelled(const index::Expr& place, const Shape& sizes) {
  const std::vector<index::Expr> strides = index::contiguous_strides(sizes);
  std::vector<index::Expr> positions;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const index::Expr from = index::floor_div(place, strides[d]);
    positions.push_back(d == 0 ? from : index::floor_mod(from, sizes[d]));
  }
  return positions;
}

// Which element in row-major order has these axes, where those of `order` are walked from outside to inside.
index::Expr ravelled(const View& view, const std::vector<std::size_t>& order) {
  index::Expr place = 0;
  for (const std::size_t axis : order) place = place * view.sizes[axis] + index::Expr(view.axes[axis]);
  return place;
}

// Two Views of one value, both without an outside.
class Pair {
 public:
  Pair(const Graph& graph, const View& base, const View& value)
      : base_(base), value_(value), facts_(axis_facts(graph.facts(), value.axes, value.sizes)) {}

  // The map from the value to the base: its axes in some order, and then the sizes of the base.
  std::optional<View> map() const {
    if (value_.axes.size() > MOST_AXES) return std::nullopt;
    if (!facts_.proves_equal(index::product(base_.sizes), index::product(value_.sizes))) return std::nullopt;
    std::vector<std::size_t> order(value_.axes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      std::vector<index::Expr> positions = unravelled(ravelled(value_, order), base_.sizes);
      for (index::Expr& position : positions) position = index::simplify(position, facts_);
      if (leads_to_the_same(positions)) return View{value_.axes, value_.sizes, std::move(positions), {}, 0};
    } while (std::ranges::next_permutation(order).found);
    return std::nullopt;
  }

 private:
  bool leads_to_the_same(const std::vector<index::Expr>& positions) const {
    index::Substitution axes;
    for (std::size_t d = 0; d < positions.size(); ++d) axes.emplace(base_.axes[d], positions[d]);
    for (std::size_t d = 0; d < base_.source.size(); ++d) {
      const index::Expr through = index::simplify(index::substitute(base_.source[d], axes), facts_);
      if (through != value_.source[d] && !facts_.proves_equal(through, value_.source[d])) return false;
    }
    return true;
  }

  const View& base_;
  const View& value_;
  index::Facts facts_;
};

const View* whole_view(const Graph& graph, NodeId id) {
  const auto* view = std::get_if<View>(&graph[id].node);
  return view != nullptr && view->inside.all.empty() ? view : nullptr;
}

// Whether shared_results() finds a memory for it: that of what it is a View of.
bool has_base(const Graph& graph, const Returned& one, const std::vector<Returned>& returned,
              const std::set<NodeId>& row_major) {
  const NodeId input = graph[one.value].inputs[0];
  const bool is_parameter = std::holds_alternative<Input>(graph[input].node) && one.copy == 0;
  return lies_in(graph, input, one, strided(graph, one.value, input), row_major) &&
         (is_parameter || std::ranges::find(returned, input, &Returned::value) != returned.end());
}

// The View of an earlier value that has its elements.
std::optional<std::pair<View, NodeId>> related(const Graph& graph, const std::vector<Returned>& returned,
                                               const std::set<NodeId>& row_major, std::size_t number) {
  const Returned& one = returned[number];
  const View* const view = whole_view(graph, one.value);
  if (view == nullptr || has_base(graph, one, returned, row_major)) return std::nullopt;
  for (std::size_t earlier = 0; earlier < number; ++earlier) {
    const auto [base, copy] = returned[earlier];
    const View* const other = whole_view(graph, base);
    if (other == nullptr || base == one.value || copy != one.copy ||
        graph[base].inputs != graph[one.value].inputs)
      continue;
    if (auto map = Pair(graph, *other, *view).map()) return std::pair(std::move(*map), base);
  }
  return std::nullopt;
}

}  // namespace

std::vector<Returned> with_related_views(Graph& graph, std::vector<Returned> returned,
                                         const std::set<NodeId>& row_major) {
  for (std::size_t number = 1; number < returned.size(); ++number) {
    auto found = related(graph, returned, row_major, number);
    if (!found) continue;
    NodeId& value = returned[number].value;
    value = graph.add_proven(std::move(found->first), {found->second}, graph[value].origin);
  }
  return returned;
}

}  // namespace twinloom::graph
