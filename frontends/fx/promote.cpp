// See promote.h.
#include "frontends/fx/promote.h"

#include <algorithm>
#include <array>

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
  if (const auto* tensor = item.get<graph::Tensor>()) return graph::cast(*tensor, dtype, true);
  if (const auto number = number_of(item)) return arguments.builder().constant(*number, dtype);
  if (kind_of(item)) return tensor_of(arguments.builder(), item, dtype);
  arguments.fail(cat("expected a tensor or a number, found ", describe(item)));
}

graph::Tensor promoted(const Arguments& arguments, ops::Pointwise op, std::span<const Item* const> items) {
  DType type = result_type(arguments, items);
  if (ops::takes(op) == ops::Takes::real) type = floating(type);
  if (items.size() == 2 && items[0]->get<graph::Tensor>() != nullptr) {
    if (const auto right = number_of(*items[1]))
      return graph::pointwise(op, as_tensor(arguments, *items[0], type), *right);
  }
  if (items.size() == 2 && items[1]->get<graph::Tensor>() != nullptr) {
    if (const auto left = number_of(*items[0]))
      return graph::pointwise(op, *left, as_tensor(arguments, *items[1], type));
  }
  // A number stays an f32 beside 16 bits, and the result is rounded once.
  const bool beside_number = std::ranges::any_of(items, [](const Item* item) { return kind_of(*item).has_value(); });
  if (beside_number && ops::is_16_bit_float(type)) {
    std::vector<graph::Tensor> wide;
    for (const Item* item : items) wide.push_back(as_tensor(arguments, *item, DType::f32));
    const graph::Tensor result = graph::pointwise(op, wide);
    return ops::gives(op) == ops::Gives::same ? graph::cast(result, type, true) : result;
  }
  std::vector<graph::Tensor> inputs;
  for (const Item* item : items) inputs.push_back(as_tensor(arguments, *item, type));
  return graph::pointwise(op, inputs);
}

}  // namespace twinloom::fx
