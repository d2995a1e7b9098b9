// See asked.h.
#include "api/asked.h"

#include "core/base/error.h"
#include "core/runtime/arguments.h"

namespace twinloom {

Asked asked_by(const Graph& graph, const std::vector<Argument>& example, bool of_class) {
  index::Values sizes = runtime::bound_sizes(graph, example);
  for (const auto& [symbol, value] : sizes)
    if (value == 0)
      throw Error(cat("an example has the size ", symbol, " = 0; exported kernels are for sizes above 0"));
  runtime::BoundLayouts bound = runtime::layouts_of(graph, example, true);
  sizes.insert(bound.strides.begin(), bound.strides.end());
  return {std::move(bound.layouts), sizes, of_class ? sizes : index::Values()};
}

}  // namespace twinloom
