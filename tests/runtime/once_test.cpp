// What follows from arrays of the graph alone: which kernels run before the first run, that no run starts
// them, that they stay kernels of each run where they must.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "api/twinloom.h"
#include "core/runtime/once.h"
#include "tests/runtime/far.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {

namespace {

constexpr std::int64_t N = 192;  // N x N floats are more than the few bytes that may follow from nothing

graph::Array table(DType dtype = DType::f32) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(N * N * ops::size_of(dtype)));
  if (dtype == DType::f32)
    std::iota(reinterpret_cast<float*>(bytes.data()), reinterpret_cast<float*>(bytes.data()) + N * N, 0.0f);
  return {dtype, {N, N}, std::move(bytes)};
}

// y[r, c] = x[r, c] + 2 * table[c, r], the table's share in memory.
Graph turned_graph() {
  Builder b;
  const Value x = b.input("x", DType::f32, {N, N});
  const Value turned = graph::realize(graph::transpose(b.constant(table()), 0, 1) * 2.0);
  b.output(x + turned);
  return b.take();
}

std::vector<float> filled(float number) { return std::vector<float>(N * N, number); }

float element(const std::vector<Output>& outputs, std::int64_t row, std::int64_t column) {
  const Tensor tensor = contiguous(std::get<Tensor>(outputs.front()));
  return static_cast<const float*>(tensor.data)[row * N + column];
}

Executable on_cpu(Graph graph) { return compile(std::move(graph), Device::cpu({.cache = false}), {}); }

std::vector<bool> once_in(const Executable& executable, std::span<const Argument> arguments) {
  return runtime::steps_made_once(*executable.variant(arguments));
}

TEST(Once, NoRunStartsWhatFollowsFromArrays) {
  const Executable executable = on_cpu(turned_graph());
  for (const float number : {1.0f, -5.0f}) {
    std::vector<float> x = filled(number);
    const std::vector<Argument> arguments = {view_of(x.data(), DType::f32, {N, N})};
    EXPECT_EQ(once_in(executable, arguments), (std::vector<bool>{true, false}));
    const auto outputs = executable.run(arguments);
    EXPECT_EQ(element(outputs, 3, 7), number + 2.0f * (7 * N + 3));
    EXPECT_EQ(element(outputs, N - 1, 0), number + 2.0f * (N - 1));
    EXPECT_EQ(executable.peak_bytes(arguments), N * N * 4) << "the result alone is memory of a run";
  }
}

TEST(Once, LiesOnTheDeviceBeforeAnyRunIsStarted) {
  const FarSpace space;
  std::vector<float> x = filled(1);
  const std::vector<Argument> arguments = {runtime::uploaded(view_of(x.data(), DType::f32, {N, N}), space)};
  const Executable executable = pipeline::compile(turned_graph(), far_backend(space));
  FarQueue queue;
  RunOptions options;
  options.stream = &queue;
  runtime::Pending pending = executable.start(arguments, options);
  EXPECT_EQ(queue.work.size(), 1U) << "the kernel of the run alone";
  const Tensor result = runtime::downloaded(std::get<Tensor>(pending.wait().front()), space);
  EXPECT_EQ(static_cast<const float*>(result.data)[3 * N + 7], 1 + 2.0f * (7 * N + 3));
}

// Nor where somebody asks how a run would be, on a device that can only plan.
TEST(Once, WhoAsksForMemoryStartsNothing) {
  const FarSpace space;
  const Executable executable = pipeline::compile(turned_graph(), far_backend(space));
  const std::vector<Argument> arguments = {view_of(nullptr, DType::f32, {N, N})};
  const std::int64_t used = space.used_bytes();
  EXPECT_EQ(executable.peak_bytes(arguments), N * N * 4);
  EXPECT_EQ(space.used_bytes(), used + N * N * 4) << "the table alone is there";
}

// What is widened is kept small on purpose, and a run's numbers are its own.
TEST(Once, WhatIsLargerThanItsArraysIsMadeInEachRun) {
  Builder b;
  const Value x = b.input("x", DType::f32, {N, N});
  b.output(x + graph::realize(graph::cast(b.constant(table(DType::i8)), DType::f32) * 2.0));
  const Executable executable = on_cpu(b.take());
  std::vector<float> numbers = filled(1);
  const std::vector<Argument> arguments = {view_of(numbers.data(), DType::f32, {N, N})};
  EXPECT_EQ(once_in(executable, arguments), (std::vector<bool>{false, false}));
  EXPECT_EQ(element(executable.run(arguments), 2, 2), 1);
}

