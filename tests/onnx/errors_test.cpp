// Broken models, and those that ask for more than there is: each an Error that says where and what.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "tests/onnx/models.h"
#include "tests/support/scratch_folder.h"

namespace twinloom::tests {

namespace {

TEST(OnnxErrors, NoModel) {
  EXPECT_EQ(error_of("def forward(self):"), "this is no ONNX model, or not the whole of one");
  EXPECT_EQ(error_of(""), "the model has no graph");
  const std::string whole = model_of("Relu", {2, 3}).bytes();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(error_of(whole.substr(0, size)), "nothing was thrown") << size;
}

// Every byte changed in several ways: an Error or a graph, and nothing else.
TEST(OnnxErrors, DamagedModels) {
  Model model(13);
  model.input("x", float32, {"n", 4}).integers("shape", {0, 2, 2}).reals("w", {2, 2}, {1, 2, 3, 4});
  model.node("Reshape", {"x", "shape"}, {"r"})
      .node("MatMul", {"r", "w"}, {"m"})
      .node("Softmax", {"m"}, {"y"});
  model.with("axis", -1).output("y");
  const std::string whole = model.bytes();
  std::mt19937 random(1);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int change = 0; change < 6; ++change) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(change < 2 ? damaged[at] ^ (1 << (change * 7))
                                                 : static_cast<int>(random() & 255));
      (void)error_of(damaged);
    }
  }
}

std::string bytes_in(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The inputs beside a model of ONNX's tests.
onnx::ReadOptions inputs_beside(const std::filesystem::path& model) {
  const auto file = [model](std::size_t number) {
    return model.parent_path() / "test_data_set_0" / cat("input_", number, ".pb");
  };
  onnx::ReadOptions options;
  options.values = [file](const std::string&, std::size_t position) -> std::optional<graph::Array> {
    if (!std::filesystem::exists(file(position))) return std::nullopt;
    return onnx::read_tensor(bytes_in(file(position)), "input");
  };
  options.elements = [file](const std::string&, std::size_t input) -> std::optional<onnx::Elements> {
    if (!std::filesystem::exists(file(input))) return std::nullopt;
    return onnx::read_elements(bytes_in(file(input)), onnx::Kind::sequence, "input");
  };
  return options;
}

// The same of all models of ONNX's tests, where these are there: bytes are changed, left out and doubled.
TEST(OnnxErrors, DamagedModelsOfTheSuite) {
  const std::filesystem::path suite = "/usr/share/libonnx-testdata/data";
  if (!std::filesystem::exists(suite))
    GTEST_SKIP() << suite << " is not there: apt-get install libonnx-testdata";
  std::mt19937 random(2);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(suite)) {
    if (entry.path().filename() != "model.onnx" || entry.file_size() > 1 << 16) continue;
    const std::string whole = bytes_in(entry.path());
    const onnx::ReadOptions options = inputs_beside(entry.path());
    for (int change = 0; change < 8; ++change) {
      std::string damaged = whole;
      const std::size_t at = random() % whole.size();
      if (change < 5)
        damaged[at] = static_cast<char>(change < 2 ? damaged[at] ^ 1 : static_cast<int>(random() & 255));
      if (change == 5) damaged.erase(at, 1 + random() % 8);
      if (change == 6) damaged.insert(at, damaged.substr(at, random() % 8));
      if (change == 7) damaged.resize(at);
      EXPECT_NO_THROW((void)error_of(damaged, options))
          << entry.path() << " change " << change << " at " << at;
    }
  }
}

