// The C API: DLPack both ways, what is refused and in which words, and what is whose.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/c/dlpack.h"
#include "api/include/twinloom/twinloom.h"
#include "core/base/error.h"
#include "tests/api/failures.h"

namespace twinloom::c {
namespace {

constexpr const char* SUMS = R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 4]"):
        add: "f32[s0, 4]" = torch.ops.aten.add.Tensor(x, 1.0)
        view: "f32[4, s0]" = torch.ops.aten.permute.default(x, [1, 0])
        sum: "f32[s0]" = torch.ops.aten.sum.dim_IntList(x, [1])
        return (add, view, None, sum)
)";

class Sums : public testing::Test {
 protected:
  Sums() {
    expect_ok(twinloom_graph_read(SUMS, std::strlen(SUMS), nullptr, &graph));
    twinloom_device_options options{};
    options.size = sizeof options;
    options.no_cache = 1;
    expect_ok(twinloom_device_open("cpu", &options, &device));
    expect_ok(twinloom_compile(graph, device, nullptr, &executable));
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  }
  ~Sums() override {
    for (twinloom_value& result : results) twinloom_value_release(&result);
    twinloom_executable_free(executable);
    twinloom_device_free(device);
    twinloom_graph_free(graph);
  }
  twinloom_error* run() {
    return twinloom_run(executable, &argument, 1, nullptr, results.data(), results.size());
  }

  twinloom_graph* graph = nullptr;
  twinloom_device* device = nullptr;
  twinloom_executable* executable = nullptr;
  std::array<float, 12> memory{};
  std::array<std::int64_t, 2> shape = {3, 4};
  DLTensor x = {memory.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape.data(), nullptr, 0};
  twinloom_value argument = {TWINLOOM_TENSOR, {&x}};
  std::array<twinloom_value, 4> results{};
};

const float* floats(const twinloom_value& value) {
  return static_cast<const float*>(value.as.managed->dl_tensor.data);
}

TEST_F(Sums, ResultsAreManagedTensorsViewsAndNone) {
  expect_ok(run());
  ASSERT_EQ(results[0].kind, TWINLOOM_MANAGED);
  EXPECT_EQ(floats(results[0])[11], 12.0f);
  ASSERT_EQ(results[1].kind, TWINLOOM_MANAGED);
  const DLTensor& view = results[1].as.managed->dl_tensor;
  EXPECT_EQ(view.data, memory.data());
  EXPECT_EQ(view.shape[0], 4);
  EXPECT_EQ(view.strides[0], 1);
  EXPECT_EQ(view.strides[1], 4);
  EXPECT_EQ(results[2].kind, TWINLOOM_NONE);
  EXPECT_EQ(floats(results[3])[2], 8.0f + 9.0f + 10.0f + 11.0f);
}

TEST_F(Sums, ResultsOutliveTheExecutable) {
  expect_ok(run());
  twinloom_executable_free(std::exchange(executable, nullptr));
  twinloom_device_free(std::exchange(device, nullptr));
  twinloom_graph_free(std::exchange(graph, nullptr));
  EXPECT_EQ(floats(results[0])[0], 1.0f);
}

TEST_F(Sums, StridesAndOffsetsOfArgumentsAreThoseOfDlpack) {
  std::array<std::int64_t, 2> strides = {0, -2};
  x.strides = strides.data();
  x.byte_offset = 8 * sizeof(float);
  expect_ok(run());
  EXPECT_EQ(floats(results[0])[0], 9.0f);
  EXPECT_EQ(floats(results[0])[3], 3.0f);
  EXPECT_EQ(floats(results[3])[2], 8.0f + 6.0f + 4.0f + 2.0f);
}

TEST_F(Sums, ResultsLieInTheOrderOfWhatIsReadOrRowMajor) {
  std::array<std::int64_t, 2> columns = {1, 3};
  x.strides = columns.data();
  for (const std::int32_t row_major : {0, 1}) {
    twinloom_compile_options options{};
    options.size = sizeof options;
    options.row_major_results = row_major;
    twinloom_executable_free(std::exchange(executable, nullptr));
    expect_ok(twinloom_compile(graph, device, &options, &executable));
    expect_ok(run());
    const DLTensor& sum = results[0].as.managed->dl_tensor;
    EXPECT_EQ(sum.strides[0], row_major != 0 ? 4 : 1);
    EXPECT_EQ(floats(results[0])[sum.strides[1]], memory[3] + 1);  // element 0, 1
    for (twinloom_value& result : results) twinloom_value_release(&result);
  }
  x.strides = nullptr;
}

