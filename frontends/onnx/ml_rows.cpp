// Operators of domain ai.onnx.ml: trees, and what prepares their inputs.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/constants.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using index::Expr;
using ops::DType;
using ops::Number;

// Elements of the last axis; a list becomes one row.
Values array_feature_extractor(const Call& call) {
  const Tensor x = call.tensor(0);
  if (x.rank() < 1) call.fail("needs a tensor with axes");
  const Tensor found = graph::take(x, x.rank() - 1, graph::reshape(call.tensor(1), {-1}));
  return {x.rank() == 1 ? graph::unsqueeze(found, 0) : found};
}

Values binarizer(const Call& call) {
  const Tensor x = call.tensor(0);
  const Tensor wide = ops::is_integer(x.dtype()) ? graph::cast(x, DType::f64) : graph::widened(x);
  return {graph::cast(graph::gt(wide, call.real("threshold", 0)), x.dtype())};
}

enum class Branch : std::uint8_t { le, lt, ge, gt, eq, ne, member };

// Nodes of all trees, then their leaves, each of which comes after itself.
struct Trees {
  Integers roots, features, modes, when_true, when_false, missing;
  std::vector<double> splits;
  Integers targets;  // of leaves
  std::vector<double> weights;
  std::vector<double> members;  // of sets, one after the other; and the nodes that ask for them
  Integers members_of;
  std::int64_t depth = 0;  // the most steps from a root to a leaf

  std::size_t nodes() const { return features.size(); }
};

std::vector<double> numbers_in(const Call& call, std::string_view attribute) {
  const auto array = call.array(attribute);
  return array ? reals_in(*array) : std::vector<double>();
}

// An index of each node, checked.
Integers indices_in(const Call& call, std::string_view attribute, std::size_t count, std::size_t below) {
  const Integers given = call.integers(attribute).value_or(Integers());
  if (given.size() != count)
    call.fail("attribute '", attribute, "' has ", given.size(), " numbers in place of ", count);
  for (const std::int64_t each : given)
    if (each < 0 || std::cmp_greater_equal(each, below))
      call.fail("attribute '", attribute, "' holds ", each, "; there are ", below);
  return given;
}

// What comes after each node on one side, leaves behind all nodes.
Integers branches(const Call& call, const std::string& side, std::size_t nodes, std::size_t leaves) {
  const Integers is_leaf = indices_in(call, cat("nodes_", side, "leafs"), nodes, 2);
  const Integers next = indices_in(call, cat("nodes_", side, "nodeids"), nodes, std::max(nodes, leaves));
  Integers result;
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::size_t count = is_leaf[node] != 0 ? leaves : nodes;
    if (std::cmp_greater_equal(next[node], count))
      call.fail("node ", node, " is followed by ", next[node], "; there are ", count);
    result.push_back(next[node] + (is_leaf[node] != 0 ? static_cast<std::int64_t>(nodes) : 0));
  }
  return result;
}

// The most steps from a node to a leaf. Each round, nodes that lie a step higher have theirs.
std::int64_t depth_of(const Call& call, const Trees& trees) {
  constexpr std::int64_t most = 1 << 8;
  const std::size_t nodes = trees.nodes();
  Integers depth(nodes, 0);
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t node = nodes; node-- > 0;) {
      std::int64_t below = 0;
      for (const std::int64_t next : {trees.when_true[node], trees.when_false[node]})
        if (std::cmp_less(next, nodes)) below = std::max(below, depth[static_cast<std::size_t>(next)]);
      changes = changes || depth[node] != below + 1;
      depth[node] = below + 1;
      if (below >= most)
        call.unsupported("a tree of more than ", most, " levels, or whose branches lead back to it,");
    }
  }
  return std::ranges::max(depth);
}

