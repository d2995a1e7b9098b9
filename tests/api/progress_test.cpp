// Who hears how far the making of machine code is.
#include <gtest/gtest.h>

#include <twinloom/twinloom.hpp>

#include <array>
#include <cstddef>
#include <cstring>

#include "tests/api/failures.h"

namespace twinloom {
namespace {

// Two results of different sizes: two kernels.
Graph two_kernels() {
  Builder builder("two");
  builder.output(exp(builder.input("x", float32, {"n", 4})));
  builder.output(sum(builder.input("y", float32, {7, 900}), {1}));
  return builder.take();
}

void prepare(const Executable& executable) {
  executable.prepare({Tensor::view<float>(nullptr, {3, 4}), Tensor::view<float>(nullptr, {7, 900})});
}

TEST(ApiProgress, PassesAndKernelsAreHeardInOrder) {
  std::vector<Progress> heard;
  CompileOptions options;
  options.progress = [&](const Progress& progress) { heard.push_back(progress); };
  const Executable executable(two_kernels(), Device("cpu", {"", /*cache=*/false}), options);
  EXPECT_TRUE(heard.empty()) << "machine code is made when it is needed";
  prepare(executable);
  std::vector<std::string> passes;
  std::int64_t built = 0;
  for (const Progress& progress : heard) {
    if (progress.kernel.empty()) {
      passes.push_back(progress.pass);
      continue;
    }
    EXPECT_EQ(progress.pass, "build");
    EXPECT_EQ(progress.built, ++built);
    EXPECT_EQ(progress.total, 2);
  }
  EXPECT_EQ(built, 2);
  ASSERT_GT(passes.size(), 3U);
  EXPECT_EQ(passes.front(), "remove_dead");
  EXPECT_EQ(heard.front().total, 0);
  EXPECT_EQ(passes.back(), "build");
  EXPECT_EQ(heard.back().kernel, "");
  EXPECT_EQ(heard.back().built, 2);
  const std::size_t before = heard.size();
  prepare(executable);
  EXPECT_EQ(heard.size(), before) << "nothing was made";
}

TEST(ApiProgress, ACopyOfAnExecutableKeepsWhoHears) {
  int heard = 0;
  auto executable = [&] {
    CompileOptions options;
    options.progress = [&heard](const Progress&) { ++heard; };
    const Executable first(two_kernels(), Device("cpu", {"", false}), options);
    return Executable(first);
  }();
  prepare(executable);
  EXPECT_GT(heard, 0);
}

// A program that was built with the header before this member.
TEST(ApiProgress, AnEarlierStructOfOptionsHasNone) {
  const Graph graph = two_kernels();
  const Device device("reference");
  twinloom_compile_options options{};
  options.size = offsetof(twinloom_compile_options, progress);
  options.progress = [](void*, const char*, const char*, std::int64_t, std::int64_t) { FAIL(); };
  twinloom_executable* executable = nullptr;
  c::expect_ok(twinloom_compile(graph.handle(), device.handle(), &options, &executable));
  const std::array<std::int64_t, 2> x_shape = {3, 4}, y_shape = {7, 900};
  std::array<DLTensor, 2> tensors{};
  tensors[0] = {
      nullptr, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, const_cast<std::int64_t*>(x_shape.data()), nullptr, 0};
  tensors[1] = {
      nullptr, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, const_cast<std::int64_t*>(y_shape.data()), nullptr, 0};
  const std::array<twinloom_value, 2> arguments = {
      {{TWINLOOM_TENSOR, {&tensors[0]}}, {TWINLOOM_TENSOR, {&tensors[1]}}}};
  c::expect_ok(twinloom_prepare(executable, arguments.data(), arguments.size()));
  twinloom_executable_free(executable);
}

// In C the kernel of a pass is NULL.
TEST(ApiProgress, InCTheContextIsHandedOn) {
  struct Heard {
    int passes = 0, kernels = 0;
  } heard;
  twinloom_compile_options options{};
  options.size = sizeof options;
  options.progress_context = &heard;
  options.progress = [](void* context, const char* pass, const char* kernel, std::int64_t built,
                        std::int64_t total) {
    auto* into = static_cast<Heard*>(context);
    EXPECT_NE(std::strlen(pass), 0U);
    EXPECT_LE(built, total);
    ++(kernel == nullptr ? into->passes : into->kernels);
  };
  const Graph graph = two_kernels();
  const Device device("cpu", {"", false});
  twinloom_executable* executable = nullptr;
  c::expect_ok(twinloom_compile(graph.handle(), device.handle(), &options, &executable));
  const std::vector<Value> values = {Tensor::view<float>(nullptr, {3, 4}),
                                     Tensor::view<float>(nullptr, {7, 900})};
  const auto arguments = detail::values_of(values);
  c::expect_ok(twinloom_prepare(executable, arguments.data(), arguments.size()));
  twinloom_executable_free(executable);
  EXPECT_EQ(heard.kernels, 2);
  EXPECT_GT(heard.passes, 3);
}

}  // namespace
}  // namespace twinloom
