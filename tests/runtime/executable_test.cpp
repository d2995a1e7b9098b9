// What a caller of an Executable may rely on: words of errors, outputs of the caller's, zero sizes, layouts,
// many threads at once, the same bits whatever the number of threads, memory known before the run.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "api/twinloom.h"
#include "core/graph/assertion.h"

namespace twinloom::tests {

namespace {

using graph::Axes;

// What is tested is what the compiler makes, not what an earlier one made.
Device cpu() { return Device::cpu({.cache = false}); }

// y = sum over axis 1 of tanh(x) + b, and the row itself with b added; b has one element a column.
Graph rows_graph() {
  Builder builder("rows");
  const Symbol n("n"), m("m");
  const Value x = builder.input("x", DType::f32, {n, m});
  const Value b = builder.input("b", DType::f32, {m});
  builder.output(graph::sum(graph::tanh(x) + b, {1}), "totals");
  builder.output(x + b, "moved");
  return builder.take();
}

Executable rows(const Device& device = cpu()) {
  return compile(rows_graph(), device, {.mode = Mode::strict});
}

struct Rows {
  Rows(std::int64_t n, std::int64_t m) : x(static_cast<std::size_t>(n * m)), b(static_cast<std::size_t>(m)) {
    std::iota(x.begin(), x.end(), -3.0f);
    for (float& number : x) number *= 0.125f;
    std::iota(b.begin(), b.end(), 0.5f);
    arguments = {view_of(x.data(), DType::f32, {n, m}), view_of(b.data(), DType::f32, {m})};
  }
  std::vector<float> x, b;
  std::vector<runtime::Argument> arguments;
};

std::vector<float> numbers(const Output& output) {
  const Tensor tensor = contiguous(std::get<Tensor>(output));
  const auto* data = static_cast<const float*>(tensor.data);
  return {data, data + runtime::element_count(tensor)};
}

template <class Run>
void expect_error(Run&& run, const std::string& words) {
  try {
    run();
    ADD_FAILURE() << "no Error; expected one with '" << words << "'";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos)
        << error.what() << "\nshould say '" << words << "'";
  }
}

TEST(Threads, TbbCoversEachTaskOnce) {
  const ParallelFor parallel_for = tbb_parallel_for();
  for (const std::int64_t tasks : {1, 2, 7, 64, 1000}) {
    for (const int threads : {1, 2, 3, 8}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(tasks));
      parallel_for(
          tasks, threads,
          [](void* context, std::int64_t begin, std::int64_t end) {
            auto& counts = *static_cast<std::vector<std::atomic<int>>*>(context);
            for (std::int64_t task = begin; task < end; ++task) ++counts[static_cast<std::size_t>(task)];
          },
          &seen);
      for (const std::atomic<int>& count : seen) ASSERT_EQ(count, 1) << tasks << " on " << threads;
    }
  }
}

// A back end whose kernels do nothing, of which one fails to be made.
class FailsOnce final : public runtime::Backend {
 public:
  std::string name() const override { return "fails once"; }
  std::string describe() const override { return name(); }
  const machine::Machine& machine() const override { return machine_; }
  bool runs_nests() const override { return true; }
  runtime::Built build(const loops::Program&) const override {
    if (made_.fetch_add(1) == 5) throw Error("no kernel today");
    return {};
  }
  int made() const { return made_; }

 private:
  machine::Machine machine_;
  mutable std::atomic<int> made_ = 0;
};

// Of at least as many kernels, where none are fused.
Graph chain_of(int links) {
  Builder builder("chain");
  Value value = builder.input("x", DType::f32, {64});
  for (int link = 0; link < links; ++link) value = graph::tanh(value + graph::sum(value, {0}));
  builder.output(value);
  return builder.take();
}

TEST(Building, TheFailureOfOneKernelAmongManyIsThrown) {
  for (const int threads : {1, 4}) {
    const auto backend = std::make_shared<FailsOnce>();
    const Executable executable =
        pipeline::compile(chain_of(24), backend, {.fuse = false, .build_threads = threads});
    const Tensor x = allocate(DType::f32, {64});
    expect_error([&] { executable.variant({{x}}); }, "no kernel today");
    EXPECT_GE(backend->made(), 6);
  }
}

