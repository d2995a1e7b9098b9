// Runs that are bound to types, sizes and strides and started with addresses: the same results as any run, in
// the same memory, without waiting.
#include <gtest/gtest.h>

#include <numeric>

#include "api/twinloom.h"
#include "core/runtime/bound_run.h"
#include "tests/runtime/far.h"
#include "tests/support/sealed/sealed_device.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {

namespace {

using runtime::BoundRun;
using Numbers = std::vector<float>;

std::vector<Device> all_devices() {
  return {Device::cpu({.cache = false}), Device::reference(),
          Device::of(sealed_device(Device::reference().share()))};
}

Numbers numbers_in(const Tensor& given, const Device& device) {
  const Tensor tensor = contiguous(device.download(given));
  const auto* data = static_cast<const float*>(tensor.data);
  return {data, data + runtime::element_count(tensor)};
}

// Two kernels: y = tanh(x) in memory of its own, and the rows of y at the places, doubled.
Graph rows_graph() {
  Builder builder("rows");
  const Value x = builder.input("x", DType::f32, {Symbol("n"), 2});
  const Value places = builder.input("places", DType::i64, {2});
  builder.output(graph::realize(graph::take(graph::realize(x + 1.0), 0, places)) * 2.0);
  return builder.take();
}

// The counter x becomes x + 1, and its double before that is a result.
Graph counter() {
  Builder builder("counter");
  const Value x = builder.input("x", DType::f32, {3, 2});
  builder.output_written(x + 1, 0);
  builder.output(x * 2);
  return builder.take();
}

// y = 2 x + w; x is donated.
Graph line() {
  Builder builder("line");
  const Value x = builder.input("x", DType::f32, {2, 3}, true);
  const Value w = builder.input("w", DType::f32, {3});
  builder.output(x * 2 + w, "y");
  return builder.take();
}

struct Rows {
  Tensor x, places, result;
  explicit Rows(const runtime::Space& space, std::vector<std::int64_t> chosen = {2, 0}) {
    Numbers numbers(6);
    std::iota(numbers.begin(), numbers.end(), 0.0f);
    x = runtime::uploaded(view_of(numbers.data(), DType::f32, {3, 2}), space);
    places = runtime::uploaded(view_of(chosen.data(), DType::i64, {2}), space);
    result = runtime::allocate(DType::f32, {2, 2}, {2, 1}, space.memory().get());
  }
  std::vector<Argument> arguments() const { return {x, places}; }
  std::vector<void*> addresses() const { return {x.data, places.data, result.data}; }
  Numbers numbers(const runtime::Space& space) const {
    const Tensor here = runtime::downloaded(result, space);
    const auto* data = static_cast<const float*>(here.data);
    return {data, data + 4};
  }
};
const Numbers EXPECTED = {10, 12, 2, 4};

TEST(Bound, StartsWaitForNothing) {
  const FarSpace space;
  const Executable executable = pipeline::compile(rows_graph(), far_backend(space));
  const Rows rows(space), others(space, {0, 2});
  const auto bound = executable.bind(rows.arguments(), std::vector{rows.result});
  FarQueue stream;
  RunOptions options;
  options.stream = &stream;
  bound->start(rows.addresses(), nullptr, options);
  bound->start(others.addresses(), nullptr, options);
  EXPECT_EQ(stream.done, 0u);
  EXPECT_FALSE(stream.work.empty());
  stream.run(stream.work.size());
  EXPECT_EQ(rows.numbers(space), EXPECTED);
  EXPECT_EQ(others.numbers(space), (Numbers{2, 4, 10, 12}));
}

TEST(Bound, AFailedIndexIsTheErrorOfALaterStart) {
  const FarSpace space;
  const Executable executable = pipeline::compile(rows_graph(), far_backend(space));
  const Rows wrong(space, {7, 0}), right(space);
  const auto bound = executable.bind(right.arguments(), std::vector{right.result});
  bound->start(wrong.addresses(), nullptr, {});
  bound->start(right.addresses(), nullptr, {});
  space.wait();
  EXPECT_NE(
      words_of<Error>([&] { bound->start(right.addresses(), nullptr, {}); }).find("index 7 is out of range"),
      std::string::npos);
  bound->start(right.addresses(), nullptr, {});
  space.wait();
  EXPECT_EQ(right.numbers(space), EXPECTED);
}

TEST(Bound, MemoryOfIntermediateResultsIsTheCallersOrTaken) {
  const FarSpace space;
  const Executable executable = pipeline::compile(rows_graph(), far_backend(space));
  const Rows rows(space);
  const auto bound = executable.bind(rows.arguments(), std::vector{rows.result});
  ASSERT_GT(bound->workspace_bytes(), 0);
  std::vector<std::shared_ptr<std::byte>> taken;  // until the space is done with it
  RunOptions options;
  options.allocate = [&](std::int64_t bytes, Stream) {
    return taken.emplace_back(runtime::new_block(bytes));
  };
  bound->start(rows.addresses(), nullptr, options);
  EXPECT_EQ(taken.size(), 1u);
  space.wait();  // here nothing keeps what was given back from the next taker
  const auto workspace = space.memory()->take(bound->workspace_bytes());
  bound->start(rows.addresses(), workspace.get(), options);
  EXPECT_EQ(taken.size(), 1u);
  space.wait();
  EXPECT_EQ(rows.numbers(space), EXPECTED);
}

TEST(Bound, ParametersThatAreWrittenHoldTheirValues) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    const Executable executable = compile(counter(), device);
    for (const std::vector<std::int64_t>& strides : {std::vector<std::int64_t>{2, 1}, {1, 3}}) {
      Numbers x(6, 1.0f), results(6);
      const Tensor held = device.upload(view_of(x.data(), DType::f32, {3, 2}, strides));
      const Tensor result = device.upload(view_of(results.data(), DType::f32, {3, 2}));
      const auto bound = executable.bind(std::vector<Argument>{held}, std::vector{result});
      for (int run = 0; run < 3; ++run) {
        bound->start(std::vector{held.data, result.data}, nullptr, {});
        EXPECT_EQ(numbers_in(result, device), Numbers(6, 2 + 2 * static_cast<float>(run)));
      }
      EXPECT_EQ(numbers_in(held, device), Numbers(6, 4));
    }
  }
}

