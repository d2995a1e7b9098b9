// Outside of mode `strict`, where a library multiplies: windows that are walked backwards, as a transposed
// convolution and the gradient of one do, become windows that are walked forwards, for each phase of the
// stride of its own. Of 4 taps and a stride of 2, where each phase has two of the taps:
//   a = view(x) at [n, o, c, i, k] from [n, c, floor_div(i - k + 1, 2)] inside floor_mod(i - k + 1, 2) < 1 &&
//   ... b = view(w) at [n, o, c, i, k] from [c, o, k] y = reduce sum over [c, k] (mul(a, b))
// becomes, with i + 1 = 2*q + p and k = 2*(1 - m) + p,
//   a = view(x) at [n, o, c, q, m, p] from [n, c, q + m - 1] inside ...
//   b = view(realize(view(w) at [o, p, c, m] from [c, o, 2*(1 - m) + p])) at [n, o, c, q, m, p] from [o, p,
//   c, m] y = view(reduce sum over [c, m] (mul(a, b))) at [n, o, i] from [n, o, floor_div(i + 1, 2),
//   floor_mod(i + 1, 2)]
// Phases with one tap less make a sum of their own, so that nothing is multiplied that was not before.
#include <algorithm>
#include <numeric>

#include "core/graph/known_element.h"
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/view_steps.h"
#include "core/index/simplify.h"

namespace twinloom::graph {

namespace {

using index::Expr;

// A dimension that is read at (i + offset - k) / stride, where that is a whole number: i is on a kept axis of
// the products, k on a summed one. With a stride of 1 it may be several elements from one k to the next.
struct Walk {
  std::size_t kept = 0, summed = 0;
  std::int64_t stride = 1, offset = 0, taps = 0;
  bool is_one = false;  // there is one element: k is i + offset
};

// Of a stride: those from `begin` on have so many taps.
struct Phases {
  std::int64_t begin, count, taps;
};

std::vector<Phases> phases_of(const Walk& walk) {
  if (walk.is_one) return {{0, 1, 1}};
  const std::int64_t longer = walk.taps % walk.stride, least = walk.taps / walk.stride;
  std::vector<Phases> phases;
  if (longer > 0) phases.push_back({0, longer, least + 1});
  phases.push_back({longer, walk.stride - longer, least});
  return phases;
}

// The walks of a view that its conditions tell: a stride asks for its multiples, and windows that reach over
// the edges for what lies inside.
class Finder {
 public:
  Finder(const View& view, const Node& products, const Reduce& sum)
      : view_(view), products_(products), sum_(sum) {}

  std::vector<Walk> find() const {
    std::vector<Walk> walks;
    for (const index::Less& less : view_.inside.all) {  // floor_mod(i + offset - k, stride) < 1
      const auto* rest = std::get_if<index::FloorMod>(&less.a.form().node);
      const auto stride = rest == nullptr ? std::nullopt : index::constant_of(rest->divisor);
      if (stride && less.b == Expr(1)) add(walk_in(rest->dividend, *stride), walks);
    }
    for (const index::Less& less : view_.inside.all) {
      auto walk = walk_in(less.b - less.a - 1, 1);
      if (!walk) walk = walk_in(less.a - less.b + 1, 1);
      // Else it is that of a bound; a stride of 1 has one phase wherever it begins.
      if (walk && !(walk->is_one = is_at_zero(less))) walk->offset = 0;
      add(walk, walks);
    }
    return walks;
  }

 private:
  static void add(const std::optional<Walk>& walk, std::vector<Walk>& walks) {
    const bool is_known = walk && std::ranges::any_of(walks, [&](const Walk& other) {
                            return other.kept == walk->kept || other.summed == walk->summed;
                          });
    if (walk && !is_known) walks.push_back(*walk);
  }

