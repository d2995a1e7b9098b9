// See sizes.h.
#include "frontends/fx/sizes.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "frontends/fx/size_ops.h"

namespace twinloom::fx {

namespace {

struct Spelling {
  std::string_view function, op;
};
constexpr std::array spellings = {
    Spelling{"add", "+"},
    Spelling{"sub", "-"},
    Spelling{"mul", "*"},
    Spelling{"truediv", "/"},
    Spelling{"floordiv", "//"},
    Spelling{"mod", "%"},
    Spelling{"pow", "**"},
    Spelling{"lt", "<"},
    Spelling{"le", "<="},
    Spelling{"gt", ">"},
    Spelling{"ge", ">="},
    Spelling{"eq", "=="},
    Spelling{"ne", "!="},
    Spelling{"and_", "&"},
    Spelling{"or_", "|"},
    Spelling{"xor", "^"},
    Spelling{"invert", "~"},
    Spelling{"inv", "~"},
    Spelling{"lshift", "<<"},
    Spelling{"rshift", ">>"},
    Spelling{"not_", "not"},
    Spelling{"ite", "if"},
    Spelling{"trunc", "int"},
    // What the text of sizes calls them.
    Spelling{"FloorDiv", "//"},
    Spelling{"CleanDiv", "//"},
    Spelling{"CeilDiv", "ceil_div"},
    Spelling{"Mod", "%"},
    Spelling{"PythonMod", "%"},
    Spelling{"ModularIndexing", "modular_indexing"},
    Spelling{"IntTrueDiv", "/"},
    Spelling{"FloatTrueDiv", "/"},
    Spelling{"FloatPow", "**"},
    Spelling{"PowByNatural", "**"},
    Spelling{"Pow", "**"},
    Spelling{"Max", "max"},
    Spelling{"Min", "min"},
    Spelling{"Abs", "abs"},
    Spelling{"TruncToInt", "int"},
    Spelling{"FloorToInt", "floor"},
    Spelling{"CeilToInt", "ceil"},
    Spelling{"ceiling", "ceil"},
    Spelling{"RoundToInt", "round"},
    Spelling{"RoundDecimal", "round"},
    Spelling{"ToFloat", "float"},
    Spelling{"Eq", "=="},
    Spelling{"Ne", "!="},
    Spelling{"Lt", "<"},
    Spelling{"Le", "<="},
    Spelling{"Gt", ">"},
    Spelling{"Ge", ">="},
    Spelling{"And", "and"},
    Spelling{"Or", "or"},
    Spelling{"Not", "not"},
    Spelling{"Xor", "^"},
    Spelling{"Where", "if"},
    Spelling{"ITE", "if"},
    Spelling{"Identity", "same"},
    Spelling{"Sym", "same"},
    Spelling{"LShift", "<<"},
    Spelling{"RShift", ">>"},
    Spelling{"bitwise_and", "&"},
    Spelling{"bitwise_or", "|"},
    Spelling{"bitwise_xor", "^"},
};
constexpr std::array<std::string_view, 9> prefixes = {"operator.",   "_operator.",     "torch.sym_",
                                                      "torch._sym_", "math.",          "math_",
                                                      "builtins.",   "OpaqueUnaryFn_", "BitwiseFn_"};

const SizeRow* row_of(std::string_view op) {
  for (const auto rows : {arithmetic_rows(), truth_rows(), rounding_rows()}) {
    const auto found = std::ranges::find(rows, op, &SizeRow::op);
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string_view> operator_called(std::string_view target) {
  for (const std::string_view prefix : prefixes) {
    if (target.starts_with(prefix)) {
      target.remove_prefix(prefix.size());
      break;
    }
  }
  const auto* found = std::ranges::find(spellings, target, &Spelling::function);
  if (found != spellings.end()) return found->op;
  const SizeRow* row = row_of(target);
  return row == nullptr ? std::nullopt : std::optional(row->op);
}

std::optional<Item> arithmetic(std::string_view op, const Items& given, const SizeRules& rules) {
  const SizeRow* row = row_of(op);
  if (row == nullptr) return std::nullopt;
  // sum((a, b)); round(x, None).
  const Items* list = given.size() == 1 ? given[0].get<Items>() : nullptr;
  Items operands = list != nullptr ? *list : given;
  while (!operands.empty() && operands.back().is_none()) operands.pop_back();
  if (!std::ranges::all_of(operands, [](const Item& item) { return kind_of(item).has_value(); }))
    return std::nullopt;
  if (operands.size() < row->fewest || operands.size() > row->most)
    throw Error(cat("'", op, "' of ", operands.size(), " sizes"));
  return row->apply(operands, rules);
}

}  // namespace twinloom::fx
