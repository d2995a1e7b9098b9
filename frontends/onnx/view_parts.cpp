// See view_parts.h.
#include "frontends/onnx/view_parts.h"

#include <algorithm>

#include "core/base/match.h"
#include "core/base/text.h"
#include "core/index/simplify.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using graph::View;
using index::Expr;
using index::Symbol;

// The divisors of an axis by itself.
void collect_divisors(const Expr& expr, Symbol axis, std::vector<std::int64_t>& divisors) {
  const auto both = [&](const Expr& dividend, const Expr& divisor) {
    const auto known = index::constant_of(divisor);
    if (index::symbol_of(dividend) == axis && known) divisors.push_back(*known);
    collect_divisors(dividend, axis, divisors);
  };
  match(
      expr.form(), [](const Symbol&) {},
      [&](const index::Sum& sum) {
        for (const index::Term& term : sum.terms) collect_divisors(term.factor, axis, divisors);
      },
      [&](const index::Product& product) {
        for (const Expr& factor : product.factors) collect_divisors(factor, axis, divisors);
      },
      [&](const index::FloorDiv& div) { both(div.dividend, div.divisor); },
      [&](const index::FloorMod& mod) { both(mod.dividend, mod.divisor); }, [](const index::Least&) {},
      [](const index::Greatest&) {});
}

// Sizes of the parts, the outermost first; one where the divisors do not divide each other and the axis.
Shape parts_of(const Expr& size, std::vector<std::int64_t> divisors) {
  std::ranges::sort(divisors);
  Shape parts;
  std::int64_t inner = 1;
  for (const std::int64_t divisor : divisors) {
    if (divisor == inner) continue;
    if (divisor % inner != 0) return {size};
    parts.insert(parts.begin(), divisor / inner);
    inner = divisor;
  }
  const Expr outer = index::floor_div(size, inner);
  if (!(outer * inner == size)) return {size};
  parts.insert(parts.begin(), outer);
  return parts;
}

}  // namespace

Split split_axes(const View& view, const index::Facts& known) {
  Split split{{}, {}, false};
  index::Facts facts = known;
  index::Substitution parts_for;
  for (std::size_t axis = 0; axis < view.axes.size(); ++axis) {
    std::vector<std::int64_t> divisors;
    for (const Expr& source : view.source) collect_divisors(source, view.axes[axis], divisors);
    const Shape parts = parts_of(view.sizes[axis], divisors);
    split.is_any = split.is_any || parts.size() > 1;
    split.first.push_back(split.view.axes.size());
    const std::vector<Expr> strides = index::contiguous_strides(parts);
    Expr whole = 0;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const Symbol name(cat("part", split.view.axes.size()));
      facts.assume_below(name, parts[part]);
      whole = whole + Expr(name) * strides[part];
      split.view.axes.push_back(name);
      split.view.sizes.push_back(parts[part]);
    }
    parts_for[view.axes[axis]] = whole;
  }
  split.first.push_back(split.view.axes.size());
  for (const Expr& source : view.source)
    split.view.source.push_back(index::simplify(index::substitute(source, parts_for), facts));
  split.view.inside = index::simplify(index::substitute(view.inside, parts_for), facts);
  return split;
}

}  // namespace twinloom::onnx
