// Arguments that a caller of the C API hands in.
#pragma once

#include <cstddef>
#include <vector>

#include "api/c/handles.h"

namespace twinloom::c {

// Views of the caller's memory. Error naming the argument where one is none; `need_data`: also where one with
// elements has no memory.
std::vector<Argument> arguments_of(const twinloom_value* values, std::size_t count, bool need_data);

}  // namespace twinloom::c
