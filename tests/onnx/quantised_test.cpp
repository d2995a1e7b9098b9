// Operators of com.microsoft on quantised numbers, beside what they stand for: dequantised, computed,
// quantised.
#include <gtest/gtest.h>

#include <functional>

#include "core/base/text.h"
#include "tests/onnx/models.h"

namespace twinloom::tests {

namespace {

using Names = std::vector<std::string>;

// Two tensors, a: u8 [2, 6], b: u8 [2, 6], with scales and zero points, and those of a result.
Model quantised() {
  Model model;
  model.proto.opset_import.push_back({"com.microsoft", 1});
  model.input("a", uint8, {2, 6}).input("b", uint8, {2, 6});
  model.reals("as", {}, {0.25F}).reals("bs", {}, {0.5F}).reals("ys", {}, {0.125F});
  return model.raw("az", uint8, {}, "\x03").raw("bz", uint8, {}, "\x07").raw("yz", uint8, {}, "\x64");
}

// The operator, and the nodes that it stands for, over "ra" and "rb", whose result is "r".
using Nodes = std::function<void(Model& model)>;
void expect_same(Model model, const std::string& operation, const Names& inputs, const Nodes& attributes,
                 const Nodes& stands_for) {
  SCOPED_TRACE(operation);
  model.node(operation, inputs, {"y"}).output("y");
  model.graph().node.back().domain = "com.microsoft";
  attributes(model);
  model.node("DequantizeLinear", {"a", "as", "az"}, {"ra"})
      .node("DequantizeLinear", {"b", "bs", "bz"}, {"rb"});
  stands_for(model);
  model.node("QuantizeLinear", {"r", "ys", "yz"}, {"z"}).output("z");
  const graph::Graph graph = model.read();
  EXPECT_EQ(type_of(graph).substr(0, 2), "u8");
  EXPECT_EQ(numbers_of(graph), numbers_of(graph, {}, 1));
}
void nothing(Model&) {}

TEST(OnnxQuantised, OperatorsOfTwoTensors) {
  const Names both = {"a", "as", "az", "b", "bs", "bz", "ys", "yz"};
  for (const char* operation : {"Add", "Mul"})
    expect_same(quantised(), cat("QLinear", operation), both, nothing, [&](Model& model) {
      model.node(operation, {"ra", "rb"}, {"r"});
    });
  expect_same(
      quantised(), "QLinearConcat", {"ys", "yz", "a", "as", "az", "b", "bs", "bz"},
      [](Model& model) { model.with("axis", 1); },
      [](Model& model) {
        model.node("Concat", {"ra", "rb"}, {"r"}).with("axis", 1);
      });
  expect_same(quantised().raw("c", boolean, {2, 1}, std::string("\x00\x01", 2)), "QLinearWhere",
              {"c", "a", "as", "az", "b", "bs", "bz", "ys", "yz"}, nothing, [](Model& model) {
                model.node("Where", {"c", "ra", "rb"}, {"r"});
              });
}

TEST(OnnxQuantised, OperatorsOfOneTensor) {
  const Names one = {"a", "as", "az", "ys", "yz"};
  expect_same(quantised(), "QLinearSigmoid", one, nothing,
              [](Model& model) { model.node("Sigmoid", {"ra"}, {"r"}); });
  expect_same(
      quantised(), "QLinearLeakyRelu", one, [](Model& model) { model.with_real("alpha", 0.5); },
      [](Model& model) { model.node("LeakyRelu", {"ra"}, {"r"}).with_real("alpha", 0.5); });
  expect_same(
      quantised(), "QLinearSoftmax", one, [](Model& model) { model.with("axis", 0).with("opset", 17); },
      [](Model& model) { model.node("Softmax", {"ra"}, {"r"}).with("axis", 0); });
}

TEST(OnnxQuantised, MeansOfImages) {
  for (const bool is_last : {false, true}) {
    Model model;
    model.proto.opset_import.push_back({"com.microsoft", 1});
    model.input("x", uint8, {1, 2, 2, 2}).reals("s", {}, {0.5F}).raw("z", uint8, {}, "\x01");
    model.node("QLinearGlobalAveragePool", {"x", "s", "z", "s", "z"}, {"y"}).output("y");
    model.with("channels_last", is_last ? 1 : 0);
    model.node(0).domain = "com.microsoft";
    EXPECT_EQ(type_of(model.read()), is_last ? "u8 [1, 1, 1, 2]" : "u8 [1, 2, 1, 1]");
    // 1.5 - 1 + 1 and 5.5 - 1 + 1, rounded to even before the last addition; of columns 3 and 4
    EXPECT_EQ(numbers_of(model.read()), (is_last ? std::vector<double>{3, 4} : std::vector<double>{1, 5}));
  }
}

// Of a: [2, 6] and the rows of b, with a bias.
TEST(OnnxQuantised, Products) {
  const auto real = [](Model& model) {
    model.node("DequantizeLinear", {"c", "cs"}, {"rc"});
    model.node("Gemm", {"ra", "rb", "rc"}, {"r"}).with("transB", 1);
  };
  const std::string bias("\x05\x00\x00\x00\xf0\xff\xff\xff", 8);
  const Model model = quantised().raw("c", int32, {2}, bias).reals("cs", {}, {0.125F});
  const Nodes turned = [](Model& made) { made.with("transB", 1); };
  expect_same(model, "QGemm", {"a", "as", "az", "b", "bs", "bz", "c", "ys", "yz"}, turned, real);
  Model wrong = model;
  wrong.node("QGemm", {"a", "as", "az", "b", "bs", "bz", "a", "ys", "yz"}, {"y"}).with("transB", 1);
  wrong.node(0).domain = "com.microsoft";
  EXPECT_EQ(wrong.output("y").error(), "node 'y' (QGemm, opset 1): input 6 must be of i32, it is of u8");
}

TEST(OnnxQuantised, ProductsThatAreReal) {
  Model model;
  model.proto.opset_import.push_back({"com.microsoft", 1});
  model.input("a", uint8, {2, 3})
      .input("b", uint8, {3, 2})
      .raw("az", uint8, {}, "\x01")
      .raw("bz", uint8, {}, "\x02");
  model.reals("as", {}, {0.5F}).reals("bs", {2}, {1, 2}).reals("c", {2}, {10, 20});
  model.node("MatMulIntegerToFloat", {"a", "b", "as", "bs", "az", "bz", "c"}, {"y"}).output("y");
  model.node(0).domain = "com.microsoft";
  // (-1 0 1; 2 3 4) by (-2 -1; 0 1; 2 3), halved, columns by 1 and 2
  EXPECT_EQ(numbers_of(model.read()), (std::vector<double>{12, 24, 12, 33}));
}

// Of 0, 51, ..., 255 each is quantised as it is.
TEST(OnnxQuantised, FactorsThatAreQuantisedByTheRun) {
  Model model;
  model.proto.opset_import.push_back({"com.microsoft", 1});
  model.reals("a", {2, 3}, {0, 51, 102, 153, 204, 255}).input("b", uint8, {3, 1}).reals("bs", {}, {0.5F});
  model.node("DynamicQuantizeMatMul", {"a", "b", "bs"}, {"y"}).output("y");
  model.node(0).domain = "com.microsoft";
  EXPECT_EQ(numbers_of(model.read()), (std::vector<double>{127.5, 357}));
}

}  // namespace
}  // namespace twinloom::tests
