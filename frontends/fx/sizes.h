// Arithmetic on sizes that the text spells as operators (a * b) or calls (operator.mul(a, b)).
#pragma once

#include <optional>
#include <string_view>

#include "frontends/fx/items.h"

namespace twinloom::fx {

// Of what Python's operator module calls so: "operator.mul" -> "*". Nothing for any other name.
std::optional<std::string_view> operator_called(std::string_view target);

// A size, or for a comparison the truth; nothing where an operand is no size.
std::optional<Item> size_arithmetic(std::string_view op, const Items& operands, int line);

}  // namespace twinloom::fx
