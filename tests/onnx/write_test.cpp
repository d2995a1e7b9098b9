// Graphs as ONNX models: which operators say them, and that they mean the same when they are read again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/graph/composites.h"
#include "core/graph/convolution.h"
#include "core/graph/indexing.h"
#include "core/graph/sorting.h"
#include "core/graph/views.h"
#include "frontends/onnx/write.h"
#include "tests/onnx/models.h"
#include "tests/support/nearly.h"
#include "tests/support/thrown.h"
#include "tools/twinloom/inputs.h"

namespace twinloom::tests {

namespace {

using graph::Builder;
using graph::Tensor;
using ops::DType;

// The operators in their order, but for what counts sizes together and the Identity of each output.
std::string operators_of(const graph::Graph& graph) {
  const std::string file = onnx::write(graph);
  const auto model = format::decoded<format::ModelProto>(file, "a model");
  std::string names;
  for (const format::NodeProto& node : model.graph->node)
    if (node.op_type != "Identity") names += cat(names.empty() ? "" : " ", node.op_type);
  return names;
}

// What is said of f32 x [4, 6], i64 index [3] and f32 heads [2, 5, 12].
std::string said(
    const std::function<Tensor(const Tensor& x, const Tensor& index, const Tensor& heads)>& made) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {4, 6}), index = builder.input("index", DType::i64, {3}),
               heads = builder.input("heads", DType::f32, {2, 5, 12});
  builder.output(made(x, index, heads));
  return operators_of(builder.take());
}

TEST(OnnxWrite, ViewsAreWhatTheyWereMadeOf) {
  EXPECT_EQ(said([](auto x, auto, auto) { return graph::transpose(x, 0, 1); }), "Transpose");
  EXPECT_EQ(said([](auto x, auto, auto) { return graph::reshape(x, {8, 3}); }), "Reshape");
  EXPECT_EQ(said([](auto x, auto, auto) { return graph::slice(x, 1, 1, 6, 2); }), "Slice");
  EXPECT_EQ(said([](auto x, auto, auto) { return graph::flip(x, {0}); }), "Slice");
  EXPECT_EQ(said([](auto x, auto, auto) { return graph::pad(x, {{1, 0}, {0, 2}}, 7); }), "Pad");
  EXPECT_EQ(said([](auto x, auto, auto) {
              return graph::expand(graph::unsqueeze(x, 1), {4, 3, 6});
            }),
            "Unsqueeze Expand");
  // Broadcasting is the operators' own.
  EXPECT_EQ(said([](auto x, auto, auto) { return x + graph::sum(x, {1}, true); }), "ReduceSum Unsqueeze Add");
  EXPECT_EQ(said([](auto x, auto, auto) { return graph::roll(x, {2}, {1}); }), "Range Add Mod Gather");
}

TEST(OnnxWrite, AxesAreSplitAndMerged) {
  const auto split = [](const Tensor& x) {
    return graph::permute(graph::reshape(x, {2, 5, 3, 4}), {0, 2, 1, 3});
  };
  EXPECT_EQ(said([&](auto, auto, auto heads) { return split(heads); }), "Reshape Transpose");
  EXPECT_EQ(said([&](auto, auto, auto heads) {
              const Tensor made = graph::exp(split(heads));
              return graph::reshape(graph::permute(made, {0, 2, 1, 3}), {2, 5, 12});
            }),
            "Reshape Transpose Exp Transpose Reshape");
}

TEST(OnnxWrite, TotalsProductsAndLookupsHaveOperators) {
  EXPECT_EQ(said([](auto x, auto, auto) { return graph::matrix_product(x, graph::transpose(x, 0, 1)); }),
            "Transpose Einsum");
  EXPECT_EQ(said([](auto x, auto index, auto) { return graph::take(x, 0, index); }), "Gather");
  EXPECT_EQ(said([](auto x, auto index, auto) { return graph::cumsum(graph::take(x, 0, index), 1); }),
            "Gather CumSum");
  EXPECT_EQ(said([](auto x, auto, auto) { return graph::argmax(x, 1); }), "ArgMax");
  EXPECT_EQ(said([](auto x, auto, auto) { return graph::relu(graph::sigmoid(x) * 2.0); }),
            "Sigmoid Mul Relu");
}

TEST(OnnxWrite, LongRowsAreSorted) {
  Builder builder;
  builder.output(graph::argsort(builder.input("x", DType::f32, {index::Symbol("n")}), 0));
  EXPECT_EQ(operators_of(builder.take()), "Cast IsNaN Min Where Shape TopK");
}

TEST(OnnxWrite, SizesHaveTheirNames) {
  Builder builder("named");
  const Tensor x = builder.input("x", DType::f32, {index::Symbol("batch"), 4});
  builder.size_parameter("k", index::Symbol("k"));
  builder.output(graph::reshape(x, {x.size(0) * 4}), "flat");
  builder.output_size(index::Expr(index::Symbol("k")) + 1, "more");
  builder.output_none();
  const std::string file = onnx::write(builder.take());
  const auto model = format::decoded<format::ModelProto>(file, "a model");
  const auto dimension = [](const format::ValueInfoProto& port) {
    return port.type.tensor_type->shape->dim.front().dim_param;
  };
  EXPECT_EQ(model.graph->name, "named");
  EXPECT_EQ(dimension(model.graph->input[0]), "batch");
  EXPECT_EQ(model.graph->input[1].name, "k");
  EXPECT_EQ(dimension(model.graph->output[0]), "4*batch");
  EXPECT_EQ(model.graph->output.size(), 2U);
  EXPECT_EQ(type_of(onnx::read(file)), "f32 [4*batch]");
}

