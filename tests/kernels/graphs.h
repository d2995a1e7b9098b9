// Graphs of the sorts that the named graphs of PyTorch have, so that what is asserted of those is asserted
// without them too.
#pragma once

#include <string>
#include <vector>

#include "core/graph/builder.h"

namespace twinloom::tests {

enum class Sort { pointwise, rows, rows_and_columns, other };
struct OwnGraph {
  std::string name;
  Sort sort;
  std::size_t most_kernels;
  void (*build)(graph::Builder&);
};
const std::vector<OwnGraph>& own_graphs();

}  // namespace twinloom::tests
