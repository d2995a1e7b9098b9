// See sizes.h.
#include "frontends/fx/sizes.h"

#include <algorithm>
#include <array>
#include <map>

#include "frontends/fx/annotation.h"

namespace twinloom::fx {

namespace {

using index::Expr;

struct Spelling {
  std::string_view function, op;
};
constexpr std::array spellings = {
    Spelling{"add", "+"}, Spelling{"sub", "-"},  Spelling{"mul", "*"},   Spelling{"floordiv", "//"},
    Spelling{"mod", "%"}, Spelling{"pow", "**"}, Spelling{"neg", "neg"}, Spelling{"lt", "<"},
    Spelling{"le", "<="}, Spelling{"gt", ">"},   Spelling{"ge", ">="},   Spelling{"eq", "=="},
    Spelling{"ne", "!="},
};
constexpr std::array<std::string_view, 6> comparisons = {"<", "<=", ">", ">=", "==", "!="};

}  // namespace

std::optional<std::string_view> operator_called(std::string_view target) {
  for (const std::string_view prefix : {std::string_view("operator."), std::string_view("_operator.")}) {
    if (!target.starts_with(prefix)) continue;
    const auto* found = std::ranges::find(spellings, target.substr(prefix.size()), &Spelling::function);
    if (found != spellings.end()) return found->op;
  }
  return std::nullopt;
}

std::optional<Item> size_arithmetic(std::string_view op, const Items& operands, int line) {
  Operation plain{std::string(op), {}};
  std::map<std::string, Expr> names;
  for (const Item& operand : operands) {
    const std::string name = cat("operand", names.size());
    if (const auto* size = operand.get<Expr>())
      names[name] = *size;
    else if (const auto* truth = operand.get<bool>())
      names[name] = *truth ? 1 : 0;
    else
      return std::nullopt;
    plain.operands.push_back(std::make_shared<const Expression>(Expression{Name{name}}));
  }
  // PyTorch has specialised the graph on what a comparison gave: see _assert_scalar.
  Item result;
  if (std::ranges::find(comparisons, op) != comparisons.end()) {
    result.value = true;
    return result;
  }
  if (operands.size() != (op == "neg" ? 1u : 2u))
    throw Error(cat("FX graph line ", line, ": '", op, "' of ", operands.size(), " sizes"));
  const auto operand_named = [&](const std::string& name) { return names.at(name); };
  result.value = size_of_expression(Expression{plain}, line, operand_named);
  return result;
}

}  // namespace twinloom::fx
