// What a random graph returns beside the values that nothing has used: parameters, views, duplicates, clones,
// sizes, None and constants, in any order.
#pragma once

#include <vector>

#include "tests/conformance/draw.h"

namespace twinloom::tests {

// Makes results of `values` and of what is drawn beside them; gives the features of all.
Features add_results(Draw& draw, const std::vector<Drawn>& values);

}  // namespace twinloom::tests
