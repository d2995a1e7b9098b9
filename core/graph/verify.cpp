// The rules that every graph keeps; each pass is followed by verify() in tests. A broken rule is a Bug
// with the printed line of the node.
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/infer.h"
#include "core/graph/print.h"
#include "core/graph/sharing.h"

namespace twinloom::graph {

namespace {

// The sizes that a run can know: what the parameters mention.
std::set<index::Symbol> bound_symbols(const Graph& graph) {
  std::set<index::Symbol> bound;
  for (const Parameter& parameter : graph.parameters()) {
    if (const auto* value = std::get_if<index::Expr>(&parameter.value)) {
      bound.merge(index::symbols_of(*value));
    } else {
      for (const index::Expr& size : graph[std::get<NodeId>(parameter.value)].shape)
        bound.merge(index::symbols_of(size));
    }
  }
  return bound;
}

// A node as an error names it. Printed where a rule is broken: graphs are verified whenever they are read,
// and the text of a large array takes seconds.
struct Where {
  const Graph& graph;
  NodeId id;
  friend std::string print(const Where& where) { return print_node(where.graph, where.id); }
};

struct Checker {
  const Graph& graph;
  std::set<index::Symbol> bound = bound_symbols(graph);

  template <class Subject>
  void mentions_only(const std::set<index::Symbol>& mentioned, const std::vector<index::Symbol>& more,
                     const Subject& where) const {
    for (const index::Symbol symbol : mentioned) {
      const bool known = bound.contains(symbol) || std::ranges::find(more, symbol) != more.end();
      CHECK(known, "graph '", graph.name, "': ", where, " mentions ", symbol, ", which no parameter binds");
    }
  }
  void map_mentions_only(const std::vector<index::Expr>& map, const std::vector<index::Symbol>& symbols,
                         const Where& where) const {
    for (const index::Expr& expr : map) mentions_only(index::symbols_of(expr), symbols, where);
  }

  void check(NodeId id) const;
  void check_symbols(const Node& node, const Where& where) const;
  void check_parameters() const;
  void check_written(const Result& result, const std::string& where) const;
  void check_results() const;
};

void Checker::check_symbols(const Node& node, const Where& where) const {
  map_mentions_only(node.shape, {}, where);
  if (const auto* size = std::get_if<Size>(&node.node))
    mentions_only(index::symbols_of(size->value), {}, where);
  if (const auto* view = std::get_if<View>(&node.node)) {
    map_mentions_only(view->source, view->axes, where);
    mentions_only(index::symbols_of(view->inside), view->axes, where);
  }
  if (const auto* gather = std::get_if<Gather>(&node.node)) {
    std::vector<index::Symbol> symbols = gather->axes;
    symbols.insert(symbols.end(), gather->found.begin(), gather->found.end());
    map_mentions_only(gather->source, symbols, where);
    map_mentions_only(gather->bounds, {}, where);
  }
  if (const auto* scatter = std::get_if<Scatter>(&node.node)) {
    std::vector<index::Symbol> symbols = scatter->axes;
    symbols.insert(symbols.end(), scatter->found.begin(), scatter->found.end());
    map_mentions_only(scatter->place, symbols, where);
    map_mentions_only(scatter->bounds, {}, where);
  }
}

void Checker::check(NodeId id) const {
  const Node& node = graph[id];
  const Where where{graph, id};
  for (const NodeId input : node.inputs) CHECK(input < id, where, ": an input comes after its use");
  const SizeRules rules{[&](const index::Expr& a, const index::Expr& b, const std::string& words) {
                          CHECK(a == b || graph.facts().proves_equal(a, b), where, ": not proven: ", words);
                        },
                        [](const index::Condition&, const std::string&) {}, true};
  try {
    const Inferred inferred = infer(graph, node.node, node.inputs, {node.node, node.origin}, rules);
    CHECK(inferred.dtype == node.dtype && inferred.shape == node.shape, where,
          ": the type or shape is another, ", ops::name(inferred.dtype), " ", print_shape(inferred.shape));
  } catch (const Error& error) {
    CHECK(false, where, ": ", error.what());
  }
}

void Checker::check_parameters() const {
  std::size_t tensors = 0;
  for (std::size_t slot = 0; slot < graph.parameters().size(); ++slot) {
    const auto* id = std::get_if<NodeId>(&graph.parameters()[slot].value);
    if (id == nullptr) continue;
    ++tensors;
    const Node& node = graph[*id];
    const auto* input = std::get_if<Input>(&node.node);
    CHECK(input != nullptr && static_cast<std::size_t>(input->slot) == slot, "parameter ", slot,
          " is not the input with this slot");
  }
  const auto inputs = std::ranges::count_if(
      graph.nodes(), [](const Node& node) { return std::holds_alternative<Input>(node.node); });
  CHECK(static_cast<std::size_t>(inputs) == tensors, "an input is no parameter of the graph '", graph.name,
        "'");
}

// A parameter takes one value, of its own type and shape.
void Checker::check_written(const Result& result, const std::string& where) const {
  const auto* input = std::get_if<NodeId>(&graph.parameters()[static_cast<std::size_t>(result.input)].value);
  CHECK(input != nullptr, where, " writes parameter ", result.input, ", which is a size");
  const Node& value = graph[result.value];
  const bool fits =
      value.dtype == graph[*input].dtype &&
      std::ranges::equal(value.shape, graph[*input].shape, [&](const index::Expr& a, const index::Expr& b) {
        return graph.facts().proves_equal(a, b);
      });
  CHECK(fits, where, " does not fit parameter ", result.input);
  for (const Result& other : graph.results()) {
    const bool same = other.kind == Ownership::written && other.input == result.input;
    CHECK(!same || other.value == result.value, "parameter ", result.input, " is written with two values");
  }
}

void Checker::check_results() const {
  for (std::size_t k = 0; k < graph.results().size(); ++k) {
    const Result& result = graph.results()[k];
    const std::string where = cat("result ", k);
    CHECK(!has_value(result.kind) || result.value.index < graph.nodes().size(), where, " is no node");
    if (result.kind == Ownership::size) mentions_only(index::symbols_of(result.size), {}, where);
    if (result.kind == Ownership::view) {
      CHECK(strided(graph, result.value, result.base) != Strided::no, where, " is no strided view of %",
            result.base.index);
    }
    if (result.kind == Ownership::written) check_written(result, where);
    if (result.kind != Ownership::input) continue;
    const auto* input =
        std::get_if<NodeId>(&graph.parameters()[static_cast<std::size_t>(result.input)].value);
    CHECK(input != nullptr && strided(graph, result.value, *input) != Strided::no, where,
          " is no strided view of parameter ", result.input);
  }
}

}  // namespace

void verify_beside_nodes(const Graph& graph) {
  const Checker checker{graph};
  checker.check_parameters();
  for (std::uint32_t n = 0; n < graph.nodes().size(); ++n)
    checker.check_symbols(graph.nodes()[n], {graph, NodeId{n}});
  checker.check_results();
  for (const Require& require : graph.requirements())
    checker.mentions_only(index::symbols_of(require.condition), {}, "a requirement");
}

void verify(const Graph& graph) {
  const Checker checker{graph};
  for (std::uint32_t n = 0; n < graph.nodes().size(); ++n) checker.check(NodeId{n});
  verify_beside_nodes(graph);
}

}  // namespace twinloom::graph
