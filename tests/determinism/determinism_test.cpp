// A family gives the interpreter's bits in every run, whatever the number of threads, with the work really
// divided among them.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "backends/cpu/cpu.h"
#include "backends/reference/reference.h"
#include "core/graph/bind.h"
#include "core/pipeline/pipeline.h"
#include "tests/determinism/families.h"

namespace twinloom::tests {

namespace {

using Memory = std::vector<std::byte>;

// Numbers of mixed size and sign, so that another order gives other bits.
ops::Number drawn(ops::DType dtype, std::mt19937_64& random) {
  if (ops::is_integer(dtype)) return ops::cast(static_cast<std::int64_t>(random() >> 40), dtype);
  const double size = std::exp2(static_cast<double>(random() % 4));
  const double sign = random() % 2 == 0 ? 1 : -1;
  return ops::cast(sign * size * (0.5 + static_cast<double>(random() >> 11) * 0x1p-54), dtype);
}

struct Inputs {
  std::vector<Memory> memory;
  std::vector<runtime::Argument> arguments;
};

Inputs inputs_of(const graph::Graph& graph) {
  std::mt19937_64 random(5);
  Inputs inputs;
  for (const auto& parameter : graph.parameters()) {
    const graph::Node& node = graph[std::get<graph::NodeId>(parameter.value)];
    std::vector<std::int64_t> sizes = graph::sizes_of(node.shape, {});
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    const std::int64_t size = ops::size_of(node.dtype);
    Memory& memory = inputs.memory.emplace_back(static_cast<std::size_t>(count * size));
    for (std::int64_t at = 0; at < count; ++at)
      ops::store_number(node.dtype, drawn(node.dtype, random), memory.data() + at * size);
    inputs.arguments.emplace_back(runtime::view_of(memory.data(), node.dtype, std::move(sizes)));
  }
  return inputs;
}

Memory bytes_of(const runtime::Output& output) {
  const auto& tensor = std::get<runtime::Tensor>(output);
  const auto* bytes = static_cast<const std::byte*>(tensor.data);
  return {bytes, bytes + runtime::element_count(tensor) * ops::size_of(tensor.dtype)};
}

class Determinism : public testing::TestWithParam<Family> {
 protected:
  static runtime::Executable compiled(const graph::Graph& graph, std::shared_ptr<const runtime::Backend> on) {
    return pipeline::compile(graph, std::move(on), {pipeline::Mode::strict, true, false});
  }
};

TEST_P(Determinism, EveryRunHasTheInterpretersBits) {
  graph::Builder builder("family");
  GetParam().build(builder);
  const graph::Graph graph = builder.take();
  const Inputs inputs = inputs_of(graph);
  const Memory expected = bytes_of(compiled(graph, reference::make_reference()).run(inputs.arguments)[0]);
  const runtime::Executable executable =
      compiled(graph, cpu::make_cpu({.threads = 2, .worth_a_thread_seconds = 0}));

  std::int64_t most_tasks = 1;
  const runtime::ParallelFor counting = [&](std::int64_t tasks, int, runtime::ParallelBody body,
                                            void* context) {
    most_tasks = std::max(most_tasks, tasks);
    body(context, 0, tasks);
  };
  runtime::RunOptions options;
  options.settings = {8, &counting};
  EXPECT_EQ(bytes_of(executable.run(inputs.arguments, options)[0]), expected);
  EXPECT_GE(most_tasks, GetParam().tasks);

  for (const int threads : {1, 2, 3, 8}) {
    options.settings = {threads, nullptr};
    int different = 0;
    for (int run = 0; run < TWINLOOM_RUNS; ++run)
      different += bytes_of(executable.run(inputs.arguments, options)[0]) == expected ? 0 : 1;
    EXPECT_EQ(different, 0) << "with " << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Determinism, testing::ValuesIn(families().begin(), families().end()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace

}  // namespace twinloom::tests
