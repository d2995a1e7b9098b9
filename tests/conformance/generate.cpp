// Which recipes make a graph, and what is counted in it.
#include "tests/conformance/generate.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "tests/conformance/recipes.h"

namespace twinloom::tests {

namespace {

constexpr std::array<std::string_view, feature_count> names = {
#define FEATURE(name) #name,
#include "tests/conformance/features.def"
#undef FEATURE
};

const Recipe& draw_recipe(Random& random, std::span<const Recipe> recipes) {
  std::int64_t total = 0;
  for (const Recipe& recipe : recipes) total += recipe.weight;
  std::int64_t at = random.below(total);
  for (const Recipe& recipe : recipes) {
    at -= recipe.weight;
    if (at < 0) return recipe;
  }
  return recipes.back();
}

const Recipe& draw_family(Random& random, bool large) {
  // Large graphs are there for their totals.
  const std::int64_t at = large ? random.between(45, 85) : random.below(100);
  if (at < 34) return draw_recipe(random, arithmetic_recipes());
  if (at < 57) return draw_recipe(random, movement_recipes());
  return draw_recipe(random, at < 84 ? total_recipes() : place_recipes());
}

// Every recipe in turn, a few in each graph, so that none is rare however the weights are.
const Recipe& recipe_in_turn(std::uint64_t number) {
  const auto families = {arithmetic_recipes(), movement_recipes(), total_recipes(), place_recipes()};
  std::uint64_t count = 0;
  for (const auto recipes : families) count += recipes.size();
  number %= count;
  const auto* family = families.begin();
  for (; number >= family->size(); ++family) number -= family->size();
  return (*family)[number];
}
const Recipe& network_in_turn(std::uint64_t number) {
  return network_recipes()[number % network_recipes().size()];
}

bool is_near_border(std::int64_t length) {
  if (length > 131072) return true;
  const auto near = [length](std::int64_t border) { return length >= border - 1 && length <= border + 1; };
  for (const std::int64_t border : {256, 1024, 2048, 4096})
    if (near(border)) return true;
  return length > 1000 && near((length + 1) / 1025 * 1025);
}

bool is_pointwise(const graph::Op& op) {
  return std::holds_alternative<graph::Pointwise>(op) || std::holds_alternative<graph::Cast>(op);
}

// Whether a value that `id` is made of, looked at through Views, is pointwise.
bool has_prologue(const graph::Graph& graph, graph::NodeId id) {
  graph::NodeId at = graph[id].inputs[0];
  while (std::holds_alternative<graph::View>(graph[at].node)) at = graph[at].inputs[0];
  return is_pointwise(graph[at].node);
}

bool has_epilogue(const graph::Graph& graph, const std::vector<std::vector<graph::NodeId>>& users,
                  const std::vector<bool>& live, graph::NodeId id) {
  for (const graph::NodeId user : users[id.index]) {
    if (!live[user.index]) continue;
    if (is_pointwise(graph[user].node)) return true;
    if (std::holds_alternative<graph::View>(graph[user].node) && has_epilogue(graph, users, live, user))
      return true;
  }
  return false;
}

// How many elements one total of the node is made of, for these sizes; 0 for other nodes.
std::int64_t length_of(const graph::Graph& graph, const graph::Node& node, const index::Values& sizes) {
  const auto size_at = [&](graph::NodeId id, int axis) {
    return index::evaluate(graph[id].shape[static_cast<std::size_t>(axis)], sizes);
  };
  if (const auto* scan = std::get_if<graph::Scan>(&node.node)) return size_at(node.inputs[0], scan->axis);
  if (std::holds_alternative<graph::Scatter>(node.node)) {
    std::int64_t length = 1;
    for (const index::Expr& size : graph[node.inputs[1]].shape)
      length = std::max(length, index::evaluate(size, sizes));
    return length;
  }
  const auto* reduce = std::get_if<graph::Reduce>(&node.node);
  if (reduce == nullptr) return 0;
  std::int64_t length = 1;
  for (const int axis : reduce->axes) length *= size_at(node.inputs[0], axis);
  return length;
}

}  // namespace

std::string_view name(Feature feature) { return names[static_cast<std::size_t>(feature)]; }

Feature feature_named(std::string_view wanted) {
  const auto found = std::ranges::find(names, wanted);
  CHECK(found != names.end(), "no feature ", wanted);
  return static_cast<Feature>(found - names.begin());
}

Generated generate(const Plan& plan) {
  Draw draw(plan);
  const std::int64_t first_inputs = draw.random.between(1, 3);
  for (std::int64_t i = 0; i < first_inputs || draw.is_empty(); ++i)
    draw.attempt([](Draw& d) { return std::vector{d.input(d.dtype(), d.shape())}; });
  const std::int64_t recipes = draw.large() ? draw.random.between(3, 5) : draw.random.between(4, 9);
  for (std::int64_t r = 0; r < recipes; ++r) {
    if (r * 2 == recipes || r * 2 == recipes - 1) {
      const std::uint64_t turns = plan.networks ? 6 : 4;
      for (std::uint64_t turn = 0; turn < turns; ++turn)
        draw.attempt(recipe_in_turn(turns * plan.seed + turn).make);
      if (plan.networks) draw.attempt(network_in_turn(plan.seed).make);
    }
    draw.attempt(draw_family(draw.random, draw.large()).make);
    if (plan.networks && !draw.large() && draw.random.chance(15))
      draw.attempt(draw_recipe(draw.random, network_recipes()).make);
  }
  draw.attempt([](Draw& d) { return std::vector{d.calmed(d.pick_real())}; });
  draw.attempt([](Draw& d) { return std::vector{d.cast_to(d.pick(), ops::DType::f64)}; });
  return draw.finish();
}

Counts count(const Generated& generated) {
  const graph::Graph& graph = generated.graph;
  const std::vector<bool> live = graph::live_nodes(graph);
  const auto users = graph::users_of(graph);
  Counts counts;
  for (std::uint32_t at = 0; at < graph.nodes().size(); ++at) {
    if (!live[at]) continue;
    ++counts.nodes;
    const graph::Node& node = graph.nodes()[at];
    std::int64_t length = 0, near = 0;
    for (const index::Values& sizes : generated.sizes) {
      const std::int64_t here = length_of(graph, node, sizes);
      length = std::max(length, here);
      near += is_near_border(here) ? 1 : 0;
    }
    if (length == 0) continue;
    ++counts.lengths;
    counts.near_borders += near > 0 ? 1 : 0;
    counts.above_2_17 += length > 131072 ? 1 : 0;
    const bool reduces = std::holds_alternative<graph::Reduce>(node.node);
    counts.framed =
        counts.framed || (reduces && has_prologue(graph, {at}) && has_epilogue(graph, users, live, {at}));
  }
  counts.symbolic = !graph::size_symbols(graph).empty();
  return counts;
}

}  // namespace twinloom::tests
