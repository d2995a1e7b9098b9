// Whose memory the outputs of a run lie in: parameters, results that are views of each other, clones; also on
// a device whose memory this process cannot read.
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "api/twinloom.h"
#include "tests/support/sealed/sealed_device.h"

namespace twinloom::tests {

namespace {

using graph::Axes;

Device sealed() { return Device::of(sealed_device(Device::reference().share())); }
std::vector<Device> all_devices() { return {Device::cpu({.cache = false}), Device::reference(), sealed()}; }

std::vector<float> numbers(const Output& output, const Device& device) {
  const Tensor tensor = contiguous(device.download(std::get<Tensor>(output)));
  const auto* data = static_cast<const float*>(tensor.data);
  return {data, data + runtime::element_count(tensor)};
}

const std::byte* at(const Output& output) {
  return static_cast<const std::byte*>(std::get<Tensor>(output).data);
}

struct Given {
  explicit Given(const Device& device) : x(12) {
    std::iota(x.begin(), x.end(), 1.0f);
    arguments = {device.upload(view_of(x.data(), DType::f32, {3, 4}))};
  }
  std::vector<float> x;
  std::vector<Argument> arguments;
};

// y = -x, and what there is to see of y and x.
Graph seen_graph() {
  Builder builder("seen");
  const Value x = builder.input("x", DType::f32, {Symbol("n"), 4});
  const Value y = neg(x);
  builder.output_view(graph::transpose(y, 0, 1), y, "turned");
  builder.output(y, "y");
  builder.output_view(graph::reshape(y, {-1}), y, "flat");
  builder.output_view(y, y, "again");
  builder.output_of_input(x, 0, "x");
  builder.output_of_input(graph::slice(x, 1, 1, 4, 2), 0, "part");
  builder.output(y, "copy");
  builder.output_size(Symbol("n"), "n");
  builder.output_none("none");
  return builder.take();
}

TEST(Results, LieWhereTheGraphSays) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    const Executable executable = compile(seen_graph(), device);
    const Given given(device);
    const auto outputs = executable.run(given.arguments);
    for (std::size_t r = 0; r < 7; ++r)
      EXPECT_EQ(std::get<Tensor>(outputs[r]).device, std::get<Tensor>(given.arguments[0]).device) << r;
    const std::vector<float> y = {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12};
    EXPECT_EQ(numbers(outputs[0], device),
              (std::vector<float>{-1, -5, -9, -2, -6, -10, -3, -7, -11, -4, -8, -12}));
    for (const std::size_t r : std::array<std::size_t, 4>{1, 2, 3, 6})
      EXPECT_EQ(numbers(outputs[r], device), y) << r;
    EXPECT_EQ(numbers(outputs[4], device), given.x);
    EXPECT_EQ(numbers(outputs[5], device), (std::vector<float>{2, 4, 6, 8, 10, 12}));
    for (const std::size_t r : std::array<std::size_t, 3>{0, 2, 3})
      EXPECT_EQ(at(outputs[r]), at(outputs[1])) << r;
    EXPECT_NE(at(outputs[6]), at(outputs[1]));
    EXPECT_EQ(at(outputs[5]), at(std::get<Tensor>(given.arguments[0])) + sizeof(float));
    EXPECT_EQ(std::get<std::int64_t>(outputs[7]), 3);
    EXPECT_TRUE(std::holds_alternative<std::monostate>(outputs[8]));
    EXPECT_EQ(executable.peak_bytes(given.arguments), 2 * 12 * 4);
  }
}

// A result that is the memory of a row-major parameter, and of one that is not: then of a copy.
TEST(Results, OfARowMajorParameterWhateverTheCallerHasGiven) {
  Builder builder("columns");
  const Value x = builder.input("x", DType::f32, {3, 4});
  builder.output_of_input(graph::transpose(graph::reshape(x, {2, 6}), 0, 1), 0, "columns");
  const Graph graph = builder.take();
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    const Executable executable = compile(graph, device);
    const Given given(device);
    const auto aliasing = executable.run(given.arguments);
    EXPECT_EQ(at(aliasing[0]), at(std::get<Tensor>(given.arguments[0])));
    EXPECT_EQ(numbers(aliasing[0], device), (std::vector<float>{1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12}));
    std::vector<float> data(12);
    std::iota(data.begin(), data.end(), 1.0f);
    const std::array<Argument, 1> turned = {device.upload(view_of(data.data(), DType::f32, {3, 4}, {1, 3}))};
    const auto copied = executable.run(turned);
    EXPECT_NE(at(copied[0]), at(std::get<Tensor>(turned[0])));
    EXPECT_EQ(numbers(copied[0], device), (std::vector<float>{1, 8, 4, 11, 7, 3, 10, 6, 2, 9, 5, 12}));
  }
}

