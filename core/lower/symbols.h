// Inside of the room: the symbols of a nest, and the names that a person reads.
#pragma once

#include <set>

#include "core/loops/nest.h"

namespace twinloom::lower {

// Every symbol that the nest mentions but does not bind.
std::set<index::Symbol> free_symbols(const loops::Nest& nest);
std::set<index::Symbol> free_symbols(const loops::Stmt& body);

// Axes are named i0, i1, ... (common) and r0, r1, ... (siblings), Index symbols x0, x1, ...
loops::Nest with_short_names(const loops::Nest& nest);

}  // namespace twinloom::lower