TEST(Building, KernelsMadeSideBySideGiveTheSameBits) {
  const Tensor x = allocate(DType::f32, {64});
  for (int k = 0; k < 64; ++k) static_cast<float*>(x.data)[k] = 0.1f * static_cast<float>(k - 30);
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 8}) {
    const Executable executable =
        compile(chain_of(12), cpu(), {.mode = Mode::strict, .fuse = false, .build_threads = threads});
    results.push_back(numbers(executable.run({{x}}).front()));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

// Large results: what the caller has let go of serves the next run, what he still holds does not.
TEST(Executable, MemoryOfResultsIsTakenAgain) {
  const auto data = [](const std::vector<Output>& outputs) { return std::get<Tensor>(outputs[1]).data; };
  std::vector<Output> kept;
  {
    const Executable executable = rows();
    Rows given(700, 900);
    std::vector<Output> first = executable.run(given.arguments);
    const void* place = data(first);
    kept = executable.run(given.arguments);
    EXPECT_NE(data(kept), place);
    first.clear();
    EXPECT_EQ(data(executable.run(given.arguments)), place);
    Rows smaller(70, 900);
    EXPECT_NE(data(executable.run(smaller.arguments)), place);
  }
  EXPECT_EQ(numbers(kept[1])[1], -0.25f + 1.5f);  // x + b, after the executable is gone
}

TEST(Executable, SaysWhatDoesNotFit) {
  const Executable executable = rows();
  Rows good(4, 5);
  const auto with_x = [&](const Tensor& x) {
    executable.run(std::vector<runtime::Argument>{x, good.arguments[1]});
  };
  expect_error([&] { executable.run(std::vector<runtime::Argument>{good.arguments[0]}); }, "2 parameters");
  expect_error(
      [&] {
        with_x(view_of(good.x.data(), DType::i32, {4, 5}));
      },
      "parameter 'x' is of f32, given was i32");
  expect_error([&] { with_x(view_of(good.x.data(), DType::f32, {20})); }, "2 axes");
  expect_error([&] { with_x(view_of(good.x.data(), DType::f32, {5, 4})); }, "is 5, expected");
  expect_error([&] { with_x(view_of(nullptr, DType::f32, {4, 5})); }, "no memory");
  expect_error(
      [&] {
        executable.run(std::vector<runtime::Argument>{std::int64_t{4}, good.arguments[1]});
      },
      "is a tensor, given was a number");
}

TEST(Executable, WritesIntoTheCallersOutputs) {
  const Executable executable = rows();
  Rows given(3, 7);
  const auto expected = executable.run(given.arguments);
  std::vector<float> totals(3, -1), moved(21, -1);
  const std::vector<Tensor> outputs = {view_of(totals.data(), DType::f32, {3}),
                                       view_of(moved.data(), DType::f32, {3, 7})};
  executable.run(given.arguments, {}, outputs);
  EXPECT_EQ(totals, numbers(expected[0]));
  EXPECT_EQ(moved, numbers(expected[1]));
  std::vector<float> columns(21, -1);
  executable.run(given.arguments, {},
                 std::vector<Tensor>{outputs[0], view_of(columns.data(), DType::f32, {3, 7}, {1, 3})});
  EXPECT_EQ(columns[3], moved[1]);
  EXPECT_EQ(columns[1], moved[7]);
}

TEST(Executable, RefusesOutputsThatDoNotFit) {
  const Executable executable = rows();
  Rows given(3, 7);
  std::vector<float> totals(3), moved(64);
  const Tensor good = view_of(totals.data(), DType::f32, {3});
  const auto with_moved = [&](const Tensor& tensor) {
    executable.run(given.arguments, {}, std::vector<Tensor>{good, tensor});
  };
  expect_error([&] { with_moved(view_of(moved.data(), DType::f32, {7, 3})); }, "output 1 is f32[3, 7]");
  expect_error([&] { with_moved(view_of(moved.data(), DType::f64, {3, 7})); }, "given was f64");
  expect_error([&] { with_moved(view_of(moved.data(), DType::f32, {3, 7}, {7, 0})); }, "overlap");
  expect_error([&] { with_moved(view_of(given.x.data(), DType::f32, {3, 7})); }, "overlaps parameter 'x'");
  expect_error([&] { executable.run(given.arguments, {}, std::vector<Tensor>{good}); },
               "2 outputs of its own");
  expect_error(
      [&] {
        executable.run(given.arguments, {},
                       std::vector<Tensor>{view_of(moved.data(), DType::f32, {3}),
                                           view_of(moved.data(), DType::f32, {3, 7})});
      },
      "outputs 0 and 1 overlap");
}

TEST(Executable, HasVariantsForZeroSizes) {
  const Executable executable = rows();
  Rows no_rows(0, 5), no_columns(4, 0), usual(4, 5);
  EXPECT_TRUE(numbers(executable.run(no_rows.arguments)[0]).empty());
  EXPECT_EQ(numbers(executable.run(no_columns.arguments)[0]), std::vector<float>(4, 0.0f));
  EXPECT_EQ(numbers(executable.run(usual.arguments)[0]).size(), 4u);
  EXPECT_NE(executable.variant(no_rows.arguments), executable.variant(usual.arguments));
  Rows larger(8, 7);  // of the same class
  EXPECT_EQ(executable.variant(larger.arguments), executable.variant(usual.arguments));
}

// The same matrix in memory of several layouts.
std::vector<Tensor> layouts_of(const std::vector<float>& values, std::vector<std::vector<float>>& memory) {
  const std::vector<std::vector<std::int64_t>> strides = {{6, 1}, {1, 4}, {12, 2}, {-6, 1}, {6, -1}, {7, 1}};
  std::vector<Tensor> tensors;
  for (const auto& stride : strides) {
    std::vector<float>& place = memory.emplace_back(64, -9.0f);
    Tensor tensor = view_of(place.data(), DType::f32, {4, 6}, stride);
    tensor.data = place.data() - runtime::extent_of(tensor).first;
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 6; ++j)
        static_cast<float*>(tensor.data)[i * stride[0] + j * stride[1]] =
            values[static_cast<std::size_t>(i * 6 + j)];
    tensors.push_back(tensor);
  }
  return tensors;
}

