// Nodes whose elements do not depend on where they are, and those that come from nowhere: constants,
// sizes, positions and random numbers.
#include <algorithm>

#include "core/base/error.h"
#include "core/evaluate/run.h"
#include "core/ops/convert.h"

namespace twinloom::evaluate {

namespace {

// The type whose rules the operator follows: that of the values that a select chooses from.
ops::DType element_type(const Turn& turn) { return turn.run.graph[turn.node().inputs.back()].dtype; }

// One element after the other, floats in double.
void apply_wide(const Turn& turn, ops::Pointwise op, Value& result) {
  std::vector<ops::Number> numbers(turn.inputs.size());
  const ops::DType element_dtype = element_type(turn);
  for (std::int64_t k = 0; k < count_of(result); ++k) {
    for (std::size_t n = 0; n < numbers.size(); ++n)
      numbers[n] = ops::load_number(turn.input(n).dtype, element(turn.input(n), k));
    const ops::Number number = ops::apply_wide(op, element_dtype, numbers);
    ops::store_number(result.dtype, ops::cast(number, result.dtype), element(result, k));
  }
}

using Column = std::vector<std::int64_t>;

// The random row over columns of counters, into elements of the type that the row gives.
template <class Element>
std::vector<Element> drawn(ops::Pointwise op, const std::vector<Column>& columns) {
  std::vector<const void*> inputs;
  for (const Column& column : columns) inputs.push_back(column.data());
  std::vector<Element> result(columns[0].size());
  ops::apply_strict(op, ops::DType::i64, inputs, result.data(), static_cast<std::int64_t>(result.size()));
  return result;
}

template <class Element>
void draw(ops::Pointwise op, ops::DType gives, const std::vector<Column>& columns,
          const graph::Random& random, Value& result) {
  const std::vector<Element> numbers = drawn<Element>(op, columns);
  const auto count = static_cast<std::int64_t>(numbers.size());
  // A draw is rounded to its type in wide too: it is what the operator means.
  Value rounded{
      random.dtype, result.sizes,
      std::vector<std::byte>(numbers.size() * static_cast<std::size_t>(ops::size_of(random.dtype)))};
  ops::convert(gives, random.dtype, numbers.data(), rounded.bytes.data(), count);
  ops::convert(random.dtype, result.dtype, rounded.bytes.data(), result.bytes.data(), count);
}

}  // namespace

Value evaluate_kind(const Turn& turn, const graph::Input&) {
  CHECK(false, turn.subject(), " is taken from the arguments");
  return {};
}

Value evaluate_kind(const Turn& turn, const graph::Constant& constant) {
  Value result = turn.run.blank(turn.node());
  if (const auto* number = std::get_if<ops::Number>(&constant.value)) {
    fill(result, *number);
  } else {
    const graph::Array& array = *std::get<graph::Content>(constant.value);
    ops::convert(array.dtype, result.dtype, array.bytes.read().data(), result.bytes.data(), count_of(result));
  }
  return result;
}

Value evaluate_kind(const Turn& turn, const graph::Size& size) {
  Value result = turn.run.blank(turn.node());
  fill(result, ops::cast(index::evaluate(size.value, turn.run.sizes), result.dtype));
  return result;
}

Value evaluate_kind(const Turn& turn, const graph::Pointwise& pointwise) {
  Value result = turn.run.blank(turn.node());
  if (turn.run.arithmetic == Arithmetic::wide && ops::is_floating(element_type(turn))) {
    apply_wide(turn, pointwise.op, result);
    return result;
  }
  std::vector<const void*> inputs;
  for (const auto& input : turn.inputs) inputs.push_back(input->bytes.data());
  ops::apply_strict(pointwise.op, element_type(turn), inputs, result.bytes.data(), count_of(result));
  return result;
}

Value evaluate_kind(const Turn& turn, const graph::Cast&) {
  Value result = turn.run.blank(turn.node());
  ops::convert(turn.input(0).dtype, result.dtype, turn.input(0).bytes.data(), result.bytes.data(),
               count_of(result));
  return result;
}

Value evaluate_kind(const Turn& turn, const graph::Iota& iota) {
  Value result = turn.run.blank(turn.node());
  const auto axis = static_cast<std::size_t>(iota.axis);
  const std::int64_t size = result.sizes[axis];
  const std::int64_t stride = strides_of(result.sizes)[axis];
  for (std::int64_t k = 0; k < count_of(result); ++k) {
    const ops::Number position = ops::cast(k / stride % size, iota.dtype);
    ops::store_number(result.dtype, position, element(result, k));
  }
  return result;
}

// The row over the element's row-major number.
Value evaluate_kind(const Turn& turn, const graph::Random& random) {
  Value result = turn.run.blank(turn.node());
  const auto count = static_cast<std::size_t>(count_of(result));
  const auto same = [&](std::int64_t number) { return Column(count, number); };
  Column elements(count);
  for (std::size_t k = 0; k < count; ++k) elements[k] = static_cast<std::int64_t>(k);
  const RunNumbers& numbers = turn.run.numbers;
  std::vector<Column> columns{elements, same(numbers.seed), same(numbers.offset), same(random.number)};
  switch (random.kind) {
    case graph::Distribution::uniform:
      if (random.dtype == ops::DType::f64) {
        draw<double>(ops::Pointwise::random_uniform_f64, ops::DType::f64, columns, random, result);
      } else {
        draw<float>(ops::Pointwise::random_uniform, ops::DType::f32, columns, random, result);
      }
      break;
    case graph::Distribution::normal:
      draw<float>(ops::Pointwise::random_normal, ops::DType::f32, columns, random, result);
      break;
    case graph::Distribution::integers:
      columns.push_back(same(random.low.integer()));
      columns.push_back(same(random.high.integer()));
      draw<std::int64_t>(ops::Pointwise::random_integers, ops::DType::i64, columns, random, result);
      break;
  }
  return result;
}

Value evaluate_kind(const Turn& turn, const graph::Realize&) { return turn.input(0); }

}  // namespace twinloom::evaluate
