// Outside of mode `strict`, where a library multiplies: an axis of the results of sums of products whose
// quotients and remainders a factor reads, as a batch of sequences and heads in one, becomes two axes, so
// that the factor is read in steps. Of 4 sequences with 12 heads of 64 between their rows:
//   v = view(x) at [b, i, k, j] from [floor_div(b, 12), i, k + 64*floor_mod(b, 12)]
//   y = reduce sum over k (mul(v, w))
// becomes
//   v = view(x) at [s, h, i, k, j] from [s, i, k + 64*h]
//   y = view(reduce sum over k (mul(v, w'))) at [b, i, j] from [floor_div(b, 12), floor_mod(b, 12), i, j]
// where what reads y by sequence and head reads it in steps too.
#include <algorithm>
#include <array>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/views.h"
#include "core/index/divisors.h"
#include "core/index/simplify.h"

namespace twinloom::graph {

namespace {

using index::Expr;

// What the products read: a view of a node of the new graph, and what casts that.
struct Factor {
  NodeId input;
  View map;
  std::vector<NodeId> casts;  // of the old graph, in their order
};

struct Cut {
  std::size_t dimension;
  Expr outer, inner;  // extents
};

// The axes of a sum of products, cut as its factors need it.
class Axes {
 public:
  Axes(const Graph& graph, NodeId sum, std::vector<Factor> factors)
      : graph_(graph),
        sum_(graph[sum]),
        products_(graph[sum_.inputs[0]]),
        shape_(products_.shape),
        factors_(std::move(factors)) {
    const auto& reduce = std::get<Reduce>(sum_.node);
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      walked_.emplace_back(axis_symbol(static_cast<int>(d)));
      summed_.push_back(std::ranges::binary_search(reduce.axes, static_cast<int>(d)));
    }
  }

  // Whether any was.
  bool cut() {
    bool was_cut = false;
    while (const auto found = next()) {
      for (Factor& factor : factors_) factor.map = cut_in(factor.map, *found);
      apply(*found);
      was_cut = true;
    }
    return was_cut;
  }

  const std::vector<Factor>& factors() const { return factors_; }
  std::vector<int> summed() const {
    std::vector<int> axes;
    for (std::size_t d = 0; d < summed_.size(); ++d)
      if (summed_[d]) axes.push_back(static_cast<int>(d));
    return axes;
  }

  // The old results as a view of the new ones.
  View results() const {
    View whole;
    index::Substitution substitution;
    std::size_t kept = 0;
    const auto& reduce = std::get<Reduce>(sum_.node);
    for (std::size_t d = 0; d < products_.shape.size(); ++d)
      if (!std::ranges::binary_search(reduce.axes, static_cast<int>(d)))
        substitution.emplace(axis_symbol(static_cast<int>(d)), new_axis(whole, sum_.shape[kept++]));
    for (std::size_t d = 0; d < walked_.size(); ++d)
      if (!summed_[d]) whole.source.push_back(index::substitute(walked_[d], substitution));
    return whole;
  }

 private:
  index::Facts facts_of(const View& map) const {
    index::Facts facts = graph_.facts();
    for (std::size_t d = 0; d < map.axes.size(); ++d) facts.assume_below(map.axes[d], map.sizes[d]);
    return facts;
  }

  std::optional<Cut> next() const {
    for (const Factor& factor : factors_)
      for (std::size_t d = 0; d < shape_.size(); ++d) {
        std::vector<Expr> divisors;
        if (!summed_[d])
          for (const Expr& source : factor.map.source)
            index::add_divisors(source, factor.map.axes[d], divisors);
        for (const Expr& divisor : divisors)
          if (const auto outer = index::exact_quotient(shape_[d], divisor, graph_.facts()))
            return Cut{d, *outer, divisor};
      }
    return std::nullopt;
  }

  View cut_in(const View& map, const Cut& cut) const {
    View made;
    index::Substitution substitution;
    for (std::size_t d = 0; d < map.axes.size(); ++d) {
      const bool is_cut = d == cut.dimension;
      Expr walked = new_axis(made, is_cut ? cut.outer : map.sizes[d]);
      if (is_cut) walked = cut.inner * walked + new_axis(made, cut.inner);
      substitution.emplace(map.axes[d], walked);
    }
    const index::Facts facts = facts_of(made);
    for (const Expr& source : map.source)
      made.source.push_back(index::simplify(index::substitute(source, substitution), facts));
    made.inside = index::simplify(index::substitute(map.inside, substitution), facts);
    made.fill = map.fill;
    return made;
  }

