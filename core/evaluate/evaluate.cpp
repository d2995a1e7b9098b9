// Walks the nodes that a result needs, from front to back, and forgets a value after its last use. See
// evaluate.h; the rules of the kinds are in elementwise.cpp, movement.cpp, indexed.cpp and reduced.cpp.
#include "core/evaluate/evaluate.h"

#include <cstring>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/base/memory.h"
#include "core/evaluate/run.h"
#include "core/graph/bind.h"
#include "core/ops/convert.h"

namespace twinloom::evaluate {

namespace {

std::vector<graph::ParameterSizes> sizes_given(std::span<const Argument> arguments) {
  std::vector<graph::ParameterSizes> sizes;
  for (const Argument& argument : arguments) {
    if (const auto* value = std::get_if<Value>(&argument)) {
      sizes.emplace_back(value->sizes);
    } else {
      sizes.emplace_back(std::get<std::int64_t>(argument));
    }
  }
  return sizes;
}

// The argument in the type it is kept in.
Value taken(const Run& run, const graph::Parameter& parameter, const graph::Node& node, const Value& given) {
  if (given.dtype != node.dtype)
    throw Error(cat("input '", escaped(parameter.name), "' is ", ops::name(given.dtype), ", expected ",
                    ops::name(node.dtype)));
  const auto bytes = static_cast<std::size_t>(count_of(given) * ops::size_of(given.dtype));
  if (given.bytes.size() != bytes)
    throw Error(cat("input '", escaped(parameter.name), "' has ", given.bytes.size(),
                    " bytes, its sizes need ", bytes));
  Value value = run.blank(node);
  ops::convert(given.dtype, value.dtype, given.bytes.data(), value.bytes.data(), count_of(given));
  return value;
}

// For each node the last one that reads it; results keep theirs.
std::vector<std::uint32_t> last_uses(const graph::Graph& graph, const std::vector<bool>& live) {
  const auto never = static_cast<std::uint32_t>(graph.nodes().size());
  std::vector<std::uint32_t> last(graph.nodes().size(), 0);
  for (std::uint32_t n = 0; n < never; ++n)
    if (live[n])
      for (const graph::NodeId input : graph.nodes()[n].inputs) last[input.index] = n;
  for (const graph::Result& result : graph.results())
    if (has_value(result.kind)) last[result.value.index] = never;
  return last;
}

using Values = std::vector<std::shared_ptr<const Value>>;

Values all_values(const Run& run, std::span<const Argument> arguments) {
  const graph::Graph& graph = run.graph;
  const std::vector<bool> live = live_nodes(graph);
  const std::vector<std::uint32_t> last = last_uses(graph, live);
  Values values(graph.nodes().size());
  for (std::uint32_t n = 0; n < values.size(); ++n) {
    if (!live[n]) continue;
    const graph::Node& node = graph.nodes()[n];
    if (const auto* input = std::get_if<graph::Input>(&node.node)) {
      const auto slot = static_cast<std::size_t>(input->slot);
      values[n] = std::make_shared<const Value>(
          taken(run, graph.parameters()[slot], node, std::get<Value>(arguments[slot])));
      continue;
    }
    Turn turn{run, graph::NodeId{n}, {}};
    for (const graph::NodeId id : node.inputs) turn.inputs.push_back(values[id.index]);
    values[n] = std::make_shared<const Value>(
        std::visit([&](const auto& kind) { return evaluate_kind(turn, kind); }, node.node));
    for (const graph::NodeId id : node.inputs)
      if (last[id.index] == n) values[id.index].reset();
  }
  return values;
}

Value number_value(std::int64_t number) {
  Value value{ops::DType::i64, {}, std::vector<std::byte>(sizeof number)};
  ops::store_number(value.dtype, number, value.bytes.data());
  return value;
}

}  // namespace

ops::DType Run::held(ops::DType dtype) const {
  return arithmetic == Arithmetic::wide && ops::is_floating(dtype) ? ops::DType::f64 : dtype;
}

std::vector<std::int64_t> Run::sizes_of(const graph::Shape& shape) const {
  return graph::sizes_of(shape, sizes);
}

Value Run::blank(const graph::Node& node) const {
  Value value{held(node.dtype), sizes_of(node.shape), {}};
  std::optional<std::int64_t> bytes = ops::size_of(value.dtype);
  for (const std::int64_t size : value.sizes) bytes = bytes ? checked_multiply(*bytes, size) : bytes;
  if (!bytes || !fits_memory(*bytes))
    throw Error(cat("no memory for ", kind_name(node.node), " of ", ops::name(value.dtype), " [",
                    join(value.sizes, ", ", [](std::int64_t size) { return cat(size); }), "] (",
                    bytes ? cat(*bytes) : "more than 64 bits count", " bytes)"));
  value.bytes.resize(static_cast<std::size_t>(*bytes));
  return value;
}

std::vector<index::Expr> Run::with_sizes(const std::vector<index::Expr>& exprs) const {
  std::vector<index::Expr> result;
  for (const index::Expr& expr : exprs) result.push_back(evaluate::with_sizes(expr, sizes));
  return result;
}

std::string Turn::subject() const {
  const std::string& name = node().origin.name;
  return name.empty() ? describe(run.graph, id) : cat(kind_name(node().node), " '", escaped(name), "'");
}

std::int64_t count_of(const Value& value) { return count_of(std::span<const std::int64_t>(value.sizes)); }

const std::byte* element(const Value& value, std::int64_t k) {
  return value.bytes.data() + k * ops::size_of(value.dtype);
}

std::byte* element(Value& value, std::int64_t k) {
  return value.bytes.data() + k * ops::size_of(value.dtype);
}

void fill(Value& value, const ops::Number& number) {
  if (value.bytes.empty()) return;
  const auto size = static_cast<std::size_t>(ops::size_of(value.dtype));
  ops::store_number(value.dtype, number, value.bytes.data());
  for (std::size_t at = size; at < value.bytes.size(); at += size)
    std::memcpy(value.bytes.data() + at, value.bytes.data(), size);
}

std::vector<std::optional<Value>> evaluate(const graph::Graph& graph, std::span<const Argument> arguments,
                                           Arithmetic arithmetic, RunNumbers numbers) {
  const Run run{graph, arithmetic, numbers, bind_sizes(graph, sizes_given(arguments))};
  const Values values = all_values(run, arguments);
  std::vector<std::optional<Value>> results;
  for (const graph::Result& result : graph.results()) {
    switch (result.kind) {
      case graph::Ownership::own:
      case graph::Ownership::view:
      case graph::Ownership::input:
      case graph::Ownership::written:
        results.emplace_back(*values[result.value.index]);
        break;
      case graph::Ownership::size:
        results.emplace_back(number_value(index::evaluate(result.size, run.sizes)));
        break;
      case graph::Ownership::none:
        results.emplace_back(std::nullopt);
        break;
    }
  }
  return results;
}

}  // namespace twinloom::evaluate
