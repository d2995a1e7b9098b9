// Adds nodes, parameters, results and requirements; finds an equal node by its hash. See graph.h.
#include "core/graph/graph.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/infer.h"
#include "core/graph/size_names.h"
#include "core/index/simplify.h"

namespace twinloom::graph {

namespace {

index::Condition equal_sizes(const index::Expr& a, const index::Expr& b) {
  return {{{a, b + 1}, {b, a + 1}}};
}

bool is_map(const Op& op) {
  return std::holds_alternative<View>(op) || std::holds_alternative<Gather>(op) ||
         std::holds_alternative<Scatter>(op);
}

// Sizes that only the run can compare become requirements of the graph.
Inferred inferred_of(Graph& graph, const Op& op, std::span<const NodeId> inputs, const Subject& subject,
                     bool map_is_proven) {
  const SizeRules rules{
      [&](const index::Expr& a, const index::Expr& b, const std::string& words) {
        graph.require_equal(a, b, words);
      },
      [&](const index::Condition& condition, const std::string& words) { graph.require(condition, words); },
      map_is_proven};
  try {
    return infer(graph, op, inputs, subject, rules);
  } catch (const Error& error) {
    const std::string words = error.what(), head = print(subject);
    throw Error(words.starts_with(head) ? words : cat(head, ": ", words), {subject.origin.name});
  }
}

}  // namespace

void check_size_symbols(const index::Expr& expr, const std::string& where) {
  for (const index::Symbol symbol : index::symbols_of(expr)) {
    if (is_reserved(symbol.name()))
      throw Error(cat(where, ": the size symbol ", symbol,
                      " has a name that is taken: those of an i or f and digits, 'seed', 'offset' and "
                      "those with a dot are"));
  }
}

bool operator==(const Constant& a, const Constant& b) {
  if (a.dtype != b.dtype || a.shape != b.shape || a.value.index() != b.value.index()) return false;
  if (const auto* number = std::get_if<ops::Number>(&a.value))
    return *number == std::get<ops::Number>(b.value);
  const Content& left = std::get<Content>(a.value);
  const Content& right = std::get<Content>(b.value);
  return left == right ||
         (left->dtype == right->dtype && left->sizes == right->sizes && left->bytes == right->bytes);
}

ops::Monoid monoid_of(Mode mode) {
  switch (mode) {
    case Mode::add:
      return ops::Monoid::sum;
    case Mode::multiply:
      return ops::Monoid::prod;
    case Mode::least:
      return ops::Monoid::min;
    case Mode::greatest:
      return ops::Monoid::max;
    case Mode::replace:
      break;
  }
  CHECK(false, "a scatter that replaces combines nothing");
  return ops::Monoid::sum;
}

bool has_value(Ownership kind) {
  return is_stored(kind) || kind == Ownership::view || kind == Ownership::input;
}
bool is_stored(Ownership kind) { return kind == Ownership::own || kind == Ownership::written; }

index::Symbol axis_symbol(int k) { return index::Symbol(cat("i", k)); }
index::Symbol found_symbol(int k) { return index::Symbol(cat("f", k)); }

Graph::Graph() = default;
Graph::Graph(const Graph&) = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(const Graph&) = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

NodeId Graph::add(Op op, std::vector<NodeId> inputs, Origin origin) {
  return add(std::move(op), std::move(inputs), std::move(origin), false);
}

NodeId Graph::add_proven(Op op, std::vector<NodeId> inputs, Origin origin) {
  return add(std::move(op), std::move(inputs), std::move(origin), true);
}

void Graph::check(const Op& op, std::span<const NodeId> inputs, const Origin& origin) {
  inferred_of(*this, op, inputs, {op, origin}, false);
}

NodeId Graph::add(Op op, std::vector<NodeId> inputs, Origin origin, bool map_is_proven) {
  const Subject subject{op, origin};
  for (const NodeId input : inputs)
    CHECK(input.index < nodes_.size(), subject, ": input ", input.index, " is no node of the graph");
  op = canonical(std::move(op), inputs.empty() ? ops::DType::f32 : (*this)[inputs[0]].dtype);
  const std::uint64_t hash = hash_of(op, inputs);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Node& node = (*this)[it->second];
    if (node.inputs == inputs && node.node == op) return it->second;
  }
  // What is known of sizes only grows: what was proven once holds.
  Inferred inferred = inferred_of(*this, op, inputs, subject, map_is_proven || has_map(op, inputs));
  const NodeId id{static_cast<std::uint32_t>(nodes_.size())};
  if (is_map(op)) by_map_.emplace(hash_of(op, {}), id);
  nodes_.push_back(
      {std::move(op), std::move(inputs), inferred.dtype, std::move(inferred.shape), std::move(origin)});
  by_hash_.emplace(hash, id);
  return id;
}

bool Graph::has_map(const Op& op, std::span<const NodeId> inputs) const {
  if (!is_map(op)) return false;
  const auto [first, last] = by_map_.equal_range(hash_of(op, {}));
  return std::any_of(first, last, [&](const auto& entry) {
    const Node& node = (*this)[entry.second];
    return node.node == op && std::ranges::equal(node.inputs, inputs, [&](NodeId a, NodeId b) {
             return (*this)[a].shape == (*this)[b].shape;
           });
  });
}

