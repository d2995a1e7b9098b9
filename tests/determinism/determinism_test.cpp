// A family gives the interpreter's bits in every run, whatever the number of threads, with the work really
// divided among them.
#include <gtest/gtest.h>

#include "backends/cpu/cpu.h"
#include "backends/reference/reference.h"
#include "core/pipeline/pipeline.h"
#include "tests/determinism/families.h"
#include "tests/determinism/inputs.h"

namespace twinloom::tests {

namespace {

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
  const Memory expected = memory_of(compiled(graph, reference::make_reference()).run(inputs.arguments)[0]);
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
  EXPECT_EQ(memory_of(executable.run(inputs.arguments, options)[0]), expected);
  EXPECT_GE(most_tasks, GetParam().tasks);

  for (const int threads : {1, 2, 3, 8}) {
    options.settings = {threads, nullptr};
    int different = 0;
    for (int run = 0; run < TWINLOOM_RUNS; ++run)
      different += memory_of(executable.run(inputs.arguments, options)[0]) == expected ? 0 : 1;
    EXPECT_EQ(different, 0) << "with " << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Determinism, testing::ValuesIn(families().begin(), families().end()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace

}  // namespace twinloom::tests
