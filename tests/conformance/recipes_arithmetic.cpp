// Rows of the operator table, casts, and values that come from nowhere: iota, random, constants.
#include <algorithm>
#include <array>
#include <optional>

#include "core/base/error.h"
#include "core/graph/views.h"
#include "tests/conformance/recipes.h"

namespace twinloom::tests {

namespace {

using graph::Tensor;
using ops::DType;
using ops::Pointwise;

Feature family(Pointwise op) {
  switch (ops::takes(op)) {
    case ops::Takes::bits:
    case ops::Takes::integer:
      return Feature::bits;
    case ops::Takes::select:
      return Feature::where;
    default:
      break;
  }
  static constexpr std::array divisions = {Pointwise::div_floor, Pointwise::div_trunc, Pointwise::remainder,
                                           Pointwise::fmod, Pointwise::div};
  if (std::ranges::find(divisions, op) != divisions.end()) return Feature::division;
  if (ops::gives(op) == ops::Gives::truth) return Feature::comparison;
  return ops::arity(op) == 1 ? Feature::function : Feature::arithmetic;
}

std::optional<Pointwise> row(Draw& draw, int arity, DType element) {
  std::vector<Pointwise> fitting;
  for (const Pointwise op : ops::all_pointwise())
    if (ops::arity(op) == arity && ops::takes_element(op, element) && ops::takes(op) != ops::Takes::counter &&
        !ops::approximated_by(op))  // a GPU has other bits
      fitting.push_back(op);
  if (fitting.empty()) return std::nullopt;
  return draw.random.pick(fitting);
}

// For operators that look at the sign of x: that of a NaN is anybody's choice.
Tensor without_nan(const Tensor& x) {
  return ops::is_floating(x.dtype()) ? graph::where(graph::isnan(x), ops::Number(1.0), x) : x;
}

std::vector<Drawn> unary(Draw& draw) {
  const Drawn x = draw.pick();
  const auto op = row(draw, 1, x.tensor.dtype());
  if (!op) throw Inapplicable{"no such row"};
  const Tensor operand = *op == Pointwise::signbit ? without_nan(x.tensor) : x.tensor;
  return {with(graph::pointwise(*op, {operand}), {&x}, {family(*op)})};
}

std::vector<Drawn> function(Draw& draw) {
  const Drawn x = draw.pick_real();
  return {draw.calmed(draw.random.chance(50) ? draw.calmed(x) : x)};
}

// A second operand: of the same shape, of one that broadcasts, or made of x itself.
Drawn partner(Draw& draw, const Drawn& x) {
  const graph::Shape shape = x.tensor.shape();
  if (draw.random.chance(45)) {
    const auto fits = [&](const Tensor& other) {
      return other.shape() == shape && other.id() != x.tensor.id();
    };
    if (auto found = draw.find(fits)) return *std::move(found);
  }
  if (draw.random.chance(25)) return draw.calmed(x);
  graph::Shape other = shape;
  for (index::Expr& size : other)
    if (draw.random.chance(50)) size = 1;
  if (draw.random.chance(30) && !other.empty()) other.erase(other.begin());
  Drawn result = draw.input(x.tensor.dtype(), other);
  if (other != shape) result.features.set(static_cast<std::size_t>(Feature::broadcast));
  return result;
}

Tensor second_of(Pointwise op, const Tensor& x) { return op == Pointwise::copysign ? without_nan(x) : x; }

std::vector<Drawn> binary(Draw& draw) {
  const Drawn x = draw.pick();
  const auto op = row(draw, 2, x.tensor.dtype());
  if (!op) throw Inapplicable{"no such row"};
  if (draw.random.chance(20)) {
    const bool real = ops::is_floating(x.tensor.dtype());
    const std::int64_t most = x.tensor.dtype() == DType::b8 ? 1 : 5;
    const ops::Number number =
        real ? ops::Number(draw.random.real() * 3) : ops::Number(draw.random.between(0, most));
    const Tensor y = draw.random.chance(70) ? graph::pointwise(*op, x.tensor, number)
                                            : graph::pointwise(*op, number, second_of(*op, x.tensor));
    return {with(y, {&x}, {family(*op), Feature::number_operand})};
  }
  const Drawn other = draw.cast_to(partner(draw, x), x.tensor.dtype());
  return {with(graph::pointwise(*op, {x.tensor, second_of(*op, other.tensor)}), {&x, &other}, {family(*op)})};
}

// Sums, differences and products, which keep what went in visible.
std::vector<Drawn> simple(Draw& draw) {
  const Drawn x = draw.pick();
  const Drawn other = draw.cast_to(partner(draw, x), x.tensor.dtype());
  Pointwise op =
      draw.random.pick(std::array{Pointwise::add, Pointwise::sub, Pointwise::mul, Pointwise::maximum});
  if (!ops::takes_element(op, x.tensor.dtype())) op = Pointwise::ne;
  return {with(graph::pointwise(op, {x.tensor, other.tensor}), {&x, &other}, {Feature::arithmetic})};
}

std::vector<Drawn> select(Draw& draw) {
  const Drawn x = draw.pick();
  const Drawn y = draw.cast_to(partner(draw, x), x.tensor.dtype());
  const Drawn z = draw.cast_to(partner(draw, x), x.tensor.dtype());
  const Drawn truth{graph::lt(x.tensor, z.tensor), {}, false};
  return {with(graph::where(truth.tensor, x.tensor, y.tensor), {&x, &y, &z},
               {Feature::where, Feature::comparison})};
}

std::vector<Drawn> cast(Draw& draw) {
  const Drawn x = draw.pick();
  return {draw.cast_to(x, draw.dtype())};
}

// Brings a value of its own together with one of the pool, so that graphs are not only trees of one input.
std::vector<Drawn> fresh(Draw& draw) { return {draw.input(draw.dtype(), draw.shape())}; }

std::vector<Drawn> iota(Draw& draw) {
  const Drawn x = draw.pick([](const Tensor& value) { return value.rank() > 0; });
  const Drawn number =
      with(draw.builder.iota(x.tensor.shape(), draw.random.axis(x.tensor.rank()), DType::i64), {},
           {Feature::iota});
  const Drawn cast = draw.cast_to(number, x.tensor.dtype());
  return {with(graph::maximum(x.tensor, cast.tensor), {&x, &cast}, {Feature::arithmetic})};
}

std::vector<Drawn> random_numbers(Draw& draw) {
  const Drawn x = draw.pick_real();
  const DType dtype = draw.random.pick(std::array{DType::f32, DType::f64});
  const Tensor drawn = draw.random.chance(50) ? draw.builder.uniform(x.tensor.shape(), dtype)
                                              : draw.builder.normal(x.tensor.shape(), dtype);
  const Drawn noise = draw.cast_to(with(drawn, {}, {Feature::random}), x.tensor.dtype());
  return {with(graph::mul(x.tensor, noise.tensor), {&x, &noise}, {Feature::arithmetic})};
}

std::vector<Drawn> size_value(Draw& draw) {
  const Drawn x = draw.pick([](const Tensor& value) {
    return value.rank() > 0 && ops::takes_element(Pointwise::add, value.dtype());
  });
  const Drawn size = with(draw.builder.size(x.tensor.count() + 1), {}, {Feature::size_value});
  const Drawn cast = draw.cast_to(size, x.tensor.dtype());
  return {with(graph::sub(x.tensor, cast.tensor), {&x, &cast}, {Feature::arithmetic, Feature::broadcast})};
}

std::vector<Drawn> constant_array(Draw& draw) {
  const Drawn x = draw.pick([](const Tensor& value) {
    return value.rank() > 0 && ops::takes_element(Pointwise::mul, value.dtype());
  });
  const auto length = index::constant_of(x.tensor.size(-1 + x.tensor.rank()));
  if (!length || *length > 64) throw Inapplicable{"only short arrays"};
  const ops::DType dtype = x.tensor.dtype();
  const auto size = static_cast<std::size_t>(ops::size_of(dtype));
  std::vector<std::byte> bytes(static_cast<std::size_t>(*length) * size);
  for (std::size_t at = 0; at < bytes.size(); at += size)
    ops::store_number(dtype, ops::cast(ops::Number(draw.random.real() * 4), dtype), &bytes[at]);
  const Tensor constant = draw.builder.constant({dtype, {*length}, std::move(bytes)});
  return {with(graph::mul(x.tensor, constant), {&x}, {Feature::constant_array, Feature::arithmetic})};
}

std::vector<Drawn> realize(Draw& draw) {
  const Drawn x = draw.calmed(draw.pick_real());
  return {with(graph::realize(x.tensor), {&x}, {Feature::realize})};
}

constexpr std::array recipes = {Recipe{10, unary},     Recipe{8, function},       Recipe{14, binary},
                                Recipe{10, simple},    Recipe{6, select},         Recipe{10, cast},
                                Recipe{7, fresh},      Recipe{4, iota},           Recipe{4, random_numbers},
                                Recipe{4, size_value}, Recipe{5, constant_array}, Recipe{4, realize}};

}  // namespace

std::span<const Recipe> arithmetic_recipes() { return recipes; }

}  // namespace twinloom::tests
