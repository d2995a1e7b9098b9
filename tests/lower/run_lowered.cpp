// See run_lowered.h.
#include "tests/lower/run_lowered.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/fuse/fuse.h"
#include "core/loops/interpret.h"

namespace twinloom::tests {

namespace {

using Bytes = std::vector<std::byte>;

std::vector<std::int64_t> numbers(const graph::Shape& shape, const index::Values& values) {
  std::vector<std::int64_t> result;
  for (const index::Expr& size : shape) result.push_back(index::evaluate(size, values));
  return result;
}

// visit(row-major position, offset by strides) for every element.
template <class Visit>
void for_each_element(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
                      Visit visit) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  for (std::int64_t flat = 0; flat < count; ++flat) {
    std::int64_t rest = flat, offset = 0;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      offset += rest % sizes[d] * strides[d];
      rest /= sizes[d];
    }
    visit(flat, offset);
  }
}

index::Values bind(const graph::Graph& graph, const std::vector<evaluate::Argument>& arguments) {
  index::Values values = {{index::Symbol("seed"), 7}, {index::Symbol("offset"), 3}};
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const auto& parameter = graph.parameters()[k].value;
    if (const auto* size = std::get_if<index::Expr>(&parameter)) {
      if (const auto symbol = index::symbol_of(*size)) values[*symbol] = std::get<std::int64_t>(arguments[k]);
      continue;
    }
    const graph::Shape& shape = graph[std::get<graph::NodeId>(parameter)].shape;
    const auto& array = std::get<evaluate::Value>(arguments[k]);
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (const auto symbol = index::symbol_of(shape[d])) values[*symbol] = array.sizes[d];
  }
  return values;
}

class Run {
 public:
  Run(const graph::Graph& graph, const lower::Lowered& lowered, index::Values values)
      : graph_(graph), lowered_(lowered), values_(std::move(values)), memory_(lowered.values.size()) {}

  Results run(const std::vector<evaluate::Argument>& arguments) {
    for (std::size_t k = 0; k < memory_.size(); ++k) fill(k, arguments);
    for (const lower::Unit& unit : lowered_.units) launch(unit);
    return collect();
  }

 private:
  std::size_t bytes_of(const lower::Value& value) const {
    return static_cast<std::size_t>(ops::size_of(value.dtype));
  }

  void fill(std::size_t k, const std::vector<evaluate::Argument>& arguments) {
    const lower::Value& value = lowered_.values[k];
    const auto count =
        static_cast<std::size_t>(std::max<std::int64_t>(0, index::evaluate(value.count, values_)));
    memory_[k].assign(count * bytes_of(value) + 16, std::byte{0xcd});
    if (value.storage == lower::Storage::constant)
      copy_in(k, value.content->sizes, value.content->bytes.read());
    if (value.storage != lower::Storage::parameter) return;
    const auto& array = std::get<evaluate::Value>(arguments.at(static_cast<std::size_t>(value.parameter)));
    copy_in(k, array.sizes, array.bytes);
  }

  void copy_in(std::size_t k, const std::vector<std::int64_t>& sizes, std::span<const std::byte> bytes) {
    const lower::Value& value = lowered_.values[k];
    const std::size_t size = bytes_of(value);
    for_each_element(sizes, numbers(value.strides, values_), [&](std::int64_t from, std::int64_t to) {
      std::memcpy(memory_[k].data() + static_cast<std::size_t>(to) * size,
                  bytes.data() + static_cast<std::size_t>(from) * size, size);
    });
  }

  void launch(const lower::Unit& unit) {
    std::vector<loops::Memory> arguments;
    for (const lower::ValueId id : unit.arguments) {
      const std::int64_t count = std::max<std::int64_t>(0, index::evaluate(lowered_[id].count, values_));
      arguments.push_back({memory_[id.index].data(), 0, count});
    }
    std::vector<std::int64_t> sizes;
    for (const loops::SizeInfo& size : unit.nest.sizes) sizes.push_back(values_.at(size.symbol));
    const auto failure = loops::interpret(unit.nest, arguments, sizes);
    CHECK(!failure, "index ", failure ? failure->value : 0, " of node ", failure ? failure->node : 0,
          " failed");
  }

  Results collect() const {
    Results results(graph_.results().size());
    for (std::size_t k = 0; k < results.size(); ++k) {
      const graph::Result& result = graph_.results()[k];
      if (result.kind == graph::Ownership::size) {
        evaluate::Value number{ops::DType::i64, {}, Bytes(8)};
        ops::store_number(ops::DType::i64, index::evaluate(result.size, values_), number.bytes.data());
        results[k] = std::move(number);
      }
    }
    for (std::size_t id = 0; id < lowered_.values.size(); ++id)
      if (const int result = lowered_.values[id].result; result >= 0)
        results[static_cast<std::size_t>(result)] = copy_out(id);
    return results;
  }

