// Tensors made of numbers: full, arange, random.
#include <array>

#include "core/graph/views.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;
using ops::DType;

DType type_of(const Item& item) {
  if (item.get<bool>() != nullptr) return DType::b8;
  return item.get<double>() != nullptr ? DType::f32 : DType::i64;
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
Item arange(const Arguments& arguments) {
  const bool only_end = arguments.positional().size() == 1;
  const ops::Number start = only_end ? ops::Number(0) : arguments.number(0, "start");
  const ops::Number step =
      arguments.find(2, "step") == nullptr ? ops::Number(1) : arguments.number(2, "step");
  if (!start.is_integer() || !step.is_integer() || step.integer() == 0)
    arguments.fail("start and step must be integers, step not 0");
  const index::Expr end = arguments.size(only_end ? 0 : 1, "end");
  const std::int64_t stride = step.integer();
  const index::Expr span = stride > 0 ? end - start.integer() : index::Expr(start.integer()) - end;
  const index::Expr count = index::greatest(index::ceil_div(span, stride > 0 ? stride : -stride), 0);
  return {arguments.builder().arange(count, start, step, arguments.dtype(99, "dtype").value_or(DType::i64))};
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
