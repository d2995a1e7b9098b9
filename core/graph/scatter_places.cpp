// See scatter_places.h. An axis of the source is followed back from a dimension of the result that is written
// at scale * axis + rest; an axis without such a dimension gives a candidate for each of its elements.
#include "core/graph/scatter_places.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/known_element.h"
#include "core/index/simplify.h"

namespace twinloom::graph {

namespace {

index::Condition equal(const index::Expr& a, const index::Expr& b) { return {{{a - 1, b}, {b, a + 1}}}; }

class Places {
 public:
  Places(const Graph& graph, NodeId id)
      : graph_(graph),
        node_(graph[id]),
        scatter_(std::get<Scatter>(node_.node)),
        source_(graph[node_.inputs[1]].shape),
        place_(scatter_.place),
        own_(source_.size()),
        index_at_(node_.shape.size(), -1) {
    // Named apart from the axes of the result, which are the first.
    index::Substitution renaming;
    for (std::size_t a = 0; a < source_.size(); ++a) {
      axes_.push_back(axis_symbol(static_cast<int>(node_.shape.size() + a)));
      renaming.emplace(scatter_.axes[a], axes_[a]);
    }
    for (index::Expr& expr : place_) expr = index::substitute(expr, renaming);
  }

  std::variant<Candidates, std::string> run() {
    for (const index::Expr& bound : scatter_.bounds)
      if (bound == index::Expr(0)) return "no index is below 0";
    // Nothing is written; and of positions among nothing everything could be proved.
    if (std::ranges::find(source_, index::Expr(0)) != source_.end()) return Candidates{{}, index_at_};
    write_out_known_indices();
    if (auto refused = place_indices(); !refused.empty()) return refused;
    for (std::size_t d = 0; d < place_.size(); ++d) follow_back(d);
    const std::vector<std::size_t> open = open_axes();
    Shape sizes;
    for (const std::size_t axis : open) sizes.push_back(source_[axis]);
    const index::Expr count = index::simplify(index::product(sizes), graph_.facts());
    const auto number = index::constant_of(count);
    const bool rows = replaces_rows();
    const std::int64_t most = rows ? MOST_ROWS : MOST_CANDIDATES;
    if (!number || *number > most) {
      return cat(index::print(count), rows ? " rows" : " elements",
                 " may be written to one place; a select asks at most ", most);
    }
    return all(open, *number);
  }

 private:
  void write_out_known_indices() {
    index::Facts facts = graph_.facts();
    assume_axes(facts, axes_, source_);
    const KnownElements known(graph_, facts);
    index::Substitution written;
    const std::vector<index::Expr> at(axes_.begin(), axes_.end());
    for (std::size_t k = 0; k < scatter_.found.size(); ++k) {
      auto value = known.element(node_.inputs[2 + k], at);
      if (!value) continue;
      if (scatter_.negative_wraps && facts.proves_less(*value, 0)) value = *value + scatter_.bounds[k];
      if (facts.proves_less(-1, *value) && facts.proves_less(*value, scatter_.bounds[k]))
        written.emplace(scatter_.found[k], index::simplify(*value, facts));
    }
    for (index::Expr& expr : place_) expr = index::substitute(expr, written);
    for (std::size_t k = 0; k < scatter_.found.size(); ++k)
      if (!written.contains(scatter_.found[k])) asked_.push_back(k);
  }

  // Each index that the run must ask is the position along one dimension or more.
  std::string place_indices() {
    for (const std::size_t k : asked_) {
      const index::Symbol found = scatter_.found[k];
      bool placed = false;
      for (std::size_t d = 0; d < place_.size(); ++d) {
        if (!index::mentions(place_[d], found)) continue;
        if (place_[d] != index::Expr(found)) return "a place is computed from an index";
        index_at_[d] = static_cast<int>(k);
        placed = true;
      }
      if (!placed) return "an index is no part of the place";
    }
    return {};
  }

  // Where dimension d is written at scale * axis + rest: the axis, seen from the result.
  void follow_back(std::size_t d) {
    if (index_at_[d] >= 0) return;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      if (own_[a] || !index::mentions(place_[d], axes_[a])) continue;
      const auto linear = index::linear_in(place_[d], axes_[a]);
      const auto scale = linear ? index::constant_of(linear->scale) : std::nullopt;
      if (!scale || *scale == 0 || mentions_an_axis(linear->rest)) continue;
      const index::Expr past = index::Expr(axis_symbol(static_cast<int>(d))) - linear->rest;
      own_[a] = *scale > 0 ? Own{d, past, *scale} : Own{d, -past, -*scale};
      return;
    }
  }

