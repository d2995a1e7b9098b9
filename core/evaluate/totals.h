// Reductions and scans of one row of elements, in the canonical order that the numerics contract
// describes, written from its text: the only code that lanes, units and trees share with schedules and
// back ends are the constants.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ops/canonical.h"
#include "core/ops/monoid.h"

namespace twinloom::evaluate {

// The tree over elements of one type; there is at least one element.
template <class Real, class Combine>
Real canonical_total(std::span<const Real> x, Combine&& combine);

// Element e is the total of elements 0..e, in the order of scans.
template <class Real, class Combine>
std::vector<Real> canonical_scan(std::span<const Real> x, Combine&& combine);

namespace canonical {

// c(l) for the lanes that have elements, then halves until one is left.
template <class Real, class Combine>
Real unit_total(std::span<const Real> unit, Combine&& combine) {
  constexpr auto lanes = static_cast<std::size_t>(ops::LANES);
  std::vector<Real> c(unit.begin(), unit.begin() + static_cast<std::ptrdiff_t>(std::min(unit.size(), lanes)));
  for (std::size_t e = lanes; e < unit.size(); ++e) c[e % lanes] = combine(c[e % lanes], unit[e]);
  for (std::size_t half = lanes / 2; half >= 1; half /= 2)
    for (std::size_t l = 0; l < half && l + half < c.size(); ++l) c[l] = combine(c[l], c[l + half]);
  return c[0];
}

template <class Real, class Combine>
Real tree_total(std::vector<Real> level, Combine&& combine) {
  while (level.size() > 1) {
    std::vector<Real> next;
    for (std::size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size() ? combine(level[i], level[i + 1]) : level[i]);
    level = std::move(next);
  }
  return level[0];
}

// p, o and q of one chunk.
template <class Real, class Combine>
std::vector<Real> chunk_scan(std::span<const Real> chunk, Combine&& combine) {
  constexpr auto row = static_cast<std::size_t>(ops::SCAN_ROW);
  std::vector<Real> q(chunk.begin(), chunk.end());
  for (std::size_t e = 0; e < q.size(); ++e)
    if (e % row != 0) q[e] = combine(q[e - 1], q[e]);
  if (q.size() <= row) return q;
  Real o = q[row - 1];
  for (std::size_t start = row; start < q.size(); start += row) {
    const std::size_t end = std::min(start + row, q.size());
    const Real row_total = q[end - 1];
    for (std::size_t e = start; e < end; ++e) q[e] = combine(o, q[e]);
    o = combine(o, row_total);
  }
  return q;
}

}  // namespace canonical

template <class Real, class Combine>
Real canonical_total(std::span<const Real> x, Combine&& combine) {
  constexpr auto unit = static_cast<std::size_t>(ops::UNIT);
  std::vector<Real> units;
  for (std::size_t start = 0; start < x.size(); start += unit)
    units.push_back(canonical::unit_total(x.subspan(start, std::min(unit, x.size() - start)), combine));
  return canonical::tree_total(std::move(units), combine);
}

template <class Real, class Combine>
std::vector<Real> canonical_scan(std::span<const Real> x, Combine&& combine) {
  constexpr auto chunk = static_cast<std::size_t>(ops::SCAN_CHUNK);
  std::vector<Real> result;
  Real carry{};
  for (std::size_t start = 0; start < x.size(); start += chunk) {
    std::vector<Real> q = canonical::chunk_scan(x.subspan(start, std::min(chunk, x.size() - start)), combine);
    const Real chunk_total = q.back();
    if (start > 0)
      for (Real& element : q) element = combine(carry, element);
    carry = start > 0 ? combine(carry, chunk_total) : chunk_total;
    result.insert(result.end(), q.begin(), q.end());
  }
  return result;
}

// A row of elements as ops::load_number gives them, in the monoid's total type. `element` is that type.
using Row = std::vector<ops::Number>;
using Pair = std::array<ops::Number, 2>;

// Nothing where the row is empty and the monoid has no value over nothing.
std::optional<Pair> total_of(ops::Monoid monoid, ops::DType element, const Row& row);
std::vector<Pair> scan_of(ops::Monoid monoid, ops::DType element, const Row& row, bool exclusive);

}  // namespace twinloom::evaluate
