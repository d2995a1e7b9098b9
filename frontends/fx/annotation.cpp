// See annotation.h. Sizes are read by the parser of syntax.h, so that they may be any arithmetic.
#include "frontends/fx/annotation.h"

#include <algorithm>

#include "core/base/error.h"

namespace twinloom::fx {

namespace {

using index::Expr;

[[noreturn]] void fail(int line, std::string_view words) {
  throw Error(cat("FX graph line ", line, ": ", words));
}

Expr symbol_named(const std::string& name, int line) {
  constexpr std::size_t longest = 23;
  if (name.size() > longest)
    fail(line, cat("the size '", escaped(name), "' has a name of more than ", longest, " characters"));
  return index::Symbol(name);
}

Expr positive_divisor(const Expr& divisor, int line) {
  const auto constant = index::constant_of(divisor);
  if (constant && *constant <= 0) fail(line, "a size is divided by something that is not positive");
  return divisor;
}

Expr arithmetic(const std::string& op, const std::vector<Expr>& operands, int line) {
  if (op == "neg") return -operands[0];
  if (op == "+") return operands[0] + operands[1];
  if (op == "-") return operands[0] - operands[1];
  if (op == "*") return operands[0] * operands[1];
  if (op == "//") return index::floor_div(operands[0], positive_divisor(operands[1], line));
  if (op == "%") return index::floor_mod(operands[0], positive_divisor(operands[1], line));
  if (op == "**") {
    const auto exponent = index::constant_of(operands[1]);
    if (!exponent || *exponent < 0 || *exponent > 16)
      fail(line, "a size has an exponent that is not in 0..16");
    Expr power = 1;
    for (std::int64_t i = 0; i < *exponent; ++i) power = power * operands[0];
    return power;
  }
  fail(line, cat("'", op, "' is not integer arithmetic on sizes"));
}

Expr function(const std::string& target, const std::vector<Expr>& operands, int line) {
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, target) != names.end();
  };
  if (operands.size() == 1 && is({"Sym", "sym_int", "TruncToInt", "IntTrueDiv"})) return operands[0];
  if (operands.size() == 2) {
    if (is({"FloorDiv", "CleanDiv", "floordiv"})) return arithmetic("//", operands, line);
    if (is({"Mod", "PythonMod"})) return arithmetic("%", operands, line);
    if (is({"CeilDiv"})) return index::ceil_div(operands[0], positive_divisor(operands[1], line));
    if (is({"Max", "max"})) return index::greatest(operands[0], operands[1]);
    if (is({"Min", "min"})) return index::least(operands[0], operands[1]);
  }
  if (is({"Max", "Min"}) && operands.size() > 2) {
    Expr result = operands[0];
    for (const Expr& operand : operands)
      result = target == "Max" ? index::greatest(result, operand) : index::least(result, operand);
    return result;
  }
  fail(line, cat("'", escaped(target), "' of ", operands.size(), " is not integer arithmetic on sizes"));
}

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

constexpr std::size_t most_axes = 64;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Expr parse_size(std::string_view text, int line) {
  return size_of_expression(*parse_expression(text, line), line,
                            [&](const std::string& name) { return symbol_named(name, line); });
}

graph::Shape parse_shape(std::string_view text, int line) {
  graph::Shape shape;
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
    shape.push_back(parse_size(size, line));
  }
  return shape;
}

}  // namespace

Expr size_of_expression(const Expression& expression, int line,
                        const std::function<Expr(const std::string& name)>& look_up) {
  const auto of = [&](const Child& child) { return size_of_expression(*child, line, look_up); };
  const auto no_size = [&]() -> Expr { fail(line, cat("'", print(expression), "' is not a size")); };
  const auto all = [&](const std::vector<Child>& children) {
    std::vector<Expr> sizes;
    for (const Child& child : children) sizes.push_back(of(child));
    return sizes;
  };
  return match(
      expression, [&](const None&) { return no_size(); },
      [](const Boolean& node) { return Expr(node.value ? 1 : 0); },
      [](const Integer& node) { return Expr(node.value); }, [&](const Real&) { return no_size(); },
      [&](const Text&) { return no_size(); }, [&](const Name& node) { return look_up(node.name); },
      [&](const List&) { return no_size(); },
      [&](const Call& node) { return function(node.target, all(node.arguments), line); },
      [&](const Subscript&) { return no_size(); }, [&](const Slice&) { return no_size(); },
      [&](const Operation& node) { return arithmetic(node.op, all(node.operands), line); });
}

std::optional<Annotation> parse_annotation(std::string_view given, int line) {
  const std::string_view text = trimmed(given);
  if (text.empty()) return std::nullopt;
  Annotation annotation;
  if (text.starts_with("Sym(") && text.ends_with(")")) {
    annotation.size = parse_size(text.substr(4, text.size() - 5), line);
    return annotation;
  }
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  const auto dtype = ops::dtype_named(text.substr(0, open));
  if (!dtype || open == std::string_view::npos || close == std::string_view::npos) {
    fail(line, cat("'", escaped(text), "' is not a type such as \"f32[2, s0]\" or \"Sym(s0)\""));
  }
  annotation.dtype = *dtype;
  annotation.shape = parse_shape(text.substr(open + 1, close - open - 1), line);
  if (!text.substr(close + 1).starts_with('[')) return annotation;
  const std::size_t end = text.find(']', close + 1);
  if (end == std::string_view::npos) fail(line, cat("'", escaped(text), "' has strides without an end"));
  annotation.strides = parse_shape(text.substr(close + 2, end - close - 2), line);
  if (annotation.strides->size() != annotation.shape.size()) {
    fail(line, cat("'", escaped(text), "' has ", annotation.strides->size(), " strides for ",
                   annotation.shape.size(), " axes"));
  }
  return annotation;
}

}  // namespace twinloom::fx