TEST(Bound, AResultMayTakeDonatedMemoryAndNoOther) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    const Executable executable = compile(line(), device);
    Numbers numbers{1, 2, 3, 4, 5, 6}, weights{10, 20, 30}, others(6);
    const Tensor x = device.upload(view_of(numbers.data(), DType::f32, {2, 3}));
    const Tensor w = device.upload(view_of(weights.data(), DType::f32, {3}));
    const Tensor apart = device.upload(view_of(others.data(), DType::f32, {2, 3}));
    const auto bound = executable.bind(std::vector<Argument>{x, w}, std::vector{x});
    bound->start(std::vector{x.data, w.data, apart.data}, nullptr, {});
    EXPECT_EQ(numbers_in(apart, device), (Numbers{12, 24, 36, 18, 30, 42}));
    bound->start(std::vector{x.data, w.data, x.data}, nullptr, {});
    EXPECT_EQ(numbers_in(x, device), (Numbers{12, 24, 36, 18, 30, 42}));
    EXPECT_EQ(words_of<Error>([&] {
                bound->start(std::vector{x.data, w.data, w.data}, nullptr, {});
              }),
              "output 0 overlaps parameter 'w' in memory");
    EXPECT_EQ(
        words_of<Error>([&] {
          bound->start(std::vector<void*>{x.data, static_cast<float*>(x.data) + 3, x.data}, nullptr, {});
        }),
        "output 0 overlaps parameter 'x' in memory");
  }
}

TEST(Bound, StridesThatNoKernelWritesAreCopiedTo) {
  const FarSpace space;
  const Executable executable = pipeline::compile(rows_graph(), far_backend(space));
  Rows rows(space);
  rows.result = runtime::allocate(DType::f32, {2, 2}, {1, 2}, space.memory().get());
  executable.bind(rows.arguments(), std::vector{rows.result})->start(rows.addresses(), nullptr, {});
  EXPECT_EQ(rows.numbers(space), (Numbers{10, 2, 12, 4}));
}

TEST(Bound, WhatDoesNotFitIsAnError) {
  const FarSpace space;
  const Executable executable = pipeline::compile(rows_graph(), far_backend(space));
  const Rows rows(space);
  const auto arguments = rows.arguments();
  EXPECT_EQ(words_of<Error>([&] { executable.bind(arguments, {}); }),
            "a bound run has a tensor for each of the 1 results that the graph computes; given were none");
  EXPECT_EQ(words_of<Error>([&] { executable.bind(arguments, std::vector{rows.x}); }),
            "output 0 is f32[2, 2], given was f32[3, 2]");
  const auto bound = executable.bind(arguments, std::vector{rows.result});
  auto addresses = rows.addresses();
  addresses[2] = nullptr;
  EXPECT_EQ(words_of<Error>([&] { bound->start(addresses, nullptr, {}); }),
            "output 0 has elements, and its address is NULL");
  addresses[0] = nullptr;
  EXPECT_EQ(words_of<Error>([&] { bound->start(addresses, nullptr, {}); }),
            "argument 0 has elements, and its address is NULL");
  addresses.pop_back();
  EXPECT_EQ(words_of<Error>([&] { bound->start(addresses, nullptr, {}); }),
            "2 addresses were given; expected 3, of 2 arguments and 1 outputs");
}

}  // namespace

}  // namespace twinloom::tests
