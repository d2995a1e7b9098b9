// The wire format: what writers may do, and what they may not.
#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "tests/onnx/models.h"

namespace twinloom::tests {

namespace {

using protozero::pbf_writer;

constexpr const char* words = "this is no tensor";

format::TensorProto tensor_in(const std::string& bytes) {
  return format::decoded<format::TensorProto>(bytes, words);
}

std::string error_in(const std::string& bytes) {
  try {
    (void)tensor_in(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// A message that is field `number` of itself, so often.
std::string nested(const std::vector<std::uint32_t>& numbers, int times) {
  std::string bytes;
  for (int k = 0; k < times; ++k) {
    for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
      std::string outer;
      pbf_writer(outer).add_message(*number, bytes);
      bytes = outer;
    }
  }
  return bytes;
}

TEST(OnnxFormat, NumbersSideBySideOrOneByOne) {
  std::string bytes;
  pbf_writer writer(bytes);
  const std::vector<std::int64_t> sizes = {2, -1};
  const std::vector<double> halves = {0.5};
  writer.add_packed_int64(1, sizes.begin(), sizes.end());
  writer.add_int64(1, 300);
  writer.add_float(4, 1.5F);
  writer.add_int32(5, -7);
  writer.add_packed_double(10, halves.begin(), halves.end());
  writer.add_double(10, -2);
  writer.add_uint64(11, ~std::uint64_t{0});
  const format::TensorProto tensor = tensor_in(bytes);
  EXPECT_EQ(tensor.dims, (std::vector<std::int64_t>{2, -1, 300}));
  EXPECT_EQ(tensor.float_data, (std::vector<float>{1.5F}));
  EXPECT_EQ(tensor.int32_data, (std::vector<std::int32_t>{-7}));
  EXPECT_EQ(tensor.double_data, (std::vector<double>{0.5, -2}));
  EXPECT_EQ(tensor.uint64_data, (std::vector<std::uint64_t>{~std::uint64_t{0}}));
}

TEST(OnnxFormat, RawDataIsNotCopied) {
  format::TensorProto tensor;
  tensor.raw_data = "weights";
  const std::string bytes = format::encoded(tensor);
  EXPECT_EQ(tensor_in(bytes).raw_data.data(), bytes.data() + bytes.find("weights"));
}

TEST(OnnxFormat, FieldsThatHaveNoRowAreSkipped) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_int64(100, 1);
  writer.add_fixed32(101, 2);
  writer.add_fixed64(102, 3);
  writer.add_bytes(103, "\xff\xff\xff");
  writer.add_int32(2, float32);
  EXPECT_EQ(tensor_in(bytes).data_type, float32);
}

TEST(OnnxFormat, WireTypesMustBeThoseOfTheFields) {
  std::string number, text, packed;
  pbf_writer(number).add_int64(9, 1);
  pbf_writer(text).add_bytes(2, "one");
  pbf_writer(packed).add_bytes(4, "12345");
  EXPECT_EQ(error_in(number), "this is no tensor: field 9 has wire type 0 in place of 2");
  EXPECT_EQ(error_in(text), "this is no tensor: field 2 has wire type 2 in place of 0");
  EXPECT_EQ(error_in(packed), "this is no tensor, or not the whole of one");
}

TEST(OnnxFormat, BytesThatEndTooEarly) {
  const std::string whole = "this is no tensor, or not the whole of one";
  EXPECT_EQ(error_in("\x4a\x05raw"), whole);       // raw data
  EXPECT_EQ(error_in("\x0a\x02\x01\x80"), whole);  // numbers side by side
  EXPECT_EQ(error_in("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), whole);
  EXPECT_EQ(error_in("\x4a\xff\xff\xff\xff\x0f"), whole);
}

// Graphs inside of nodes: 7 is the model's graph, 1 a node, 5 an attribute, 6 its graph.
TEST(OnnxFormat, NestingEnds) {
  const auto model = [](int depth) {
    std::string bytes;
    pbf_writer(bytes).add_message(7, nested({1, 5, 6}, depth));
    return error_of(bytes);
  };
  EXPECT_EQ(model(32), "the model names no opset");
  EXPECT_EQ(model(33), "this is no ONNX model: messages are nested more than 100 deep");
  EXPECT_EQ(model(10000), "this is no ONNX model: messages are nested more than 100 deep");
}

// Empty nodes, of two bytes each.
TEST(OnnxFormat, MemoryIsLimitedByTheSizeOfTheFile) {
  const auto model = [](std::size_t nodes) {
    std::string graph;
    for (std::size_t k = 0; k < nodes; ++k) graph += std::string("\x0a\0", 2);
    std::string bytes;
    pbf_writer(bytes).add_message(7, graph);
    return error_of(bytes);
  };
  EXPECT_EQ(model(1000), "the model names no opset");
  EXPECT_EQ(model(1000000), "this is no ONNX model: it has too many messages for its size");
}

}  // namespace

}  // namespace twinloom::tests
