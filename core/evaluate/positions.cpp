// See positions.h.
#include "core/evaluate/positions.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/base/match.h"

namespace twinloom::evaluate {

namespace {

template <class Combine>
Numbers combined(Numbers left, const Numbers& right, Combine&& combine) {
  for (std::size_t e = 0; e < left.size(); ++e) left[e] = combine(left[e], right[e]);
  return left;
}

std::int64_t positive(std::int64_t divisor) {
  CHECK(divisor > 0, "an index expression divides by ", divisor);
  return divisor;
}

const Numbers& column(const Columns& columns, index::Symbol symbol) {
  const auto found = std::ranges::find(columns.symbols, symbol, &std::pair<index::Symbol, Numbers>::first);
  CHECK(found != columns.symbols.end(), "an index expression mentions ", symbol, ", which has no value");
  return found->second;
}

Numbers sum_of(const index::Sum& sum, const Columns& columns) {
  Numbers total(columns.count, sum.offset);
  for (const index::Term& term : sum.terms) {
    const Numbers factor = values_of(term.factor, columns);
    for (std::size_t e = 0; e < total.size(); ++e) total[e] += term.scale * factor[e];
  }
  return total;
}

Numbers product_of(const index::Product& product, const Columns& columns) {
  Numbers total(columns.count, 1);
  for (const index::Expr& factor : product.factors)
    total = combined(std::move(total), values_of(factor, columns),
                     [](std::int64_t a, std::int64_t b) { return a * b; });
  return total;
}

}  // namespace

Columns positions(std::span<const index::Symbol> axes, std::span<const std::int64_t> sizes,
                  std::int64_t first, std::int64_t count) {
  Columns columns;
  columns.count = static_cast<std::size_t>(count);
  const std::vector<std::int64_t> strides = strides_of(sizes);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    Numbers along(columns.count);
    std::int64_t at = first / strides[k] % sizes[k];
    std::int64_t until_next = strides[k] - first % strides[k];
    for (std::int64_t& position : along) {
      position = at;
      if (--until_next > 0) continue;
      until_next = strides[k];
      at = at + 1 == sizes[k] ? 0 : at + 1;
    }
    columns.symbols.emplace_back(axes[k], std::move(along));
  }
  return columns;
}

Numbers values_of(const index::Expr& expr, const Columns& columns) {
  const auto both = [&](const index::Expr& a, const index::Expr& b, auto&& combine) {
    return combined(values_of(a, columns), values_of(b, columns), combine);
  };
  return match(
      expr.form(), [&](const index::Sum& sum) { return sum_of(sum, columns); },
      [&](const index::Symbol& symbol) { return column(columns, symbol); },
      [&](const index::Product& product) { return product_of(product, columns); },
      [&](const index::FloorDiv& div) {
        return both(div.dividend, div.divisor,
                    [](std::int64_t a, std::int64_t b) { return floor_div(a, positive(b)); });
      },
      [&](const index::FloorMod& mod) {
        return both(mod.dividend, mod.divisor,
                    [](std::int64_t a, std::int64_t b) { return floor_mod(a, positive(b)); });
      },
      [&](const index::Least& least) {
        return both(least.a, least.b, [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
      },
      [&](const index::Greatest& greatest) {
        return both(greatest.a, greatest.b, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
      });
}

std::vector<bool> holds_at(const index::Condition& condition, const Columns& columns) {
  std::vector<bool> holds(columns.count, true);
  for (const index::Less& less : condition.all) {
    const Numbers a = values_of(less.a, columns);
    const Numbers b = values_of(less.b, columns);
    for (std::size_t e = 0; e < holds.size(); ++e) holds[e] = holds[e] && a[e] < b[e];
  }
  return holds;
}

std::int64_t count_of(std::span<const std::int64_t> sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

std::vector<std::int64_t> strides_of(std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t k = sizes.size(); k-- > 1;) strides[k - 1] = strides[k] * sizes[k];
  return strides;
}

std::vector<std::int64_t> position_of(std::int64_t element, std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> position(sizes.size());
  for (std::size_t k = sizes.size(); k-- > 0;) {
    position[k] = element % sizes[k];
    element /= sizes[k];
  }
  return position;
}

index::Expr with_sizes(const index::Expr& expr, const index::Values& sizes) {
  index::Substitution numbers;
  for (const index::Symbol symbol : index::symbols_of(expr)) {
    const auto found = sizes.find(symbol);
    if (found != sizes.end()) numbers.emplace(symbol, found->second);
  }
  return numbers.empty() ? expr : index::substitute(expr, numbers);
}

}  // namespace twinloom::evaluate