// The sets of all nodes that ask for a member, with a NaN behind each.
void add_members(const Call& call, Trees& trees) {
  const std::vector<double> given = numbers_in(call, "membership_values");
  std::size_t next = 0;
  for (std::size_t node = 0; node < trees.nodes(); ++node) {
    if (trees.modes[node] != static_cast<std::int64_t>(Branch::member)) continue;
    for (; next < given.size() && given[next] == given[next]; ++next) {
      trees.members.push_back(given[next]);
      trees.members_of.push_back(static_cast<std::int64_t>(node));
    }
    if (next++ == given.size()) call.fail("attribute 'membership_values' has too few sets");
  }
}

Trees trees_of(const Call& call, std::int64_t targets) {
  Trees trees;
  const std::vector<double> modes = numbers_in(call, "nodes_modes");
  const std::size_t nodes = modes.size(), any = std::numeric_limits<std::int32_t>::max();
  trees.weights = numbers_in(call, "leaf_weights");
  const std::size_t leaves = trees.weights.size();
  constexpr std::size_t most = 1 << 24;
  if (nodes < 1 || leaves < 1 || nodes > most || leaves > most)
    call.fail("needs nodes and leaves, ", most, " at most, given ", nodes, " and ", leaves);
  for (const double mode : modes) {
    if (!(mode >= 0 && mode <= 6)) call.fail("attribute 'nodes_modes' holds ", mode, "; there are 0 to 6");
    trees.modes.push_back(static_cast<std::int64_t>(mode));
  }
  trees.splits = numbers_in(call, "nodes_splits");
  if (trees.splits.size() != nodes)
    call.fail("attribute 'nodes_splits' has ", trees.splits.size(), " numbers in place of ", nodes);
  trees.targets = indices_in(call, "leaf_targetids", leaves, static_cast<std::size_t>(targets));
  trees.features = indices_in(call, "nodes_featureids", nodes, any);
  const bool has_missing = call.has_attribute("nodes_missing_value_tracks_true");
  trees.missing =
      has_missing ? indices_in(call, "nodes_missing_value_tracks_true", nodes, 2) : Integers(nodes, 0);
  trees.when_true = branches(call, "true", nodes, leaves);
  trees.when_false = branches(call, "false", nodes, leaves);
  const std::size_t roots = call.integers("tree_roots").value_or(Integers()).size();
  trees.roots = indices_in(call, "tree_roots", roots, nodes);
  trees.depth = depth_of(call, trees);
  add_members(call, trees);
  return trees;
}

// Lists by node, as constants of the graph; those of leaves are of no matter.
class Walk {
 public:
  Walk(const Call& call, const Trees& trees, const Tensor& x) : call_(call), trees_(trees), x_(x) {}

  // [batch, trees]: the node after the one that each sample is at in each tree.
  Tensor next(const Tensor& at) const {
    const Tensor node = graph::minimum(at, static_cast<std::int64_t>(trees_.nodes()) - 1);
    const Tensor value = graph::take_along(x_, 1, of(node, trees_.features));
    const Tensor is_missing = graph::logical_and(graph::isnan(value), graph::ne(of(node, trees_.missing), 0));
    const Tensor goes = graph::logical_or(answer(node, value), is_missing);
    const Tensor after = graph::where(goes, of(node, trees_.when_true), of(node, trees_.when_false));
    return graph::where(graph::lt(at, static_cast<std::int64_t>(trees_.nodes())), after, at);
  }

 private:
  Tensor of(const Tensor& node, const Integers& numbers) const {
    return graph::take(constant_of(call_.builder(), numbers, DType::i64), 0, node);
  }
  Tensor answer(const Tensor& node, const Tensor& value) const {
    const Tensor split = graph::take(constant_of(call_.builder(), trees_.splits, value.dtype()), 0, node);
    const Tensor mode = of(node, trees_.modes);
    constexpr std::array comparisons = {ops::Pointwise::le, ops::Pointwise::lt, ops::Pointwise::ge,
                                        ops::Pointwise::gt, ops::Pointwise::eq, ops::Pointwise::ne};
    std::optional<Tensor> result;
    for (std::size_t k = 0; k <= comparisons.size(); ++k) {
      const auto number = static_cast<std::int64_t>(k);
      if (std::ranges::find(trees_.modes, number) == trees_.modes.end()) continue;
      const Tensor found =
          k < comparisons.size() ? graph::pointwise(comparisons[k], {value, split}) : is_member(node, value);
      result = result ? graph::where(graph::eq(mode, number), found, *result) : found;
    }
    return *result;
  }
  Tensor is_member(const Tensor& node, const Tensor& value) const {
    graph::Builder& builder = call_.builder();
    const Tensor members = constant_of(builder, trees_.members, value.dtype()),
                 owners = constant_of(builder, trees_.members_of, DType::i64);
    return graph::any(graph::logical_and(graph::eq(graph::unsqueeze(node, -1), owners),
                                         graph::eq(graph::unsqueeze(value, -1), members)),
                      {-1});
  }

