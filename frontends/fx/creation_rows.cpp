// Tensors made of numbers: full, arange, random.
#include <array>
#include <cmath>

#include "core/graph/views.h"
#include "core/index/simplify.h"
#include "frontends/fx/numbers.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"
#include "frontends/fx/requirements.h"
#include "frontends/fx/sizes.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;
using ops::DType;

DType type_of(const Item& item) {
  const auto kind = kind_of(item);
  if (kind == Number::Kind::truth) return DType::b8;
  return kind == Number::Kind::real ? DType::f32 : DType::i64;
}
Item filled(const Arguments& arguments, const Item& value, const graph::Shape& shape, DType dtype) {
  const Tensor number = filling(arguments, value, dtype);
  return {graph::expand(number, shape), true};
}
Item full(const Arguments& arguments) {
  const Item& value = arguments.item(1, "fill_value");
  return filled(arguments, value, arguments.sizes(0, "size"),
                arguments.dtype(99, "dtype").value_or(type_of(value)));
}
Item full_like(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return filled(arguments, arguments.item(1, "fill_value"), x.shape(),
                arguments.dtype(99, "dtype").value_or(x.dtype()));
}
Item like(const Arguments& arguments, int value) {
  const Tensor x = arguments.tensor(0, "self");
  return filled(arguments, Item{index::Expr(value)}, x.shape(),
                arguments.dtype(99, "dtype").value_or(x.dtype()));
}
Item zeros_like(const Arguments& arguments) { return like(arguments, 0); }
Item ones_like(const Arguments& arguments) { return like(arguments, 1); }
Item of_size(const Arguments& arguments, int value) {
  return filled(arguments, Item{index::Expr(value)}, arguments.sizes(0, "size"),
                arguments.dtype(99, "dtype").value_or(DType::f32));
}
Item zeros(const Arguments& arguments) { return of_size(arguments, 0); }
Item ones(const Arguments& arguments) { return of_size(arguments, 1); }
Item new_full(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return filled(arguments, arguments.item(2, "fill_value"), arguments.sizes(1, "size"),
                arguments.dtype(99, "dtype").value_or(x.dtype()));
}
Item new_of(const Arguments& arguments, int value) {
  const Tensor x = arguments.tensor(0, "self");
  return filled(arguments, Item{index::Expr(value)}, arguments.sizes(1, "size"),
                arguments.dtype(99, "dtype").value_or(x.dtype()));
}
Item new_zeros(const Arguments& arguments) { return new_of(arguments, 0); }
Item new_ones(const Arguments& arguments) { return new_of(arguments, 1); }
Item scalar_tensor(const Arguments& arguments) {
  const Item& value = arguments.item(0, "s");
  return filled(arguments, value, {}, arguments.dtype(99, "dtype").value_or(DType::f32));
}

// prims.iota(length, start=, step=, dtype=)
Item iota(const Arguments& arguments) {
  return {arguments.builder().arange(arguments.size(0, "length"), arguments.number(1, "start"),
                                     arguments.number(2, "step"),
                                     arguments.dtype(3, "dtype").value_or(DType::i64))};
}
// start <= end, or the other way around for steps down.
void require_direction(const Arguments& arguments, const Item& start, const Item& end, double step) {
  const SizeRules rules = rules_of(arguments.context());
  const auto towards = arithmetic(step > 0 ? "<=" : ">=", {start, end}, rules);
  const auto* known = towards->get<bool>();
  const auto* number = towards->get<Number>();
  const std::string words =
      cat("from ", describe(start), " steps of ", step, " do not lead to ", describe(end));
  if (known != nullptr && !*known) arguments.fail(words);
  if (number != nullptr && number->fraction) rules.require(number->holds, words);
}

// ceil((end - start) / step), where that is a size.
index::Expr count_of(const Arguments& arguments, const Item& start, const Item& end, const Item& step) {
  const SizeRules rules = rules_of(arguments.context());
  const auto span = arithmetic("-", {end, start}, rules);
  const auto count = span ? arithmetic("/", {*span, step}, rules) : std::nullopt;
  const auto whole = count ? arithmetic("ceil", {*count}, rules) : std::nullopt;
  const auto* size = whole ? whole->get<index::Expr>() : nullptr;
  if (size == nullptr) {
    arguments.fail(cat("its size follows from ", describe(start), ", ", describe(end), " and ",
                       describe(step), ", which are not whole multiples of sizes"));
  }
  return index::simplify(index::greatest(*size, 0), rules.facts);
}

