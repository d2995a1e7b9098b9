// Arithmetic on Python's numbers that the text spells as operators (a * b) or calls (operator.mul(a, b),
// torch.sym_max(a, b), math_trunc(x), FloorDiv(a, b)).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/index/facts.h"
#include "frontends/fx/items.h"

namespace twinloom::fx {

// What is known of sizes, and whom to tell what must hold of them for a number to have a value.
struct SizeRules {
  const index::Facts& facts;
  std::function<void(const index::Condition& condition, const std::string& words)> require;
};

// Of what is called so: "operator.mul" and "mul" -> "*". Nothing for any other name.
std::optional<std::string_view> operator_called(std::string_view target);

// A number; nothing where an operand is none. Error where the operator takes another number of them, and
// where it has no value for any sizes.
std::optional<Item> arithmetic(std::string_view op, const Items& operands, const SizeRules& rules);

}  // namespace twinloom::fx
