// What is decided while a model is read: control flow, sequences, functions, and sizes that depend on
// elements.
#include <gtest/gtest.h>

#include "tests/onnx/models.h"

namespace twinloom::tests {

namespace {

using Numbers = std::vector<double>;

// x * 2^iteration, as long as the iteration is below `most`; and x of each iteration.
Model loop_model(std::vector<std::int64_t> most) {
  Model body;
  body.input("i", int64, {}).input("go", boolean, {}).input("before", float32, {2});
  body.node("Add", {"before", "before"}, {"after"})
      .node("Identity", {"go"}, {"go_on"})
      .output("go_on")
      .output("after");
  body.output("before");
  Model model;
  model.input("x", float32, {2}).integers("most", most);
  model.node("Loop", {"most", "", "x"}, {"y", "all"}).with("body", body).output("y").output("all");
  return model;
}

TEST(OnnxStructure, LoopsAreUnrolled) {
  const graph::Graph graph = loop_model({3}).read();
  EXPECT_EQ(numbers_of(graph), (Numbers{0, 8}));
  EXPECT_EQ(numbers_of(graph, {}, 1), (Numbers{0, 1, 0, 2, 0, 4}));
  // Without a condition of the node that of the body does not count.
  Model never = loop_model({2});
  never.node(0).attribute[0].g->node[1].op_type = "Not";
  EXPECT_EQ(numbers_of(never.read()), (Numbers{0, 4}));
  EXPECT_EQ(loop_model({5000}).error(),
            "unsupported: node 'y' (Loop, opset 17): more than 1024 iterations is not supported");
  EXPECT_EQ(loop_model({0}).error(),
            "unsupported: node 'y' (Loop, opset 17): a result of no iterations, whose shape is not known, is "
            "not supported");
}

// The condition is known, or the model is refused; what is around a branch is seen in it.
TEST(OnnxStructure, TheBranchThatIsTakenIsRead) {
  const auto made = [](bool is_known) {
    Model yes, no, model;
    yes.node("Neg", {"x"}, {"a"}).output("a");
    no.node("Abs", {"x"}, {"a"}).output("a");
    model.input("x", float32, {2}).input("condition", boolean, {1}).integers("one", {1});
    model.node("Cast", {"one"}, {"known"}).with("to", boolean);
    model.node("If", {is_known ? "known" : "condition"}, {"y"})
        .with("then_branch", yes)
        .with("else_branch", no);
    return model.output("y");
  };
  EXPECT_EQ(numbers_of(made(true).read()), (Numbers{0, -1}));
  EXPECT_EQ(made(false).error(),
            "unsupported: node 'y' (If, opset 17): input 0 'condition' must be known before the run; it "
            "follows from "
            "'condition', whose values can be given");
}

TEST(OnnxStructure, PlacesOfKnownElements) {
  Model model;
  model.reals("x", {2, 2}, {0, 3, 4, 0}).node("NonZero", {"x"}, {"y"}).output("y");
  EXPECT_EQ(type_of(model.read()), "i64 [2, 2]");
  EXPECT_EQ(numbers_of(model.read()), (Numbers{0, 1, 1, 0}));
  Model unique;
  unique.reals("x", {5}, {2, -1, 2, 0, -1}).node("Unique", {"x"}, {"y", "first", "inverse", "counts"});
  unique.output("y").output("first").output("inverse").output("counts");
  const graph::Graph graph = unique.read();
  EXPECT_EQ(numbers_of(graph), (Numbers{-1, 0, 2}));
  EXPECT_EQ(numbers_of(graph, {}, 1), (Numbers{1, 3, 0}));
  EXPECT_EQ(numbers_of(graph, {}, 2), (Numbers{2, 0, 2, 1, 0}));
  EXPECT_EQ(numbers_of(graph, {}, 3), (Numbers{2, 1, 2}));
}

TEST(OnnxStructure, SequencesAreListsWhileTheModelIsRead) {
  Model model;
  model.input("x", float32, {2, 2}).integers("last", {-1});
  model.node("SplitToSequence", {"x"}, {"rows"}).with("axis", 0).with("keepdims", 0);
  model.node("SequenceAt", {"rows", "last"}, {"row"}).node("SequenceInsert", {"rows", "row"}, {"three"});
  model.node("SequenceErase", {"three", "zero"}, {"two"}).node("SequenceLength", {"two"}, {"length"});
  model.integers("zero", {0}).node("ConcatFromSequence", {"two"}, {"y"}).with("axis", 0);
  model.output("y").output("length").output("rows");
  const graph::Graph graph = model.read();
  EXPECT_EQ(numbers_of(graph), (Numbers{2, 3, 2, 3}));
  EXPECT_EQ(numbers_of(graph, {}, 1), (Numbers{2}));
  EXPECT_EQ(numbers_of(graph, {}, 3), (Numbers{2, 3}));
  EXPECT_EQ(graph.results()[3].name, "rows[1]");
}

TEST(OnnxStructure, ASequenceThatIsAnInputHasAParameterForEachTensor) {
  Model model;
  model.input("s", float32, {}).node("ConcatFromSequence", {"s"}, {"y"}).with("axis", 0).output("y");
  model.graph().input[0].type = {{}, format::OtherProto(), {}, {}, {}};
  const graph::Array array{ops::DType::f32, {2}, std::vector<std::byte>(8)};
  onnx::ReadOptions options;
  options.elements = [&](const std::string& name, std::size_t input) -> std::optional<onnx::Elements> {
    EXPECT_EQ(name, "s");
    EXPECT_EQ(input, 0U);
    return onnx::Elements{{array, array}};
  };
  const graph::Graph graph = model.read(options);
  EXPECT_EQ(graph.parameters()[1].name, "s[1]");
  EXPECT_EQ(numbers_of(graph), (Numbers{0, 1, 0, 1}));
}

TEST(OnnxStructure, WhatIsNoSequence) {
  EXPECT_EQ(model_of("SequenceLength", {2}).error(),
            "node 'y' (SequenceLength, opset 17): input 0 'x' must be a sequence, it is a tensor");
  Model model;
  model.node("SequenceEmpty", {}, {"s"}).node("Relu", {"s"}, {"y"}).output("y");
  EXPECT_EQ(model.error(), "node 'y' (Relu, opset 17): input 0 's' must be a tensor, it is a sequence");
  Model at;
  at.input("x", float32, {2}).integers("three", {3}).node("SequenceConstruct", {"x"}, {"s"});
  at.node("SequenceAt", {"s", "three"}, {"y"}).output("y");
  EXPECT_EQ(at.error(), "node 'y' (SequenceAt, opset 17): place 3 lies outside of a sequence of 1");
}

// scaled(x, bias) = x * factor + bias, where the factor is an attribute.
Model with_function() {
  Model model;
  Model body;
  body.node("Constant", {}, {"c"}).with("value_float", 0).node("Mul", {"x", "c"}, {"m"});
  body.node("Clip", {"m", "bias"}, {"y"});
  format::AttributeProto& value = body.node(0).attribute[0];
  value.ref_attr_name = "factor";
  value.type = format::AttributeType::real;
  model.proto.functions = {{.name = "scaled",
                            .input = {"x", "bias"},
                            .output = {"y"},
                            .node = body.graph().node,
                            .opset_import = {{"", 17}},
                            .domain = "here",
                            .attribute_proto = {},
                            .overload = {}}};
  model.proto.opset_import.push_back({"here", 0});
  model.input("x", float32, {3}).reals("b", {}, {15});
  return model;
}
Model& call(Model& model, const std::vector<std::string>& inputs, float factor) {
  model.node("scaled", inputs, {"y"}).output("y");
  model.node(0).domain = "here";
  format::AttributeProto& attribute = model.node(0).attribute.emplace_back();
  attribute.name = "factor";
  attribute.type = format::AttributeType::real;
  attribute.f = factor;
  return model;
}

TEST(OnnxStructure, FunctionsOfTheModelAreReadInPlaceOfTheirCalls) {
  Model whole = with_function(), part = with_function(), more = with_function();
  EXPECT_EQ(numbers_of(call(whole, {"x", "b"}, 10).read()), (Numbers{15, 15, 20}));
  EXPECT_EQ(numbers_of(call(part, {"x"}, 10).read()), (Numbers{0, 10, 20}));
  EXPECT_EQ(call(more, {"x", "b", "b"}, 10).error(),
            "node 'y' (scaled, opset 0): the function has 2 inputs, given are 3");
  Model endless = with_function();
  format::NodeProto& inner = endless.proto.functions[0].node[0];
  inner.op_type = "scaled";
  inner.domain = "here";
  EXPECT_NE(call(endless, {"x"}, 1).error().find("nested more than 32 deep"), std::string::npos);
}

// The array of a model's first constant, read from `bytes`.
KeptBytes first_array(std::string_view bytes, std::shared_ptr<const void> owner) {
  onnx::ReadOptions options;
  options.owner = std::move(owner);
  const graph::Graph graph = onnx::read(bytes, options);
  for (const graph::Node& node : graph.nodes())
    if (const auto* constant = std::get_if<graph::Constant>(&node.node))
      return std::get<graph::Content>(constant->value)->bytes;
  return {};
}

// Each model at four offsets, of which one has f32 on multiples of 4.
TEST(OnnxStructure, LargeArraysStayWhereTheyLieIfTheirElementsAreAligned) {
  constexpr std::size_t COUNT = 1 << 17;
  for (const Type type : {int8, float32}) {
    const std::string elements(type == int8 ? COUNT : COUNT * 4, '\x3f');
    Model model;
    model.raw("w", type, {COUNT}, elements).node("Relu", {"w"}, {"y"}).output("y");
    int kept = 0;
    for (std::size_t offset = 0; offset < 4; ++offset) {
      const auto owner = std::make_shared<const std::string>(std::string(offset, ' ') + model.bytes());
      const std::string_view bytes = std::string_view(*owner).substr(offset);
      const KeptBytes held = first_array(bytes, owner), copied = first_array(bytes, nullptr);
      const auto lies_in_owner = [&](const KeptBytes& array) {
        const auto* first = reinterpret_cast<const char*>(array.read().data());
        return first >= bytes.data() && first < bytes.data() + bytes.size();
      };
      EXPECT_FALSE(lies_in_owner(copied));
      EXPECT_EQ(held, copied);
      EXPECT_EQ(held.size(), elements.size());
      kept += lies_in_owner(held) ? 1 : 0;
    }
    EXPECT_EQ(kept, type == int8 ? 4 : 1);
  }
}

}  // namespace

}  // namespace twinloom::tests
