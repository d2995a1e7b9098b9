// See sharing.h.
#include "core/graph/sharing.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/graph/bind.h"
#include "core/graph/inside.h"
#include "core/index/simplify.h"

namespace twinloom::graph {

namespace {

using Position = std::vector<index::Expr>;  // one for each dimension of a node

std::vector<index::Symbol> axes_of(const Graph& graph, NodeId value) {
  std::vector<index::Symbol> axes;
  for (std::size_t k = 0; k < graph[value].shape.size(); ++k)
    axes.push_back(axis_symbol(static_cast<int>(k)));
  return axes;
}

// The element of a View's input that is element `at` of the View.
Position through(const View& view, const Position& at) {
  index::Substitution positions;
  for (std::size_t k = 0; k < view.axes.size(); ++k) positions.emplace(view.axes[k], at[k]);
  Position source;
  for (const index::Expr& expr : view.source) source.push_back(index::substitute(expr, positions));
  return source;
}

// The sum of scale * axis with scales of at least 0 that mention no axis, and a rest without axes.
bool is_strided(const index::Expr& offset, std::span<const index::Symbol> axes, const index::Facts& facts) {
  std::vector<index::Expr> scales;
  index::Expr rest = offset;
  for (const index::Symbol axis : axes) {
    const auto linear = index::linear_in(rest, axis);
    if (!linear) return false;
    scales.push_back(linear->scale);
    rest = linear->rest;
  }
  return std::ranges::all_of(scales, [&](const index::Expr& scale) {
    const bool mentions_axis =
        std::ranges::any_of(axes, [&](index::Symbol axis) { return index::mentions(scale, axis); });
    return !mentions_axis && facts.range(scale).low.value_or(-1) >= 0;
  });
}

bool has_no_elements(const Shape& shape) {
  return std::ranges::any_of(shape, [](const index::Expr& size) { return index::constant_of(size) == 0; });
}

// One value, looked at from what it is a View of, further and further behind.
class Behind {
 public:
  Behind(const Graph& graph, NodeId value)
      : graph_(graph),
        at_(value),
        axes_(axes_of(graph, value)),
        facts_(axis_facts(graph.facts(), axes_, graph[value].shape)),
        position_(axes_.begin(), axes_.end()),
        nothing_(has_no_elements(graph[value].shape)) {}

  NodeId at() const { return at_; }
  // To the input of the View that it is at; false where it is at none, or at one with an outside.
  bool step() {
    const auto* view = std::get_if<View>(&graph_[at_].node);
    if (view == nullptr || (!view->inside.all.empty() && !nothing_)) return false;
    position_ = through(*view, position_);
    at_ = graph_[at_].inputs[0];
    return true;
  }
  Strided strided() const {
    if (nothing_) return Strided::always;
    const auto is_plain = [&](const index::Expr& expr) {
      return is_strided(index::simplify(expr, facts_), axes_, facts_);
    };
    if (std::ranges::all_of(position_, is_plain)) return Strided::always;
    const std::vector<index::Expr> strides = index::contiguous_strides(graph_[at_].shape);
    index::Expr offset = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) offset = offset + position_[d] * strides[d];
    return is_plain(offset) ? Strided::row_major : Strided::no;
  }

 private:
  const Graph& graph_;
  NodeId at_;
  std::vector<index::Symbol> axes_;
  index::Facts facts_;
  Position position_;  // of element `axes_` of the value
  bool nothing_;       // its maps may hold anything
};

// What is furthest behind the value of those that it lies in and that `may_be` lets pass.
template <class Condition>
NodeId base_of(const Graph& graph, const Returned& returned, const std::set<NodeId>& row_major,
               Condition may_be) {
  NodeId base = returned.value;
  Behind behind(graph, returned.value);
  while (behind.step()) {
    const bool lies_there = lies_in(graph, behind.at(), returned, behind.strided(), row_major);
    if (lies_there && may_be(behind.at())) base = behind.at();
  }
  return base;
}

// The results, base by base: of those with one base, the ones of one copy share its memory. Those for which
// that is not stored share the memory of another result.
class Sharing {
 public:
  Sharing(const Graph& graph, std::span<const Returned> returned, const std::set<NodeId>& row_major)
      : graph_(graph), returned_(returned), row_major_(row_major), results_(returned.size()) {}

