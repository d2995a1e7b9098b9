// See subjects.h.
#include "tests/kernels/subjects.h"

#include <algorithm>

namespace twinloom::tests {

std::vector<Subject> subjects() {
  std::vector<Subject> all = {
      {"sincos.fw", Sort::pointwise, 1},
      {"softmax_dim0.fw", Sort::rows, 1},
      {"layernorm.fw", Sort::rows, 1},
      {"layernorm.bw", Sort::rows_and_columns, 2},
      {"cross_entropy.fw", Sort::rows, 2},
      {"cross_entropy.bw", Sort::rows, 2},
      {"nhwc_scale_bias_relu.fw", Sort::pointwise, 1},
      {"cumsum_mask.fw", Sort::rows, 1},
      {"quantize_int8.fw", Sort::rows, 2},
      {"var_mean_std.fw", Sort::rows, 5},
      {"pad_slice_cat_flip.fw", Sort::pointwise, 1},
      {"adamw_step.fw", Sort::pointwise, 1},
      {"int_ops.fw", Sort::pointwise, 2},
      {"special_functions.fw", Sort::pointwise, 1},
      // Its second kernel concatenates rows that are stored nowhere, so no buffer says how many they are.
      {"dyn_softmax_stack.fw", Sort::other, 2},
      {"bf16_norm_gelu.fw", Sort::rows, 1}};
  all.push_back({"scatter_add_bincount.fw", Sort::other, 2, nullptr, true});
  for (const OwnGraph& graph : own_graphs())
    all.push_back({graph.name, graph.sort, graph.most_kernels, graph.build});
  return all;
}

Loaded loaded(const Subject& subject) {
  return subject.build != nullptr ? built(subject.build) : read_printed(subject.name);
}

std::string test_name(const testing::TestParamInfo<Subject>& given) {
  std::string name = given.param.name;
  std::ranges::replace(name, '.', '_');
  return name;
}

}  // namespace twinloom::tests