// Places of the table that do not exist: each run says so, as it would without.
TEST(Once, WhatFailsFailsInEachRun) {
  Builder b;
  const Value x = b.input("x", DType::f32, {N, N});
  std::vector<std::int64_t> places(N, 1);
  places[5] = N + 3;
  std::vector<std::byte> bytes(N * sizeof(std::int64_t));
  std::memcpy(bytes.data(), places.data(), bytes.size());
  const Value rows = b.constant(graph::Array{DType::i64, {N}, std::move(bytes)});
  b.output(x + graph::realize(graph::take(b.constant(table()), 0, rows)));
  const Executable executable = on_cpu(b.take());
  std::vector<float> numbers = filled(1);
  const std::vector<Argument> arguments = {view_of(numbers.data(), DType::f32, {N, N})};
  for (int time = 0; time < 2; ++time)
    EXPECT_NE(words_of<Error>([&] { executable.run(arguments); }).find("index 195 is out of range"),
              std::string::npos);
}

// A row times a matrix: its copy in rows is made once, and no bit changes.
TEST(Once, MatricesOfOneRowAreReadFromACopy) {
  Builder b;
  const Value x = b.input("x", DType::f32, {1, N});
  const Value products = graph::unsqueeze(x, 2) * graph::unsqueeze(b.constant(table()) * 0.5, 0);
  b.output(graph::sum(products, {1}));
  const Value direct = graph::unsqueeze(x, 2) * graph::unsqueeze(b.constant(table()), 0);
  b.output(graph::sum(direct, {1}));
  const Graph graph = b.take();
  std::vector<float> row(N);
  std::iota(row.begin(), row.end(), 0.3f);
  const std::vector<Argument> arguments = {view_of(row.data(), DType::f32, {1, N})};
  const Device device = Device::cpu({.cache = false});
  const Executable copied = compile(graph, device, {.mode = Mode::strict});
  const Executable each = compile(graph, device, {.mode = Mode::strict, .made_once = false});
  EXPECT_EQ(std::ranges::count(once_in(copied, arguments), true), 1);
  EXPECT_EQ(std::ranges::count(once_in(each, arguments), true), 0);
  const auto outputs = copied.run(arguments), expected = each.run(arguments);
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    const auto& found = std::get<Tensor>(outputs[r]);
    const auto& wanted = std::get<Tensor>(expected[r]);
    EXPECT_EQ(std::memcmp(found.data, wanted.data, N * sizeof(float)), 0) << r;
  }
}

// Variants of several sizes share one copy, which goes with the last of them.
TEST(Once, SizesShareWhatIsMade) {
  Builder b;
  const Symbol n("n");
  const Value x = b.input("x", DType::f32, {n, N, N});
  b.output(x + graph::realize(graph::transpose(b.constant(table()), 0, 1) * 2.0));
  const Executable executable = on_cpu(b.take());
  runtime::OnceMade made(nullptr);
  std::vector<std::shared_ptr<const runtime::Once>> kept;
  for (const std::int64_t size : {1, 40}) {
    std::vector<float> numbers(static_cast<std::size_t>(size * N * N), 1);
    const std::vector<Argument> arguments = {view_of(numbers.data(), DType::f32, {size, N, N})};
    const auto variant = executable.variant(arguments);
    std::vector<runtime::Memory> values(variant->values.size());
    for (std::size_t v = 0; v < values.size(); ++v)
      if (const auto& content = variant->values[v].content)
        values[v] = {const_cast<std::byte*>(content->bytes.read().data()), 0, N * N};
    kept.push_back(made.get(variant, values));
    EXPECT_EQ(kept.back()->steps, runtime::planned_once(*variant).steps);
    ASSERT_EQ(std::ranges::count(kept.back()->steps, true), 1);
    EXPECT_EQ(made.get(variant, values), kept.back());
    EXPECT_EQ(element(executable.run(arguments), 3, 7), 1 + 2.0f * (7 * N + 3));
  }
  EXPECT_EQ(kept.front(), kept.back());
  const std::weak_ptr<const runtime::Once> last = kept.front();
  kept.clear();
  EXPECT_TRUE(last.expired());
}

}  // namespace

}  // namespace twinloom::tests
