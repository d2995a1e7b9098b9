// Parameters that a run writes: they hold their values when it is over, whatever read them before, in their
// own layout, on every device.
#include <gtest/gtest.h>

#include <numeric>

#include "api/twinloom.h"
#include "tests/support/sealed/sealed_device.h"

namespace twinloom::tests {

namespace {

std::vector<Device> all_devices() {
  return {Device::cpu({.cache = false}), Device::reference(),
          Device::of(sealed_device(Device::reference().share()))};
}

using Numbers = std::vector<float>;

Numbers numbers_in(const Tensor& given, const Device& device) {
  const Tensor tensor = contiguous(device.download(given));
  const auto* data = static_cast<const float*>(tensor.data);
  return {data, data + runtime::element_count(tensor)};
}
Numbers numbers_in(const Output& output, const Device& device) {
  return numbers_in(std::get<Tensor>(output), device);
}

template <class Run>
void expect_error(Run&& run, const std::string& words) {
  try {
    run();
    ADD_FAILURE() << "no Error; expected '" << words << "'";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), words);
  }
}

// x becomes x + 1; its double before that is a result too.
Graph counter() {
  Builder builder("counter");
  const Value x = builder.input("x", DType::f32, {Symbol("n"), 2});
  builder.output_written(x + 1, 0);
  builder.output(x * 2);
  return builder.take();
}

TEST(Written, HoldTheirValuesAfterAllReads) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    const Executable executable = compile(counter(), device);
    Numbers x{1, 2, 3, 4};
    const Tensor held = device.upload(view_of(x.data(), DType::f32, {2, 2}));
    for (int run = 0; run < 3; ++run) {
      const auto outputs = executable.run(std::vector<Argument>{held});
      const auto add = static_cast<float>(run);
      EXPECT_EQ(std::get<Tensor>(outputs[0]).data, held.data);
      EXPECT_EQ(numbers_in(outputs[0], device), (Numbers{2 + add, 3 + add, 4 + add, 5 + add}));
      EXPECT_EQ(numbers_in(outputs[1], device),
                (Numbers{2 + 2 * add, 4 + 2 * add, 6 + 2 * add, 8 + 2 * add}));
    }
    EXPECT_EQ(numbers_in(held, device), (Numbers{4, 5, 6, 7}));
  }
}

TEST(Written, KeepTheLayoutOfTheParameter) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    const Executable executable = compile(counter(), device);
    // The other way round, and with a gap after each row.
    for (const std::vector<std::int64_t>& strides : {std::vector<std::int64_t>{1, 3}, {3, 1}}) {
      Numbers memory{0, 1, 2, 3, 4, 5};
      const Tensor held = device.upload(view_of(memory.data(), DType::f32, {3, 2}, {1, 3}));
      Numbers gaps{0, 1, 100, 2, 3, 100, 4, 5, 100};
      const Tensor wide = device.upload(view_of(gaps.data(), DType::f32, {3, 2}, {3, 1}));
      const bool turned = strides[0] == 1;
      executable.run(std::vector<Argument>{turned ? held : wide});
      if (turned)
        EXPECT_EQ(numbers_in(held, device), (Numbers{1, 4, 2, 5, 3, 6}));
      else
        EXPECT_EQ(numbers_in(wide, device), (Numbers{1, 2, 3, 4, 5, 6}));
    }
  }
}

// a and b change places: each is written after both are read.
TEST(Written, MayBeEachOthersValues) {
  Builder builder("swap");
  const Value a = builder.input("a", DType::f32, {3});
  const Value b = builder.input("b", DType::f32, {3});
  builder.output_written(b, 0);
  builder.output_written(a, 1);
  const Graph graph = builder.take();
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    Numbers one{1, 2, 3}, two{4, 5, 6};
    const std::vector<Argument> arguments{device.upload(view_of(one.data(), DType::f32, {3})),
                                          device.upload(view_of(two.data(), DType::f32, {3}))};
    compile(graph, device).run(arguments);
    EXPECT_EQ(numbers_in(std::get<Tensor>(arguments[0]), device), (Numbers{4, 5, 6}));
    EXPECT_EQ(numbers_in(std::get<Tensor>(arguments[1]), device), (Numbers{1, 2, 3}));
  }
}

TEST(Written, StayWhereTheRunFails) {
  Builder builder("failing");
  const Value x = builder.input("x", DType::f32, {2});
  const Value at = builder.input("at", DType::i64, {2});
  builder.output_written(graph::take_along(x, 0, at) + 1, 0);
  const Executable executable = compile(builder.take(), Device::cpu({.cache = false}));
  Numbers memory{1, 2};
  std::vector<std::int64_t> places{1, 2};
  const std::vector<Argument> arguments{view_of(memory.data(), DType::f32, {2}),
                                        view_of(places.data(), DType::i64, {2})};
  EXPECT_THROW(executable.run(arguments), Error);
  EXPECT_EQ(memory, (Numbers{1, 2}));
  places[1] = 0;
  executable.run(arguments);
  EXPECT_EQ(memory, (Numbers{3, 2}));
}

TEST(Written, WordsOfWhatCannotBeWritten) {
  Numbers memory(6);
  const Executable executable = compile(counter(), Device::reference());
  expect_error(
      [&] {
        executable.run(std::vector<Argument>{view_of(memory.data(), DType::f32, {3, 2}, {0, 1})});
      },
      "parameter 'x' is written and has stride 0 along axis 0; its elements must not overlap");
  Builder builder("two");
  const Value a = builder.input("a", DType::f32, {3});
  const Value b = builder.input("b", DType::f32, {3});
  expect_error([&] { builder.output_written(a, 2); }, "output: parameter 2 is no tensor that can be written");
  expect_error([&] { builder.output_written(graph::cast(a, DType::f16), 0); },
               "output: cast to f16 %2 has not the type and rank of parameter 0");
  builder.output_written(a + b, 0);
  builder.output_written(a - b, 1);
  const Executable both = compile(builder.take(), Device::reference());
  expect_error(
      [&] {
        both.run(std::vector<Argument>{view_of(memory.data(), DType::f32, {3}),
                                       view_of(memory.data() + 2, DType::f32, {3})});
      },
      "parameters 'a' and 'b' are written and overlap in memory");
}

}  // namespace

}  // namespace twinloom::tests
