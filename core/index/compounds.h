// Sizes that are told only as parts of expressions: a tensor of 2*a*b elements, an axis of 4*floor_div(c, 4).
// Where nothing tells a, b and c themselves, a*b and floor_div(c, 4) become symbols of their own, over which
// what is told can be solved, and with it everything that is over these parts alone.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/index/expr.h"

namespace twinloom::index {

// Those symbols that follow from the values of the expressions, one after the other: from a plain symbol, and
// from an expression in which one unknown symbol is left and is linear.
std::set<Symbol> solvable(std::span<const Expr> told);

class Compounds {
 public:
  // `told` are expressions whose values a run gives; `make_symbol` gives names that nothing else has.
  Compounds(std::vector<Expr> told, const std::function<Symbol()>& make_symbol);

  // The same value over symbols that follow from what is told; nothing where there is no such expression.
  std::optional<Expr> resolved(const Expr& expr) const;

 private:
  bool is_solvable(const Expr& expr) const;
  std::optional<Expr> from_wholes(const Expr& expr) const;

  using Named = std::pair<Expr, Symbol>;
  std::set<Symbol> solvable_;
  std::vector<Named> parts_;   // products and divisions
  std::vector<Named> wholes_;  // what is told of several parts at once
};

}  // namespace twinloom::index