  bool tells_an_axis(std::size_t d) const {
    return std::ranges::any_of(own_, [&](const auto& own) { return own && own->dimension == d; });
  }

  bool mentions_an_axis(const index::Expr& expr) const {
    return std::ranges::any_of(axes_, [&](index::Symbol axis) { return index::mentions(expr, axis); });
  }

  std::vector<std::size_t> open_axes() const {
    std::vector<std::size_t> open;
    for (std::size_t a = 0; a < own_.size(); ++a)
      if (!own_[a]) open.push_back(a);
    return open;
  }

  // Whether what is written to one place says where its neighbours along an axis come from.
  bool replaces_rows() const {
    if (scatter_.mode != Mode::replace) return false;
    for (std::size_t a = 0; a < own_.size(); ++a) {
      const bool same = std::ranges::none_of(
          asked_, [&](std::size_t k) { return changes_along(graph_, node_.inputs[2 + k], a); });
      if (own_[a] && source_[a] != index::Expr(1) && same) return true;
    }
    return false;
  }

  Candidates all(const std::vector<std::size_t>& open, std::int64_t count) const {
    Candidates candidates{{}, index_at_};
    for (std::int64_t number = 0; number < count; ++number) {
      std::vector<index::Expr> element(own_.size(), 0);
      for (std::size_t a = 0; a < own_.size(); ++a)
        if (own_[a]) element[a] = index::floor_div(own_[a]->past, own_[a]->step);
      std::int64_t rest = number;
      for (std::size_t n = open.size(); n-- > 0;) {
        const std::int64_t size = *index::constant_of(source_[open[n]]);
        element[open[n]] = rest % size;
        rest /= size;
      }
      index::Condition inside = inside_of(element);
      candidates.all.push_back({std::move(element), std::move(inside)});
    }
    return candidates;
  }

  index::Condition inside_of(const std::vector<index::Expr>& element) const {
    index::Facts facts = graph_.facts();
    std::vector<index::Symbol> dimensions;
    for (std::size_t d = 0; d < node_.shape.size(); ++d)
      dimensions.push_back(axis_symbol(static_cast<int>(d)));
    assume_axes(facts, dimensions, node_.shape);
    index::Condition inside;
    index::Substitution here;
    for (std::size_t a = 0; a < element.size(); ++a) {
      inside = inside && index::Condition{{{-1, element[a]}, {element[a], source_[a]}}};
      if (own_[a]) inside = inside && index::Condition{{{index::floor_mod(own_[a]->past, own_[a]->step), 1}}};
      here.emplace(axes_[a], element[a]);
    }
    for (std::size_t d = 0; d < place_.size(); ++d)
      if (index_at_[d] < 0 && !tells_an_axis(d))
        inside = inside && equal(index::substitute(place_[d], here), dimensions[d]);
    return index::simplify(inside, facts);
  }

  // An axis of the source as a dimension of the result tells it: past / step, where step divides past.
  struct Own {
    std::size_t dimension;
    index::Expr past;
    std::int64_t step;
  };

  const Graph& graph_;
  const Node& node_;
  const Scatter& scatter_;
  const Shape& source_;                  // sizes along the axes
  std::vector<index::Symbol> axes_;      // of the source
  std::vector<index::Expr> place_;       // over axes_ and what is asked
  std::vector<std::size_t> asked_;       // indices that only the run knows
  std::vector<std::optional<Own>> own_;  // by axis
  std::vector<int> index_at_;
};

}  // namespace

std::variant<Candidates, std::string> candidates_of(const Graph& graph, NodeId id) {
  if (std::get<Scatter>(graph[id].node).is_permutation) return "each place is one element's";
  return Places(graph, id).run();
}

NodeId found_positions(Rebuild& rebuild, NodeId scatter, std::size_t k, NodeId positions, NodeId index,
                       const Shape& shape) {
  const Node& node = rebuild.from()[scatter];
  const auto& from = std::get<Scatter>(node.node);
  Gather gather{{}, shape, {found_symbol(0)}, {from.bounds[k]}, {found_symbol(0)}, from.negative_wraps};
  for (std::size_t d = 0; d < shape.size(); ++d) gather.axes.push_back(axis_symbol(static_cast<int>(d)));
  // An index out of range is the scatter's.
  Origin origin = node.origin;
  if (origin.name.empty()) origin.name = describe(rebuild.from(), scatter);
  return rebuild.made().add(std::move(gather), {positions, index}, std::move(origin));
}

}  // namespace twinloom::graph
