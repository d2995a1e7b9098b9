// See numbers.h.
#include "frontends/fx/numbers.h"

#include <array>
#include <cmath>

namespace twinloom::fx {

namespace {

using graph::Tensor;
using index::Expr;
using ops::DType;

std::optional<Fraction> dyadic(double value) {
  constexpr int most_halvings = 20;
  constexpr double largest = 2147483648.0;  // so that products with sizes stay within 64 bits
  std::int64_t denominator = 1;
  for (int k = 0; k <= most_halvings; ++k) {
    const double numerator = value * static_cast<double>(denominator);
    if (!(std::abs(numerator) < largest)) return std::nullopt;
    if (numerator == std::floor(numerator))
      return Fraction{static_cast<std::int64_t>(numerator), denominator};
    denominator *= 2;
  }
  return std::nullopt;
}

DType type_of(Number::Kind kind) {
  static constexpr std::array types = {DType::b8, DType::i64, DType::f64};
  return types[static_cast<std::size_t>(kind)];
}

}  // namespace

std::optional<Number::Kind> kind_of(const Item& item) {
  if (item.get<bool>() != nullptr) return Number::Kind::truth;
  if (item.get<Expr>() != nullptr) return Number::Kind::integer;
  if (item.get<double>() != nullptr) return Number::Kind::real;
  if (const auto* number = item.get<Number>()) return number->kind;
  return std::nullopt;
}

std::optional<double> known_value(const Item& item) {
  if (const auto* truth = item.get<bool>()) return *truth ? 1.0 : 0.0;
  if (const auto* real = item.get<double>()) return *real;
  if (const auto* size = item.get<Expr>()) {
    if (const auto constant = index::constant_of(*size)) return static_cast<double>(*constant);
  }
  return std::nullopt;
}

std::optional<Fraction> fraction_of(const Item& item) {
  if (const auto* truth = item.get<bool>()) return Fraction{*truth ? 1 : 0, 1};
  if (const auto* size = item.get<Expr>()) return Fraction{*size, 1};
  if (const auto* real = item.get<double>()) return dyadic(*real);
  if (const auto* number = item.get<Number>()) return number->fraction;
  return std::nullopt;
}

bool is_exact(const Fraction& fraction) {
  const auto denominator = index::constant_of(fraction.denominator);
  return denominator && *denominator > 0 && (*denominator & (*denominator - 1)) == 0;
}

Tensor tensor_of(graph::Builder& builder, const Item& item, DType dtype) {
  if (const auto* truth = item.get<bool>()) return builder.constant(*truth, dtype);
  if (const auto* real = item.get<double>()) return builder.constant(*real, dtype);
  if (const auto* number = item.get<Number>()) return graph::cast(number->tensor(builder), dtype, true);
  const Expr& size = std::get<Expr>(item.value);
  if (dtype == DType::b8) return graph::cast(builder.size(size), dtype, true);
  return builder.size(size, dtype);
}

Item truth_item(const Expr& value, index::Condition holds) {
  if (const auto constant = index::constant_of(value)) return {*constant != 0};
  const auto tensor = [value](graph::Builder& builder) {
    return graph::cast(builder.size(value), DType::b8, true);
  };
  return {Number{Number::Kind::truth, Fraction{value, 1}, std::move(holds), tensor}};
}

Item real_item(const Fraction& fraction) {
  const auto numerator = index::constant_of(fraction.numerator);
  const auto denominator = index::constant_of(fraction.denominator);
  if (numerator && denominator) return {static_cast<double>(*numerator) / static_cast<double>(*denominator)};
  const auto tensor = [fraction](graph::Builder& builder) {
    const Tensor above = builder.size(fraction.numerator, DType::f64);
    return fraction.denominator == Expr(1) ? above : above / builder.size(fraction.denominator, DType::f64);
  };
  return {Number{Number::Kind::real, fraction, {}, tensor}};
}

Item computed_item(Number::Kind kind, ops::Pointwise row, Items operands, DType dtype) {
  const auto tensor = [kind, row, operands = std::move(operands), dtype](graph::Builder& builder) {
    std::vector<Tensor> inputs;
    for (const Item& operand : operands) {
      const bool chooses = row == ops::Pointwise::where && inputs.empty();
      inputs.push_back(tensor_of(builder, operand, chooses ? DType::b8 : dtype));
    }
    return graph::cast(graph::pointwise(row, inputs), type_of(kind), true);
  };
  return {Number{kind, std::nullopt, {}, tensor}};
}

Item is_less(const Expr& a, const Expr& b) {
  return truth_item(index::least(index::greatest(b - a, 0), 1), {{{a, b}}});
}

Item is_equal(const Expr& a, const Expr& b) {
  return truth_item(index::greatest(1 - index::greatest(a - b, b - a), 0), {{{a, b + 1}, {b, a + 1}}});
}

Item negated(const Item& truth) {
  if (const auto* known = truth.get<bool>()) return {!*known};
  const auto& number = std::get<Number>(truth.value);
  if (!number.fraction)
    return computed_item(Number::Kind::truth, ops::Pointwise::logical_not, {truth}, DType::b8);
  if (number.holds.all.size() == 1) return is_less(number.holds.all[0].b, number.holds.all[0].a + 1);
  const Expr value = 1 - number.fraction->numerator;
  return truth_item(value, {{{0, value}}});
}

std::optional<Item> truth_of(const Item& item) {
  if (const auto known = known_value(item)) return Item{*known != 0};
  const auto* number = item.get<Number>();
  if (number != nullptr && number->kind == Number::Kind::truth) return item;
  const auto fraction = fraction_of(item);
  if (fraction) return negated(is_equal(fraction->numerator, 0));
  if (number == nullptr) return std::nullopt;
  return computed_item(Number::Kind::truth, ops::Pointwise::ne, {item, Item{Expr(0)}}, type_of(number->kind));
}

}  // namespace twinloom::fx
