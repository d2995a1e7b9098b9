// The operators that the frontend reads: one row each, over the graph builder. A row is found by its
// exact name with the overload ("scatter.value"), else by the name alone ("scatter"). A row "prims.sum" goes
// before "sum" for targets among the prims.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/fx/items.h"

namespace twinloom::fx {

struct Row {
  std::string_view name;
  Item (*build)(const Arguments& arguments);
  bool is_view = false;  // what it gives lies in the memory of its first tensor where it can
  bool writes = false;   // its first tensor, a parameter, holds what it gives when the run is over
};

// One table a family.
std::span<const Row> pointwise_rows();
std::span<const Row> view_rows();
std::span<const Row> reduction_rows();
std::span<const Row> indexing_rows();
std::span<const Row> composite_rows();
std::span<const Row> creation_rows();
std::span<const Row> size_rows();
std::span<const Row> prims_rows();
std::span<const Row> copy_rows();
std::span<const Row> complex_rows();

// Null when there is none. `target` as printed: torch.ops.aten.add.Tensor, operator.add, torch.sym_max.
const Row* find_row(std::string_view target);
// Up to three names near to `target`, the nearest first.
std::vector<std::string> nearest_operators(std::string_view target);
// The names of all rows, sorted.
std::vector<std::string_view> operator_names();

}  // namespace twinloom::fx
