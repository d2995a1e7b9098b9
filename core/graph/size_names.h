// Names of the symbols that sizes are made of.
#pragma once

#include <string_view>

#include "core/index/expr.h"

namespace twinloom::graph {

// Of axes and found indices (i0, f12), of the numbers that random draws start from (seed, offset), and with a
// dot of what loops are cut into. No size may have such a name.
bool is_reserved(std::string_view name);

// "u0.neg": a symbol is at least 0, so a number that may be negative is u0 - negative_part(u0), of which one
// is 0.
index::Symbol negative_part(index::Symbol symbol);

}  // namespace twinloom::graph
