// What a module returns.
#pragma once

#include "frontends/fx/memory.h"

namespace twinloom::fx {

// The items as results of the graph, in order; parameters that are written and not returned stand behind
// them. The first result that has elements waits for what the context asserts of elements. `names`: one for
// each item, or none at all.
void add_results(Items items, Context& context, Memory& memory, const std::vector<std::string>& names = {});

}  // namespace twinloom::fx
