// Integer expressions over symbols: sizes, loop counters and values known only at run time.
//
//   expr := integer | symbol | expr + expr | expr * expr | floor_div(expr, expr)
//         | floor_mod(expr, expr) | least(expr, expr) | greatest(expr, expr)
//
// Canonical when made: a sum is flat, sorted and without zero terms, constants are folded, products
// are distributed over sums, least and greatest have their arguments in order. So i*n + n and
// (i + 1)*n are equal without any pass. Division rounds down and a divisor is positive (the maker's
// promise; a constant divisor below 1 is an Error). An expression never changes after it was made.
//
// Text: "4*i + floor_div(n, 8)", printed by print() and read by parse(). Constant folding that
// leaves 64 bits throws Error ("... does not fit 64 bits").
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/scanner.h"

namespace twinloom::index {

// A symbol is its name: 1 to 23 characters, [A-Za-z_][A-Za-z0-9_.]*, not one of the function names
// above. Two symbols with one name are one symbol.
class Symbol {
 public:
  Symbol() = default;
  explicit Symbol(std::string_view name);  // Error when the name is not of that form
  std::string_view name() const { return std::string_view(name_.data()); }
  friend bool operator==(const Symbol& a, const Symbol& b) = default;
  // As texts: all characters are ASCII.
  friend std::strong_ordering operator<=>(const Symbol& a, const Symbol& b) {
    for (std::size_t at = 0; at < a.name_.size(); at += sizeof(std::uint64_t))
      if (const auto order = a.number_at(at) <=> b.number_at(at); order != 0) return order;
    return std::strong_ordering::equal;
  }

 private:
  // The next characters as one number, the first of them the highest.
  std::uint64_t number_at(std::size_t at) const {
    std::uint64_t number = 0;
    std::memcpy(&number, &name_[at], sizeof number);
    return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
  }

  std::array<char, 24> name_{};  // padded with zeros
};

struct Form;

class Expr {
 public:
  Expr() : Expr(std::int64_t{0}) {}
  Expr(std::int64_t constant);
  Expr(int constant) : Expr(std::int64_t{constant}) {}
  Expr(Symbol symbol);
  const Form& form() const { return *form_; }
  std::uint64_t hash() const;
  friend bool operator==(const Expr& a, const Expr& b);

 private:
  friend struct Maker;
  explicit Expr(std::shared_ptr<const Form> form) : form_(std::move(form)) {}
  std::shared_ptr<const Form> form_;
};

struct Term {
  Expr factor;  // never a Sum
  std::int64_t scale;
};
struct Sum {
  std::vector<Term> terms;  // sorted; none: a constant
  std::int64_t offset;
};
struct Product {
  std::vector<Expr> factors;  // two or more, sorted, none a Sum or a Product
};
struct FloorDiv {
  Expr dividend, divisor;
};
struct FloorMod {
  Expr dividend, divisor;
};
struct Least {
  Expr a, b;
};
struct Greatest {
  Expr a, b;
};
struct Form {
  std::variant<Sum, Symbol, Product, FloorDiv, FloorMod, Least, Greatest> node;
  std::uint64_t hash = 0;
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator*(const Expr& a, const Expr& b);
Expr floor_div(const Expr& a, const Expr& b);
Expr floor_mod(const Expr& a, const Expr& b);
Expr ceil_div(const Expr& a, const Expr& b);  // -floor_div(-a, b)
Expr least(const Expr& a, const Expr& b);
Expr greatest(const Expr& a, const Expr& b);

// A total order that is the same in every run; says nothing about values.
bool comes_before(const Expr& a, const Expr& b);

std::optional<std::int64_t> constant_of(const Expr& expr);  // nothing when a symbol is left
std::optional<Symbol> symbol_of(const Expr& expr);          // when the expression is just a symbol
std::set<Symbol> symbols_of(const Expr& expr);
bool mentions(const Expr& expr, Symbol symbol);
// Whether it is enough for one of its symbols, which are asked with repetition until one is.
bool any_symbol(const Expr& expr, const std::function<bool(Symbol symbol)>& is_enough);

// Product of all; 1 for none.
Expr product(std::span<const Expr> factors);

// Row-major strides in elements for these sizes: the last is 1.
std::vector<Expr> contiguous_strides(std::span<const Expr> sizes);

using Substitution = std::map<Symbol, Expr>;
Expr substitute(const Expr& expr, const Substitution& substitution);

// expr == scale * symbol + rest, with neither scale nor rest mentioning the symbol; nothing when it
// is not of that form. A symbol that is not mentioned has scale 0.
struct Linear {
  Expr scale, rest;
};
std::optional<Linear> linear_in(const Expr& expr, Symbol symbol);
// The scale alone; nothing where it is not a constant.
std::optional<std::int64_t> constant_scale_in(const Expr& expr, Symbol symbol);

// a < b
struct Less {
  Expr a, b;
  friend bool operator==(const Less&, const Less&) = default;
};
// All of them hold. Empty: always true.
struct Condition {
  std::vector<Less> all;
  friend bool operator==(const Condition&, const Condition&) = default;
};
Condition operator&&(const Condition& a, const Condition& b);  // without repetition
Condition substitute(const Condition& condition, const Substitution& substitution);
std::set<Symbol> symbols_of(const Condition& condition);
bool never_holds(const Condition& condition);  // for no values of its symbols; false is "not seen"

using Values = std::map<Symbol, std::int64_t>;
// The value under an assignment. Bug when a symbol is missing; Error when a divisor is not positive or a
// step leaves 64 bits.
std::int64_t evaluate(const Expr& expr, const Values& values);
std::vector<std::int64_t> evaluate(std::span<const Expr> exprs, const Values& values);
bool evaluate(const Condition& condition, const Values& values);

inline std::string_view print(const Symbol& symbol) { return symbol.name(); }
std::string print(const Expr& expr);
std::string print(const Condition& condition);  // "a < b && c < d"; "true" when empty
Expr parse(Scanner& scanner);
Condition parse_condition(Scanner& scanner);
Expr parse(std::string_view text);
Condition parse_condition(std::string_view text);

}  // namespace twinloom::index
