// See inputs.h.
#include "tools/twinloom/inputs.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/graph/bind.h"
#include "core/graph/index_bounds.h"
#include "core/index/solve.h"
#include "core/runtime/errors.h"
#include "tools/twinloom/draw.h"

namespace twinloom::tool {

namespace {

using graph::Graph;
using graph::NodeId;

constexpr std::int64_t default_size = 16;

std::int64_t parse_integer(const std::string& text, std::string_view what) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size())
    throw Error(cat(what, " must be an integer, it is '", escaped(text), "'"));
  return value;
}

// What is said of a parameter: its elements, or what they are drawn from.
struct Given {
  std::optional<runtime::Tensor> tensor;
  std::optional<Specification> specification;
};

// The place of the parameter with this name, or of inK.
std::optional<std::size_t> find_parameter(const Graph& graph, const std::string& name) {
  const auto parameters = graph.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (name == parameters[p].name || name == cat("in", p)) return p;
  return std::nullopt;
}

std::size_t parameter_named(const Graph& graph, const std::string& name) {
  if (const auto found = find_parameter(graph, name)) return *found;
  std::vector<std::string> known;
  for (const graph::Parameter& parameter : graph.parameters()) known.push_back(parameter.name);
  const std::string near = nearest_name(name, known);
  throw Error(cat("--input: the graph has no parameter '", escaped(name), "'",
                  near.empty() ? "" : cat("; did you mean '", escaped(near), "'?")));
}

Given parse_given(const std::string& value) {
  if (const auto specification = parse_specification(value)) return {std::nullopt, specification};
  if (is_array_file(value)) return {read_array(value), std::nullopt};
  throw Error(
      cat("--input takes NAME=F.npy, NAME=F.pb or one of normal, uniform, zeros, ones, a number, LOW..HIGH; "
          "given was '",
          escaped(value), "'"));
}

// By parameter, from the archive (by name or as inK) and from --input.
std::vector<Given> given_inputs(const Model& model, const ModelOptions& options) {
  const auto parameters = model.graph.parameters();
  std::vector<Given> given(parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    for (const std::string& name : {cat("in", p), parameters[p].name}) {
      const auto found = model.arrays.find(name);
      if (found != model.arrays.end()) given[p].tensor = found->second.tensor;
    }
  }
  for (const std::string& text : options.input) {
    const auto [name, value] = split_at_equals(text, "input");
    given[parameter_named(model.graph, name)] = parse_given(value);
  }
  return given;
}

// The number that an array gives a size parameter.
std::int64_t size_in(const runtime::Tensor& tensor, const std::string& name) {
  if (tensor.dtype == ops::DType::b8 && runtime::element_count(tensor) == 1)
    return *static_cast<const std::uint8_t*>(tensor.data);
  if (tensor.dtype != ops::DType::i64 || runtime::element_count(tensor) != 1) {
    throw Error(cat("parameter '", escaped(name), "' is a size; its array must be one int64"));
  }
  return *static_cast<const std::int64_t*>(tensor.data);
}

std::vector<std::string> size_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const index::Symbol symbol : graph::size_symbols(graph)) names.emplace_back(symbol.name());
  return names;
}

// The sizes that --size names.
index::Values asked_sizes(const Graph& graph, const ModelOptions& options) {
  const std::vector<std::string> known = size_names(graph);
  index::Values values;
  for (const std::string& text : options.sizes) {
    const auto [name, value] = split_at_equals(text, "size");
    const std::int64_t size = parse_integer(value, cat("size ", escaped(name)));
    if (size < 0) throw Error(cat("size ", escaped(name), " must not be negative, it is ", size));
    if (std::ranges::find(known, name) == known.end()) {
      const std::string words =
          known.empty()
              ? "the graph has no symbolic sizes"
              : cat("the graph's sizes are ", join(known, ", ", [](const std::string& one) { return one; }));
      throw Error(cat("--size: there is no size '", escaped(name), "'; ", words));
    }
    values[index::Symbol(name)] = size;
  }
  return values;
}

// The sizes that were asked for, then what the shapes of given arrays say, then a default.
index::Values known_sizes(const Graph& graph, const ModelOptions& options, const std::vector<Given>& given) {
  index::Values values = asked_sizes(graph, options);
  const auto learn = [&](const index::Expr& expr, std::int64_t value) {
    for (const index::Symbol symbol : index::symbols_of(expr)) {
      if (values.contains(symbol)) continue;
      if (const auto solved = index::solve(expr, value, symbol, values)) values[symbol] = *solved;
    }
  };
  // Twice, for a dimension such as 2*a + b that is solved only when a is known.
  for (int round = 0; round < 2; ++round) {
    for (std::size_t p = 0; p < given.size(); ++p) {
      if (!given[p].tensor) continue;
      const runtime::Tensor& tensor = *given[p].tensor;
      const auto& parameter = graph.parameters()[p].value;
      if (const auto* expr = std::get_if<index::Expr>(&parameter)) {
        learn(*expr, size_in(tensor, graph.parameters()[p].name));
        continue;
      }
      const graph::Shape& shape = graph[std::get<NodeId>(parameter)].shape;
      for (std::size_t axis = 0; axis < std::min(shape.size(), tensor.sizes.size()); ++axis)
        learn(shape[axis], tensor.sizes[axis]);
    }
  }
  for (const index::Symbol symbol : graph::size_symbols(graph)) values.try_emplace(symbol, default_size);
  return values;
}

