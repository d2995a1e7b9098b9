// See inputs.h.
#include "tools/twinloom/inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <random>

#include "core/base/error.h"
#include "core/graph/bind.h"
#include "core/index/solve.h"
#include "core/ops/convert.h"
#include "frontends/arrays/arrays.h"

namespace twinloom::tool {

namespace {

using graph::Graph;
using graph::NodeId;

constexpr std::int64_t default_size = 16;

std::pair<std::string, std::string> split_at_equals(const std::string& text, std::string_view option) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0) throw Error(cat("--", option, " takes NAME=VALUE, given was '", escaped(text), "'"));
  return {text.substr(0, at), text.substr(at + 1)};
}

std::int64_t parse_integer(const std::string& text, std::string_view what) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) throw Error(cat(what, " must be an integer, it is '", escaped(text), "'"));
  return value;
}

// The arrays by parameter, from the archive (by name or as inK) and from --input.
std::vector<std::optional<runtime::Tensor>> given_tensors(const Model& model, const ModelOptions& options) {
  const auto parameters = model.graph.parameters();
  std::vector<std::optional<runtime::Tensor>> given(parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    for (const std::string& name : {cat("in", p), parameters[p].name}) {
      const auto found = model.arrays.find(name);
      if (found != model.arrays.end()) given[p] = found->second.tensor;
    }
  }
  for (const std::string& text : options.input) {
    const auto [name, value] = split_at_equals(text, "input");
    const auto is_it = [&, wanted = name](const graph::Parameter& parameter) { return parameter.name == wanted; };
    auto found = std::ranges::find_if(parameters, is_it);
    if (found == parameters.end() && name.starts_with("in")) {
      const std::int64_t k = parse_integer(name.substr(2), "the number of an input");
      if (k >= 0 && k < static_cast<std::int64_t>(parameters.size())) found = parameters.begin() + k;
    }
    if (found == parameters.end()) throw Error(cat("--input: the graph has no parameter '", escaped(name), "'"));
    given[static_cast<std::size_t>(found - parameters.begin())] = arrays::read_npy(value);
  }
  return given;
}

// Symbols from --size, and from the shapes of given arrays where a dimension is solved.
index::Values known_sizes(const Graph& graph, const ModelOptions& options, const std::vector<std::optional<runtime::Tensor>>& given) {
  index::Values values;
  for (const std::string& text : options.sizes) {
    const auto [name, value] = split_at_equals(text, "size");
    const std::int64_t size = parse_integer(value, cat("size ", escaped(name)));
    if (size < 0) throw Error(cat("size ", escaped(name), " must not be negative, it is ", size));
    values[index::Symbol(name)] = size;
  }
  const auto learn = [&](const index::Expr& expr, std::int64_t value) {
    for (const index::Symbol symbol : index::symbols_of(expr)) {
      if (values.contains(symbol)) continue;
      if (const auto solved = index::solve(expr, value, symbol, values)) values[symbol] = *solved;
    }
  };
  for (int round = 0; round < 2; ++round) {
    for (std::size_t p = 0; p < given.size(); ++p) {
      if (!given[p]) continue;
      const auto& parameter = graph.parameters()[p].value;
      if (const auto* expr = std::get_if<index::Expr>(&parameter)) {
        if (given[p]->dtype == ops::DType::i64 && runtime::element_count(*given[p]) == 1) learn(*expr, *static_cast<const std::int64_t*>(given[p]->data));
        continue;
      }
      const graph::Shape& shape = graph[std::get<NodeId>(parameter)].shape;
      for (std::size_t axis = 0; axis < std::min(shape.size(), given[p]->sizes.size()); ++axis) learn(shape[axis], given[p]->sizes[axis]);
    }
  }
  for (const index::Symbol symbol : graph::size_symbols(graph)) values.try_emplace(symbol, default_size);
  return values;
}

template <class Integer>
void fill_integers(runtime::Tensor& tensor, std::int64_t low, std::int64_t high, std::mt19937_64& random) {
  auto* data = static_cast<Integer*>(tensor.data);
  const std::int64_t count = runtime::element_count(tensor);
  const auto span = static_cast<std::uint64_t>(high - low + 1);
  for (std::int64_t e = 0; e < count; ++e) data[e] = static_cast<Integer>(low + static_cast<std::int64_t>(random() % span));
}

