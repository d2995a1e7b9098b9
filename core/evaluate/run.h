// One run of the evaluator and the rule of each kind of node. Of use only inside this room.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/evaluate/evaluate.h"
#include "core/evaluate/positions.h"
#include "core/ops/number.h"

namespace twinloom::evaluate {

struct Run {
  const graph::Graph& graph;
  Arithmetic arithmetic;
  RunNumbers numbers;
  index::Values sizes;

  // The type that values of a type are kept in: f64 for floating ones in wide.
  ops::DType held(ops::DType dtype) const;
  std::vector<std::int64_t> sizes_of(const graph::Shape& shape) const;
  // Elements of the kept type for a node, all bytes 0.
  Value blank(const graph::Node& node) const;
  std::vector<index::Expr> with_sizes(const std::vector<index::Expr>& exprs) const;
};

// A node in its turn, with the values of its inputs.
struct Turn {
  const Run& run;
  graph::NodeId id;
  std::vector<std::shared_ptr<const Value>> inputs;

  const graph::Node& node() const { return run.graph[id]; }
  const Value& input(std::size_t k) const { return *inputs[k]; }
  // "gather 'index_1'", for errors of the run.
  std::string subject() const;
};

std::int64_t count_of(const Value& value);
const std::byte* element(const Value& value, std::int64_t k);
std::byte* element(Value& value, std::int64_t k);
// A number of the value's type in every element.
void fill(Value& value, const ops::Number& number);

// Calls use(first, count) for each block of `count` elements.
template <class Use>
void for_each_block(std::int64_t count, Use&& use) {
  for (std::int64_t first = 0; first < count; first += BLOCK) use(first, std::min(BLOCK, count - first));
}

Value evaluate_kind(const Turn& turn, const graph::Input& input);
Value evaluate_kind(const Turn& turn, const graph::Constant& constant);
Value evaluate_kind(const Turn& turn, const graph::Size& size);
Value evaluate_kind(const Turn& turn, const graph::Pointwise& pointwise);
Value evaluate_kind(const Turn& turn, const graph::Cast& cast);
Value evaluate_kind(const Turn& turn, const graph::View& view);
Value evaluate_kind(const Turn& turn, const graph::Concat& concat);
Value evaluate_kind(const Turn& turn, const graph::Iota& iota);
Value evaluate_kind(const Turn& turn, const graph::Random& random);
Value evaluate_kind(const Turn& turn, const graph::Reduce& reduce);
Value evaluate_kind(const Turn& turn, const graph::Scan& scan);
Value evaluate_kind(const Turn& turn, const graph::Sort& sort);
Value evaluate_kind(const Turn& turn, const graph::Gather& gather);
Value evaluate_kind(const Turn& turn, const graph::Scatter& scatter);
Value evaluate_kind(const Turn& turn, const graph::Realize& realize);

}  // namespace twinloom::evaluate
