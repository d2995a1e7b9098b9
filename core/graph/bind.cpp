// See bind.h.
#include "core/graph/bind.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/graph/infer.h"
#include "core/graph/size_names.h"
#include "core/index/divisors.h"
#include "core/index/solve.h"

namespace twinloom::graph {

namespace {

// One number of a run and the expression it must have the value of.
struct Given {
  index::Expr expected;
  std::int64_t value;
  std::string where;  // "axis 0 of 'x'"
  std::string parameter;
};

std::string tensor_words(const std::vector<std::int64_t>& sizes) {
  return cat("[", join(sizes, ", ", [](std::int64_t size) { return cat(size); }), "]");
}

std::vector<Given> given_numbers(const Graph& graph, std::span<const ParameterSizes> parameters) {
  if (parameters.size() != graph.parameters().size())
    throw Error(cat("graph '", graph.name, "' takes ", graph.parameters().size(), " inputs, given ",
                    parameters.size()));
  std::vector<Given> sizes;
  std::vector<Given> dimensions;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const Parameter& parameter = graph.parameters()[k];
    const std::string name = cat("'", escaped(parameter.name), "'");
    const auto* number = std::get_if<std::int64_t>(&parameters[k]);
    if (const auto* expected = std::get_if<index::Expr>(&parameter.value)) {
      if (number == nullptr)
        throw Error(cat("input ", k, " ", name, " is a size, given a tensor"), {parameter.name});
      sizes.push_back({*expected, *number, cat("the size ", name), parameter.name});
      continue;
    }
    if (number != nullptr)
      throw Error(cat("input ", k, " ", name, " is a tensor, given a number"), {parameter.name});
    const Shape& shape = graph[std::get<NodeId>(parameter.value)].shape;
    const auto& given = std::get<std::vector<std::int64_t>>(parameters[k]);
    if (given.size() != shape.size())
      throw Error(cat("input ", k, " ", name, " has the shape ", tensor_words(given), ", expected ",
                      print_shape(shape)),
                  {parameter.name});
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      dimensions.push_back({shape[axis], given[axis], cat("axis ", axis, " of ", name), parameter.name});
  }
  sizes.insert(sizes.end(), dimensions.begin(), dimensions.end());
  return sizes;
}

class Binding {
 public:
  void bind_symbols(const std::vector<Given>& numbers);
  void solve_expressions(const std::vector<Given>& numbers);
  void check(const Graph& graph, const std::vector<Given>& numbers) const;
  index::Values take() { return std::move(values_); }

 private:
  bool bind_signed(const Given& given, const std::vector<index::Symbol>& unknown);
  std::int64_t value_of(const Given& given) const;
  bool knows_all(const std::set<index::Symbol>& symbols) const;
  // " (n = 4 from axis 0 of 'x')", for the symbols of a message.
  std::string sources(const std::set<index::Symbol>& symbols) const;
  void bind(index::Symbol symbol, std::int64_t value, const std::string& where);