  void apply(const Cut& cut) {
    const auto at = static_cast<std::ptrdiff_t>(cut.dimension);
    const Expr walked = walked_[cut.dimension];
    shape_[cut.dimension] = cut.outer;
    shape_.insert(shape_.begin() + at + 1, cut.inner);
    summed_.insert(summed_.begin() + at + 1, false);
    walked_[cut.dimension] = index::floor_div(walked, cut.inner);
    walked_.insert(walked_.begin() + at + 1, index::floor_mod(walked, cut.inner));
  }

  const Graph& graph_;
  const Node &sum_, &products_;
  Shape shape_;               // of the products
  std::vector<bool> summed_;  // by axis
  std::vector<Expr> walked_;  // each axis by those that the products had
  std::vector<Factor> factors_;
};

class Batches {
 public:
  Batches(const Graph& graph, const IsWorth& is_worth)
      : graph_(graph), is_worth_(is_worth), rebuild_(graph) {}

  Graph run() {
    return remove_dead(rebuild_.finish_by([&](NodeId id) {
      const auto* view = std::get_if<View>(&graph_[id].node);
      return view == nullptr ? sum(id) : std::optional(view_again(id, *view));
    }));
  }

 private:
  // Of what has become a view itself one that reads through it.
  NodeId view_again(NodeId id, const View& map) {
    return add_view(rebuild_.made(), rebuild_[graph_[id].inputs[0]], map, graph_[id].origin);
  }

  std::optional<NodeId> sum(NodeId id) {
    const auto summed = summed_products(graph_, graph_[id]);
    if (!summed || !is_worth_(graph_[*summed])) return std::nullopt;
    std::vector<Factor> factors;
    for (const NodeId input : graph_[*summed].inputs) {
      auto factor = factor_of(input);
      if (!factor) return std::nullopt;
      factors.push_back(*std::move(factor));
    }
    Axes axes(graph_, id, std::move(factors));
    if (!axes.cut()) return std::nullopt;
    std::vector<NodeId> inputs;
    for (const Factor& factor : axes.factors()) {
      if (!stays_inside(rebuild_.made(), factor.map, factor.input)) return std::nullopt;
      NodeId made = add_view(rebuild_.made(), factor.input, factor.map, graph_[*summed].origin);
      for (const NodeId cast : factor.casts) made = rebuild_.add(graph_[cast].node, {made}, cast);
      inputs.push_back(made);
    }
    const NodeId products = rebuild_.add(graph_[*summed].node, std::move(inputs), *summed);
    Reduce reduce = std::get<Reduce>(graph_[id].node);
    reduce.axes = axes.summed();
    const NodeId made = rebuild_.add(std::move(reduce), {products}, id);
    return add_view(rebuild_.made(), made, axes.results(), graph_[id].origin);
  }

  // Views before and behind casts are one before them. Nothing where what is cast is filled, or nothing is
  // viewed.
  std::optional<Factor> factor_of(NodeId id) {
    Factor factor{};
    const auto plain = without_casts(id, factor.casts);
    const auto* view = plain ? std::get_if<View>(&rebuild_.made()[*plain].node) : nullptr;
    if (view == nullptr) return std::nullopt;
    factor.map = *view, factor.input = rebuild_.made()[*plain].inputs[0];
    return factor;
  }
  // As libraries read what has 16 bits.
  bool is_widened(const Node& node) const {
    return std::holds_alternative<Cast>(node.node) && node.dtype == ops::DType::f32 &&
           ops::is_16_bit_float(graph_[node.inputs[0]].dtype);
  }
  std::optional<NodeId> without_casts(NodeId id, std::vector<NodeId>& casts) {
    const Node& node = graph_[id];
    const auto* view = std::get_if<View>(&node.node);
    if (view == nullptr && !is_widened(node)) return rebuild_[id];
    const auto input = without_casts(node.inputs[0], casts);
    if (!input) return std::nullopt;
    if (view == nullptr) {
      casts.push_back(id);
      return input;
    }
    if (!casts.empty() && !view->inside.all.empty()) return std::nullopt;
    return add_view(rebuild_.made(), *input, *view, node.origin);
  }

  const Graph& graph_;
  const IsWorth& is_worth_;
  Rebuild rebuild_;
};

}  // namespace

Graph batches_in_steps(const Graph& graph, const IsWorth& is_worth) { return Batches(graph, is_worth).run(); }

}  // namespace twinloom::graph