// Box and Muller's, so that a seed means the same numbers with every standard library.
void fill_normal(runtime::Tensor& tensor, std::mt19937_64& random) {
  const std::int64_t count = runtime::element_count(tensor);
  std::vector<double> numbers(static_cast<std::size_t>(count));
  for (double& number : numbers) {
    const double u = (static_cast<double>(random() >> 11) + 1) * 0x1p-53;
    const double v = static_cast<double>(random() >> 11) * 0x1p-53;
    number = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }
  ops::convert(ops::DType::f64, tensor.dtype, numbers.data(), tensor.data, count);
}

runtime::Tensor drawn(const graph::Node& node, const index::Values& sizes, const std::optional<index::Expr>& bound, std::mt19937_64& random) {
  runtime::Tensor tensor = runtime::allocate(node.dtype, graph::sizes_of(node.shape, sizes));
  if (!ops::is_integer(node.dtype) && node.dtype != ops::DType::b8) {
    fill_normal(tensor, random);
    return tensor;
  }
  const bool is_signed = ops::kind(node.dtype) == ops::TypeKind::signed_int;
  std::int64_t low = is_signed ? -8 : 0;
  std::int64_t high = 8;
  if (node.dtype == ops::DType::b8) high = 1;
  if (bound) {
    const std::int64_t widest = is_signed ? 127 : 255;  // what every integer type holds
    low = 0;
    high = std::max<std::int64_t>(0, index::evaluate(*bound, sizes) - 1);
    if (ops::size_of(node.dtype) == 1) high = std::min(high, widest);
  }
  switch (ops::size_of(node.dtype)) {
    case 1: fill_integers<std::int8_t>(tensor, low, high, random); break;
    case 2: fill_integers<std::int16_t>(tensor, low, high, random); break;
    case 4: fill_integers<std::int32_t>(tensor, low, high, random); break;
    default: fill_integers<std::int64_t>(tensor, low, high, random); break;
  }
  return tensor;
}

// Walks from an index back to the parameters whose elements it is made of.
void bound_parameters(const Graph& graph, NodeId id, const index::Expr& bound, std::vector<std::optional<index::Expr>>& bounds) {
  const graph::Node& node = graph[id];
  if (const auto* input = std::get_if<graph::Input>(&node.node)) {
    auto& smallest = bounds[static_cast<std::size_t>(input->slot)];
    smallest = smallest ? index::least(*smallest, bound) : bound;
    return;
  }
  const auto* pointwise = std::get_if<graph::Pointwise>(&node.node);
  const bool passes = std::holds_alternative<graph::View>(node.node) || std::holds_alternative<graph::Cast>(node.node) ||
                      std::holds_alternative<graph::Concat>(node.node) || std::holds_alternative<graph::Realize>(node.node) ||
                      (pointwise != nullptr && pointwise->op == ops::Pointwise::where);
  if (!passes) return;
  for (const NodeId operand : node.inputs) {
    if (ops::is_integer(graph[operand].dtype)) bound_parameters(graph, operand, bound, bounds);
  }
}

}  // namespace

std::vector<std::optional<index::Expr>> index_bounds(const Graph& graph) {
  std::vector<std::optional<index::Expr>> bounds(graph.parameters().size());
  for (const graph::Node& node : graph.nodes()) {
    if (const auto* gather = std::get_if<graph::Gather>(&node.node)) {
      for (std::size_t k = 0; k < gather->found.size(); ++k) bound_parameters(graph, node.inputs[1 + k], gather->bounds[k], bounds);
    } else if (const auto* scatter = std::get_if<graph::Scatter>(&node.node)) {
      for (std::size_t k = 0; k < scatter->found.size(); ++k) bound_parameters(graph, node.inputs[2 + k], scatter->bounds[k], bounds);
    }
  }
  return bounds;
}

std::vector<runtime::Argument> make_arguments(const Model& model, const ModelOptions& options) {
  const Graph& graph = model.graph;
  const auto given = given_tensors(model, options);
  const index::Values sizes = known_sizes(graph, options, given);
  const auto bounds = index_bounds(graph);
  std::vector<runtime::Argument> arguments;
  for (std::size_t p = 0; p < given.size(); ++p) {
    const graph::Parameter& parameter = graph.parameters()[p];
    if (const auto* expr = std::get_if<index::Expr>(&parameter.value)) {
      arguments.emplace_back(index::evaluate(*expr, sizes));
    } else if (given[p]) {
      arguments.emplace_back(*given[p]);
    } else {
      std::mt19937_64 random(options.seed * 1000003 + p);
      arguments.emplace_back(drawn(graph[std::get<NodeId>(parameter.value)], sizes, bounds[p], random));
    }
  }
  return arguments;
}

}  // namespace twinloom::tool