  // Whether another condition says that what this one bounds is 0: both 0 <= excess and excess <= 0 hold.
  bool is_at_zero(const index::Less& less) const {
    return std::ranges::any_of(view_.inside.all, [&](const index::Less& other) {
      return less.b - less.a - 1 == other.a - other.b + 1;
    });
  }

  std::optional<Walk> walk_in(const Expr& place, std::int64_t stride) const {
    Walk walk{.stride = stride};
    int kept = 0, summed = 0;
    Expr rest = place;
    for (std::size_t at = 0; at < view_.axes.size(); ++at) {
      const auto linear = index::linear_in(rest, view_.axes[at]);
      const auto scale = linear ? index::constant_of(linear->scale) : std::nullopt;
      if (!scale) return std::nullopt;
      rest = linear->rest;
      const bool is_summed = std::ranges::binary_search(sum_.axes, static_cast<int>(at));
      if (*scale == 1 && !is_summed) {
        ++kept, walk.kept = at;
      } else if (*scale < 0 && is_summed && (stride == 1 || *scale == -1)) {
        ++summed, walk.summed = at;
      } else if (*scale != 0) {
        return std::nullopt;
      }
    }
    const auto offset = index::constant_of(rest), taps = index::constant_of(products_.shape[walk.summed]);
    if (kept != 1 || summed != 1 || (!offset && stride > 1) || !taps || *taps < 1) return std::nullopt;
    walk.offset = offset.value_or(0), walk.taps = *taps;
    return walk;
  }

  const View& view_;
  const Node& products_;
  const Reduce& sum_;
};

// One sum of products: the views of its factors, over the axes that they had and one more for each walk, its
// phases.
class Forwards {
 public:
  // Factor `windowed` of the products is the one that windows are read of.
  Forwards(const Graph& graph, Rebuild& rebuild, NodeId sum, std::size_t windowed, std::vector<Walk> walks)
      : graph_(graph),
        rebuild_(rebuild),
        id_(sum),
        sum_(std::get<Reduce>(graph[sum].node)),
        products_(graph[graph[sum].inputs[0]]),
        windowed_(windowed),
        walks_(std::move(walks)) {}

  std::optional<NodeId> make() {
    const auto made = sums_of(0);
    if (!made) return std::nullopt;
    View whole;
    std::size_t kept = 0;
    std::vector<Expr> phases;
    for (std::size_t at = 0; at < products_.shape.size(); ++at) {
      if (is_summed(at)) continue;
      const Expr axis = new_axis(whole, graph_[id_].shape[kept++]);
      const auto walk = std::ranges::find(walks_, at, &Walk::kept);
      whole.source.push_back(walk == walks_.end() ? axis
                             : walk->is_one
                                 ? axis
                                 : index::floor_div(axis + walk->offset, walk->stride) - first_of(*walk));
    }
    for (const Walk& walk : walks_)
      whole.source.push_back(index::floor_mod(
          Expr(whole.axes[static_cast<std::size_t>(result_axis(walk.kept))]) + walk.offset, walk.stride));
    if (!stays_inside(rebuild_.made(), whole, *made)) return std::nullopt;
    return add_view(rebuild_.made(), *made, std::move(whole), graph_[id_].origin);
  }

 private:
  bool is_summed(std::size_t at) const { return std::ranges::binary_search(sum_.axes, static_cast<int>(at)); }
  int result_axis(std::size_t at) const {
    int axis = 0;
    for (std::size_t before = 0; before < at; ++before) axis += is_summed(before) ? 0 : 1;
    return axis;
  }
  static std::int64_t floor_of(std::int64_t a, std::int64_t b) { return (a >= 0 ? a : a - b + 1) / b; }
  static std::int64_t first_of(const Walk& walk) { return floor_of(walk.offset, walk.stride); }

