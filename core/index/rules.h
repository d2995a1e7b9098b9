// Inside of the room: the functions behind the rows of simplify.cpp. Each takes an expression whose
// parts are simplified and gives an equal one, or nothing when it has nothing to say.
#pragma once

#include <optional>

#include "core/index/facts.h"

namespace twinloom::index {

using Rewritten = std::optional<Expr>;

// rules_values.cpp
Rewritten replace_by_only_value(const Expr& expr, const Facts& facts);
Rewritten replace_by_equal(const Expr& expr, const Facts& facts);
Rewritten decide_least(const Expr& expr, const Facts& facts);
Rewritten decide_greatest(const Expr& expr, const Facts& facts);
Rewritten recombine_quotient(const Expr& expr, const Facts& facts);
Rewritten recombine_remainders(const Expr& expr, const Facts& facts);

// rules_divide.cpp
Rewritten divide_small(const Expr& expr, const Facts& facts);
Rewritten divide_aligned(const Expr& expr, const Facts& facts);
Rewritten divide_negated(const Expr& expr, const Facts& facts);
Rewritten multiply_back(const Expr& expr, const Facts& facts);
Rewritten divide_by_sum(const Expr& expr, const Facts& facts);
Rewritten divide_common_factor(const Expr& expr, const Facts& facts);
Rewritten divide_of_remainder(const Expr& expr, const Facts& facts);
Rewritten remainder_small(const Expr& expr, const Facts& facts);
Rewritten remainder_of_multiple(const Expr& expr, const Facts& facts);
Rewritten remainder_aligned(const Expr& expr, const Facts& facts);
Rewritten remainder_by_sum(const Expr& expr, const Facts& facts);
Rewritten remainder_common_factor(const Expr& expr, const Facts& facts);
Rewritten remainder_of_remainder(const Expr& expr, const Facts& facts);

}  // namespace twinloom::index