TEST(OnnxWrite, WhatCannotBeSaidIsAnError) {
  const auto message = [](const std::function<Tensor(const Tensor& x)>& made) {
    Builder builder;
    const Tensor x = builder.input("x", DType::f32, {4});
    builder.origin.name = "node";
    builder.output(made(x));
    return words_of<Error>([&] { onnx::write(builder.graph()); });
  };
  EXPECT_EQ(message([](auto x) { return graph::lgamma(x); }),
            "'node': ONNX has no operator for lgamma of f32");
  EXPECT_EQ(message([](auto x) { return graph::cumprod(x, 0); }),
            "'node': ONNX has running sums and no running prod");
  EXPECT_EQ(message([](auto x) { return x.builder().uniform({4}, DType::f32); }),
            "'node': ONNX leaves the numbers of random operators open");
  EXPECT_EQ(message([](auto x) { return graph::order_key(x); }),
            "'node': ONNX has no bits of reals, which are a result here");
}

// A size parameter is a tensor of one number in the model.
std::vector<evaluate::Argument> of_the_model(std::vector<evaluate::Argument> arguments) {
  for (evaluate::Argument& argument : arguments)
    if (const auto* size = std::get_if<std::int64_t>(&argument)) {
      const auto* bytes = reinterpret_cast<const std::byte*>(size);
      argument = evaluate::Value{DType::i64, {}, {bytes, bytes + sizeof *size}};
    }
  return arguments;
}

std::string round_trip(const graph::Graph& graph, const std::vector<evaluate::Argument>& arguments) {
  const auto wide = evaluate::Arithmetic::wide;
  const graph::Graph read = onnx::read(onnx::write(graph));
  return first_difference(evaluate::evaluate(read, of_the_model(arguments), wide),
                          evaluate::evaluate(graph, arguments, wide), 1e-5);
}

// For any batch: what convolutions, windows, norms and shapes that are computed become.
TEST(OnnxWrite, ModelsMeanTheSame) {
  const std::vector<std::int64_t> two = {2, 2}, ones = {1, 1, 1, 1};
  Model model;
  model.input("x", float32, {"batch", 2, 6, 6}).reals("w", {4, 1, 3, 3}, std::vector<float>(36, 0.25f));
  model.reals("scale", {4}, {1, 2, 3, 4}).reals("bias", {4}, {4, 3, 2, 1}).integers("flat", {0, -1});
  model.reals("matrix", {36, 3}, std::vector<float>(108, 0.125f)).integers("k", {2});
  model.node("Conv", {"x", "w"}, {"c"}).with("group", 2).with("pads", ones);
  model.node("BatchNormalization", {"c", "scale", "bias", "bias", "scale"}, {"b"});
  model.node("MaxPool", {"b"}, {"p"}).with("kernel_shape", two).with("strides", two);
  model.node("Reshape", {"p", "flat"}, {"f"}).node("MatMul", {"f", "matrix"}, {"m"});
  model.node("TopK", {"m", "k"}, {"values", "places"}).node("Softmax", {"values"}, {"y"});
  model.output("y").output("places");
  const graph::Graph graph = model.read(), again = onnx::read(onnx::write(graph));
  const index::Values sizes = {{index::Symbol("batch"), 3}};
  EXPECT_EQ(type_of(again), "f32 [batch, 2]");
  for (std::size_t result = 0; result < 2; ++result) {
    const auto given = numbers_of(again, sizes, result), expected = numbers_of(graph, sizes, result);
    ASSERT_EQ(given.size(), 6U);
    for (std::size_t at = 0; at < given.size(); ++at) EXPECT_NEAR(given[at], expected[at], 1e-5);
  }
}

// Each with the inputs of its real run.
TEST(OnnxWrite, GraphsOfPyTorchMeanTheSame) {
#ifdef TWINLOOM_SANITIZED
  GTEST_SKIP() << "takes too long with a sanitizer";
#endif
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TWINLOOM_SOURCE "/tests/graphs/printed")) {
    if (entry.path().extension() != ".fx") continue;
    SCOPED_TRACE(entry.path().filename().string());
    tool::ModelOptions options;
    options.file = entry.path();
    options.inputs = std::filesystem::path(entry.path()).replace_extension(".npz");
    const tool::Model model = tool::read_model(options);
    if (entry.path().stem() == "special_functions.fw") {
      EXPECT_EQ(words_of<Error>([&] { onnx::write(model.graph); }),
                "'lgamma': ONNX has no operator for lgamma of f32");
      continue;
    }
    std::vector<evaluate::Argument> arguments;
    for (const runtime::Argument& given : tool::make_arguments(model, options)) {
      if (const auto* size = std::get_if<std::int64_t>(&given)) {
        arguments.emplace_back(*size);
        continue;
      }
      const runtime::Tensor tensor = runtime::contiguous(std::get<runtime::Tensor>(given));
      const auto* bytes = static_cast<const std::byte*>(tensor.data);
      const auto count = runtime::element_count(tensor) * ops::size_of(tensor.dtype);
      arguments.emplace_back(evaluate::Value{tensor.dtype, tensor.sizes, {bytes, bytes + count}});
    }
    EXPECT_EQ(round_trip(model.graph, arguments), "");
    ++compared;
  }
  EXPECT_GE(compared, 20);
}

}  // namespace

}  // namespace twinloom::tests
