// On a GPU whose blocks may form clusters: rows that several blocks keep have the bits of the CPU, and of a
// second run.
#include <algorithm>

#include "core/emit/emit.h"
#include "core/pipeline/pipeline.h"
#include "tests/determinism/inputs.h"
#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

struct Case {
  const char* name;
  std::int64_t rows, elements;
};
// Blocks of 512 threads, 4 and 8 of them, and of 1024; rows that end inside a unit; more clusters than run at
// once.
constexpr Case CASES[] = {{"FourBlocks", 300, 60'000},
                          {"EightBlocks", 100, 131'072},
                          {"PartOfAUnit", 70, 100'004},
                          {"LargeBlocks", 100, 262'000}};

class Clusters : public GpuTest, public testing::WithParamInterface<Case> {
 protected:
  bool has_clusters(const Graph& graph, const CompileOptions& options) const {
    const auto variant = pipeline::make_variant(graph, {}, device().backend(), options);
    return std::ranges::any_of(variant->steps,
                               [](const auto& step) { return emit::block_shape(step.program).blocks > 1; });
  }
};

TEST_P(Clusters, HaveTheBitsOfOneBlock) {
  if (device().backend().machine().cluster_blocks == 1) GTEST_SKIP() << "its blocks form no clusters";
  Builder builder("rows");
  builder.output(graph::softmax(builder.input("x", DType::f32, {GetParam().rows, GetParam().elements}), -1));
  const Graph graph = builder.take();
  const CompileOptions options{.mode = Mode::strict};
  ASSERT_TRUE(has_clusters(graph, options));
  const Inputs given = inputs_of(graph);
  const Memory expected =
      memory_of(twinloom::compile(graph, Device::cpu({.cache = false}), options).run(given.arguments)[0]);
  const Executable executable = twinloom::compile(graph, device(), options);
  const std::vector<Argument> there = {device().upload(std::get<Tensor>(given.arguments[0]))};
  for (int run = 0; run < 2; ++run)
    EXPECT_EQ(memory_of(device().download(std::get<Tensor>(executable.run(there)[0]))), expected) << run;
}

INSTANTIATE_TEST_SUITE_P(Rows, Clusters, testing::ValuesIn(CASES),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace

}  // namespace twinloom::tests
