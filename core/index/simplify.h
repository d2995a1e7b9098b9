// Makes expressions shorter with what is known of their symbols. The value never changes for any
// assignment that the facts allow, and simplify(simplify(e)) == simplify(e).
// The rules are the rows of one table (simplify.cpp), each with its own example.
#pragma once

#include <span>
#include <string_view>

#include "core/index/facts.h"

namespace twinloom::index {

Expr simplify(const Expr& expr, const Facts& facts);
// Drops what is proven. A condition that can never hold becomes the one conjunct 0 < 0.
Condition simplify(const Condition& condition, const Facts& facts);

// One row of the table, for the test that walks it.
struct Rule {
  std::string_view name;
  std::optional<Expr> (*apply)(const Expr& expr, const Facts& facts);
  std::string_view before;  // "expr | symbol in low..high, symbol % divisor, symbol < expr"
  std::string_view after;
};
std::span<const Rule> rules();

}  // namespace twinloom::index