  const Call& call_;
  const Trees& trees_;
  const Tensor& x_;
};

// The weights of the leaves that the trees of each sample end at, by their targets.
Tensor aggregated(const Call& call, const Tensor& weights, const Tensor& targets, std::int64_t count) {
  graph::Builder& builder = call.builder();
  const std::int64_t kind = call.integer("aggregate_function", 1);
  if (kind < 0 || kind > 3) call.fail("attribute 'aggregate_function' must lie in 0 to 3, it is ", kind);
  const Tensor is_there = graph::eq(graph::unsqueeze(targets, -1), builder.iota({count}, 0));
  const Tensor weight = graph::unsqueeze(weights, -1);
  if (kind < 2) {
    const Tensor sum = graph::sum(graph::where(is_there, weight, 0.0), {1});
    return kind == 1 ? sum : sum / graph::cast(builder.size(weights.size(1)), sum.dtype());
  }
  const double most = weights.dtype() == DType::f64 ? std::numeric_limits<double>::max()
                                                    : static_cast<double>(std::numeric_limits<float>::max());
  return kind == 2 ? graph::amin(graph::where(is_there, weight, most), {1})
                   : graph::amax(graph::where(is_there, weight, -most), {1});
}

Tensor transformed(const Call& call, const Tensor& scores) {
  switch (const std::int64_t kind = call.integer("post_transform", 0); kind) {
    case 0:
      return scores;
    case 1:
      return graph::softmax(scores, -1);
    case 2:
      return graph::sigmoid(scores);
    default:
      call.unsupported("attribute 'post_transform' of ", kind);
  }
}

Values tree_ensemble(const Call& call) {
  const Tensor given = call.tensor(0), x = graph::widened(given);
  if (x.rank() != 2 || !ops::is_floating(x.dtype()))
    call.fail("needs samples of floats in rows, given ", ops::name(x.dtype()), " of ", x.rank(), " axes");
  call.ignore({"nodes_hitrates"});
  const std::int64_t targets = call.integer("n_targets", 0);
  if (targets < 1 || targets > 1 << 20) call.fail("attribute 'n_targets' is ", targets);
  const Trees trees = trees_of(call, targets);
  if (trees.roots.empty()) call.fail("there are no trees");
  graph::Builder& builder = call.builder();
  const auto count = static_cast<std::int64_t>(trees.roots.size());
  Tensor at = graph::expand(constant_of(builder, trees.roots, DType::i64), {x.size(0), count});
  const Walk walk(call, trees, x);
  for (std::int64_t level = 0; level < trees.depth; ++level) at = walk.next(at);
  const Tensor leaf = at - static_cast<std::int64_t>(trees.nodes());
  const Tensor weights = graph::take(constant_of(builder, trees.weights, x.dtype()), 0, leaf),
               target = graph::take(constant_of(builder, trees.targets, DType::i64), 0, leaf);
  return {graph::cast(transformed(call, aggregated(call, weights, target, targets)), given.dtype(), true)};
}

constexpr std::array rows = {
    Row{"ai.onnx.ml.ArrayFeatureExtractor", array_feature_extractor},
    Row{"ai.onnx.ml.Binarizer", binarizer},
    Row{"ai.onnx.ml.TreeEnsemble", tree_ensemble, 5},
};

}  // namespace

std::span<const Row> ml_rows() { return rows; }

}  // namespace twinloom::onnx
