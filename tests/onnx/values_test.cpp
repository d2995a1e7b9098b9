// What small models give, and the types and shapes of their results.
#include <gtest/gtest.h>

#include "tests/onnx/models.h"

namespace twinloom::tests {

namespace {

using Numbers = std::vector<double>;

TEST(OnnxValues, SizesWithNamesAreSymbols) {
  Model model;
  model.input("x", float32, {"batch size", 2}).integers("shape", {0, -1, 1});
  model.node("Reshape", {"x", "shape"}, {"y"}).output("y");
  const graph::Graph graph = model.read();
  EXPECT_EQ(type_of(graph), "f32 [batch_size, 2, 1]");
  EXPECT_EQ(numbers_of(graph, {{index::Symbol("batch_size"), 2}}), (Numbers{0, 1, 2, 3}));
}

TEST(OnnxValues, NamesThatSizesCannotHaveAreChanged) {
  Model model;
  model.input("x", float32, {"i0", "least", "seed", ""}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_EQ(type_of(model.read()), "f32 [d_i0, d_least, d_seed, size]");
}

// Shape, Gather, Mul, Unsqueeze and Concat decide about a shape, and are folded with a symbol in it.
TEST(OnnxValues, ShapesMayBeComputed) {
  Model model;
  model.input("x", float32, {"n", 6}).integers("zero", {0}).integers("two", {2}).integers("rest", {-1});
  model.node("Shape", {"x"}, {"shape"}).node("Gather", {"shape", "zero"}, {"first"});
  model.node("Mul", {"first", "two"}, {"twice"})
      .node("Concat", {"twice", "rest"}, {"wanted"})
      .with("axis", 0);
  model.node("Reshape", {"x", "wanted"}, {"y"}).output("y");
  EXPECT_EQ(type_of(model.read()), "f32 [2*n, 3]");
}

TEST(OnnxValues, ConstantsMayBeComputedInAnyWay) {
  Model model;
  model.input("x", float32, {6}).reals("half", {2}, {1.5, 1.0});
  model.node("Add", {"half", "half"}, {"whole"}).node("Cast", {"whole"}, {"shape"}).with("to", int64);
  model.node("Reshape", {"x", "shape"}, {"y"}).output("y");
  EXPECT_EQ(type_of(model.read()), "f32 [3, 2]");
}

onnx::ReadOptions shape_of(std::vector<std::int64_t> numbers) {
  onnx::ReadOptions options;
  options.values = [numbers](const std::string& name, std::size_t) -> std::optional<graph::Array> {
    if (name != "shape") return std::nullopt;
    const auto* bytes = reinterpret_cast<const std::byte*>(numbers.data());
    return graph::Array{ops::DType::i64,
                        {static_cast<std::int64_t>(numbers.size())},
                        std::vector(bytes, bytes + numbers.size() * sizeof(std::int64_t))};
  };
  return options;
}

// The graph is for this shape, and a run with another one ends in an Error.
TEST(OnnxValues, AnInputThatDecidesAboutAShapeIsCheckedInTheRun) {
  Model model;
  model.input("x", float32, {2})
      .input("shape", int64, {2})
      .node("Reshape", {"x", "shape"}, {"y"})
      .output("y");
  EXPECT_EQ(model.error(),
            "unsupported: node 'y' (Reshape, opset 17): input 1 'shape' must be known before the run; "
            "it follows from 'shape', whose values can be given");
  // The inputs of numbers_of count up: shape is [0, 1].
  EXPECT_EQ(numbers_of(model.read(shape_of({0, 1}))), (Numbers{0, 1}));
  const graph::Graph graph = model.read(shape_of({2, 1}));
  EXPECT_EQ(type_of(graph), "f32 [2, 1]");
  EXPECT_THROW(numbers_of(graph), Error);
}

TEST(OnnxValues, AnInitializerIsTheValueOfAnInputOfItsName) {
  Model model(9);
  model.input("x", float32, {2}).input("w", float32, {2}).reals("w", {2}, {3, 4});
  model.node("Mul", {"x", "w"}, {"y"}).output("y");
  EXPECT_EQ(model.read().parameters().size(), 1U);
  EXPECT_EQ(numbers_of(model.read()), (Numbers{0, 4}));
}

TEST(OnnxValues, OpsetsDecideAboutMeaning) {
  // From opset 13 on along the last axis; before over all axes from the second on.
  EXPECT_EQ(numbers_of(model_of("Hardmax", {1, 2, 2}, 13).read()), (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(numbers_of(model_of("Hardmax", {1, 2, 2}, 11).read()), (Numbers{0, 0, 0, 1}));
  // Axes are an attribute, then an input.
  EXPECT_EQ(type_of(model_of("ReduceSum", {2, 3}, 11).with("axes", std::vector<std::int64_t>{1}).read()),
            "f32 [2, 1]");
  EXPECT_EQ(type_of(model_of("ReduceSum", {2, 3}, 13).with("noop_with_empty_axes", 1).read()), "f32 [2, 3]");
  // Up to opset 6 the second operand lies where `axis` says.
  Model old(6);
  old.input("x", float32, {2, 2}).reals("b", {2}, {10, 20}).node("Add", {"x", "b"}, {"y"});
  old.with("broadcast", 1).with("axis", 0).output("y");
  EXPECT_EQ(numbers_of(old.read()), (Numbers{10, 11, 22, 23}));
}

TEST(OnnxValues, SlicesGoBackwardsAndBeyondTheEnds) {
  struct Row {
    std::int64_t start, end, step;
    Numbers numbers;
  };
  const std::vector<Row> rows = {{3, 0, -1, {3, 2, 1}},
                                 {-1, -100, -2, {3, 1}},
                                 {100, -100, -1, {3, 2, 1, 0}},
                                 {1, 100, 2, {1, 3}},
                                 {-3, -1, 1, {1, 2}},
                                 {2, 2, -1, {}},
                                 {0, 3, -1, {}},
                                 {-100, 2, 1, {0, 1}},
                                 {2, INT64_MIN, -1, {2, 1, 0}},
                                 {2, INT64_MIN, INT64_MIN, {2}},
                                 {1, INT64_MAX, 1, {1, 2, 3}}};
  for (const Row& row : rows) {
    Model model;
    model.input("x", float32, {4}).integers("start", {row.start}).integers("end", {row.end});
    model.integers("axis", {0}).integers("step", {row.step});
    model.node("Slice", {"x", "start", "end", "axis", "step"}, {"y"}).output("y");
    EXPECT_EQ(numbers_of(model.read()), row.numbers) << row.start << ":" << row.end << ":" << row.step;
  }
}

TEST(OnnxValues, PadsReflectRepeatAndCut) {
  const auto padded = [](const std::string& mode, std::vector<std::int64_t> pads) {
    Model model;
    model.input("x", float32, {4})
        .integers("pads", pads)
        .node("Pad", {"x", "pads"}, {"y"})
        .with("mode", mode)
        .output("y");
    return numbers_of(model.read());
  };
  EXPECT_EQ(padded("reflect", {2, 3}), (Numbers{2, 1, 0, 1, 2, 3, 2, 1, 0}));
  EXPECT_EQ(padded("reflect", {-1, 1}), (Numbers{1, 2, 3, 2}));
  EXPECT_EQ(padded("edge", {2, 1}), (Numbers{0, 0, 0, 1, 2, 3, 3}));
  EXPECT_EQ(padded("wrap", {1, 2}), (Numbers{3, 0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(padded("constant", {1, -2}), (Numbers{0, 0, 1}));
}

TEST(OnnxValues, WindowsOfAnyPadding) {
  const auto pooled = [](const std::string& operation, std::vector<std::int64_t> pads, std::int64_t ceil) {
    Model model = model_of(operation, {1, 1, 5}, 11);
    model.with("kernel_shape", std::vector<std::int64_t>{2}).with("strides", std::vector<std::int64_t>{2});
    return numbers_of(model.with("pads", pads).with("ceil_mode", ceil).read());
  };
  EXPECT_EQ(pooled("MaxPool", {0, 0}, 0), (Numbers{1, 3}));
  EXPECT_EQ(pooled("MaxPool", {0, 0}, 1), (Numbers{1, 3, 4}));
  EXPECT_EQ(pooled("MaxPool", {1, 0}, 0), (Numbers{0, 2, 4}));
  EXPECT_EQ(pooled("AveragePool", {1, 0}, 0), (Numbers{0, 1.5, 3.5}));
}

TEST(OnnxValues, ConvolutionsHaveGroups) {
  Model model;
  model.input("x", float32, {1, 2, 3}).reals("w", {2, 1, 2}, {1, 10, 1, 100});
  model.node("Conv", {"x", "w"}, {"y"}).with("group", 2).output("y");
  EXPECT_EQ(numbers_of(model.read()), (Numbers{10, 21, 403, 504}));
  Model back;
  back.input("x", float32, {1, 2, 2}).reals("w", {2, 1, 2}, {1, 10, 1, 100});
  back.node("ConvTranspose", {"x", "w"}, {"y"})
      .with("group", 2)
      .with("strides", std::vector<std::int64_t>{2})
      .output("y");
  EXPECT_EQ(numbers_of(back.read()), (Numbers{0, 0, 1, 10, 2, 200, 3, 300}));
}

TEST(OnnxValues, EinsumReadsEllipsesAndDiagonals) {
  const auto summed = [](const std::string& equation, const std::vector<Dimension>& shape) {
    return numbers_of(model_of("Einsum", shape).with("equation", equation).read());
  };
  EXPECT_EQ(summed("ii", {2, 2}), (Numbers{3}));
  EXPECT_EQ(summed("...i->...", {2, 3}), (Numbers{3, 12}));
  EXPECT_EQ(summed("ij->ji", {2, 2}), (Numbers{0, 2, 1, 3}));
  EXPECT_EQ(summed("b...->...b", {2, 2}), (Numbers{0, 2, 1, 3}));
  EXPECT_EQ(summed("iij->j", {2, 2, 2}), (Numbers{6, 8}));
}

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

TEST(OnnxValues, LoopsAreUnrolled) {
  const graph::Graph graph = loop_model({3}).read();
  EXPECT_EQ(numbers_of(graph), (Numbers{0, 8}));
  EXPECT_EQ(numbers_of(graph, {}, 1), (Numbers{0, 1, 0, 2, 0, 4}));
  // Without a condition of the node that of the body does not count.
  Model never = loop_model({2});
  auto& body = *never.proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  body.mutable_node(1)->set_op_type("Not");
  EXPECT_EQ(numbers_of(never.read()), (Numbers{0, 4}));
  EXPECT_EQ(loop_model({5000}).error(),
            "unsupported: node 'y' (Loop, opset 17): more than 1024 iterations is not supported");
  EXPECT_EQ(loop_model({0}).error(),
            "unsupported: node 'y' (Loop, opset 17): a result of no iterations, whose shape is not known, is "
            "not supported");
}

// The condition is known, or the model is refused; what is around a branch is seen in it.
TEST(OnnxValues, TheBranchThatIsTakenIsRead) {
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

TEST(OnnxValues, PlacesOfKnownElements) {
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

TEST(OnnxValues, DimensionsWithoutANameHaveSymbolsOfTheirOwn) {
  Model model;
  model.input("x", float32, {"", "", "size", "size", "an axis with a long name"})
      .node("Relu", {"x"}, {"y"})
      .output("y");
  EXPECT_EQ(type_of(model.read()), "f32 [size, size_1, size_2, size_2, an_axis_with]");
}

// With these weights each state is the sum of the elements up to it, in the direction of the steps.
TEST(OnnxValues, SequencesRunInBothDirections) {
  const auto run = [](const std::string& direction, std::vector<std::string> inputs, std::size_t output) {
    const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
    const std::vector<float> ones(static_cast<std::size_t>(directions), 1);
    Model model;
    model.input("x", float32, {3, 2, 1})
        .reals("w", {directions, 1, 1}, ones)
        .reals("r", {directions, 1, 1}, ones);
    model.proto.mutable_graph()->add_initializer();
    format::TensorProto& lengths = *model.proto.mutable_graph()->mutable_initializer()->rbegin();
    lengths.set_name("lengths");
    lengths.set_data_type(int32);
    lengths.add_dims(2);
    lengths.add_int32_data(2);
    lengths.add_int32_data(3);
    model.node("RNN", inputs, {"y", "last"}).with("direction", direction).with("hidden_size", 1);
    model.with_texts("activations", std::vector<std::string>(static_cast<std::size_t>(directions), "Affine"));
    return numbers_of(model.output("y").output("last").read(), {}, output);
  };
  // Rows of a batch of 2: 0, 2, 4 and 1, 3, 5.
  EXPECT_EQ(run("forward", {"x", "w", "r"}, 0), (Numbers{0, 1, 2, 4, 6, 9}));
  EXPECT_EQ(run("reverse", {"x", "w", "r"}, 0), (Numbers{6, 9, 6, 8, 4, 5}));
  EXPECT_EQ(run("bidirectional", {"x", "w", "r"}, 0), (Numbers{0, 1, 6, 9, 2, 4, 6, 8, 6, 9, 4, 5}));
  EXPECT_EQ(run("bidirectional", {"x", "w", "r"}, 1), (Numbers{6, 9, 6, 9}));
  // The first row ends after two steps.
  EXPECT_EQ(run("forward", {"x", "w", "r", "", "lengths"}, 0), (Numbers{0, 1, 2, 4, 0, 9}));
  EXPECT_EQ(run("reverse", {"x", "w", "r", "", "lengths"}, 0), (Numbers{2, 9, 2, 8, 0, 5}));
  EXPECT_EQ(run("forward", {"x", "w", "r", "", "lengths"}, 1), (Numbers{2, 9}));
}

// A small network of convolutions, for any batch.
TEST(OnnxValues, NetworksHaveSymbolicBatches) {
  Model model;
  model.input("x", float32, {"batch", 1, 6, 6}).reals("w", {2, 1, 3, 3}, std::vector<float>(18, 1));
  model.reals("ones", {2}, {1, 1}).reals("zeros", {2}, {0, 0}).reals("m", {3, 2}, {1, 0, 0, 1, 1, 1});
  model.node("Conv", {"x", "w"}, {"c"}).with("pads", std::vector<std::int64_t>{1, 1, 1, 1});
  model.node("BatchNormalization", {"c", "ones", "zeros", "zeros", "ones"}, {"b"}).node("Relu", {"b"}, {"r"});
  model.node("MaxPool", {"r"}, {"p"}).with("kernel_shape", std::vector<std::int64_t>{2, 2});
  model.with("strides", std::vector<std::int64_t>{2, 2});
  model.node("GlobalAveragePool", {"p"}, {"g"}).node("Flatten", {"g"}, {"f"});
  model.node("Gemm", {"f", "m"}, {"y"}).with("transB", 1).output("y");
  EXPECT_EQ(type_of(model.read()), "f32 [batch, 3]");
}

// Heads are split by a shape that the model computes.
TEST(OnnxValues, AttentionHasSymbolicLengths) {
  Model model;
  model.input("x", float32, {"batch", "length", 8}).integers("at0", {0}).integers("at1", {1});
  model.integers("heads", {2, 4}).node("Shape", {"x"}, {"s"}).node("Gather", {"s", "at0"}, {"b"});
  model.node("Gather", {"s", "at1"}, {"l"}).node("Concat", {"b", "l", "heads"}, {"shape"}).with("axis", 0);
  model.node("Reshape", {"x", "shape"}, {"h"}).node("Transpose", {"h"}, {"q"});
  model.with("perm", std::vector<std::int64_t>{0, 2, 1, 3}).node("Transpose", {"h"}, {"k"});
  model.with("perm", std::vector<std::int64_t>{0, 2, 3, 1}).node("MatMul", {"q", "k"}, {"qk"});
  model.node("Softmax", {"qk"}, {"p"}).node("MatMul", {"p", "q"}, {"o"}).node("Transpose", {"o"}, {"t"});
  model.with("perm", std::vector<std::int64_t>{0, 2, 1, 3}).integers("flat", {0, 0, -1});
  model.node("Reshape", {"t", "flat"}, {"y"}).output("y");
  EXPECT_EQ(type_of(model.read()), "f32 [batch, length, 8]");
}

TEST(OnnxValues, SequencesAreListsWhileTheModelIsRead) {
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

TEST(OnnxValues, ASequenceThatIsAnInputHasAParameterForEachTensor) {
  Model model;
  model.input("s", float32, {}).node("ConcatFromSequence", {"s"}, {"y"}).with("axis", 0).output("y");
  model.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type();
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

TEST(OnnxValues, WhatIsNoSequence) {
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
  format::FunctionProto& function = *model.proto.add_functions();
  function.set_name("scaled");
  function.set_domain("here");
  function.add_opset_import()->set_version(17);
  function.add_input("x");
  function.add_input("bias");
  function.add_output("y");
  Model body;
  body.node("Constant", {}, {"c"}).with("value_float", 0).node("Mul", {"x", "c"}, {"m"});
  body.node("Clip", {"m", "bias"}, {"y"});
  auto& value = *body.proto.mutable_graph()->mutable_node(0)->mutable_attribute(0);
  value.set_ref_attr_name("factor");
  value.set_type(format::AttributeProto::FLOAT);
  *function.mutable_node() = body.proto.graph().node();
  model.proto.add_opset_import()->set_domain("here");
  model.input("x", float32, {3}).reals("b", {}, {15});
  return model;
}
Model& call(Model& model, const std::vector<std::string>& inputs, float factor) {
  model.node("scaled", inputs, {"y"}).output("y");
  format::NodeProto& node = *model.proto.mutable_graph()->mutable_node(0);
  node.set_domain("here");
  format::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("factor");
  attribute.set_type(format::AttributeProto::FLOAT);
  attribute.set_f(factor);
  return model;
}

TEST(OnnxValues, FunctionsOfTheModelAreReadInPlaceOfTheirCalls) {
  Model whole = with_function(), part = with_function(), more = with_function();
  EXPECT_EQ(numbers_of(call(whole, {"x", "b"}, 10).read()), (Numbers{15, 15, 20}));
  EXPECT_EQ(numbers_of(call(part, {"x"}, 10).read()), (Numbers{0, 10, 20}));
  EXPECT_EQ(call(more, {"x", "b", "b"}, 10).error(),
            "node 'y' (scaled, opset 0): the function has 2 inputs, given are 3");
  Model endless = with_function();
  auto& inner = *endless.proto.mutable_functions(0)->mutable_node(0);
  inner.set_op_type("scaled");
  inner.set_domain("here");
  EXPECT_NE(call(endless, {"x"}, 1).error().find("nested more than 32 deep"), std::string::npos);
}

TEST(OnnxValues, NodesKeepTheirNames) {
  Model model = model_of("Relu", {2});
  model.proto.mutable_graph()->mutable_node(0)->set_name("first relu");
  const graph::Graph graph = model.read();
  EXPECT_EQ(graph[graph.results()[0].value].origin.name, "first relu");
}

TEST(OnnxValues, TensorsOfEveryFieldAndType) {
  const auto read = [](const format::TensorProto& tensor) {
    const graph::Array array = onnx::read_tensor(tensor.SerializeAsString(), "x.pb");
    Numbers numbers;
    const auto size = static_cast<std::size_t>(ops::size_of(array.dtype));
    for (std::size_t e = 0; e < array.bytes.size(); e += size)
      numbers.push_back(
          ops::real_of(ops::load_number(array.dtype, array.bytes.read().data() + e), array.dtype));
    return numbers;
  };
  format::TensorProto tensor;
  tensor.add_dims(2);
  tensor.set_data_type(float16);
  tensor.add_int32_data(0x3c00);
  tensor.add_int32_data(0xc000);
  EXPECT_EQ(read(tensor), (Numbers{1, -2}));
  tensor.set_data_type(boolean);
  tensor.set_raw_data(std::string("\1\0", 2));
  EXPECT_EQ(read(tensor), (Numbers{1, 0}));
  tensor.set_data_type(int32);
  tensor.clear_raw_data();
  EXPECT_EQ(read(tensor), (Numbers{0x3c00, 0xc000}));
}

}  // namespace

}  // namespace twinloom::tests
