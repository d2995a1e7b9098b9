// What small models give, and the types and shapes of their results.
#include <gtest/gtest.h>

#include <limits>

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

// Ten steps one after the other, the last of them over a number that is 4 at most.
TEST(OnnxValues, ShapesMayTakeManySteps) {
  Model model;
  model.input("x", float32, {"n", 2}).integers("zero", {0}).integers("one", {1}).integers("four", {4});
  model.node("Shape", {"x"}, {"s0"}).with("end", 1);
  for (int step = 0; step < 10; ++step) model.node("Add", {cat("s", step), "one"}, {cat("s", step + 1)});
  model.node("Min", {"s10", "four"}, {"least"}).node("Max", {"least", "zero"}, {"end"});
  model.node("Slice", {"x", "zero", "end", "zero"}, {"y"}).output("y");
  EXPECT_EQ(type_of(model.read()), "f32 [least(4, n), 2]");
  Model negative;
  negative.input("x", float32, {"n", 2}).integers("zero", {0}).integers("four", {4}).integers("minus", {-4});
  negative.node("Shape", {"x"}, {"s"}).with("end", 1).node("Mul", {"s", "minus"}, {"m"});
  negative.node("Div", {"m", "four"}, {"d"});
  negative.node("Add", {"d", "s"}, {"none"}).node("Slice", {"x", "none", "s", "zero"}, {"y"}).output("y");
  EXPECT_EQ(type_of(negative.read()), "f32 [n, 2]");
}

// An axis that stays may have any size.
TEST(OnnxValues, ImagesOfSymbolicBatchesAreResized) {
  Model scaled;
  scaled.input("x", float32, {"n", 2})
      .reals("scales", {2}, {1, 2})
      .node("Resize", {"x", "", "scales"}, {"y"})
      .output("y");
  EXPECT_EQ(type_of(scaled.read()), "f32 [n, 4]");
  EXPECT_EQ(numbers_of(scaled.read(), {{index::Symbol("n"), 2}}), (Numbers{0, 0, 1, 1, 2, 2, 3, 3}));
  Model sized;
  sized.input("x", float32, {"n", 2}).integers("four", {4}).node("Shape", {"x"}, {"n"}).with("end", 1);
  sized.node("Concat", {"n", "four"}, {"sizes"}).with("axis", 0);
  sized.node("Resize", {"x", "", "", "sizes"}, {"y"}).output("y");
  EXPECT_EQ(type_of(sized.read()), "f32 [n, 4]");
  sized.with("keep_aspect_ratio_policy", "not_larger");
  EXPECT_EQ(sized.error(),
            "unsupported: node 'y' (Resize, opset 17): a symbolic size of what is resized is not supported");
}

TEST(OnnxValues, AReductionMaySayWhatNoAxesMean) {
  Model model = model_of("ReduceSum", {2, 2});
  model.integers("axes", {1}).with("noop_with_empty_axes", 1);
  EXPECT_EQ(numbers_of(model.read()), (Numbers{0, 1, 2, 3}));
  model.node(0).input.push_back("axes");
  EXPECT_EQ(numbers_of(model.read()), (Numbers{1, 5}));
}

TEST(OnnxValues, TheExtremesOfNothingAreTheEnds) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [operation, end] : {std::pair{"ReduceMax", -infinity}, std::pair{"ReduceMin", infinity}}) {
    Model model = model_of(operation, {0, 2});
    model.with("axes", std::vector<std::int64_t>{0}).with("keepdims", 0);
    EXPECT_EQ(numbers_of(model.read()), (Numbers{end, end}));
  }
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
    format::TensorProto& lengths = model.graph().initializer.emplace_back();
    lengths.name = "lengths";
    lengths.data_type = int32;
    lengths.dims = {2};
    lengths.int32_data = {2, 3};
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

TEST(OnnxValues, NodesKeepTheirNames) {
  Model model = model_of("Relu", {2});
  model.node(0).name = "first relu";
  const graph::Graph graph = model.read();
  EXPECT_EQ(graph[graph.results()[0].value].origin.name, "first relu");
}

TEST(OnnxValues, TensorsOfEveryFieldAndType) {
  const auto read = [](const format::TensorProto& tensor) {
    const graph::Array array = onnx::read_tensor(encoded(tensor), "x.pb");
    Numbers numbers;
    const auto size = static_cast<std::size_t>(ops::size_of(array.dtype));
    for (std::size_t e = 0; e < array.bytes.size(); e += size)
      numbers.push_back(
          ops::real_of(ops::load_number(array.dtype, array.bytes.read().data() + e), array.dtype));
    return numbers;
  };
  format::TensorProto tensor;
  tensor.dims = {2};
  tensor.data_type = float16;
  tensor.int32_data = {0x3c00, 0xc000};
  EXPECT_EQ(read(tensor), (Numbers{1, -2}));
  tensor.data_type = boolean;
  tensor.raw_data = std::string_view("\1\0", 2);
  EXPECT_EQ(read(tensor), (Numbers{1, 0}));
  tensor.data_type = int32;
  tensor.raw_data = {};
  EXPECT_EQ(read(tensor), (Numbers{0x3c00, 0xc000}));
}

}  // namespace

}  // namespace twinloom::tests