NodeId Graph::input(std::string parameter, ops::DType dtype, Shape shape, bool donated, Origin origin) {
  for (const index::Expr& size : shape) {
    check_size_symbols(size, cat("parameter '", escaped(parameter), "'"));
    for (const index::Symbol symbol : index::symbols_of(size)) facts_.assume(symbol, {0, {}});
  }
  const int slot = static_cast<int>(parameters_.size());
  if (origin.name.empty()) origin.name = parameter;
  const NodeId id = add(Input{slot, dtype, std::move(shape), donated}, {}, std::move(origin));
  parameters_.push_back({std::move(parameter), id});
  return id;
}

void Graph::size_parameter(std::string parameter, index::Expr value) {
  check_size_symbols(value, cat("parameter '", escaped(parameter), "'"));
  for (const index::Symbol symbol : index::symbols_of(value)) facts_.assume(symbol, {0, {}});
  parameters_.push_back({std::move(parameter), std::move(value)});
}

void Graph::output(Result result) {
  CHECK(!has_value(result.kind) || result.value.index < nodes_.size(), "result ", results_.size(),
        " is no node of the graph");
  CHECK(result.kind != Ownership::view || result.base <= result.value, "result ", results_.size(),
        " is a view of what comes after it");
  const bool names_parameter =
      (result.kind != Ownership::input && result.kind != Ownership::written) ||
      (result.input >= 0 && static_cast<std::size_t>(result.input) < parameters_.size());
  CHECK(names_parameter, "result ", results_.size(), " is of parameter ", result.input, ", which is none");
  results_.push_back(std::move(result));
}

void Graph::require(index::Condition condition, std::string message) {
  index::Facts not_negative;
  for (const index::Symbol symbol : symbols_of(condition)) not_negative.assume(symbol, {0, {}});
  condition = index::simplify(condition, not_negative);
  if (condition.all.empty()) return;
  if (symbols_of(condition).empty() && !index::evaluate(condition, {})) throw Error(message);
  const bool known = std::ranges::any_of(
      requirements_, [&](const Require& require) { return require.condition == condition; });
  if (!known) requirements_.push_back({std::move(condition), std::move(message)});
}

void Graph::require_equal(const index::Expr& a, const index::Expr& b, const std::string& words) {
  if (a == b || facts_.proves_equal(a, b)) return;
  const index::Range difference = facts_.range(a - b);
  if ((difference.low && *difference.low > 0) || (difference.high && *difference.high < 0))
    throw Error(words);
  require(equal_sizes(a, b), words);
  facts_.assume_equal(a, b);
}

std::string describe(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (!node.origin.name.empty()) return cat("'", escaped(node.origin.name), "'");
  return cat(kind_name(node.node), " %", id.index);
}

std::vector<std::vector<NodeId>> users_of(const Graph& graph) {
  std::vector<std::vector<NodeId>> users(graph.nodes().size());
  for (std::uint32_t n = 0; n < graph.nodes().size(); ++n) {
    for (const NodeId input : graph.nodes()[n].inputs) {
      std::vector<NodeId>& of_input = users[input.index];
      if (of_input.empty() || of_input.back() != NodeId{n}) of_input.push_back(NodeId{n});
    }
  }
  return users;
}

std::optional<NodeId> summed_products(const Graph& graph, const Node& sum) {
  const auto* reduce = std::get_if<Reduce>(&sum.node);
  if (reduce == nullptr || reduce->monoid != ops::Monoid::sum) return std::nullopt;
  const auto* mul = std::get_if<Pointwise>(&graph[sum.inputs[0]].node);
  if (mul == nullptr || mul->op != ops::Pointwise::mul) return std::nullopt;
  return sum.inputs[0];
}

std::vector<bool> live_nodes(const Graph& graph) {
  std::vector<bool> live(graph.nodes().size(), false);
  for (const Result& result : graph.results())
    if (has_value(result.kind)) live[result.value.index] = true;
  for (std::size_t n = live.size(); n-- > 0;) {
    if (!live[n]) continue;
    for (const NodeId input : graph.nodes()[n].inputs) live[input.index] = true;
  }
  return live;
}

bool changes_along(const Graph& graph, NodeId id, std::size_t dimension) {
  const Node& node = graph[id];
  if (std::holds_alternative<Size>(node.node)) return false;
  if (const auto* constant = std::get_if<Constant>(&node.node))
    return std::holds_alternative<Content>(constant->value);
  if (const auto* iota = std::get_if<Iota>(&node.node))
    return static_cast<std::size_t>(iota->axis) == dimension;
  if (const auto* view = std::get_if<View>(&node.node)) {
    const index::Symbol axis = view->axes[dimension];
    return index::symbols_of(view->inside).contains(axis) ||
           std::ranges::any_of(view->source,
                               [&](const index::Expr& expr) { return index::mentions(expr, axis); });
  }
  if (std::holds_alternative<Pointwise>(node.node) || std::holds_alternative<Cast>(node.node)) {
    return std::ranges::any_of(node.inputs,
                               [&](NodeId input) { return changes_along(graph, input, dimension); });
  }
  return true;
}

std::set<index::Symbol> size_symbols(const Graph& graph) {
  std::set<index::Symbol> symbols;
  const auto mention = [&](const index::Expr& expr) { symbols.merge(index::symbols_of(expr)); };
  for (const Node& node : graph.nodes()) {
    std::ranges::for_each(node.shape, mention);
    if (const auto* size = std::get_if<Size>(&node.node)) mention(size->value);
  }
  for (const Parameter& parameter : graph.parameters())
    if (const auto* value = std::get_if<index::Expr>(&parameter.value)) mention(*value);
  for (const Result& result : graph.results()) mention(result.size);
  return symbols;
}

}  // namespace twinloom::graph
