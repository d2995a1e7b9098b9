// On a GPU: rows that begin between words of memory have the bits of the CPU, in memory that is aligned
// itself and in memory that begins one element behind.
#include "core/loops/rewrite.h"
#include "core/pipeline/pipeline.h"
#include "tests/determinism/inputs.h"
#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

constexpr std::int64_t ROWS = 2048, ELEMENTS = 5003;

class AlignedRows : public GpuTest, public testing::WithParamInterface<DType> {
 protected:
  // The loops of the only kernel.
  int loops_of(const Graph& graph, const CompileOptions& options) const {
    const auto variant = pipeline::make_variant(graph, {}, device().backend(), options);
    int loops = 0;
    loops::for_each_stmt(*variant->groups.at(0).nest.body, [&](const loops::Stmt& stmt) {
      if (std::holds_alternative<loops::Loop>(stmt.node)) ++loops;
    });
    return loops;
  }
};

TEST_P(AlignedRows, HaveTheBitsOfTheCpu) {
  Builder builder("rows");
  const auto x = builder.input("x", GetParam(), {ROWS, ELEMENTS});
  const auto worth = builder.input("worth", DType::f32, {ROWS, 1});
  builder.output(cast(cast(x, DType::f32) * worth, GetParam()));
  const Graph graph = builder.take();
  const CompileOptions options{.mode = Mode::strict};
  ASSERT_EQ(loops_of(graph, options), 3);
  Inputs given = inputs_of(graph);
  given.memory[0].resize(given.memory[0].size() + sizeof(float));
  const Executable here = twinloom::compile(graph, Device::cpu({.cache = false}), options);
  const Executable executable = twinloom::compile(graph, device(), options);
  const auto size = static_cast<std::int64_t>(ops::size_of(GetParam()));
  Tensor all = std::get<Tensor>(given.arguments[0]);
  all.data = given.memory[0].data();
  all.sizes = {ROWS * ELEMENTS + 1};
  all.strides = {1};
  const Tensor there = device().upload(all), worths = device().upload(std::get<Tensor>(given.arguments[1]));
  for (const std::int64_t behind : {0, 1}) {
    const auto rows = [&](Tensor tensor) {
      tensor.data = static_cast<std::byte*>(tensor.data) + behind * size;
      tensor.sizes = {ROWS, ELEMENTS};
      tensor.strides = {ELEMENTS, 1};
      return tensor;
    };
    const std::vector<Argument> of_cpu = {rows(all), given.arguments[1]}, of_gpu = {rows(there), worths};
    const Memory expected = memory_of(here.run(of_cpu)[0]);
    const auto results = executable.run(of_gpu);
    EXPECT_EQ(memory_of(device().download(std::get<Tensor>(results[0]))), expected) << behind;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, AlignedRows, testing::Values(DType::bf16, DType::f16, DType::i8),
                         [](const auto& type) { return std::string(ops::name(type.param)); });

}  // namespace

}  // namespace twinloom::tests
