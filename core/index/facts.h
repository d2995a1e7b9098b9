// What may be assumed of each symbol, and what follows from it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/index/expr.h"

namespace twinloom::index {

// low <= value <= high; a missing bound is unknown.
struct Range {
  std::optional<std::int64_t> low, high;
  friend bool operator==(const Range&, const Range&) = default;
};

class Facts {
 public:
  Facts();
  Facts(const Facts&);
  Facts(Facts&&) noexcept;
  Facts& operator=(const Facts&);
  Facts& operator=(Facts&&) noexcept;
  ~Facts();

  // The value lies in `range` and is a multiple of `divisor` (>= 1).
  void assume(Symbol symbol, Range range, std::int64_t divisor = 1);
  // 0 <= axis < extent, with a symbolic extent: floor_mod(i, n) = i follows.
  void assume_below(Symbol axis, const Expr& extent);
  // The two are always equal; simplify() replaces the later one by the earlier in the total order, or
  // the last term of a sum by the rest: m + 1 = n makes n into m + 1.
  void assume_equal(const Expr& a, const Expr& b);

  Range range(const Expr& expr) const;
  // The largest known number that divides every value; 0 for an expression that is always 0.
  std::int64_t divisor(const Expr& expr) const;
  // false means "not proven".
  bool proves(const Condition& condition) const;
  bool proves_less(const Expr& a, const Expr& b) const;
  bool proves_equal(const Expr& a, const Expr& b) const;

  struct About {
    Range range;
    std::int64_t divisor = 1;
    std::vector<Expr> below;  // the symbol is less than each of these
  };
  const std::map<Symbol, About>& symbols() const { return symbols_; }
  // Pairs (kept, replaced): no kept side has a part that a pair replaces.
  const std::vector<std::pair<Expr, Expr>>& equalities() const { return equalities_; }

 private:
  std::map<Symbol, About> symbols_;
  std::vector<std::pair<Expr, Expr>> equalities_;
};

}  // namespace twinloom::index
