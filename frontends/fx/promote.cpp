// See promote.h.
#include "frontends/fx/promote.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "frontends/fx/numbers.h"

namespace twinloom::fx {

namespace {

using ops::DType;

int category(DType dtype) {
  if (dtype == DType::b8) return 0;
  return ops::is_integer(dtype) ? 1 : 2;
}

DType joined_integers(DType a, DType b) {
  const bool a_signed = ops::kind(a) == ops::TypeKind::signed_int;
  const bool b_signed = ops::kind(b) == ops::TypeKind::signed_int;
  if (a_signed == b_signed) return ops::bits_of(a) >= ops::bits_of(b) ? a : b;
  const DType with_sign = a_signed ? a : b;
  const DType without = a_signed ? b : a;
  if (ops::bits_of(with_sign) > ops::bits_of(without)) return with_sign;
  switch (ops::bits_of(without)) {
    case 8:
      return DType::i16;
    case 16:
      return DType::i32;
    case 32:
      return DType::i64;
    default:
      throw Error(cat("no type holds both ", ops::name(a), " and ", ops::name(b)));
  }
}

// What a Python number or a size counts as.
std::optional<DType> type_of_number(const Item& item) {
  if (item.get<bool>() != nullptr) return DType::b8;
  if (item.get<index::Expr>() != nullptr) return DType::i64;
  if (item.get<double>() != nullptr) return DType::f32;
  if (const auto* number = item.get<Number>()) {
    if (number->kind == Number::Kind::real) return DType::f32;
    return number->kind == Number::Kind::truth ? DType::b8 : DType::i64;
  }
  return std::nullopt;
}

std::optional<ops::Number> number_of(const Item& item) {
  if (const auto* truth = item.get<bool>()) return ops::Number(*truth);
  if (const auto* real = item.get<double>()) return ops::Number(*real);
  if (const auto* size = item.get<index::Expr>()) {
    if (const auto constant = index::constant_of(*size)) return ops::Number(*constant);
  }
  return std::nullopt;
}

// Of truths, a sum is "or" and a product "and".
ops::Pointwise of_truths(ops::Pointwise op) {
  if (op == ops::Pointwise::add) return ops::Pointwise::logical_or;
  return op == ops::Pointwise::mul ? ops::Pointwise::logical_and : op;
}

// Whether the operator computes with an operand that its 16-bit result's type cannot hold; the others round
// it first. Sums and products keep a number, products a tensor without axes too.
bool keeps(ops::Pointwise op, const Item& operand, DType type) {
  using enum ops::Pointwise;
  constexpr std::array sums = {add, sub};
  constexpr std::array products = {mul, div, div_floor, div_trunc};
  const bool in_product = std::ranges::find(products, op) != products.end();
  if (const auto* tensor = operand.get<graph::Tensor>())
    return in_product && tensor->rank() == 0 && tensor->dtype() != type;
  return in_product || std::ranges::find(sums, op) != sums.end();
}

void join_into(std::optional<DType>& type, DType other) { type = type ? joined(*type, other) : other; }

}  // namespace

DType joined(DType a, DType b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (ops::is_integer(a)) return joined_integers(a, b);
  if (!ops::is_floating(a) || !ops::is_floating(b)) {
    throw Error(cat("no type holds both ", ops::name(a), " and ", ops::name(b)));
  }
  if (ops::is_16_bit_float(a) && ops::is_16_bit_float(b)) return DType::f32;
  return ops::bits_of(a) >= ops::bits_of(b) ? a : b;
}

bool can_become(DType computed, DType written) { return category(computed) <= category(written); }

DType result_type(const Arguments& arguments, std::span<const Item* const> items) {
  std::optional<DType> with_axes, without_axes, numbers;
  for (const Item* item : items) {
    if (const auto* tensor = item->get<graph::Tensor>()) {
      join_into(tensor->rank() > 0 ? with_axes : without_axes, tensor->dtype());
    } else if (const auto type = type_of_number(*item)) {
      join_into(numbers, *type);
    } else {
      arguments.fail(cat("expected a tensor or a number, found ", describe(*item)));
    }
  }
  std::optional<DType> result = with_axes;
  for (const auto& weaker : {without_axes, numbers}) {
    if (weaker && (!result || category(*weaker) > category(*result))) result = weaker;
  }
  return *result;
}

DType floating(DType dtype) { return ops::is_floating(dtype) ? dtype : DType::f32; }

graph::Tensor as_tensor(const Arguments& arguments, const Item& item, DType dtype) {
  if (const auto* tensor = item.get<graph::Tensor>()) {
    // What promotion narrows it rounds in every mode: the number is compared and added as PyTorch has it.
    return graph::cast(*tensor, dtype, !ops::is_16_bit_float(dtype));
  }
  if (const auto number = number_of(item)) return arguments.builder().constant(*number, dtype);
  if (kind_of(item)) return tensor_of(arguments.builder(), item, dtype);
  arguments.fail(cat("expected a tensor or a number, found ", describe(item)));
}

graph::Tensor operand(const Arguments& arguments, ops::Pointwise op, const Item& item, DType type) {
  const bool exact = ops::is_16_bit_float(type) && keeps(op, item, type);
  return exact ? as_tensor(arguments, item, DType::f32) : graph::widened(as_tensor(arguments, item, type));
}

std::vector<graph::Tensor> promoted_tensors(const Arguments& arguments,
                                            std::span<const std::string_view> names) {
  std::vector<Item> items;
  for (const std::string_view name : names) items.push_back({arguments.tensor(items.size(), name)});
  std::vector<const Item*> pointers;
  for (const Item& item : items) pointers.push_back(&item);
  const DType type = result_type(arguments, pointers);
  std::vector<graph::Tensor> tensors;
  for (const Item& item : items) tensors.push_back(as_tensor(arguments, item, type));
  return tensors;
}

ops::Number fitting(const Arguments& arguments, ops::Number number, DType dtype) {
  if (dtype == DType::b8) return ops::cast(number, dtype);
  const ops::Number held = ops::cast(number, dtype);
  bool fits = true;
  if (ops::is_floating(dtype)) {
    fits = !std::isfinite(number.real()) || std::isfinite(held.real());
  } else if (!number.is_integer()) {
    fits = std::trunc(number.real()) == held.real() &&
           (number.real() >= 0 || held.real() < 0 || ops::kind(dtype) == ops::TypeKind::signed_int);
  } else if (held.integer() != number.integer()) {
    // A negative number may stand for the unsigned one of the same bits.
    fits = ops::kind(dtype) == ops::TypeKind::unsigned_int && number.integer() < 0 &&
           number.integer() >= -(std::int64_t{1} << ops::bits_of(dtype)) + 1;
  }
  if (!fits) arguments.fail(cat("the number ", ops::print(number), " does not fit ", ops::name(dtype)));
  return held;
}

graph::Tensor filling(const Arguments& arguments, const Item& item, DType dtype) {
  if (const auto number = number_of(item)) fitting(arguments, *number, dtype);
  return as_tensor(arguments, item, dtype);
}

graph::Tensor promoted(const Arguments& arguments, ops::Pointwise op, std::span<const Item* const> items) {
  DType type = result_type(arguments, items);
  if (ops::takes(op) == ops::Takes::real) type = floating(type);
  if (type == DType::b8) op = of_truths(op);
  if (op == ops::Pointwise::pow && items[0]->get<graph::Tensor>() != nullptr) {
    if (const auto exponent = number_of(*items[1]))
      return graph::pow(as_tensor(arguments, *items[0], type), *exponent);
  }
  const bool exact = ops::is_16_bit_float(type) &&
                     std::ranges::any_of(items, [&](const Item* item) { return keeps(op, *item, type); });
  std::vector<graph::Tensor> inputs;
  for (const Item* item : items)
    inputs.push_back(exact ? operand(arguments, op, *item, type) : as_tensor(arguments, *item, type));
  const graph::Tensor result = graph::pointwise(op, inputs);
  return exact ? graph::cast(result, type, true) : result;
}

}  // namespace twinloom::fx