  // The sums of all phases of the walks from this one on, beside the chosen ones of those before.
  std::optional<NodeId> sums_of(std::size_t walk) {
    if (walk == walks_.size()) return sum();
    std::vector<NodeId> parts;
    for (const Phases& phases : phases_of(walks_[walk])) {
      chosen_.push_back(phases);
      const auto part = sums_of(walk + 1);
      chosen_.pop_back();
      if (!part) return std::nullopt;
      parts.push_back(*part);
    }
    const int axis = static_cast<int>(graph_[id_].shape.size() + walk);
    return parts.size() == 1 ? parts.front() : rebuild_.add(Concat{axis}, std::move(parts), id_);
  }

  std::optional<NodeId> sum() {
    sizes_ = products_.shape;
    place_.clear();
    for (std::size_t w = 0; w < walks_.size(); ++w) choose(walks_[w], chosen_[w], products_.shape.size() + w);
    if (std::ranges::any_of(chosen_, [](const Phases& phases) { return phases.taps == 0; })) return nothing();
    facts_ = graph_.facts();
    axes_.clear();
    for (std::size_t at = 0; at < sizes_.size(); ++at) axes_.push_back(axis_symbol(static_cast<int>(at)));
    assume_axes(facts_, axes_, sizes_);
    std::vector<NodeId> factors;
    for (const NodeId factor : products_.inputs) {
      const auto& view = std::get<View>(graph_[factor].node);
      View moved{
          axes_, sizes_, {}, index::simplify(index::substitute(view.inside, place_), facts_), view.fill};
      for (const Expr& source : view.source)
        moved.source.push_back(index::simplify(index::substitute(source, place_), facts_));
      const bool is_windowed = factor == products_.inputs[windowed_];
      if (is_windowed ? mentions_phases(moved) : !moved.inside.all.empty()) return std::nullopt;
      const NodeId input = rebuild_[graph_[factor].inputs[0]];
      const auto made = is_windowed ? windows_of(input, std::move(moved)) : in_memory(input, moved);
      if (!made) return std::nullopt;
      factors.push_back(*made);
    }
    const NodeId products = rebuild_.add(products_.node, std::move(factors), graph_[id_].inputs[0]);
    return rebuild_.add(sum_, {products}, id_);
  }

  void choose(const Walk& walk, const Phases& phases, std::size_t phase) {
    if (walk.is_one) {
      sizes_[walk.summed] = 1;
      sizes_.emplace_back(1);
      place_[axis_symbol(static_cast<int>(walk.summed))] =
          Expr(axis_symbol(static_cast<int>(walk.kept))) + walk.offset;
      return;
    }
    const Expr q = axis_symbol(static_cast<int>(walk.kept)), m = axis_symbol(static_cast<int>(walk.summed)),
               p = Expr(axis_symbol(static_cast<int>(phase))) + phases.begin;
    const Expr last = index::floor_div(sizes_[walk.kept] - 1 + walk.offset, walk.stride);
    sizes_[walk.kept] = last - first_of(walk) + 1;
    sizes_[walk.summed] = phases.taps;
    sizes_.emplace_back(phases.count);
    place_[axis_symbol(static_cast<int>(walk.kept))] = walk.stride * (q + first_of(walk)) + p - walk.offset;
    place_[axis_symbol(static_cast<int>(walk.summed))] = walk.stride * (phases.taps - 1 - m) + p;
  }

  // Phases that no tap has.
  NodeId nothing() {
    Shape shape;
    for (std::size_t at = 0; at < sizes_.size(); ++at)
      if (!is_summed(at)) shape.push_back(sizes_[at]);
    const ops::DType dtype = graph_[id_].dtype;
    return rebuild_.add(Constant{ops::cast(ops::Number(0), dtype), dtype, std::move(shape)}, {}, id_);
  }

  bool mentions_phases(const View& view) const {
    const std::set<index::Symbol> in_conditions = index::symbols_of(view.inside);
    for (std::size_t at = products_.shape.size(); at < axes_.size(); ++at)
      if (in_conditions.contains(axes_[at]) ||
          std::ranges::any_of(view.source, [&](const Expr& e) { return index::mentions(e, axes_[at]); }))
        return true;
    return false;
  }