TEST_F(Sums, ATensorThatIsWhereItShouldBeIsNotCopied) {
  DLManagedTensor* moved = nullptr;
  expect_ok(twinloom_device_upload(device, &x, &moved));
  EXPECT_EQ(moved->dl_tensor.data, memory.data());
  moved->deleter(moved);
  expect_ok(twinloom_device_download(device, &x, &moved));
  EXPECT_EQ(moved->dl_tensor.data, memory.data());
  moved->deleter(moved);
  x.device = {kDLCUDA, 1};
  expect_invalid(twinloom_device_download(device, &x, &moved),
                 "lies on GPU 1; it cannot be downloaded by the device cpu");
  expect_ok(twinloom_device_release_memory(device));
}

TEST_F(Sums, AManagedResultIsAnArgument) {
  expect_ok(run());
  std::array<twinloom_value, 4> second{};
  expect_ok(twinloom_run(executable, results.data(), 1, nullptr, second.data(), second.size()));
  EXPECT_EQ(floats(second[0])[11], 13.0f);
  for (twinloom_value& value : second) twinloom_value_release(&value);
}

TEST_F(Sums, ResultsAreWrittenIntoTheCallersMemoryOrNoneAre) {
  std::array<float, 12> added{};
  std::array<float, 3> summed{};
  DLTensor first = x;
  first.data = added.data();
  DLTensor last = {summed.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape.data(), nullptr, 0};
  results[0] = {TWINLOOM_TENSOR, {&first}};
  expect_invalid(run(), "1 of the 2 results that the graph computes have a tensor; expected all or none");
  results[3] = {TWINLOOM_TENSOR, {&last}};
  expect_ok(run());
  EXPECT_EQ(added[11], 12.0f);
  EXPECT_EQ(summed[2], 38.0f);
  EXPECT_EQ(results[0].as.tensor, &first);
  EXPECT_EQ(results[1].kind, TWINLOOM_MANAGED);
  twinloom_value_release(&results[1]);
  results[1] = {TWINLOOM_TENSOR, {&first}};
  expect_invalid(run(), "result 1 is of kind 1; expected TWINLOOM_NONE (0), for nothing is computed for it");
  results = {};
}

TEST_F(Sums, WrongArgumentsAreErrorsAndChangeNoResult) {
  expect_invalid(twinloom_run(executable, &argument, 1, nullptr, results.data(), 3),
                 "3 results were asked for; the graph has 4");
  expect_invalid(twinloom_run(executable, nullptr, 1, nullptr, results.data(), 4), "arguments is NULL");
  argument.kind = TWINLOOM_NONE;
  expect_invalid(run(), "argument 0 is of kind 0; expected TWINLOOM_TENSOR (1)");
  argument.kind = TWINLOOM_TENSOR;
  argument.as.tensor = nullptr;
  expect_invalid(run(), "argument 0: the tensor is NULL");
  argument.as.tensor = &x;
  x.data = nullptr;
  expect_invalid(run(), "argument 0: has elements, and its data is NULL");
  expect_ok(twinloom_prepare(executable, &argument, 1));
  x.data = memory.data();
  x.dtype.lanes = 2;
  expect_invalid(run(), "32 bits and 2 lanes is not known");
  x.dtype = {kDLFloat, 64, 1};
  expect_invalid(run(), "x");
  x.dtype = {kDLFloat, 32, 1};
  x.device.device_type = kDLROCM;
  expect_invalid(run(), "lies on DLPack's device type 10");
  x.device = {kDLCUDA, 0};
  expect_invalid(run(), "x");
  x.device = {kDLCPU, 0};
  shape[0] = -1;
  expect_invalid(run(), "argument 0: has the size -1");
  shape[0] = std::int64_t{1} << 60;
  expect_invalid(run(), "f32[1152921504606846976, 4] has more bytes than 64 bits count");
  x.ndim = 1000;
  expect_invalid(run(), "argument 0: has 1000 dimensions; 0 to 64 are possible");
  for (const twinloom_value& result : results) EXPECT_EQ(result.kind, TWINLOOM_NONE);
}