// start, start + step, ... Integers count with start and step without their fractions; how many they are,
// older versions of PyTorch find from those too, newer ones from the numbers as given: the printed shape
// tells.
Item arange(const Arguments& arguments) {
  const bool only_end = arguments.positional().size() == 1;
  Item start = only_end ? Item{index::Expr(0)} : arguments.item(0, "start");
  Item end = arguments.item(only_end ? 0 : 1, "end");
  Item step = arguments.find(2, "step") == nullptr ? Item{index::Expr(1)} : arguments.item(2, "step");
  bool real = false;
  for (const Item* item : {&start, &end, &step}) {
    if (!kind_of(*item)) arguments.fail(cat("expected numbers, found ", describe(*item)));
    real = real || kind_of(*item) == Number::Kind::real;
  }
  const auto stride = known_value(step);
  if (!stride || *stride == 0 || !std::isfinite(*stride))
    arguments.fail("the step must be a known number that is not 0");
  const DType dtype = arguments.dtype(99, "dtype").value_or(real ? DType::f32 : DType::i64);
  require_direction(arguments, start, end, *stride);
  index::Expr count = count_of(arguments, start, end, step);
  if (ops::is_integer(dtype)) {
    const SizeRules rules = rules_of(arguments.context());
    for (Item* item : {&start, &end, &step}) *item = *arithmetic("int", {*item}, rules);
    if (known_value(step) == 0.0) arguments.fail("the step of integers must not be between -1 and 1");
    const index::Expr whole = count_of(arguments, start, end, step);
    const auto& printed = arguments.printed();
    if (printed && printed->size() == 1 && printed->front() == whole) count = whole;
  }
  graph::Builder& builder = arguments.builder();
  const DType compute = ops::compute_type(dtype);
  Tensor x = builder.iota({count}, 0, compute);
  if (known_value(step) != 1.0) x = x * tensor_of(builder, step, compute);
  if (known_value(start) != 0.0) x = x + tensor_of(builder, start, compute);
  return {graph::cast(x, dtype, true)};
}

Item rand(const Arguments& arguments) {
  return {arguments.builder().uniform(arguments.sizes(0, "size"),
                                      arguments.dtype(99, "dtype").value_or(DType::f32))};
}
Item randn(const Arguments& arguments) {
  return {arguments.builder().normal(arguments.sizes(0, "size"),
                                     arguments.dtype(99, "dtype").value_or(DType::f32))};
}
Item randint(const Arguments& arguments) {
  const bool only_high = arguments.target().find("low") == std::string::npos;
  const ops::Number low = only_high ? ops::Number(0) : arguments.number(0, "low");
  const std::size_t at = only_high ? 0 : 1;
  return {arguments.builder().integers(low, arguments.number(at, "high"), arguments.sizes(at + 1, "size"),
                                       arguments.dtype(99, "dtype").value_or(DType::i64))};
}

constexpr std::array rows = {
    Row{"full", full},
    Row{"full_like", full_like},
    Row{"zeros_like", zeros_like},
    Row{"ones_like", ones_like},
    Row{"zeros", zeros},
    Row{"ones", ones},
    Row{"new_full", new_full},
    Row{"new_zeros", new_zeros},
    Row{"new_ones", new_ones},
    Row{"scalar_tensor", scalar_tensor},
    Row{"iota", iota},
    Row{"arange", arange},
    // Memory without contents: any contents will do, and zeros are the same every time.
    Row{"empty", zeros},
    Row{"empty_like", zeros_like},
    Row{"new_empty", new_zeros},
    Row{"rand", rand},
    Row{"randn", randn},
    Row{"randint", randint},
};

}  // namespace

std::span<const Row> creation_rows() { return rows; }

}  // namespace twinloom::fx