TEST(Executable, TakesAnyLayout) {
  const Executable executable = rows();
  Rows given(4, 6);
  const auto expected = executable.run(given.arguments);
  std::vector<std::vector<float>> memory;
  memory.reserve(8);
  for (const Tensor& x : layouts_of(given.x, memory)) {
    const auto outputs = executable.run(std::vector<runtime::Argument>{x, given.arguments[1]});
    EXPECT_EQ(numbers(outputs[0]), numbers(expected[0])) << x.strides[0] << " " << x.strides[1];
    EXPECT_EQ(numbers(outputs[1]), numbers(expected[1])) << x.strides[0] << " " << x.strides[1];
  }
}

TEST(Executable, KeepsFewVariants) {
  Builder builder;
  const Value x = builder.input("x", DType::f32, {3, 4});
  builder.output(x * 2.0);
  const Executable executable = compile(builder.take(), Device::reference());
  std::vector<float> memory(400);
  std::iota(memory.begin(), memory.end(), 0.0f);
  for (std::int64_t pitch = 4; pitch < 30; ++pitch) {
    const auto outputs = executable.run(
        std::vector<runtime::Argument>{view_of(memory.data(), DType::f32, {3, 4}, {pitch, 1})});
    EXPECT_EQ(numbers(outputs[0])[5], 2 * static_cast<float>(pitch + 1));
  }
}

TEST(Executable, RunsOnManyThreadsAtOnce) {
  const Executable executable = rows();
  Rows small(5, 9), large(17, 1030);
  const auto expected_small = numbers(executable.run(small.arguments)[0]);
  const auto expected_large = numbers(executable.run(large.arguments)[0]);
  std::atomic<int> different{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int run = 0; run < 50; ++run) {
        const bool use_small = (run + t) % 2 == 0;
        const auto outputs = executable.run(use_small ? small.arguments : large.arguments);
        if (numbers(outputs[0]) != (use_small ? expected_small : expected_large)) ++different;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, 0);
}

RunOptions on_threads(int threads) {
  RunOptions options;
  options.settings.threads = threads;
  return options;
}

TEST(Executable, TheNumberOfThreadsChangesNoBit) {
  const Executable executable = rows();
  Rows given(600, 1031);
  const auto expected = numbers(executable.run(given.arguments, on_threads(1))[0]);
  for (const int threads : {2, 3}) {
    const auto outputs = executable.run(given.arguments, on_threads(threads));
    EXPECT_EQ(numbers(outputs[0]), expected) << threads << " threads";
    RunOptions on_tbb = on_threads(threads);
    const ParallelFor parallel_for = tbb_parallel_for();
    on_tbb.settings.parallel_for = &parallel_for;
    EXPECT_EQ(numbers(executable.run(given.arguments, on_tbb)[0]), expected) << threads << " of TBB";
  }
}

TEST(Executable, KnowsItsPeakMemory) {
  Builder builder;
  const Symbol n("n");
  const Value x = builder.input("x", DType::f32, {n, 8});
  builder.output(x + 1.0);
  const Executable executable = compile(builder.take(), cpu());
  std::vector<float> memory(80);
  const auto peak = [&](std::int64_t rows) {
    return executable.peak_bytes(
        std::vector<runtime::Argument>{view_of(memory.data(), DType::f32, {rows, 8})});
  };
  EXPECT_EQ(peak(10), 10 * 8 * 4);
  EXPECT_EQ(peak(3), 3 * 8 * 4);
  EXPECT_EQ(peak(0), 0);
}