TEST_F(Sums, ErrorsNameTheParameter) {
  x.ndim = 1;
  const Failure failure(run());
  EXPECT_EQ(failure.code, TWINLOOM_INVALID);
  EXPECT_EQ(failure.node, "x");
  EXPECT_EQ(failure.line, 0);
  EXPECT_STREQ(twinloom_error_node(nullptr), "");
  EXPECT_EQ(twinloom_error_line(nullptr), 0);
}

TEST(CApi, ErrorsOfATextSayTheNodeAndTheLine) {
  const auto failure_of = [](std::string_view text) {
    twinloom_graph* graph = nullptr;
    return Failure(twinloom_graph_read(text.data(), text.size(), nullptr, &graph));
  };
  const auto unlike = failure_of(
      "class f(torch.nn.Module):\n"
      "    def forward(self, a: \"f32[3]\", b: \"f32[4]\"):\n"
      "        sum_of_both: \"f32[3]\" = torch.ops.aten.add.Tensor(a, b)\n"
      "        return (sum_of_both,)\n");
  EXPECT_EQ(unlike.node, "sum_of_both") << unlike.message;
  EXPECT_EQ(unlike.line, 3) << unlike.message;
  const auto unknown = failure_of(
      "class f(torch.nn.Module):\n"
      "    def forward(self, a: \"f32[3]\"):\n\n"
      "        b: \"f32[3]\" = torch.ops.aten.frobnicate.default(a)\n"
      "        return (b,)\n");
  EXPECT_EQ(unknown.line, 4) << unknown.message;
  const auto own_form = failure_of("graph \"f\"\ninput nonsense\n");
  EXPECT_EQ(own_form.line, 2) << own_form.message;
}

TEST_F(Sums, PortsSayWhatIsKnownBeforeARun) {
  ASSERT_EQ(twinloom_graph_parameter_count(graph), 1u);
  ASSERT_EQ(twinloom_graph_result_count(graph), 4u);
  twinloom_port port{};
  port.size = sizeof port;
  expect_ok(twinloom_graph_result(graph, 1, &port));
  EXPECT_EQ(port.kind, TWINLOOM_TENSOR);
  EXPECT_EQ(port.ndim, 2);
  EXPECT_EQ(port.shape[0], 4);
  EXPECT_EQ(port.shape[1], -1);
  EXPECT_STREQ(port.shape_symbols[1], "s0");
  EXPECT_EQ(port.dtype.bits, 32);
  expect_ok(twinloom_graph_result(graph, 2, &port));
  EXPECT_EQ(port.kind, TWINLOOM_NONE);
  expect_invalid(twinloom_graph_parameter(graph, 1, &port), "there is no parameter 1; the graph has 1");
  port.size = 0;
  expect_invalid(twinloom_graph_parameter(graph, 0, &port), "twinloom_port: its size is 0");
}

TEST_F(Sums, AnExplanationIsJson) {
  char* json = nullptr;
  x.data = nullptr;
  expect_ok(twinloom_explain(executable, &argument, 1, 1, &json));
  const auto told = nlohmann::json::parse(json);
  twinloom_text_free(json);
  ASSERT_FALSE(told["kernels"].empty());
  const auto& kernel = told["kernels"][0];
  EXPECT_GT(kernel["estimate"]["seconds"].get<double>(), 0);
  EXPECT_EQ(kernel["bytes"], 2 * 3 * 4 * 4 + 3 * 4);
  EXPECT_TRUE(kernel["estimate"]["limits"].contains("launch"));
  EXPECT_NE(kernel["sources"][0].get<std::string>().find("extern"), std::string::npos);
  EXPECT_EQ(told["peak_bytes"], 3 * 4 * 4 + 3 * 4);
  EXPECT_TRUE(told["missed"].is_array());
}

class Donated : public Sums {
 protected:
  Donated() {
    constexpr std::string_view text = R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 4]"):
        add: "f32[s0, 4]" = torch.ops.aten.add.Tensor(x, 1.0)
        return (add,)
)";
    twinloom_executable_free(executable);
    executable = nullptr;
    twinloom_graph_free(graph);
    expect_ok(twinloom_graph_read(text.data(), text.size(), nullptr, &graph));
    options.size = sizeof options;
    options.donated = "x";
    expect_ok(twinloom_compile(graph, device, &options, &executable));
  }
  twinloom_compile_options options{};
};