  // Of what was flattened before the places that windows read are an image again.
  std::optional<NodeId> windows_of(NodeId input, View view) {
    Graph& made = rebuild_.made();
    const Origin& origin = graph_[id_].origin;
    if (stays_inside(made, view, input)) return add_view(made, input, std::move(view), origin);
    std::vector<Dimensions> each;
    for (std::size_t d = 0; d < view.source.size(); ++d) each.push_back({d});
    View inner;
    auto outer = ViewSteps(view, made[input].shape, graph_.facts()).around(each, inner);
    if (!outer) return std::nullopt;
    const NodeId image = add_view(made, input, std::move(inner), origin);
    if (!stays_inside(made, *outer, image)) return std::nullopt;
    return add_view(made, image, *std::move(outer), origin);
  }

  // The filters, turned: results outermost, then phases, channels and taps.
  std::optional<NodeId> in_memory(NodeId input, const View& view) {
    std::vector<std::size_t> order;
    const auto add_if = [&](std::size_t at) {
      if (std::ranges::any_of(view.source, [&](const Expr& e) { return index::mentions(e, axes_[at]); }))
        order.push_back(at);
    };
    const std::size_t rank = products_.shape.size();
    for (std::size_t at = 0; at < rank; ++at)
      if (!is_summed(at)) add_if(at);
    for (std::size_t at = rank; at < axes_.size(); ++at) order.push_back(at);
    for (std::size_t at = 0; at < rank; ++at)
      if (is_summed(at)) add_if(at);
    View inner, outer{axes_, sizes_, {}, {}, view.fill};
    index::Substitution renamed;
    for (const std::size_t at : order) {
      renamed.emplace(axes_[at], new_axis(inner, sizes_[at]));
      outer.source.emplace_back(axes_[at]);
    }
    for (const Expr& source : view.source) inner.source.push_back(index::substitute(source, renamed));
    const Origin& origin = graph_[id_].origin;
    if (!stays_inside(rebuild_.made(), inner, input)) return std::nullopt;  // elements that no tap has
    const NodeId moved = add_view(rebuild_.made(), input, std::move(inner), origin);
    return add_view(rebuild_.made(), rebuild_.add(Realize{}, {moved}, id_), std::move(outer), origin);
  }

  const Graph& graph_;
  Rebuild& rebuild_;
  NodeId id_;
  const Reduce& sum_;
  const Node& products_;
  std::size_t windowed_;
  std::vector<Walk> walks_;
  std::vector<Phases> chosen_;  // of the walks so far
  Shape sizes_;                 // of the products that are made
  std::vector<index::Symbol> axes_;
  index::Substitution place_;  // of the old axes, over the new ones
  index::Facts facts_;
};

std::optional<NodeId> forwards(const Graph& graph, Rebuild& rebuild, NodeId id, const IsWorth& is_worth) {
  const auto summed = summed_products(graph, graph[id]);
  if (!summed) return std::nullopt;
  const Node& products = graph[*summed];
  for (const NodeId factor : products.inputs)
    if (!std::holds_alternative<View>(graph[factor].node)) return std::nullopt;
  for (std::size_t k = 0; k < products.inputs.size(); ++k) {
    const Finder finder(std::get<View>(graph[products.inputs[k]].node), products,
                        std::get<Reduce>(graph[id].node));
    std::vector<Walk> walks = finder.find();
    if (!walks.empty() && is_worth(products)) return Forwards(graph, rebuild, id, k, std::move(walks)).make();
  }
  return std::nullopt;
}

}  // namespace

Graph transposed_windows(const Graph& graph, const IsWorth& is_worth) {
  Rebuild rebuild(graph);
  return rebuild.finish_by([&](NodeId id) { return forwards(graph, rebuild, id, is_worth); });
}

}  // namespace twinloom::graph
