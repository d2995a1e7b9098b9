// The arrays of the step cache. For the inside of this component.
#pragma once

#include "core/steps/tree.h"

namespace twinloom::steps {

// Dense, with a dimension for each of these loops.
struct Array {
  std::vector<loops::Loop> dimensions;
  index::Expr place = 0;  // of an element, by the axes of the dimensions
  std::int64_t count = 1;
};
std::variant<Array, std::string> array_over(const Kernel& kernel, std::vector<loops::Loop> dimensions,
                                            std::int64_t pad);

// Loops over the dimensions that have the names which the step gives them.
struct Filling {
  std::vector<loops::Loop> loops;
  index::Substitution names;  // by the axes of the dimensions
};
// What is known of the loops is added to the kernel's facts.
std::variant<Filling, std::string> filling_of(Kernel& kernel, const Cache& cache, const Array& array);

}  // namespace twinloom::steps
