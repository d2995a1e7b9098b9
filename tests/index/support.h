// What the tests of this room share: reading an example "expr | facts", and values that the facts allow.
//   facts := fact, fact, ...
//   fact  := symbol in low..high | symbol % divisor | symbol < expr | expr = expr      (bounds may be left
//   out)
#pragma once

#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "core/index/simplify.h"

namespace twinloom::index::testing {

struct Example {
  Expr expr;
  Facts facts;
};

Example parse_example(std::string_view text);

// As parse_example() reads them, for messages.
std::string facts_text(const Facts& facts);

// Whether the assignment is one that the facts allow.
bool allowed(const Facts& facts, const Values& values);

// Random values for the symbols within the facts; nothing when none were found in a few tries.
std::optional<Values> draw(const Facts& facts, const std::set<Symbol>& symbols, std::mt19937_64& random);

}  // namespace twinloom::index::testing
