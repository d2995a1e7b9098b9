// Makes expressions shorter with what is known of their symbols. The value never changes for any
// assignment that the facts allow, and simplify(simplify(e)) == simplify(e).
// The rules are the rows of one table (simplify.cpp), each with its own example.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/index/facts.h"

namespace twinloom::index {

Expr simplify(const Expr& expr, const Facts& facts);
// Drops what is proven. A condition that can never hold becomes the one conjunct 0 < 0.
Condition simplify(const Condition& condition, const Facts& facts);

// The same of many expressions under the same facts, which must outlive it and stay as they are: what they
// have in common is simplified once. Not for several threads at once.
class Simplifier {
 public:
  explicit Simplifier(const Facts& facts);
  Simplifier(const Simplifier&) = delete;
  Simplifier& operator=(const Simplifier&) = delete;
  ~Simplifier();
  Expr operator()(const Expr& expr) const;
  Condition operator()(const Condition& condition) const;

 private:
  class Memo;
  std::unique_ptr<Memo> memo_;
};

// One row of the table, for the test that walks it.
struct Rule {
  std::string_view name;
  std::optional<Expr> (*apply)(const Expr& expr, const Facts& facts);
  std::string_view before;  // "expr | symbol in low..high, symbol % divisor, symbol < expr"
  std::string_view after;
};
std::span<const Rule> rules();

}  // namespace twinloom::index
