// See monoid.h; the rows are in monoid.def. Totals are combined here on numbers, by rules of their own;
// generated code calls the functions of device/combine.h, and a test compares the two.
#include "core/ops/monoid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/ops/cost.h"
#include "core/ops/pointwise.h"

namespace twinloom::ops {

namespace {

enum class Start : std::uint8_t {
  zero,
  negative_zero,  // x + -0.0 is x, also for x = -0.0
  one,
  lowest,   // -inf, or the smallest integer
  highest,  // +inf, or the largest integer
  refused,  // there is no such value
};

struct Row {
  Monoid monoid;
  std::string_view name;
  int parts;
  Takes takes;
  Start of_integers, of_floats, of_nothing;
  int cost, gpu;
};

constexpr std::array rows = {
#define MONOID(name, parts, takes, of_integers, of_floats, of_nothing, cost, gpu) \
  Row{Monoid::name, #name, parts, Takes::takes, of_integers, of_floats, of_nothing, cost, gpu},
#include "core/ops/monoid.def"
#undef MONOID
};

constexpr auto monoids = [] {
  std::array<Monoid, rows.size()> all{};
  std::ranges::transform(rows, all.begin(), &Row::monoid);
  return all;
}();

const Row& row(Monoid monoid) { return rows.at(static_cast<std::size_t>(monoid)); }

Number lowest(DType element) {
  if (is_floating(element)) return -std::numeric_limits<double>::infinity();
  if (kind(element) != TypeKind::signed_int) return 0;
  return static_cast<std::int64_t>(~std::uint64_t{0} << (bits_of(element) - 1));
}

Number highest(DType element) {
  if (is_floating(element)) return std::numeric_limits<double>::infinity();
  if (element == DType::b8) return 1;
  const int unused = 64 - bits_of(element) + (kind(element) == TypeKind::signed_int ? 1 : 0);
  return static_cast<std::int64_t>(~std::uint64_t{0} >> unused);
}

std::optional<Number> value_of(Start start, DType element) {
  const bool real = is_floating(element);
  switch (start) {
    case Start::zero:
      return real ? Number(0.0) : Number(0);
    case Start::negative_zero:
      return Number(-0.0);
    case Start::one:
      return real ? Number(1.0) : Number(1);
    case Start::lowest:
      return lowest(element);
    case Start::highest:
      return highest(element);
    case Start::refused:
      return std::nullopt;
  }
  return std::nullopt;
}

bool first_wins_ties(Monoid monoid) { return monoid == Monoid::argmax || monoid == Monoid::argmin; }
bool seeks_greatest(Monoid monoid) { return monoid == Monoid::argmax || monoid == Monoid::argmax_last; }

// -1, 0 or 1 as a is below, equal to or above b; NaN is above all for max, below all for min, and equals
// itself, so that it is found.
int compare(Monoid monoid, DType element, const Number& a, const Number& b) {
  if (is_floating(element)) {
    const double x = a.real();
    const double y = b.real();
    const int nan_rank = seeks_greatest(monoid) ? 1 : -1;
    if (std::isnan(x) || std::isnan(y)) return nan_rank * (int{std::isnan(x)} - int{std::isnan(y)});
    return int{x > y} - int{x < y};
  }
  if (element == DType::u64) {
    const auto x = static_cast<std::uint64_t>(a.integer());
    const auto y = static_cast<std::uint64_t>(b.integer());
    return int{x > y} - int{x < y};
  }
  return int{a.integer() > b.integer()} - int{a.integer() < b.integer()};
}

bool right_replaces(Monoid monoid, DType element, const std::array<Number, 2>& left,
                    const std::array<Number, 2>& right) {
  const int order = compare(monoid, element, right[0], left[0]);
  if (order != 0) return seeks_greatest(monoid) == (order > 0);
  return first_wins_ties(monoid) ? right[1].integer() < left[1].integer()
                                 : right[1].integer() > left[1].integer();
}

// The operator that a monoid of one part repeats.
Pointwise operator_of(Monoid monoid) {
  switch (monoid) {
    case Monoid::sum:
      return Pointwise::add;
    case Monoid::prod:
      return Pointwise::mul;
    case Monoid::max:
      return Pointwise::maximum;
    case Monoid::min:
      return Pointwise::minimum;
    case Monoid::any:
      return Pointwise::logical_or;
    case Monoid::all:
      return Pointwise::logical_and;
    case Monoid::argmax:
    case Monoid::argmin:
    case Monoid::argmax_last:
    case Monoid::argmin_last:
      break;
  }
  CHECK(false, name(monoid), " is no repeated operator");
  return Pointwise::add;
}

std::string call_of(const Row& row) {
  return cat(row.name, row.parts == 1 ? "($0, $1)" : "($0, $1, $2, $3)");
}

}  // namespace

int cost(Monoid monoid) { return row(monoid).cost; }
int gpu_cost(Monoid monoid) { return row(monoid).gpu; }
int parts(Monoid monoid) { return row(monoid).parts; }
std::string_view name(Monoid monoid) { return row(monoid).name; }
std::span<const Monoid> all_monoids() { return monoids; }

std::optional<Monoid> monoid_named(std::string_view name) {
  const auto* found = std::ranges::find(rows, name, &Row::name);
  if (found == rows.end()) return std::nullopt;
  return found->monoid;
}

bool accepts(Monoid monoid, DType element) {
  const bool number = is_floating(element) || is_integer(element);
  switch (row(monoid).takes) {
    case Takes::number:
      return number;
    case Takes::any:
      return number || element == DType::b8;
    case Takes::truth:
      return element == DType::b8;
    case Takes::real:
    case Takes::precise:
    case Takes::integer:
    case Takes::bits:
    case Takes::select:
    case Takes::counter:
      break;
  }
  CHECK(false, "monoid.def uses a word that monoids do not have");
  return false;
}

DType total_type(DType element) { return compute_type(element); }

std::array<Number, 2> identity(Monoid monoid, DType element) {
  const Row& monoid_row = row(monoid);
  const auto value = value_of(is_floating(element) ? monoid_row.of_floats : monoid_row.of_integers, element);
  CHECK(value.has_value(), name(monoid), " has no identity of ", name(element));
  // A place that loses every tie.
  const std::int64_t place = first_wins_ties(monoid) ? std::numeric_limits<std::int64_t>::max()
                                                     : std::numeric_limits<std::int64_t>::min();
  return {*value, monoid_row.parts == 2 ? Number(place) : Number(0)};
}

std::optional<Number> over_nothing(Monoid monoid, DType element) {
  return value_of(row(monoid).of_nothing, element);
}

DType part_type(Monoid monoid, DType element, int part) {
  CHECK(part >= 0 && part < parts(monoid), name(monoid), " has no part ", part);
  return part == 0 ? element : DType::i64;
}

Order order(Monoid monoid, DType element) {
  const bool rounds = monoid == Monoid::sum || monoid == Monoid::prod;
  return rounds && is_floating(element) ? Order::canonical : Order::any;
}

std::string_view spelling(Monoid monoid) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    std::ranges::transform(rows, std::back_inserter(all), call_of);
    return all;
  }();
  return texts.at(static_cast<std::size_t>(monoid));
}

std::array<Number, 2> combine(Monoid monoid, DType element, const std::array<Number, 2>& left,
                              const std::array<Number, 2>& right) {
  CHECK(!is_16_bit_float(element), "totals of ", name(element), " are f32");
  if (parts(monoid) == 2) return right_replaces(monoid, element, left, right) ? right : left;
  const std::array inputs = {left[0], right[0]};
  const Number wide = apply_wide(operator_of(monoid), element, inputs);
  return {cast(wide, element, element), Number(0)};
}

}  // namespace twinloom::ops