TEST(OnnxErrors, GraphsThatAreNone) {
  Model no_opset = model_of("Relu", {2});
  no_opset.proto.opset_import.clear();
  EXPECT_EQ(no_opset.error(), "the model names no opset");
  Model no_output;
  no_output.input("x", float32, {2});
  EXPECT_EQ(no_output.error(), "the graph has no outputs");
  Model missing;
  missing.input("x", float32, {2}).node("Add", {"x", "z"}, {"y"}).output("y");
  EXPECT_EQ(missing.error(),
            "node 'y' (Add, opset 17): reads 'z', which is no input, no initializer and no output of a node "
            "before it");
  Model cyclic;
  cyclic.input("x", float32, {2}).node("Add", {"x", "b"}, {"a"}).node("Relu", {"a"}, {"b"}).output("b");
  EXPECT_EQ(cyclic.error(),
            "node 'a' (Add, opset 17): reads 'b', which is no input, no initializer and no output of a node "
            "before it");
  EXPECT_EQ(Model().input("x", float32, {2}).output("y").error(), "output 'y' is computed by no node");
  EXPECT_EQ(Model().input("x", float32, {2}).node("Relu", {"x"}, {"x"}).output("x").error(),
            "node 'x' (Relu, opset 17): two nodes, inputs or initializers are called 'x'");
  Model foreign = model_of("Relu", {2});
  foreign.node(0).domain = "com.example";
  EXPECT_EQ(foreign.error(), "node 'y' (Relu): the model names no opset of domain 'com.example'");
}

TEST(OnnxErrors, MoreThanThereIs) {
  EXPECT_EQ(model_of("Frobnicate", {2}).error(),
            "unsupported: node 'y' (Frobnicate, opset 17): the operator Frobnicate is not supported");
  EXPECT_EQ(model_of("StringNormalizer", {2}).error(),
            "unsupported: node 'y' (StringNormalizer, opset 17): the operator StringNormalizer is not "
            "supported: strings");
  EXPECT_EQ(model_of("NonZero", {2}).error(),
            "unsupported: node 'y' (NonZero, opset 17): input 0 'x' must be known before the run; it follows "
            "from 'x', "
            "whose values can be given");
  EXPECT_EQ(model_of("Relu", {2}, 29).error(),
            "unsupported: node 'y' (Relu, opset 29): opset 29 is not supported, only those up to 28");
  EXPECT_EQ(model_of("Cast", {2}, 5).error(),
            "unsupported: node 'y' (Cast, opset 5): opset 5 is not supported, only 6 and later");
  EXPECT_EQ(Model().input("x", text, {2}).output("x").error(),
            "unsupported: input 'x': elements of type string");
  Model sequence;
  sequence.input("x", float32, {2}).output("x");
  sequence.graph().input[0].type = {{}, format::OtherProto(), {}, {}, {}};
  EXPECT_EQ(
      sequence.error(),
      "unsupported: input 'x': a sequence, map or optional whose elements are not given is not supported");
}

TEST(OnnxErrors, TypesThatNumbersAreNotQuantisedTo) {
  Model model;
  model.input("x", float32, {2}).reals("s", {}, {1}).node("Cast", {"s"}, {"z"}).with("to", int64);
  model.node("QuantizeLinear", {"x", "s", "z"}, {"y"}).output("y");
  EXPECT_EQ(model.error(),
            "unsupported: node 'y' (QuantizeLinear, opset 17): quantisation to i64 is not supported");
}

// What a newer opset may have added to an operator: refused, never ignored.
TEST(OnnxErrors, WhatARowDoesNotKnow) {
  EXPECT_EQ(model_of("Relu", {2}).with("slope", 1).error(),
            "unsupported: node 'y' (Relu, opset 17): attribute 'slope' is not supported");
  Model model;
  model.input("x", float32, {2}).node("Relu", {"x", "x"}, {"y"}).output("y");
  EXPECT_EQ(model.error(), "unsupported: node 'y' (Relu, opset 17): input 1 is not supported");
  Model outputs;
  outputs.input("x", float32, {2}).node("Relu", {"x"}, {"y", "z"}).output("y");
  EXPECT_EQ(outputs.error(),
            "unsupported: node 'y' (Relu, opset 17): output 1 is not supported; there are 1");
}