TEST(Executable, PlansForTensorsWithoutMemoryAndRunsNone) {
  const Executable executable = rows();
  const std::vector<runtime::Argument> described = {view_of(nullptr, DType::f32, {1 << 20, 1 << 20}),
                                                    view_of(nullptr, DType::f32, {1 << 20})};
  EXPECT_FALSE(executable.variant(described)->steps.empty());
  EXPECT_GT(executable.peak_bytes(described), std::int64_t{1} << 40);
  expect_error([&] { executable.run(described); }, "parameter 'x' has no memory");
  expect_error([&] { executable.start(described); }, "parameter 'x' has no memory");
}

TEST(Executable, NamesTheNodeOfAnIndexOutOfRange) {
  Builder builder;
  const Value table = builder.input("table", DType::f32, {10, 4});
  const Value at = builder.input("at", DType::i64, {3});
  builder.origin.name = "lookup";
  builder.output(graph::take(table, 0, at));
  const Graph graph = builder.take();
  std::vector<float> rows(40, 1.0f);
  std::vector<std::int64_t> places = {0, 12, 9};
  const std::vector<runtime::Argument> arguments = {view_of(rows.data(), DType::f32, {10, 4}),
                                                    view_of(places.data(), DType::i64, {3})};
  for (const Device& device : {cpu(), Device::reference()}) {
    const Executable executable = compile(graph, device);
    expect_error([&] { executable.run(arguments); }, "lookup");
    expect_error([&] { executable.run(arguments); }, "index 12 is out of range");
    places[1] = 5;
    EXPECT_EQ(numbers(executable.run(arguments)[0]).size(), 12u);
    places[1] = 12;
  }
}

// It has become a select; the message is that of the scatter.
TEST(Executable, NamesTheScatterOfAnIndexOutOfRange) {
  Builder builder;
  const Value at = builder.input("at", DType::i64, {2, 1});
  builder.output(graph::scatter(builder.constant(0.0, DType::f32, {2, 10}), 1, at, 1.0));
  const Graph graph = builder.take();
  std::vector<std::int64_t> places = {3, -1};
  const std::vector<runtime::Argument> arguments = {view_of(places.data(), DType::i64, {2, 1})};
  for (const Device& device : {cpu(), Device::reference()}) {
    const Executable executable = compile(graph, device);
    expect_error([&] { executable.run(arguments); }, "scatter replace");
    expect_error([&] { executable.run(arguments); }, "index -1 is out of range; expected 0 <= index < 10");
  }
}

TEST(Executable, SaysTheWordsOfAnAssertionThatDoesNotHold) {
  Builder builder;
  const Value x = builder.input("x", DType::f32, {Symbol("n")});
  const Value all = graph::reduce(ops::Monoid::all, gt(x, 0.0), {});
  const graph::Assertion assertion{all, "x must be positive"};
  builder.output(graph::asserting(exp(x), std::span(&assertion, 1)));
  const Graph graph = builder.take();
  for (const Device& device : {cpu(), Device::reference()}) {
    const Executable executable = compile(graph, device);
    for (const std::int64_t n : {0, 1, 3}) {
      std::vector<float> good(static_cast<std::size_t>(n), 1.0f), bad = good;
      const auto run = [&](std::vector<float>& values) {
        executable.run(std::vector<runtime::Argument>{view_of(values.data(), DType::f32, {n})});
      };
      EXPECT_NO_THROW(run(good));
      if (n == 0) continue;
      bad.back() = -1.0f;
      expect_error([&] { run(bad); }, "x must be positive");
    }
  }
}

TEST(Executable, DrawsTheSameNumbersForASeed) {
  Builder builder;
  builder.output(builder.normal({1000}, DType::f32));
  const Graph graph = builder.take();
  const Executable on_cpu = compile(graph, cpu()), interpreted = compile(graph, Device::reference());
  const auto draw = [](const Executable& executable, std::uint64_t seed) {
    RunOptions options;
    options.seed = seed;
    return numbers(executable.run({}, options)[0]);
  };
  EXPECT_EQ(draw(on_cpu, 7), draw(on_cpu, 7));
  EXPECT_EQ(draw(on_cpu, 7), draw(interpreted, 7));
  EXPECT_NE(draw(on_cpu, 7), draw(on_cpu, 8));
}

}  // namespace

}  // namespace twinloom::tests
