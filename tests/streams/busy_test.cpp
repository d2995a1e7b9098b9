// On a GPU that other streams keep busy, each family gives the CPU's bits in every one of a thousand runs.
#include <atomic>
#include <deque>
#include <thread>

#include "tests/determinism/families.h"
#include "tests/determinism/inputs.h"
#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

using runtime::Pending;

// Two streams, from a thread each, always have a few runs that wait for the GPU, until this ends.
class OtherWork {
 public:
  explicit OtherWork(const Device& device) {
    for (const std::int64_t rows : {301, 4099}) threads_.emplace_back([=, this] { work(device, rows); });
  }
  ~OtherWork() { ended_ = true; }
  std::int64_t runs() const { return runs_; }

 private:
  void work(const Device& device, std::int64_t rows) {
    Builder builder("other");
    const Value x = builder.input("x", DType::f32, {rows, 2003});
    builder.output(softmax(graph::realize(graph::cumsum(x, 0)), 1));
    const Executable executable = compile(builder.take(), device);
    const Inputs given = inputs_of(executable.graph());
    const std::vector<Argument> there = {device.upload(std::get<Tensor>(given.arguments.front()))};
    const CallersStream stream;
    std::deque<Pending> waiting;
    for (; !ended_; ++runs_) {
      waiting.push_back(executable.start(there, stream.options()));
      if (waiting.size() < 4) continue;
      waiting.front().wait();
      waiting.pop_front();
    }
    for (Pending& run : waiting) run.wait();
  }

  std::atomic<bool> ended_ = false;
  std::atomic<std::int64_t> runs_ = 0;
  std::vector<std::jthread> threads_;
};

class Busy : public GpuTest, public testing::WithParamInterface<Family> {};

TEST_P(Busy, AThousandRunsHaveTheCpusBits) {
  constexpr int RUNS = 1000;
  Builder builder("family");
  GetParam().build(builder);
  const Graph graph = builder.take();
  const Inputs inputs = inputs_of(graph);
  const CompileOptions strict{.mode = Mode::strict};
  const Executable on_cpu = compile(graph, Device::cpu({.cache = false}), strict);
  const Memory expected = memory_of(on_cpu.run(inputs.arguments)[0]);
  const Executable executable = compile(graph, device(), strict);
  std::vector<Argument> there;
  for (const Argument& argument : inputs.arguments)
    there.emplace_back(device().upload(std::get<Tensor>(argument)));
  executable.run(there);

  const OtherWork other(device());
  while (other.runs() < 8) std::this_thread::yield();
  int different = 0;
  for (int run = 0; run < RUNS; ++run) {
    const Tensor result = device().download(std::get<Tensor>(executable.run(there)[0]));
    different += memory_of(result) == expected ? 0 : 1;
  }
  EXPECT_EQ(different, 0);
}

INSTANTIATE_TEST_SUITE_P(Families, Busy, testing::ValuesIn(families().begin(), families().end()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace

}  // namespace twinloom::tests