  evaluate::Value copy_out(std::size_t k) const {
    const lower::Value& value = lowered_.values[k];
    const std::size_t size = bytes_of(value);
    evaluate::Value array{value.dtype, numbers(value.shape, values_), {}};
    std::size_t count = size;
    for (const std::int64_t length : array.sizes) count *= static_cast<std::size_t>(length);
    array.bytes.resize(count);
    for_each_element(array.sizes, numbers(value.strides, values_), [&](std::int64_t to, std::int64_t from) {
      std::memcpy(array.bytes.data() + static_cast<std::size_t>(to) * size,
                  memory_[k].data() + static_cast<std::size_t>(from) * size, size);
    });
    return array;
  }

  const graph::Graph& graph_;
  const lower::Lowered& lowered_;
  index::Values values_;
  std::vector<Bytes> memory_;
};

evaluate::Value random_array(ops::DType dtype, std::vector<std::int64_t> sizes, std::mt19937& random,
                             std::int64_t below) {
  evaluate::Value array{dtype, std::move(sizes), {}};
  std::size_t count = 1;
  for (const std::int64_t size : array.sizes) count *= static_cast<std::size_t>(size);
  const auto bytes = static_cast<std::size_t>(ops::size_of(dtype));
  array.bytes.resize(count * bytes);
  std::uniform_real_distribution<double> real(-2, 2);
  std::uniform_int_distribution<std::int64_t> integer(0, below - 1);
  for (std::size_t k = 0; k < count; ++k) {
    const bool floating = ops::is_floating(dtype);
    const ops::Number number = floating ? ops::Number(real(random)) : ops::Number(integer(random));
    ops::store_number(dtype, ops::cast(number, dtype), array.bytes.data() + k * bytes);
  }
  return array;
}

bool is_nan(const ops::Number& number) { return !number.is_integer() && number.real() != number.real(); }

}  // namespace

Results run_lowered(const graph::Graph& graph, const lower::Lowered& lowered,
                    const std::vector<evaluate::Argument>& arguments, const index::Values& strides) {
  index::Values values = bind(graph, arguments);
  values.insert(strides.begin(), strides.end());
  return Run(graph, lowered, std::move(values)).run(arguments);
}

std::optional<std::string> difference(const Results& given, const Results& expected) {
  if (given.size() != expected.size()) return cat(given.size(), " results, not ", expected.size());
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (!given[k]) continue;  // an input, or None
    if (!expected[k]) return cat("result ", k, " is not expected");
    const evaluate::Value &a = *given[k], &b = *expected[k];
    if (a.dtype != b.dtype || a.sizes != b.sizes) return cat("result ", k, " has another type or shape");
    const auto size = static_cast<std::size_t>(ops::size_of(a.dtype));
    for (std::size_t at = 0; at * size < a.bytes.size(); ++at) {
      const ops::Number left = ops::load_number(a.dtype, a.bytes.data() + at * size);
      const ops::Number right = ops::load_number(b.dtype, b.bytes.data() + at * size);
      if (left == right || (is_nan(left) && is_nan(right))) continue;
      return cat("result ", k, " element ", at, " is ", ops::print(left), ", not ", ops::print(right));
    }
  }
  return std::nullopt;
}

std::vector<evaluate::Argument> random_arguments(const graph::Graph& graph, unsigned seed,
                                                 const index::Values& sizes, std::int64_t below) {
  std::mt19937 random(seed);
  std::vector<evaluate::Argument> arguments;
  for (const graph::Parameter& parameter : graph.parameters()) {
    if (const auto* size = std::get_if<index::Expr>(&parameter.value)) {
      arguments.emplace_back(index::evaluate(*size, sizes));
      continue;
    }
    const graph::Node& node = graph[std::get<graph::NodeId>(parameter.value)];
    arguments.emplace_back(random_array(node.dtype, numbers(node.shape, sizes), random, below));
  }
  return arguments;
}

std::size_t expect_same_bits(const graph::Graph& graph, const index::Values& sizes, std::int64_t below,
                             const lower::Routines& routines) {
  const auto arguments = random_arguments(graph, 1, sizes, below);
  const lower::Lowered lowered = lower::lower(graph, {}, routines);
  const fuse::Fused fused = fuse::fuse(lowered);
  const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict, {7, 3});
  if (const auto words = difference(run_lowered(graph, lowered, arguments), expected))
    ADD_FAILURE() << "unfused: " << *words << "\n" << graph::print(graph) << lower::print(lowered);
  if (const auto words = difference(run_lowered(graph, fused.lowered, arguments), expected))
    ADD_FAILURE() << "fused: " << *words << "\n" << graph::print(graph) << lower::print(fused.lowered);
  return fused.lowered.units.size();
}

}  // namespace twinloom::tests