  std::vector<Result> run() {
    std::map<NodeId, Members> by_base, by_result;
    for (std::size_t r = 0; r < results_.size(); ++r) {
      results_[r].value = returned_[r].value;
      const NodeId base = base_of(graph_, returned_[r], row_major_, [](NodeId) { return true; });
      const auto* input = std::get_if<Input>(&graph_[base].node);
      if (input != nullptr && returned_[r].copy == 0) {
        results_[r].kind = Ownership::input;
        results_[r].input = input->slot;
      } else {
        by_base[base].push_back(r);
      }
    }
    for (const auto& [base, members] : by_base)
      for (const std::size_t r : share(base, members)) by_result[result_behind(returned_[r])].push_back(r);
    for (const auto& [base, members] : by_result) share(base, members);
    return std::move(results_);
  }

 private:
  using Members = std::vector<std::size_t>;  // places of results, ascending

  NodeId result_behind(const Returned& one) const {
    return base_of(graph_, one, row_major_, [&](NodeId base) {
      return std::ranges::any_of(
          returned_, [&](const Returned& other) { return other.value == base && other.copy == one.copy; });
    });
  }

  // Makes views of those that share the memory of `base`; gives the others.
  Members share(NodeId base, const Members& members) {
    const auto owner = std::ranges::find(members, base, [&](std::size_t r) { return returned_[r].value; });
    const bool is_stored = copies_.contains(base), has_owner = !is_stored && owner != members.end();
    const int copy = is_stored ? copies_.at(base) : returned_[has_owner ? *owner : members.front()].copy;
    Members sharing, others;
    for (const std::size_t r : members) (returned_[r].copy == copy ? sharing : others).push_back(r);
    if (!is_stored && !has_owner && !worth_storing(base, sharing)) return members;
    copies_[base] = copy;
    for (const std::size_t r : sharing) {
      if (has_owner && r == *owner) continue;
      results_[r].kind = Ownership::view;
      results_[r].base = base;
    }
    return others;
  }

  // Whether views of the base that are stored each have at least as many elements together.
  bool worth_storing(NodeId base, const Members& sharing) const {
    if (sharing.size() < 2) return false;
    index::Expr count = 0;
    for (const std::size_t r : sharing) count = count + index::product(graph_[returned_[r].value].shape);
    return graph_.facts().proves_less(index::product(graph_[base].shape), count + 1);
  }

  const Graph& graph_;
  std::span<const Returned> returned_;
  const std::set<NodeId>& row_major_;
  std::vector<Result> results_;
  std::map<NodeId, int> copies_;  // which copy of a value lies in memory that results share
};

}  // namespace

Strided strided(const Graph& graph, NodeId value, NodeId base) {
  Behind behind(graph, value);
  while (behind.at() != base)
    if (!behind.step()) return Strided::no;
  return behind.strided();
}

bool lies_in(const Graph& graph, NodeId base, const Returned& returned, Strided how,
             const std::set<NodeId>& row_major) {
  const bool is_parameter = std::holds_alternative<Input>(graph[base].node) && returned.copy == 0;
  return how == Strided::always || (how == Strided::row_major && (!is_parameter || row_major.contains(base)));
}

StridedView strided_view(const Graph& graph, NodeId value, NodeId base,
                         std::span<const std::int64_t> base_strides, const index::Values& sizes) {
  StridedView result;
  result.sizes = sizes_of(graph[value].shape, sizes);
  result.strides.assign(result.sizes.size(), 1);
  for (std::size_t k = result.sizes.size(); k-- > 1;)
    result.strides[k - 1] = result.strides[k] * std::max<std::int64_t>(1, result.sizes[k]);
  if (std::ranges::find(result.sizes, 0) != result.sizes.end()) return result;
  const std::vector<index::Symbol> axes = axes_of(graph, value);
  Position position(axes.begin(), axes.end());
  for (NodeId at = value; at != base; at = graph[at].inputs[0])
    position = through(std::get<View>(graph[at].node), position);
  index::Values values = sizes;
  for (const index::Symbol axis : axes) values[axis] = 0;
  const auto offset = [&] {
    std::int64_t sum = 0;
    for (std::size_t d = 0; d < position.size(); ++d)
      sum += index::evaluate(position[d], values) * base_strides[d];
    return sum;
  };
  result.offset = offset();
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (result.sizes[k] == 1) continue;
    values[axes[k]] = 1;
    result.strides[k] = offset() - result.offset;
    values[axes[k]] = 0;
  }
  return result;
}

std::vector<Result> shared_results(const Graph& graph, std::span<const Returned> returned,
                                   const std::set<NodeId>& row_major) {
  return Sharing(graph, returned, row_major).run();
}

}  // namespace twinloom::graph
