// See indices.h. What follows the vector axis is in lanes.cpp.
#include "core/emit/indices.h"

#include <algorithm>

#include "core/base/error.h"

namespace twinloom::emit {

using index::Expr;

namespace {

// -floor_div(-a, c) = floor_div(a + c - 1, c): the second has no negative number in it where a has none.
// Where the factor is floor_div(-a, c): that.
std::optional<Expr> rounded_up_quotient(const Expr& factor) {
  const auto* quotient = std::get_if<index::FloorDiv>(&factor.form().node);
  const auto* dividend =
      quotient == nullptr ? nullptr : std::get_if<index::Sum>(&quotient->dividend.form().node);
  const auto divisor = quotient == nullptr ? std::nullopt : index::constant_of(quotient->divisor);
  const auto is_negative = [](const index::Term& term) { return term.scale < 0 && term.scale > INT64_MIN; };
  if (dividend == nullptr || !divisor || !std::ranges::all_of(dividend->terms, is_negative))
    return std::nullopt;
  return index::floor_div(Expr(*divisor - 1) - quotient->dividend, *divisor);
}

}  // namespace

std::string integer_text(std::int64_t value) {
  if (value == INT64_MIN) return "(-9223372036854775807 - 1)";
  return cat(value);
}

bool Indices::is_active(index::Symbol axis) const {
  return bounds_.contains(axis) || constants_.contains(axis) || (vector_ && vector_->axis == axis);
}

const Bound& Indices::bound(index::Symbol symbol) const {
  const auto found = bounds_.find(symbol);
  CHECK(found != bounds_.end(), "symbol ", symbol, " is used outside of what binds it");
  return found->second;
}

Expr Indices::here(const Expr& expr) const {
  return constants_.empty() ? expr : index::substitute(expr, constants_);
}

int Indices::level_of(const Expr& expr) const {
  int level = 0;
  for (const index::Symbol symbol : index::symbols_of(expr)) level = std::max(level, bound(symbol).level);
  return level;
}

bool Indices::is_multiple(const Expr& given, std::int64_t of) const {
  return facts_.divisor(here(given)) % of == 0;
}

std::string Indices::quotient(const char* kind, const Expr& dividend, const Expr& divisor) const {
  const auto within = [&](const Expr& expr, std::int64_t low) {
    const index::Range range = facts_.range(expr);
    return range.low && *range.low >= low && range.high && *range.high <= INT32_MAX;
  };
  return cat(within(dividend, 0) && within(divisor, 1) ? "short_" : "floor_", kind);
}

// Terms of outer scopes first, under one name; the constant last.
std::string Indices::sum_text(const index::Sum& sum, int level) {
  Expr outer;
  std::string text;
  std::vector<const index::Term*> inner;
  for (const index::Term& term : sum.terms) {
    if (level_of(term.factor) < level)
      outer = outer + term.factor * Expr(term.scale);
    else
      inner.push_back(&term);
  }
  if (outer != Expr(0)) text = name(outer);
  for (const index::Term* term : inner) {
    const std::optional<Expr> rounded_up = term->scale < 0 ? rounded_up_quotient(term->factor) : std::nullopt;
    const bool minus = term->scale < 0 && term->scale > INT64_MIN && !rounded_up;
    const std::int64_t scale = minus || rounded_up ? -term->scale : term->scale;
    text += text.empty() ? (minus ? "-" : "") : (minus ? " - " : " + ");
    if (scale != 1) text += cat(integer_text(scale), " * ");
    text += text_at(rounded_up ? *rounded_up : term->factor, level);
  }
  if (text.empty()) return integer_text(sum.offset);
  if (sum.offset == 0) return text;
  if (sum.offset > INT64_MIN && sum.offset < 0) return cat(text, " - ", -sum.offset);
  return cat(text, " + ", integer_text(sum.offset));
}

std::string Indices::product_text(const index::Product& product, int level) {
  Expr outer = 1;
  std::string text;
  for (const Expr& factor : product.factors) {
    if (level_of(factor) < level)
      outer = outer * factor;
    else
      text += cat(text.empty() ? "" : " * ", text_at(factor, level));
  }
  return outer == Expr(1) ? text : cat(name(outer), " * ", text);
}

std::string Indices::text_at(const Expr& expr, int level) {
  if (const auto constant = index::constant_of(expr)) return integer_text(*constant);
  if (level_of(expr) < level) return name(expr);
  const auto call = [&](const std::string& function, const Expr& a, const Expr& b) {
    return cat(function, "(", text_at(a, level), ", ", text_at(b, level), ")");
  };
  const auto divided = [&](const char* kind, const auto& node) {
    return call(quotient(kind, node.dividend, node.divisor), node.dividend, node.divisor);
  };
  return match(
      expr.form(), [&](const index::Sum& sum) { return sum_text(sum, level); },
      [&](const index::Symbol& symbol) { return bound(symbol).name; },
      [&](const index::Product& product) { return product_text(product, level); },
      [&](const index::FloorDiv& node) { return divided("div", node); },
      [&](const index::FloorMod& node) { return divided("mod", node); },
      [&](const index::Least& node) { return call("least", node.a, node.b); },
      [&](const index::Greatest& node) { return call("greatest", node.a, node.b); });
}

std::string Indices::text(const Expr& expr) { return text_at(here(expr), scopes_.level()); }

std::string Indices::name(const Expr& given) {
  const Expr expr = here(given);
  if (const auto constant = index::constant_of(expr)) return integer_text(*constant);
  if (const auto symbol = index::symbol_of(expr)) return bound(*symbol).name;
  const int level = level_of(expr);
  return scopes_.named(level, "n", dialect_.type(ops::DType::i64, 1), text_at(expr, level));
}

// What the counters of unrolled loops add, where only sizes say how much: 5*n of p + 5*n.
Expr Indices::apart(const Expr& offset) const {
  index::Substitution first;
  for (const auto& [symbol, value] : constants_) first.emplace(symbol, Expr(0));
  const Expr added = here(offset) - index::substitute(offset, first);
  return level_of(added) == 0 ? added : Expr(0);
}

// The constant is left to the use, so that neighbours share one pointer; and so is what lies sizes apart, of
// which there would be a pointer for each copy of an unrolled loop, hoisted out of all loops and alive in
// them.
std::string Indices::pointer(const Base& base, const Expr& offset) {
  const Expr expr = here(offset), apart = this->apart(offset);
  const auto added = index::constant_of(apart) ? std::nullopt : std::optional(apart);
  const Expr shared = added ? expr - *added : expr;
  const auto* sum = std::get_if<index::Sum>(&shared.form().node);
  const std::int64_t constant = sum == nullptr ? 0 : sum->offset;
  std::string place = pointer_at(base, shared - Expr(constant), scopes_.level());
  if (added) {
    const std::string text = text_at(*added, 0);
    place += text.starts_with('-') ? cat(" - ", text.substr(1)) : cat(" + ", text);
  }
  if (constant == 0) return place;
  return constant < 0 && constant > INT64_MIN ? cat(place, " - ", -constant)
                                              : cat(place, " + ", integer_text(constant));
}

// One pointer a scope that changes it: p2 = p1 + what the scope's own symbols add.
std::string Indices::pointer_at(const Base& base, const Expr& offset, int level) {
  if (offset == Expr(0)) return base.name;
  level = std::max(base.level, std::min(level, level_of(offset)));
  const auto* sum = std::get_if<index::Sum>(&offset.form().node);
  Expr outer;
  if (sum != nullptr && level > base.level) {
    for (const index::Term& term : sum->terms)
      if (level_of(term.factor) < level) outer = outer + term.factor * Expr(term.scale);
  }
  const std::string before = pointer_at(base, outer, level - 1);
  const std::string added = text_at(offset - outer, level);
  return scopes_.named(
      level, "p", "auto",
      added.starts_with('-') ? cat(before, " - ", added.substr(1)) : cat(before, " + ", added));
}

}  // namespace twinloom::emit
