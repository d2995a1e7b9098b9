// See totals.h.
#include "core/evaluate/totals.h"

#include <algorithm>

#include "core/base/error.h"

namespace twinloom::evaluate {

namespace {

using ops::Monoid;
using ops::Number;

// The row as numbers of the machine, which add and multiply as the contract says.
template <class Real>
std::vector<Real> reals(const Row& row) {
  std::vector<Real> result(row.size());
  std::ranges::transform(row, result.begin(), [](const Number& x) { return static_cast<Real>(x.real()); });
  return result;
}

// Calls `use` with the operator of a canonical monoid on Real.
template <class Real, class Use>
auto with_operator(Monoid monoid, Use&& use) {
  const bool adds = monoid == Monoid::sum;
  return use([adds](Real a, Real b) { return adds ? a + b : a * b; });
}

template <class Real>
Pair canonical_pair(Monoid monoid, const Row& row) {
  const std::vector<Real> x = reals<Real>(row);
  const Real total = with_operator<Real>(
      monoid, [&](auto&& combine) { return canonical_total(std::span<const Real>(x), combine); });
  return {Number(static_cast<double>(total)), Number(0)};
}

template <class Real>
std::vector<Pair> canonical_pairs(Monoid monoid, const Row& row) {
  const std::vector<Real> x = reals<Real>(row);
  const std::vector<Real> totals = with_operator<Real>(
      monoid, [&](auto&& combine) { return canonical_scan(std::span<const Real>(x), combine); });
  std::vector<Pair> pairs;
  for (const Real total : totals) pairs.push_back({Number(static_cast<double>(total)), Number(0)});
  return pairs;
}

Pair lifted(const Row& row, std::size_t e) { return {row[e], Number(static_cast<std::int64_t>(e))}; }

bool is_canonical(Monoid monoid, ops::DType element) {
  return ops::order(monoid, element) == ops::Order::canonical;
}

}  // namespace

std::optional<Pair> total_of(Monoid monoid, ops::DType element, const Row& row) {
  if (row.empty()) {
    const std::optional<Number> nothing = ops::over_nothing(monoid, element);
    if (!nothing) return std::nullopt;
    return Pair{*nothing, Number(0)};
  }
  if (is_canonical(monoid, element))
    return element == ops::DType::f64 ? canonical_pair<double>(monoid, row)
                                      : canonical_pair<float>(monoid, row);
  Pair total = lifted(row, 0);
  for (std::size_t e = 1; e < row.size(); ++e) total = ops::combine(monoid, element, total, lifted(row, e));
  return total;
}

std::vector<Pair> scan_of(Monoid monoid, ops::DType element, const Row& row, bool exclusive) {
  std::vector<Pair> totals;
  if (is_canonical(monoid, element)) {
    totals = element == ops::DType::f64 ? canonical_pairs<double>(monoid, row)
                                        : canonical_pairs<float>(monoid, row);
  } else {
    for (std::size_t e = 0; e < row.size(); ++e)
      totals.push_back(e == 0 ? lifted(row, 0)
                              : ops::combine(monoid, element, totals[e - 1], lifted(row, e)));
  }
  if (!exclusive || totals.empty()) return totals;
  const std::optional<Number> first = ops::over_nothing(monoid, element);
  CHECK(first.has_value(), "an exclusive scan of ", ops::name(monoid), " has no first value");
  totals.insert(totals.begin(), Pair{*first, Number(0)});
  totals.pop_back();
  return totals;
}

}  // namespace twinloom::evaluate
