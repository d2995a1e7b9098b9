// See size_names.h.
#include "frontends/fx/size_names.h"

#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/graph/size_names.h"
#include "frontends/fx/numbers.h"

namespace twinloom::fx {

namespace {

using index::Expr;
using index::Symbol;

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The names between the brackets of a tensor's type: "f32[2*s0, s1][1, 1]cpu" -> s0, s1.
std::set<std::string> names_of_shape(std::string_view type) {
  std::set<std::string> names;
  const std::size_t open = type.find('[');
  if (open == std::string_view::npos || type.find("Sym(") < open) return names;
  const std::string_view shape = type.substr(open + 1, type.find(']', open) - open - 1);
  for (std::size_t at = 0; at < shape.size();) {
    std::size_t end = at;
    while (end < shape.size() && in_name(shape[end])) ++end;
    if (end > at && std::isdigit(static_cast<unsigned char>(shape[at])) == 0)
      names.emplace(shape.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return names;
}

// Floating symbols are called zf0 and zuf0.
bool names_a_real(std::string_view name) { return name.starts_with("zf") || name.starts_with("zuf"); }

}  // namespace

SizeNames::SizeNames(const Module& module) {
  collect_dimensions(module);
  std::vector<Expr> given = told(module);
  compounds_.emplace(std::move(given), [&] { return make_symbol("compound"); });
}

void SizeNames::collect_dimensions(const Module& module) {
  for (const Parameter& parameter : module.parameters)
    dimensions_.merge(names_of_shape(parameter.annotation));
  for (const Statement& statement : module.statements)
    dimensions_.merge(names_of_shape(statement.annotation));
}

// What the parameters tell: dimensions, and sizes that are handed in.
std::vector<Expr> SizeNames::told(const Module& module) {
  std::vector<Expr> all;
  for (const Parameter& parameter : module.parameters) {
    const auto type = annotation(parameter.annotation, parameter.place.line);
    if (!type) continue;
    for (const PrintedNumber& size : type->shape) {
      const auto* known = size.number ? size.number->get<Expr>() : nullptr;
      if (known != nullptr)
        all.push_back(*known);
      else if (!opaque_.contains(size.text))
        opaque_.emplace(size.text, make_symbol("size"));
    }
    const auto* number = type->number && type->number->number ? type->number->number->get<Expr>() : nullptr;
    if (number != nullptr) all.push_back(*number);
  }
  for (const auto& [text, symbol] : opaque_) all.emplace_back(symbol);
  // The two halves of a signed number are told together.
  std::set<Symbol> parts;
  for (const Expr& expr : all) parts.merge(index::symbols_of(expr));
  for (const Symbol part : parts)
    if (parts.contains(graph::negative_part(part))) all.emplace_back(graph::negative_part(part));
  return all;
}

Symbol SizeNames::make_symbol(std::string_view name) {
  constexpr std::size_t longest = 15;  // with a number and the ending of a negative part 23 characters
  std::string wanted(name.substr(0, longest));
  bool is_free = name.size() <= longest && !graph::is_reserved(name) && !taken_.contains(wanted);
  for (int k = 0; !is_free; ++k) {
    wanted = cat(name.substr(0, longest - 1), "_", k);
    is_free = !taken_.contains(wanted);
  }
  taken_.insert(wanted);
  const Symbol symbol(wanted);
  facts_.assume(symbol, {0, {}});
  return symbol;
}

Expr SizeNames::make_signed(std::string_view name) {
  const Symbol positive = make_symbol(name);
  const Symbol negative = graph::negative_part(positive);
  facts_.assume(negative, {0, {}});
  return Expr(positive) - Expr(negative);
}

Item SizeNames::look_up(const std::string& name) {
  if (const auto found = items_.find(name); found != items_.end()) return found->second;
  Item item;
  if (names_a_real(name)) {
    const auto unknown = [name](graph::Builder&) -> graph::Tensor {
      throw Error(cat("no input tells the number ", escaped(name)));
    };
    item = {Number{Number::Kind::real, std::nullopt, {}, unknown}};
  } else if (dimensions_.contains(name)) {
    item = {Expr(make_symbol(name))};
  } else {
    item = {make_signed(name)};
  }
  items_.emplace(name, item);
  return item;
}

std::optional<Annotation> SizeNames::annotation(const std::string& text, int line) {
  return parse_annotation(text, line, {[this](const std::string& name) { return look_up(name); }, facts_});
}

std::optional<Expr> SizeNames::size(const PrintedNumber& printed) const {
  if (const auto found = opaque_.find(printed.text); found != opaque_.end()) return Expr(found->second);
  const auto* size = printed.number ? printed.number->get<Expr>() : nullptr;
  return size == nullptr ? std::nullopt : resolved(*size);
}

std::optional<std::vector<Expr>> SizeNames::sizes(const std::vector<PrintedNumber>& numbers) const {
  std::vector<Expr> all;
  for (const PrintedNumber& number : numbers) {
    const auto known = size(number);
    if (!known) return std::nullopt;
    all.push_back(*known);
  }
  return all;
}

std::optional<index::Condition> SizeNames::resolved(const index::Condition& condition) const {
  index::Condition result;
  for (const index::Less& less : condition.all) {
    const auto a = resolved(less.a), b = resolved(less.b);
    if (!a || !b) return std::nullopt;
    result.all.push_back({*a, *b});
  }
  return result;
}

}  // namespace twinloom::fx
