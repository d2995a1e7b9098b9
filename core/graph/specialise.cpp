// Puts numbers in place of size symbols.
//   specialise({n: 0}):  in0: f32[n, 4]; y = relu(in0): f32[n, 4]   ->   in0: f32[0, 4]; y = relu(in0):
//   f32[0, 4]
// The symbols that are left are at least 1 from then on: the caller names all that are 0.
#include <algorithm>

#include "core/graph/passes.h"
#include "core/index/divisors.h"

namespace twinloom::graph {

namespace {

Shape substituted(const Shape& shape, const index::Substitution& numbers) {
  Shape result;
  for (const index::Expr& size : shape) result.push_back(index::substitute(size, numbers));
  return result;
}

// A division by a size that becomes 0 is of elements that do not exist.
bool divides_by_zero(const Shape& expressions, const index::Values& numbers) {
  return std::ranges::any_of(expressions,
                             [&](const index::Expr& expr) { return index::divides_by_zero(expr, numbers); });
}

Shape zeros(const Shape& expressions) { return Shape(expressions.size(), index::Expr(0)); }

// A map that reads or writes no element: its expressions may hold anything that is no division by 0.
Op without_zero_divisors(const Op& op, const index::Values& numbers) {
  if (const auto* given = std::get_if<View>(&op)) {
    if (!divides_by_zero(given->source, numbers) && !index::divides_by_zero(given->inside, numbers))
      return op;
    View view = *given;
    view.source = zeros(view.source);
    view.inside = {{index::Less{0, 0}}};
    return view;
  }
  if (const auto* given = std::get_if<Gather>(&op);
      given != nullptr && divides_by_zero(given->source, numbers)) {
    Gather gather = *given;
    gather.source = zeros(gather.source);
    return gather;
  }
  if (const auto* given = std::get_if<Scatter>(&op);
      given != nullptr && divides_by_zero(given->place, numbers)) {
    Scatter scatter = *given;
    scatter.place = zeros(scatter.place);
    return scatter;
  }
  return op;
}

// The operator with every expression over sizes rewritten.
Op substituted(const Op& op, const index::Substitution& numbers) {
  struct Rewrite {
    const index::Substitution& numbers;
    Op operator()(Input node) const {
      node.shape = substituted(node.shape, numbers);
      return node;
    }
    Op operator()(Constant node) const {
      node.shape = substituted(node.shape, numbers);
      return node;
    }
    Op operator()(Size node) const {
      node.value = index::substitute(node.value, numbers);
      return node;
    }
    Op operator()(View node) const {
      node.sizes = substituted(node.sizes, numbers);
      node.source = substituted(node.source, numbers);
      node.inside = index::substitute(node.inside, numbers);
      return node;
    }
    Op operator()(Iota node) const {
      node.shape = substituted(node.shape, numbers);
      return node;
    }
    Op operator()(Random node) const {
      node.shape = substituted(node.shape, numbers);
      return node;
    }
    Op operator()(Gather node) const {
      node.sizes = substituted(node.sizes, numbers);
      node.bounds = substituted(node.bounds, numbers);
      node.source = substituted(node.source, numbers);
      return node;
    }
    Op operator()(Scatter node) const {
      node.bounds = substituted(node.bounds, numbers);
      node.place = substituted(node.place, numbers);
      return node;
    }
    Op operator()(const Pointwise& node) const { return node; }
    Op operator()(const Cast& node) const { return node; }
    Op operator()(const Concat& node) const { return node; }
    Op operator()(const Reduce& node) const { return node; }
    Op operator()(const Scan& node) const { return node; }
    Op operator()(const Realize& node) const { return node; }
  };
  return std::visit(Rewrite{numbers}, op);
}

void take_facts(Graph& result, const Graph& graph, const index::Values& numbers,
                const index::Substitution& substitution) {
  for (const auto& [symbol, about] : graph.facts().symbols()) {
    if (!numbers.contains(symbol)) result.facts().assume(symbol, about.range, about.divisor);
  }
  for (const auto& [a, b] : graph.facts().equalities()) {
    const index::Expr left = index::substitute(a, substitution);
    const index::Expr right = index::substitute(b, substitution);
    if (left != right && !(index::constant_of(left) && index::constant_of(right)))
      result.facts().assume_equal(left, right);
  }
  for (const index::Symbol symbol : size_symbols(graph)) {
    if (!numbers.contains(symbol)) result.facts().assume(symbol, {1, std::nullopt});
  }
}

}  // namespace

Graph specialise(const Graph& graph, const index::Values& numbers) {
  index::Substitution substitution;
  for (const auto& [symbol, value] : numbers) substitution.emplace(symbol, index::Expr(value));
  Graph result;
  result.name = graph.name;
  take_facts(result, graph, numbers, substitution);
  std::vector<NodeId> ids(graph.nodes().size());
  for (const Parameter& parameter : graph.parameters()) {
    if (const auto* id = std::get_if<NodeId>(&parameter.value)) {
      const Node& node = graph[*id];
      ids[id->index] = result.input(parameter.name, node.dtype, substituted(node.shape, substitution),
                                    std::get<Input>(node.node).donated);
    } else {
      result.size_parameter(parameter.name,
                            index::substitute(std::get<index::Expr>(parameter.value), substitution));
    }
  }
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (std::holds_alternative<Input>(node.node)) continue;
    std::vector<NodeId> operands;
    for (const NodeId operand : node.inputs) operands.push_back(ids[operand.index]);
    ids[i] = result.add_proven(substituted(without_zero_divisors(node.node, numbers), substitution),
                               std::move(operands), node.origin);
  }
  for (Result output : graph.results()) {
    if (has_value(output.kind)) output.value = ids[output.value.index];
    if (output.kind == Ownership::view) output.base = ids[output.base.index];
    output.size = index::substitute(output.size, substitution);
    result.output(std::move(output));
  }
  for (const Require& require : graph.requirements()) {
    result.require(index::substitute(require.condition, substitution), require.message);
  }
  return result;
}

}  // namespace twinloom::graph
