// Measurements as data: a struct in C++, an object of JSON in the C API.
#include "api/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "api/include/twinloom/twinloom.h"
#include "tests/api/failures.h"

namespace twinloom {
namespace {

// y = x * w and the sums of its rows; x is donated.
Graph products() {
  Builder builder("products");
  const Value x = builder.input("x", DType::f32, {Symbol("n"), 8}, true);
  const Value w = builder.input("w", DType::f32, {8});
  builder.output(x * w, "y");
  builder.output(graph::sum(x * w, {1}), "sums");
  return builder.take();
}

void expect_ordered(const Durations& time) {
  EXPECT_GE(time.count, 5u);
  EXPECT_GT(time.median, 0);
  EXPECT_LE(time.lower_quartile, time.median);
  EXPECT_LE(time.median, time.upper_quartile);
}

TEST(Bench, IsAStruct) {
  const Device device = Device::cpu({.cache = false});
  const Executable executable = compile(products(), device);
  std::array<float, 32> x{};
  x.fill(2);
  std::array<float, 8> w{};
  w.fill(3);
  const std::vector<Argument> arguments = {view_of(x.data(), DType::f32, {4, 8}),
                                           view_of(w.data(), DType::f32, {8})};
  std::vector<std::string> said;
  const auto say = [&](const std::string& words) { said.push_back(words); };
  const Benched benched = bench(executable, arguments, device, {.run = {}, .seconds = 0, .progress = say});
  expect_ordered(benched.run);
  EXPECT_GT(benched.prepare_seconds, 0);
  EXPECT_GT(benched.compile_seconds, 0);
  EXPECT_EQ(benched.peak_bytes, executable.peak_bytes(arguments));
  ASSERT_FALSE(benched.kernels.empty());
  std::int64_t floor = 0;
  for (const BenchedKernel& kernel : benched.kernels) {
    expect_ordered(kernel.time);
    EXPECT_TRUE(kernel.estimate);
    EXPECT_FALSE(kernel.cached);
    EXPECT_GT(kernel.bytes_per_second(), 0);
    floor += kernel.traffic.floor_bytes;
  }
  EXPECT_EQ(floor, 4 * (32 + 8 + 32 + 4));
  EXPECT_EQ(std::ranges::count(x, 2.0f), 32) << "a donated input is kept";
  EXPECT_EQ(said.front(), "run 1");
}

constexpr const char* DOUBLED = R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        y: "f32[4]" = torch.ops.aten.mul.Tensor(x, 2.0)
        return (y,)
)";

class BenchOfC : public testing::Test {
 protected:
  BenchOfC() {
    c::expect_ok(twinloom_graph_read(DOUBLED, std::strlen(DOUBLED), nullptr, &graph));
    c::expect_ok(twinloom_device_open("reference", nullptr, &device));
    c::expect_ok(twinloom_compile(graph, device, nullptr, &executable));
    options.size = sizeof options;
  }
  ~BenchOfC() override {
    twinloom_executable_free(executable);
    twinloom_device_free(device);
    twinloom_graph_free(graph);
  }
  twinloom_error* bench(const twinloom_bench_options* how) {
    return twinloom_bench(executable, &argument, 1, how, &json);
  }

  twinloom_graph* graph = nullptr;
  twinloom_device* device = nullptr;
  twinloom_executable* executable = nullptr;
  twinloom_bench_options options{};
  char* json = nullptr;
  std::array<float, 4> memory{};
  std::int64_t shape = 4;
  DLTensor x = {memory.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &shape, nullptr, 0};
  twinloom_value argument = {TWINLOOM_TENSOR, {&x}};
};

TEST_F(BenchOfC, IsJson) {
  twinloom_run_options run{};
  run.size = sizeof run;
  run.threads = 1;
  options.run = &run;
  for (const twinloom_bench_options* how : {&options, static_cast<twinloom_bench_options*>(nullptr)}) {
    c::expect_ok(bench(how));
    const auto told = nlohmann::json::parse(json);
    twinloom_text_free(json);
    std::set<std::string> names;
    for (const auto& [name, value] : told.items()) names.insert(name);
    EXPECT_EQ(names, (std::set<std::string>{"run_ms", "run_quartiles_ms", "runs", "prepare_ms", "compile_ms",
                                            "peak_bytes", "kernels"}));
    EXPECT_GE(told["runs"], 5);
    EXPECT_GT(told["run_ms"], 0);
    EXPECT_EQ(told["run_quartiles_ms"].size(), 2u);
    ASSERT_EQ(told["kernels"].size(), 1u);
    EXPECT_EQ(told["kernels"][0]["bytes"], 32);
  }
}

TEST_F(BenchOfC, WordsOfWhatIsRefused) {
  options.seconds = -1;
  c::expect_invalid(bench(&options), "twinloom_bench_options.seconds is -1; expected 0 or more");
  options.seconds = std::nan("");
  c::expect_invalid(bench(&options), "twinloom_bench_options.seconds is nan; expected 0 or more");
  options.seconds = 0;
  options.size = 0;
  c::expect_invalid(bench(&options), "twinloom_bench_options: its size is 0");
  x.data = nullptr;
  c::expect_invalid(bench(nullptr), "argument 0");
}

}  // namespace
}  // namespace twinloom