TEST(OnnxErrors, WrongArguments) {
  EXPECT_EQ(model_of("Add", {2}).error(), "node 'y' (Add, opset 17): needs input 1, given are 1 inputs");
  EXPECT_EQ(model_of("ReduceMax", {2, 3}).with("axes", std::vector<std::int64_t>{2}).error(),
            "node 'y' (ReduceMax, opset 17): axis 2 must lie in -2 to 1 of a tensor of 2 axes");
  EXPECT_EQ(model_of("Softmax", {2}).with("axis", "one").error(),
            "node 'y' (Softmax, opset 17): attribute 'axis' must be of kind 2, it is of kind 3");
  EXPECT_EQ(model_of("BitShift", {2}).with("direction", "UP").error(),
            "node 'y' (BitShift, opset 17): attribute 'direction' must be LEFT or RIGHT, it is 'UP'");
  Model no_tensor, no_graph;
  no_tensor.node("Constant", {}, {"y"}).with("value", Model()).output("y");
  no_tensor.node(0).attribute[0].type = format::AttributeType::tensor;
  EXPECT_EQ(no_tensor.error(), "node 'y' (Constant, opset 17): attribute 'value' holds no tensor");
  no_graph.input("x", float32, {2}).integers("n", {1}).node("Loop", {"n", "", "x"}, {"y"}).output("y");
  no_graph.with("body", Model()).node(0).attribute[0].g = nullptr;
  EXPECT_EQ(no_graph.error(), "node 'y' (Loop, opset 17): attribute 'body' holds no graph");
  EXPECT_EQ(model_of("Cast", {2}).with("to", 99).error(),
            "node 'y' (Cast, opset 17): attribute 'to': there is no element type 99");
  Model reshape;
  reshape.input("x", float32, {6})
      .integers("shape", {4, 2})
      .node("Reshape", {"x", "shape"}, {"y"})
      .output("y");
  EXPECT_NE(reshape.error().find("node 'y' (Reshape, opset 17): reshape 'y'"), std::string::npos)
      << reshape.error();
}

// What would take more memory than there is, is refused before any is taken.
TEST(OnnxErrors, AbsurdSizes) {
  constexpr std::int64_t large = std::int64_t{1} << 50;
  EXPECT_EQ(Model().input("x", float32, {large}).output("x").error(),
            "input 'x': a dimension is 1125899906842624; it must lie in 0 to 1099511627776");
  EXPECT_EQ(Model().input("x", float32, {-2}).output("x").error(),
            "input 'x': a dimension is -2; it must lie in 0 to 1099511627776");
  Model array;
  array.reals("w", {1 << 30, 1 << 30, 1 << 30}, {1}).node("Relu", {"w"}, {"y"}).output("y");
  EXPECT_EQ(array.error(),
            "initializer 'w': dimensions 1073741824 x 1073741824 x 1073741824 of f32 are more than "
            "1099511627776 bytes");
  const auto made = [](const std::string& operation, std::int64_t size) {
    Model model;
    model.integers("n", {size, size}).input("x", float32, {1, 1});
    if (operation == "ConstantOfShape") model.node(operation, {"n"}, {"y"});
    if (operation != "ConstantOfShape") model.node(operation, {"x", "n"}, {"y"});
    return model.output("y").error();
  };
  for (const std::string operation : {"ConstantOfShape", "Expand", "Tile"}) {
    EXPECT_EQ(made(operation, 1 << 30),
              cat("node 'y' (", operation,
                  ", opset 17): a tensor of more than 1099511627776 elements is asked for: "
                  "[1073741824, 1073741824]"));
    EXPECT_NE(made(operation, large), "nothing was thrown");
    EXPECT_NE(made(operation, -3), "nothing was thrown") << operation;
  }
}

TEST(OnnxErrors, TensorsThatDoNotFit) {
  Model numbers;
  numbers.reals("w", {3}, {1, 2}).node("Relu", {"w"}, {"y"}).output("y");
  EXPECT_EQ(numbers.error(), "initializer 'w': holds 2 numbers, its dimensions need 3");
  Model bytes;
  bytes.reals("w", {3}, {}).node("Relu", {"w"}, {"y"}).output("y");
  bytes.graph().initializer[0].raw_data = "12345";
  EXPECT_EQ(bytes.error(), "initializer 'w': holds 5 bytes, its dimensions and type need 12");
  Model type;
  type.reals("w", {1}, {1}).node("Relu", {"w"}, {"y"}).output("y");
  type.graph().initializer[0].data_type = int64;
  EXPECT_EQ(type.error(), "initializer 'w': holds 0 numbers, its dimensions need 1");
  EXPECT_THROW(onnx::read_tensor("nonsense", "x.pb"), Error);
}

