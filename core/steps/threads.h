// What thread loops of a program must respect. For the inside of this component.
#pragma once

#include "core/steps/tree.h"

namespace twinloom::steps {

// Why the threads of a block do not come together where they have to, or an empty text:
//   a member of a thread loop has the same threads wherever loops over the axis stand;
//   what combines copies of threads stands in no loop that only some of them walk, or that ends at another
//   iteration for some.
std::string why_bad_threads(const loops::Program& program);

}  // namespace twinloom::steps