TEST_F(Donated, ArgumentsGiveTheirMemory) {
  std::int64_t bytes = -1;
  expect_ok(twinloom_peak_bytes(executable, &argument, 1, &bytes));
  EXPECT_EQ(bytes, 0);
  char* json = nullptr;
  expect_ok(twinloom_explain(executable, &argument, 1, 1, &json));
  const auto told = nlohmann::json::parse(json);
  twinloom_text_free(json);
  EXPECT_EQ(told["reuses"],
            nlohmann::json::parse(R"([{"result": 0, "name": "", "input": "x", "bytes": 48}])"));
  std::int32_t parameter = -1;
  expect_ok(twinloom_reuses(executable, &argument, 1, &parameter, 1));
  EXPECT_EQ(parameter, 0);
  expect_invalid(twinloom_reuses(executable, &argument, 1, &parameter, 2),
                 "2 results were asked for; the graph has 1");
  expect_ok(twinloom_run(executable, &argument, 1, nullptr, results.data(), 1));
  EXPECT_EQ(floats(results[0]), memory.data());
  EXPECT_EQ(memory[11], 12.0f);
  twinloom_value_release(results.data());
  twinloom_run_options kept{};
  kept.size = sizeof kept;
  kept.keep_donated = 1;
  expect_ok(twinloom_run(executable, &argument, 1, &kept, results.data(), 1));
  EXPECT_EQ(floats(results[0])[11], 13.0f);
  EXPECT_EQ(memory[11], 12.0f);
}

TEST_F(Donated, ABoundRunTakesAddresses) {
  std::array<float, 12> apart{};
  DLTensor result = x;
  result.data = nullptr;
  twinloom_value given{};
  given.kind = TWINLOOM_TENSOR;
  given.as.tensor = &result;
  twinloom_bound_run* bound = nullptr;
  expect_ok(twinloom_bind(executable, &argument, 1, &given, 1, &bound));
  std::array<void*, 2> addresses = {x.data, apart.data()};
  expect_ok(twinloom_bound_start(bound, addresses.data(), 2, nullptr, nullptr));
  EXPECT_EQ(apart[11], 12.0f);
  addresses[1] = x.data;
  expect_ok(twinloom_bound_start(bound, addresses.data(), 2, nullptr, nullptr));
  EXPECT_EQ(memory[11], 12.0f);
  expect_invalid(twinloom_bound_start(bound, addresses.data(), 1, nullptr, nullptr),
                 "1 addresses were given; expected 2, of 1 arguments and 1 outputs");
  expect_invalid(twinloom_bound_start(nullptr, addresses.data(), 2, nullptr, nullptr), "bound is NULL");
  twinloom_bound_free(bound);
}

TEST_F(Donated, NamesAreThoseOfParameters) {
  options.donated = "x,y";
  twinloom_executable* other = nullptr;
  expect_invalid(twinloom_compile(graph, device, &options, &other),
                 "donated input 'y': the graph has no parameter of this name; it has 'x'");
}

TEST_F(Sums, OptionsOfLaterVersionsAreTakenWhereTheyAreNotSet) {
  struct {
    twinloom_run_options known;
    std::uint64_t later;
  } options{};
  options.known.size = sizeof options;
  expect_ok(twinloom_run(executable, &argument, 1, &options.known, results.data(), results.size()));
  for (twinloom_value& result : results) twinloom_value_release(&result);
  options.later = 1;
  expect_invalid(twinloom_run(executable, &argument, 1, &options.known, results.data(), results.size()),
                 "of a later version than this library's");
  options.known.size = sizeof(std::size_t) + sizeof(std::int32_t);  // an earlier one's, with threads alone
  options.known.threads = 1;
  expect_ok(twinloom_run(executable, &argument, 1, &options.known, results.data(), results.size()));
}