TEST(Results, KeepTheMemoryThatTheyShare) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    std::vector<Output> outputs;
    {
      const Executable executable = compile(seen_graph(), device);
      const Given given(device);
      outputs = executable.run(given.arguments);
      outputs.resize(1);
    }
    EXPECT_EQ(numbers(outputs[0], device)[1], -5);
  }
}

// The kernels write what the caller hands in, or what it is copied from: views see the same elements.
TEST(Results, AreViewsOfTheCallersTensors) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    const Executable executable = compile(seen_graph(), device);
    const Given given(device);
    for (const std::vector<std::int64_t>& strides : {std::vector<std::int64_t>{4, 1}, {1, 3}}) {
      std::vector<float> memory(24);
      const Tensor y = device.upload(view_of(memory.data(), DType::f32, {3, 4}, strides));
      const Tensor copy = device.upload(view_of(memory.data() + 12, DType::f32, {3, 4}));
      const auto outputs = executable.run(given.arguments, {}, std::vector{y, copy});
      EXPECT_EQ(at(outputs[1]), at(y));
      EXPECT_EQ(at(outputs[2]) == at(y), strides[0] == 4);
      EXPECT_EQ(numbers(outputs[1], device)[1], -2);
      EXPECT_EQ(numbers(outputs[2], device)[1], -2);
      EXPECT_EQ(numbers(outputs[0], device)[1], -5);
    }
  }
}

TEST(Results, OfOneValueThatIsNoneShareItsMemory) {
  Builder builder;
  const Value y = graph::exp(builder.input("x", DType::f32, {3, 4}));
  builder.output_view(graph::slice(y, 1, 0, 1), y);
  builder.output_view(graph::slice(y, 1, 1, 4), y);
  const Graph graph = builder.take();
  for (const Device& device : all_devices()) {
    const Executable executable = compile(graph, device);
    const Given given(device);
    const auto outputs = executable.run(given.arguments);
    EXPECT_EQ(at(outputs[1]) - at(outputs[0]), 4);
    EXPECT_EQ(std::get<Tensor>(outputs[1]).strides, (std::vector<std::int64_t>{4, 1}));
    EXPECT_EQ(executable.peak_bytes(given.arguments), 12 * 4);
    EXPECT_EQ(executable.variant(given.arguments)->groups.size(), 1u);
  }
}

// y follows x, which lies column by column: as rows and columns its views are of any layout, as a line
// row-major.
TEST(Results, SeenRowMajorAreWrittenSo) {
  const auto strides_of_y = [](bool as_line) {
    Builder builder;
    const Value y = graph::exp(builder.input("x", DType::f32, {3, 4}));
    builder.output(y);
    builder.output_view(as_line ? graph::reshape(y, {12}) : graph::transpose(y, 0, 1), y);
    const Executable executable = compile(builder.take(), Device::reference());
    std::vector<float> x(12);
    std::iota(x.begin(), x.end(), 0.0f);
    const auto outputs = executable.run(std::vector<Argument>{view_of(x.data(), DType::f32, {3, 4}, {1, 3})});
    EXPECT_EQ(numbers(outputs[1], Device::reference())[1],
              numbers(outputs[0], Device::reference())[as_line ? 1 : 4]);
    return std::get<Tensor>(outputs[0]).strides;
  };
  EXPECT_EQ(strides_of_y(false), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(strides_of_y(true), (std::vector<std::int64_t>{4, 1}));
}

TEST(Results, WithoutElementsHaveTheirSizes) {
  for (const Device& device : all_devices()) {
    const Executable executable = compile(seen_graph(), device);
    const Tensor x = device.upload(allocate(DType::f32, {0, 4}));
    const auto outputs = executable.run(std::vector<Argument>{x});
    EXPECT_EQ(std::get<Tensor>(outputs[0]).sizes, (std::vector<std::int64_t>{4, 0}));
    EXPECT_EQ(std::get<Tensor>(outputs[2]).sizes, (std::vector<std::int64_t>{0}));
    EXPECT_EQ(std::get<Tensor>(outputs[5]).sizes, (std::vector<std::int64_t>{0, 2}));
  }
}

TEST(SealedDevice, CannotBeReadFromHere) {
  const Device device = sealed();
  const Given given(device);
  const auto* there = static_cast<const volatile float*>(std::get<Tensor>(given.arguments[0]).data);
  EXPECT_DEATH(std::printf("%f", static_cast<double>(*there)), "");
}

}  // namespace

}  // namespace twinloom::tests
