// Inside of the room: proofs without simplification, which the rules of simplify.cpp may use.
#pragma once

#include "core/index/facts.h"

namespace twinloom::index {

// expr >= 1 for every allowed assignment. false means "not proven".
bool proves_positive(const Expr& expr, const Facts& facts);

// 0 <= expr < bound
bool proves_within(const Expr& expr, const Expr& bound, const Facts& facts);

// a - b, or nothing where a number leaves 64 bits.
std::optional<Expr> difference(const Expr& a, const Expr& b);

}  // namespace twinloom::index