// What an input that nothing is said about is drawn from.
Specification usual(ops::DType dtype, const index::Values& sizes, const std::optional<index::Expr>& bound) {
  if (ops::is_floating(dtype)) return {};
  if (dtype == ops::DType::b8) return {Law::even, 0, 1, false};
  const bool is_signed = ops::kind(dtype) == ops::TypeKind::signed_int;
  if (!bound) return {Law::even, is_signed ? -8.0 : 0.0, 8, false};
  std::int64_t high = std::max<std::int64_t>(0, index::evaluate(*bound, sizes) - 1);
  if (ops::size_of(dtype) == 1) high = std::min<std::int64_t>(high, is_signed ? 127 : 255);
  return {Law::even, 0, static_cast<double>(high), false};
}

// `make(dtype, sizes, parameter, specification)` gives what no file gives.
template <class Make>
std::vector<runtime::Argument> arguments_of(const Model& model, const ModelOptions& options,
                                            const Make& make) {
  const Graph& graph = model.graph;
  const std::vector<Given> given = given_inputs(model, options);
  const index::Values sizes = known_sizes(graph, options, given);
  const auto bounds = graph::index_bounds(graph);
  std::vector<runtime::Argument> arguments;
  for (std::size_t p = 0; p < given.size(); ++p) {
    const graph::Parameter& parameter = graph.parameters()[p];
    if (const auto* expr = std::get_if<index::Expr>(&parameter.value)) {
      const bool said = given[p].tensor && options.sizes.empty();
      arguments.emplace_back(said ? size_in(*given[p].tensor, parameter.name)
                                  : index::evaluate(*expr, sizes));
    } else if (given[p].tensor) {
      arguments.emplace_back(*given[p].tensor);
    } else {
      const graph::Node& node = graph[std::get<NodeId>(parameter.value)];
      const Specification specification =
          given[p].specification.value_or(usual(node.dtype, sizes, bounds[p]));
      try {
        const runtime::Tensor made = make(node.dtype, graph::sizes_of(node.shape, sizes), p, specification);
        const bool strided = p < model.strides.size() && model.strides[p];
        arguments.emplace_back(
            strided ? with_strides(made, graph::sizes_of(*model.strides[p], sizes), parameter.name) : made);
      } catch (const runtime::OutOfMemory& error) {
        throw runtime::OutOfMemory(cat("input '", escaped(parameter.name), "': ", error.what()),
                                   error.asked_bytes());
      }
    }
  }
  return arguments;
}

}  // namespace

std::vector<runtime::Argument> make_arguments(const Model& model, const ModelOptions& options) {
  return arguments_of(model, options,
                      [&](ops::DType dtype, std::vector<std::int64_t> sizes, std::size_t parameter,
                          const Specification& specification) {
                        const std::uint64_t seed = options.seed * 1000003 + parameter;
                        return draw(dtype, std::move(sizes), specification, seed);
                      });
}

std::vector<runtime::Argument> describe_arguments(const Model& model, const ModelOptions& options) {
  return arguments_of(
      model, options,
      [](ops::DType dtype, std::vector<std::int64_t> sizes, std::size_t, const Specification& specification) {
        check_fits(dtype, specification);
        return runtime::view_of(nullptr, dtype, std::move(sizes));
      });
}

ModelOptions options_for(const graph::Graph& graph, ModelOptions options) {
  const std::vector<std::string> sizes = size_names(graph);
  std::erase_if(options.input, [&](const std::string& text) {
    return !find_parameter(graph, split_at_equals(text, "input").first);
  });
  std::erase_if(options.sizes, [&](const std::string& text) {
    return std::ranges::find(sizes, split_at_equals(text, "size").first) == sizes.end();
  });
  return options;
}

std::vector<evaluate::Argument> for_evaluator(std::span<const runtime::Argument> arguments) {
  std::vector<evaluate::Argument> result;
  for (const runtime::Argument& argument : arguments) {
    if (const auto* size = std::get_if<std::int64_t>(&argument)) {
      result.emplace_back(*size);
      continue;
    }
    const runtime::Tensor tensor = runtime::contiguous(std::get<runtime::Tensor>(argument));
    const auto* bytes = static_cast<const std::byte*>(tensor.data);
    const std::int64_t count = runtime::element_count(tensor) * ops::size_of(tensor.dtype);
    result.emplace_back(evaluate::Value{tensor.dtype, tensor.sizes, {bytes, bytes + count}});
  }
  return result;
}

evaluate::RunNumbers run_numbers(const runtime::RunOptions& options) {
  return {static_cast<std::int64_t>(options.seed), static_cast<std::int64_t>(options.offset)};
}

}  // namespace twinloom::tool