  index::Values values_;
  std::map<index::Symbol, std::string> from_;
};

bool Binding::knows_all(const std::set<index::Symbol>& symbols) const {
  for (const index::Symbol symbol : symbols)
    if (!values_.contains(symbol)) return false;
  return true;
}

std::string Binding::sources(const std::set<index::Symbol>& symbols) const {
  if (symbols.empty()) return {};
  return cat(" (",
             join(symbols, ", ",
                  [&](index::Symbol symbol) {
                    return cat(symbol, " = ", values_.at(symbol), " from ", from_.at(symbol));
                  }),
             ")");
}

void Binding::bind(index::Symbol symbol, std::int64_t value, const std::string& where) {
  values_.emplace(symbol, value);
  from_.emplace(symbol, where);
}

void Binding::bind_symbols(const std::vector<Given>& numbers) {
  for (const Given& given : numbers) {
    const auto symbol = index::symbol_of(given.expected);
    if (symbol && !values_.contains(*symbol)) bind(*symbol, given.value, given.where);
  }
}

void Binding::solve_expressions(const std::vector<Given>& numbers) {
  bool found = true;
  while (found) {
    found = false;
    for (const Given& given : numbers) {
      std::vector<index::Symbol> unknown;
      for (const index::Symbol symbol : index::symbols_of(given.expected))
        if (!values_.contains(symbol)) unknown.push_back(symbol);
      if (unknown.size() == 2 && bind_signed(given, unknown)) found = true;
      if (unknown.size() != 1) continue;
      const auto value = index::solve(given.expected, given.value, unknown[0], values_);
      if (!value) continue;
      bind(unknown[0], *value, cat(given.where, ", ", given.expected, " = ", given.value));
      found = true;
    }
  }
}

// u and its negative part from the value of u - negative_part(u).
bool Binding::bind_signed(const Given& given, const std::vector<index::Symbol>& unknown) {
  const index::Symbol symbol = std::min(unknown[0], unknown[1]);
  const index::Symbol negative = std::max(unknown[0], unknown[1]);
  if (negative != negative_part(symbol)) return false;
  const auto linear = index::linear_in(given.expected, symbol);
  const auto opposite = index::linear_in(given.expected, negative);
  if (!linear || !opposite || opposite->scale != -linear->scale) return false;
  const index::Expr together = index::substitute(given.expected, {{negative, 0}});
  const auto value = index::solve(together, given.value, symbol, values_);
  if (!value || *value == std::numeric_limits<std::int64_t>::min()) return false;
  bind(symbol, std::max<std::int64_t>(*value, 0), given.where);
  bind(negative, std::max<std::int64_t>(-*value, 0), given.where);
  return true;
}

// Conditions are checked in their order: that a divisor is positive stands before what divides by it.
std::int64_t Binding::value_of(const Given& given) const {
  if (const auto divisor = index::bad_divisor(given.expected, values_)) {
    throw Error(cat(given.where, " is ", given.expected, ", which divides by ", *divisor, " = ",
                    index::evaluate(*divisor, values_), sources(index::symbols_of(*divisor))),
                {given.parameter});
  }
  return index::evaluate(given.expected, values_);
}

void Binding::check(const Graph& graph, const std::vector<Given>& numbers) const {
  for (const Given& given : numbers) {
    const auto symbols = index::symbols_of(given.expected);
    if (!knows_all(symbols))
      throw Error(
          cat(given.where, " has ", given.value, ", from which ", given.expected, " cannot be solved"),
          {given.parameter});
    const std::int64_t expected = value_of(given);
    if (expected != given.value)
      throw Error(
          cat(given.where, " is ", given.value, ", expected ",
              symbols.empty() ? cat(expected) : cat(given.expected, " = ", expected), sources(symbols)),
          {given.parameter});
  }
  for (const auto& [symbol, value] : values_)
    if (value < 0)
      throw Error(cat("the size ", symbol, " is ", value, " and must not be negative", sources({symbol})));
  for (const index::Symbol symbol : size_symbols(graph))
    if (!values_.contains(symbol)) throw Error(cat("no input tells the size ", symbol));
  for (const Require& require : graph.requirements())
    if (index::bad_divisor(require.condition, values_) || !index::evaluate(require.condition, values_))
      throw Error(cat(require.message, ": ", require.condition, " does not hold",
                      sources(index::symbols_of(require.condition))));
}

}  // namespace

index::Values bind_sizes(const Graph& graph, std::span<const ParameterSizes> parameters) {
  const std::vector<Given> numbers = given_numbers(graph, parameters);
  Binding binding;
  binding.bind_symbols(numbers);
  binding.solve_expressions(numbers);
  binding.check(graph, numbers);
  return binding.take();
}

std::vector<std::int64_t> sizes_of(const Shape& shape, const index::Values& values) {
  std::vector<std::int64_t> sizes;
  for (const index::Expr& size : shape) {
    sizes.push_back(index::evaluate(size, values));
    if (sizes.back() < 0)
      throw Error(cat("the size ", size, " in ", print_shape(shape), " is ", sizes.back()));
  }
  return sizes;
}

}  // namespace twinloom::graph