class OnnxExternalData : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_.file("model"));
    std::ofstream(folder_.file("model/data.bin"), std::ios::binary) << std::string("\0\0\0\0\0\0\x80\x3f", 8);
    std::ofstream(folder_.file("secret"), std::ios::binary) << std::string(8, '\0');
    std::filesystem::create_symlink(folder_.file("secret"), folder_.file("model/link"));
  }
  // Of a model whose only constant, one f32, lies there.
  std::string error(const std::vector<format::StringStringEntryProto>& entries) const {
    return model(entries).error({folder_.file("model"), {}, {}});
  }
  static Model model(const std::vector<format::StringStringEntryProto>& entries, std::int64_t count = 1) {
    Model model;
    model.reals("w", {count}, {}).node("Relu", {"w"}, {"y"}).output("y");
    format::TensorProto& tensor = model.graph().initializer[0];
    tensor.data_location = format::DataLocation::external;
    tensor.external_data = entries;
    return model;
  }
  ScratchFolder folder_;
};

TEST_F(OnnxExternalData, IsRead) {
  const Model good = model({{"location", "data.bin"}, {"offset", "4"}, {"length", "4"}});
  EXPECT_EQ(numbers_of(good.read({folder_.file("model"), {}, {}})), std::vector<double>{1});
}

// Large constants stay in the file where their elements lie well there, and are copied elsewhere.
TEST_F(OnnxExternalData, OfManyElementsIsTheSameWhereverItLies) {
  constexpr std::int64_t COUNT = 20000;
  std::vector<float> elements(COUNT);
  std::iota(elements.begin(), elements.end(), 1.0F);
  for (const std::size_t offset : {std::size_t{0}, std::size_t{64}, std::size_t{3}}) {
    std::ofstream file(folder_.file("model/large.bin"), std::ios::binary);
    file << std::string(offset, 'x');
    file.write(reinterpret_cast<const char*>(elements.data()), COUNT * 4);
    file.close();
    const std::string from = cat(offset);
    const Model large = model({{"location", "large.bin"}, {"offset", from}}, COUNT);
    EXPECT_EQ(numbers_of(large.read({folder_.file("model"), {}, {}})),
              std::vector<double>(elements.begin(), elements.end()));
  }
}

TEST_F(OnnxExternalData, StaysInTheFolder) {
  const std::string words = " must be a file inside of the model's folder";
  for (const std::string location : {"../secret", "link", "/etc/passwd", "./../model/data.bin"})
    EXPECT_EQ(error({{"location", location}}), cat("initializer 'w': external data '", location, "'", words));
  EXPECT_EQ(model({{"location", "data.bin"}}).error(),
            "initializer 'w': external data 'data.bin' cannot be read: the model is in no folder");
}

TEST_F(OnnxExternalData, FitsTheFile) {
  EXPECT_EQ(error({}), "initializer 'w': external data has no location");
  EXPECT_EQ(error({{"location", "none.bin"}}),
            "initializer 'w': external data 'none.bin' is no file that is there");
  EXPECT_EQ(error({{"location", "data.bin"}, {"offset", "6"}}),
            "initializer 'w': external data 'data.bin' has 8 bytes, 4 are needed from 6 on");
  EXPECT_EQ(
      error({{"location", "data.bin"}, {"offset", "9223372036854775807"}}),
      "initializer 'w': external data 'data.bin' has 8 bytes, 4 are needed from 9223372036854775807 on");
  EXPECT_EQ(error({{"location", "data.bin"}, {"length", "8"}}),
            "initializer 'w': external data 'data.bin' has length 8, the dimensions and the type need 4");
  EXPECT_EQ(error({{"location", "data.bin"}, {"offset", "-1"}}),
            "initializer 'w': offset of external data must be a number of bytes, it is '-1'");
}

}  // namespace

}  // namespace twinloom::tests
