// Puts numbers in place of size symbols.
//   specialise({n: 0}):  in0: f32[n, 4]; y = relu(in0): f32[n, 4]   ->   in0: f32[0, 4]; y = relu(in0):
//   f32[0, 4]
// The symbols that are left are at least 1 from then on: the caller names all that are 0.
#include <algorithm>

#include "core/graph/inside.h"
#include "core/graph/passes.h"

namespace twinloom::graph {

namespace {

// Numbers in place of symbols. The symbols that are left have facts: least(0, m) is 0 where m is a size.
struct Numbers {
  const index::Substitution& values;
  const index::Facts& left;
};

index::Expr substituted(const index::Expr& expr, const Numbers& numbers) {
  const index::Expr result = index::substitute(expr, numbers.values);
  const index::Range range = numbers.left.range(result);
  return range.low && range.low == range.high ? index::Expr(*range.low) : result;
}

Shape substituted(const Shape& shape, const Numbers& numbers) {
  Shape result;
  for (const index::Expr& size : shape) result.push_back(substituted(size, numbers));
  return result;
}

// A division by a size that becomes 0 is of elements that do not exist. Divisors of divisors come last.
bool divides_by_zero(const Shape& expressions, const Numbers& numbers) {
  return std::ranges::any_of(expressions, [&](const index::Expr& expr) {
    const std::vector<index::Expr> divisors = divisors_in(expr);
    return std::any_of(divisors.rbegin(), divisors.rend(), [&](const index::Expr& divisor) {
      return substituted(divisor, numbers) == index::Expr(0);
    });
  });
}

bool divides_by_zero(const index::Condition& condition, const Numbers& numbers) {
  return std::ranges::any_of(condition.all, [&](const index::Less& less) {
    return divides_by_zero(Shape{less.a, less.b}, numbers);
  });
}

Shape zeros(const Shape& expressions) { return Shape(expressions.size(), index::Expr(0)); }

// A map that reads or writes no element: its expressions may hold anything that is no division by 0.
Op without_zero_divisors(const Op& op, const Numbers& numbers) {
  if (const auto* given = std::get_if<View>(&op)) {
    if (!divides_by_zero(given->source, numbers) && !divides_by_zero(given->inside, numbers)) return op;
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
Op substituted(const Op& op, const Numbers& numbers) {
  struct Rewrite {
    const Numbers& numbers;
    Op operator()(Input node) const {
      node.shape = substituted(node.shape, numbers);
      return node;
    }
    Op operator()(Constant node) const {
      node.shape = substituted(node.shape, numbers);
      return node;
    }
    Op operator()(Size node) const {
      node.value = substituted(node.value, numbers);
      return node;
    }
    Op operator()(View node) const {
      node.sizes = substituted(node.sizes, numbers);
      node.source = substituted(node.source, numbers);
      node.inside = index::substitute(node.inside, numbers.values);
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
    Op operator()(const Sort& node) const { return node; }
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
  const index::Facts left = result.facts();
  const Numbers all{substitution, left};
  std::vector<NodeId> ids(graph.nodes().size());
  for (const Parameter& parameter : graph.parameters()) {
    if (const auto* id = std::get_if<NodeId>(&parameter.value)) {
      const Node& node = graph[*id];
      ids[id->index] = result.input(parameter.name, node.dtype, substituted(node.shape, all),
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
    ids[i] = result.add_proven(substituted(without_zero_divisors(node.node, all), all), std::move(operands),
                               node.origin);
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
