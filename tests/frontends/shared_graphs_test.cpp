// Graphs exactly as PyTorch 2.11 printed them are read. They do not belong to the repository: where the
// folder is missing ($TWINLOOM_SHARED, else ../shared beside it) the test says that it skips.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/graph/graph.h"
#include "frontends/arrays/arrays.h"
#include "tests/frontends/texts.h"

namespace twinloom::tests {
namespace {

std::filesystem::path graphs_folder() {
  const char* given = std::getenv("TWINLOOM_SHARED");
  return std::filesystem::path(given != nullptr ? given : TWINLOOM_SHARED) / "graphs";
}

class SharedGraphs : public testing::TestWithParam<const char*> {};

TEST_P(SharedGraphs, AreReadAndFitTheirArrays) {
  const std::filesystem::path folder = graphs_folder();
  const std::string name = GetParam();
  if (!std::filesystem::exists(folder / (name + ".fx")))
    GTEST_SKIP() << "there is no " << folder / (name + ".fx");
  const graph::Graph graph = fx::read(read_file(folder / (name + ".fx")));
  graph::verify(graph);
  std::size_t outputs = 0;
  for (const arrays::Entry& entry : arrays::read_npz(folder / (name + ".npz"))) {
    const bool counts = entry.name.starts_with("out") && !entry.name.ends_with("_strides");
    outputs += counts ? 1u : 0u;
  }
  EXPECT_EQ(graph.results().size(), outputs);
}

INSTANTIATE_TEST_SUITE_P(All, SharedGraphs,
                         testing::Values("sincos.fw", "softmax_dim0.fw", "layernorm.fw", "layernorm.bw",
                                         "cross_entropy.fw", "cross_entropy.bw", "nhwc_scale_bias_relu.fw",
                                         "cumsum_mask.fw", "quantize_int8.fw", "var_mean_std.fw",
                                         "pad_slice_cat_flip.fw", "scatter_add_bincount.fw", "adamw_step.fw",
                                         "int_ops.fw", "special_functions.fw", "dyn_softmax_stack.fw",
                                         "bf16_norm_gelu.fw"));

}  // namespace
}  // namespace twinloom::tests
