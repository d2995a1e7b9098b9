// See annotation.h. Numbers are read by the parser of syntax.h, so that they may be any arithmetic.
#include "frontends/fx/annotation.h"

#include <algorithm>
#include <limits>
#include <numbers>

#include "frontends/fx/fail.h"
#include "frontends/fx/syntax.h"

namespace twinloom::fx {

namespace {

using index::Expr;

// The whole text as an expression: parsed as the only statement of a module.
Child parse_expression(std::string_view text, int line) {
  try {
    const std::string module = cat("class a(b):\n def forward(self):\n  return (", text, ",)\n");
    const auto result = parse_modules(module).front().result;
    const auto* list = std::get_if<List>(&result->node);
    if (list != nullptr && list->items.size() == 1) return list->items.front();
  } catch (const Error&) {
    // Said below, with the line of the annotation.
  }
  fail(line, cat("'", escaped(text), "' is not a size"));
}

using Known = std::optional<Item>;

class Evaluation {
 public:
  Evaluation(const NumberNames& names, const SizeRules& rules) : names_(names), rules_(rules) {}

  // Nothing for what is no arithmetic that is known.
  Known of(const Expression& expression) const {
    return match(
        expression, [](const None&) -> Known { return std::nullopt; },
        [](const Boolean& node) -> Known { return Item{node.value}; },
        [](const Integer& node) -> Known { return Item{Expr(node.value)}; },
        [](const Real& node) -> Known { return Item{node.value}; },
        [](const Text&) -> Known { return std::nullopt; },
        [&](const Name& node) -> Known { return named(node.name); },
        [](const List&) -> Known { return std::nullopt; },
        [&](const Call& node) -> Known {
          if (node.target == "Piecewise") return piecewise(node.arguments);
          const auto op = operator_called(node.target);
          return op ? applied(*op, node.arguments) : std::nullopt;
        },
        [](const Subscript&) -> Known { return std::nullopt; },
        [](const Slice&) -> Known { return std::nullopt; },
        [&](const Operation& node) -> Known { return applied(node.op, node.operands); });
  }

 private:
  Item named(const std::string& name) const {
    if (name == "true" || name == "false") return {name == "true"};
    if (name == "pi") return {std::numbers::pi};
    if (name == "oo" || name == "int_oo") return {std::numeric_limits<double>::infinity()};
    return names_.look_up(name);
  }

  Known applied(std::string_view op, const std::vector<Child>& operands) const {
    Items items;
    for (const Child& operand : operands) {
      const Known item = of(*operand);
      if (!item) return std::nullopt;
      items.push_back(*item);
    }
    return arithmetic(op, items, rules_);
  }

  // Piecewise((value, condition), ..., (value, True)): the first whose condition holds.
  Known piecewise(const std::vector<Child>& cases) const {
    Known result;
    for (auto at = cases.rbegin(); at != cases.rend(); ++at) {
      const auto* pair = std::get_if<List>(&(*at)->node);
      if (pair == nullptr || pair->items.size() != 2) return std::nullopt;
      const Known value = of(*pair->items[0]);
      const Known condition = of(*pair->items[1]);
      if (!value || !condition) return std::nullopt;
      const bool* always = condition->get<bool>();
      if (always == nullptr && !result) return std::nullopt;
      result = always != nullptr ? (*always ? value : result)
                                 : arithmetic("if", {*condition, *value, *result}, rules_);
    }
    return result;
  }

  const NumberNames& names_;
  const SizeRules& rules_;
};

constexpr std::size_t most_axes = 64;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

PrintedNumber parse_number(std::string_view text, int line, const NumberNames& names) {
  PrintedNumber result{std::string(text), std::nullopt, {}};
  const SizeRules rules{names.facts, [&](const index::Condition& condition, const std::string& words) {
                          result.requirements.emplace_back(condition, words);
                        }};
  const Child expression = parse_expression(text, line);
  try {
    result.number = Evaluation(names, rules).of(*expression);
  } catch (const Error& error) {
    fail(line, error.what());
  }
  return result;
}

std::vector<PrintedNumber> parse_shape(std::string_view text, int line, const NumberNames& names) {
  std::vector<PrintedNumber> shape;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c != ',' || depth > 0) continue;
    const std::string_view size = trimmed(text.substr(start, i - start));
    start = i + 1;
    if (shape.size() == most_axes) fail(line, cat("a tensor has more than ", most_axes, " axes"));
    if (size.empty() && i == text.size() && shape.empty()) break;
    shape.push_back(parse_number(size, line, names));
    const Known& number = shape.back().number;
    if (number && number->get<double>() != nullptr) fail(line, cat("'", escaped(size), "' is not a size"));
  }
  return shape;
}

}  // namespace

std::optional<Annotation> parse_annotation(std::string_view given, int line, const NumberNames& names) {
  const std::string_view text = trimmed(given);
  if (text.empty()) return std::nullopt;
  Annotation annotation;
  if (text.starts_with("Sym(") && text.ends_with(")")) {
    annotation.number = parse_number(text.substr(4, text.size() - 5), line, names);
    return annotation;
  }
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  const std::string_view name = text.substr(0, open);
  annotation.is_complex = name == "c64" || name == "c128";
  const auto dtype =
      annotation.is_complex ? (name == "c64" ? ops::DType::f32 : ops::DType::f64) : ops::dtype_named(name);
  if (!dtype || open == std::string_view::npos || close == std::string_view::npos) {
    fail(line, cat("'", escaped(text), "' is not a type such as \"f32[2, s0]\" or \"Sym(s0)\""));
  }
  annotation.dtype = *dtype;
  annotation.shape = parse_shape(text.substr(open + 1, close - open - 1), line, names);
  if (!text.substr(close + 1).starts_with('[')) return annotation;
  const std::size_t end = text.find(']', close + 1);
  if (end == std::string_view::npos) fail(line, cat("'", escaped(text), "' has strides without an end"));
  annotation.strides = parse_shape(text.substr(close + 2, end - close - 2), line, names);
  if (annotation.strides->size() != annotation.shape.size()) {
    fail(line, cat("'", escaped(text), "' has ", annotation.strides->size(), " strides for ",
                   annotation.shape.size(), " axes"));
  }
  return annotation;
}

}  // namespace twinloom::fx