TEST_F(Sums, TheCallersThreadsRunTheTasks) {
  struct Caller {
    std::int64_t tasks = 0;
  } caller;
  twinloom_run_options options{};
  options.size = sizeof options;
  options.threads = 2;
  options.parallel_context = &caller;
  options.parallel_for = [](void* context, std::int64_t tasks, std::int32_t, twinloom_tasks body,
                            void* of_body) {
    static_cast<Caller*>(context)->tasks += tasks;
    for (std::int64_t task = 0; task < tasks; ++task) body(of_body, task, task + 1);
  };
  std::vector<float> large(4 << 20, 1.0f);
  shape = {1 << 20, 4};
  x.data = large.data();
  expect_ok(twinloom_run(executable, &argument, 1, &options, results.data(), results.size()));
  EXPECT_GT(caller.tasks, 0);
  EXPECT_EQ(floats(results[3])[(1 << 20) - 1], 4.0f);
}

// Hands out memory and counts what is not given back yet.
struct Handing {
  static void* allocate(void* context, std::size_t bytes, void*) {
    auto& self = *static_cast<Handing*>(context);
    if (self.refuses) return nullptr;
    self.blocks.push_back(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    self.bytes += bytes;
    return static_cast<char*>(self.blocks.back()) + self.shift;
  }
  static void release(void* context, void* memory, std::size_t bytes, void*) {
    auto& self = *static_cast<Handing*>(context);
    void* const block = static_cast<char*>(memory) - self.shift;
    EXPECT_EQ(std::erase(self.blocks, block), 1u);
    std::free(block);
    self.bytes -= bytes;
  }
  std::vector<void*> blocks;
  std::size_t bytes = 0, shift = 0;
  bool refuses = false;
};

TEST_F(Sums, TheCallersMemoryHoldsResultsUntilTheyAreReleased) {
  Handing handing;
  twinloom_run_options options{};
  options.size = sizeof options;
  options.allocate = Handing::allocate;
  options.allocate_context = &handing;
  const auto run_with = [&] {
    return twinloom_run(executable, &argument, 1, &options, results.data(), results.size());
  };
  expect_invalid(run_with(), "allocate and release one is NULL; expected both or none");
  options.release = Handing::release;
  expect_ok(run_with());
  EXPECT_EQ(handing.blocks.size(), 2u) << "of add and sum; view lies in the argument";
  EXPECT_EQ(results[0].as.managed->dl_tensor.data, handing.blocks[0]);
  EXPECT_EQ(floats(results[0])[11], 12.0f);
  twinloom_executable_free(std::exchange(executable, nullptr));
  for (twinloom_value& result : results) twinloom_value_release(&result);
  EXPECT_EQ(handing.blocks.size(), 0u);
  EXPECT_EQ(handing.bytes, 0u);
}

TEST_F(Sums, TheCallersMemoryThatIsMissingOrNotAlignedIsAnError) {
  Handing handing;
  twinloom_run_options options{};
  options.size = sizeof options;
  options.allocate = Handing::allocate;
  options.release = Handing::release;
  options.allocate_context = &handing;
  const auto failure_of_run = [&] {
    return Failure(twinloom_run(executable, &argument, 1, &options, results.data(), results.size()));
  };
  handing.refuses = true;
  EXPECT_EQ(failure_of_run().code, TWINLOOM_OUT_OF_MEMORY);
  handing.refuses = false;
  handing.shift = 8;
  const Failure failure = failure_of_run();
  EXPECT_EQ(failure.code, TWINLOOM_INVALID);
  EXPECT_NE(failure.message.find("memory that is not aligned to 64 bytes"), std::string::npos)
      << failure.message;
  EXPECT_EQ(handing.blocks.size(), 0u);
}

TEST_F(Sums, MachineCodeIsMadeInTheBackground) {
  x.data = nullptr;
  twinloom_preparation* preparation = nullptr;
  expect_ok(twinloom_prepare_start(executable, &argument, 1, &preparation));
  std::int32_t done = 7;
  expect_ok(twinloom_preparation_wait(preparation, 0, &done));
  EXPECT_TRUE(done == 0 || done == 1);
  expect_ok(twinloom_preparation_wait(preparation, -1, &done));
  EXPECT_EQ(done, 1);
  expect_ok(twinloom_preparation_wait(preparation, 1e300, &done));
  EXPECT_EQ(done, 1);
  twinloom_preparation_free(preparation);
  x.ndim = 1;
  expect_ok(twinloom_prepare_start(executable, &argument, 1, &preparation));
  expect_invalid(twinloom_preparation_wait(preparation, -1, &done), "x");
  EXPECT_EQ(done, 0);
  twinloom_preparation_free(preparation);
  expect_invalid(twinloom_preparation_wait(nullptr, 0, &done), "preparation is NULL");
}

TEST_F(Sums, TheFormAfterEachPassIsData) {
  x.data = nullptr;
  char* text = nullptr;
  expect_ok(twinloom_dump(executable, &argument, 1, &text));
  const auto passes = nlohmann::json::parse(text);
  twinloom_text_free(text);
  ASSERT_GT(passes.size(), 3u);
  EXPECT_EQ(passes.front().at("pass"), "remove_dead");
  EXPECT_EQ(passes.front().at("text").get<std::string>().substr(0, 5), "graph");
  EXPECT_EQ(passes.back().at("pass"), "build");
}

TEST_F(Sums, ManyThreadsUseOneExecutable) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      std::array<std::int64_t, 2> sizes = {1 + thread, 4};
      std::vector<float> rows(static_cast<std::size_t>(sizes[0]) * 4, static_cast<float>(thread));
      DLTensor given = x;
      given.data = rows.data();
      given.shape = sizes.data();
      const twinloom_value value = {TWINLOOM_TENSOR, {&given}};
      for (int round = 0; round < 50; ++round) {
        std::array<twinloom_value, 4> each{};
        expect_ok(twinloom_run(executable, &value, 1, nullptr, each.data(), each.size()));
        EXPECT_EQ(floats(each[3])[thread], 4.0f * static_cast<float>(thread));
        for (twinloom_value& result : each) twinloom_value_release(&result);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Sums, APendingRunGivesItsResultsAtOnce) {
  twinloom_pending* pending = nullptr;
  expect_ok(twinloom_start(executable, &argument, 1, nullptr, results.data(), results.size(), &pending));
  expect_ok(twinloom_pending_wait(pending));
  EXPECT_NE(twinloom_pending_ready(pending), 0);
  EXPECT_EQ(floats(results[0])[0], 1.0f);
  twinloom_pending_free(pending);
}

TEST(CApi, NullsAreErrorsThatNameThem) {
  twinloom_graph* graph = nullptr;
  twinloom_device* device = nullptr;
  twinloom_executable* executable = nullptr;
  char* text = nullptr;
  twinloom_port port{};
  port.size = sizeof port;
  expect_invalid(twinloom_graph_read(nullptr, 3, nullptr, &graph), "text is NULL");
  expect_invalid(twinloom_graph_read("x", 1, nullptr, nullptr), "graph is NULL");
  expect_invalid(twinloom_graph_load(nullptr, nullptr, &graph), "path is NULL");
  expect_invalid(twinloom_graph_text(nullptr, &text), "graph is NULL");
  expect_invalid(twinloom_graph_parameter(nullptr, 0, &port), "graph is NULL");
  expect_invalid(twinloom_graph_result(nullptr, 0, &port), "graph is NULL");
  expect_invalid(twinloom_device_open(nullptr, nullptr, &device), "name is NULL");
  expect_invalid(twinloom_device_description(nullptr, &text), "device is NULL");
  expect_invalid(twinloom_device_warning(nullptr, &text), "device is NULL");
  expect_invalid(twinloom_device_names(nullptr), "text is NULL");
  expect_invalid(twinloom_compile(nullptr, device, nullptr, &executable), "graph is NULL");
  expect_invalid(twinloom_prepare(nullptr, nullptr, 0), "executable is NULL");
  expect_invalid(twinloom_run(nullptr, nullptr, 0, nullptr, nullptr, 0), "executable is NULL");
  expect_invalid(twinloom_pending_wait(nullptr), "pending is NULL");
  EXPECT_EQ(twinloom_graph_parameter_count(nullptr), 0u);
  twinloom_graph_free(nullptr);
  twinloom_device_free(nullptr);
  twinloom_executable_free(nullptr);
  twinloom_pending_free(nullptr);
  twinloom_error_free(nullptr);
  twinloom_text_free(nullptr);
  twinloom_value_release(nullptr);
}

TEST(CApi, TextsThatAreNoGraphAreErrorsWithTheLine) {
  twinloom_graph* graph = nullptr;
  std::string wrong = SUMS;
  wrong.replace(wrong.find("aten.add"), 8, "aten.adx");
  expect_invalid(twinloom_graph_read(wrong.data(), wrong.size(), nullptr, &graph), "line 3");
  expect_invalid(twinloom_graph_read("def f()", 7, nullptr, &graph),
                 "there is no 'class NAME(torch.nn.Module):'");
  EXPECT_EQ(graph, nullptr);
}

TEST(CApi, ConstantsAreGivenByName) {
  constexpr std::string_view text =
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[2]\"):\n"
      "        _tensor_constant0: \"f32[2]\" = self._tensor_constant0\n"
      "        add: \"f32[2]\" = torch.ops.aten.add.Tensor(x, _tensor_constant0)\n        return (add,)\n";
  std::array<float, 2> numbers = {10, 20};
  std::int64_t two = 2;
  const DLTensor tensor = {numbers.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &two, nullptr, 0};
  const twinloom_named_tensor constant = {"_tensor_constant0", &tensor};
  twinloom_read_options options{};
  options.size = sizeof options;
  twinloom_graph* graph = nullptr;
  expect_invalid(twinloom_graph_read(text.data(), text.size(), &options, &graph), "_tensor_constant0");
  options.constant_count = 1;
  expect_invalid(twinloom_graph_read(text.data(), text.size(), &options, &graph), "constants is NULL");
  options.constants = &constant;
  expect_ok(twinloom_graph_read(text.data(), text.size(), &options, &graph));
  char* printed = nullptr;
  expect_ok(twinloom_graph_text(graph, &printed));
  EXPECT_NE(std::strstr(printed, "constant bytes \"000020410000a041\""), nullptr) << printed;
  twinloom_text_free(printed);
  twinloom_graph_free(graph);
}

TEST(CApi, ModesAndRelaxationsAreCheckedByName) {
  twinloom_graph* graph = nullptr;
  twinloom_device* device = nullptr;
  twinloom_executable* executable = nullptr;
  expect_ok(twinloom_graph_read(SUMS, std::strlen(SUMS), nullptr, &graph));
  expect_ok(twinloom_device_open("reference", nullptr, &device));
  twinloom_compile_options options{};
  options.size = sizeof options;
  options.relaxations = "contract";
  expect_invalid(twinloom_compile(graph, device, &options, &executable),
                 "relaxations are of mode TWINLOOM_FAST");
  options.mode = TWINLOOM_FAST;
  options.relaxations = "contract,nothing";
  expect_invalid(twinloom_compile(graph, device, &options, &executable),
                 "there is no relaxation 'nothing'; there are reassociate, contract, "
                 "atomics, approximate, flush");
  options.relaxations = "contract,reassociate,atomics";
  expect_ok(twinloom_compile(graph, device, &options, &executable));
  twinloom_executable_free(executable);
  options.mode = 7;
  expect_invalid(twinloom_compile(graph, device, &options, &executable),
                 "twinloom_compile_options.mode is 7");
  twinloom_device_free(device);
  twinloom_graph_free(graph);
}

TEST(CApi, EveryTypeWithAFormInDlpackIsReadBack) {
  std::int64_t shape = 3;
  std::array<std::byte, 24> memory{};
  for (const ops::DType dtype : ops::all_dtypes()) {
    if (dtype == ops::DType::i4) {
      EXPECT_THROW(dlpack_type(dtype), Error);
      continue;
    }
    const DLTensor tensor = {memory.data(), {kDLCPU, 0}, 1, dlpack_type(dtype), &shape, nullptr, 0};
    EXPECT_EQ(tensor_of(&tensor, "it").dtype, dtype);
    EXPECT_EQ(tensor.dtype.bits, ops::bits_of(dtype));
  }
}

TEST(CApi, TheHeaderAndTheLibraryAreOfOneVersion) {
  EXPECT_EQ(cat(TWINLOOM_VERSION_MAJOR, ".", TWINLOOM_VERSION_MINOR, ".", TWINLOOM_VERSION_PATCH),
            twinloom_version());
}

}  // namespace
}  // namespace twinloom::c
