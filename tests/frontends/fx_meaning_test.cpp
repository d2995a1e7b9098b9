// What operators mean beside PyTorch, in both modes: types of scalars, truths, tensors of rank 0, masks.
// Expected are the numbers of PyTorch 2.11 on the CPU; tests/aten compares many more where PyTorch is
// installed.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/graph/passes.h"
#include "tests/evaluate/arrays.h"
#include "tests/frontends/texts.h"

namespace twinloom::tests {
namespace {

using evaluate::array;
using evaluate::Value;
using ops::DType;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Meaning {
  std::string_view parameters, call;
  std::vector<Value> inputs;
  std::string_view type;
  std::vector<double> numbers;
};

void expect_meaning(const Meaning& row) {
  const std::string text =
      module_text(row.parameters, cat("y: \"", row.type, "\" = torch.ops.aten.", row.call), "(y,)");
  ASSERT_EQ(error_of(text), "nothing was thrown") << row.call;
  const graph::Graph graph = fx::read(text);
  const std::vector<evaluate::Argument> arguments(row.inputs.begin(), row.inputs.end());
  for (const graph::Graph& form : {graph, graph::drop_implicit_rounding(graph)}) {
    const auto results = evaluate::evaluate(form, arguments, evaluate::Arithmetic::strict);
    const std::vector<double> numbers = evaluate::numbers_in(*results[0]);
    ASSERT_EQ(numbers.size(), row.numbers.size()) << row.call;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const bool both_nan = std::isnan(numbers[k]) && std::isnan(row.numbers[k]);
      EXPECT_TRUE(both_nan || numbers[k] == row.numbers[k])
          << row.call << " element " << k << ": " << numbers[k] << ", expected " << row.numbers[k];
    }
  }
}

// 0.1 is 0.10009765625 in bf16 and 0.0999755859375 in f16.
const Value tenth_bf16 = array(DType::bf16, {2}, {0.1, 0.5});
const Value tenth_f16 = array(DType::f16, {2}, {0.1, 0.5});

TEST(FxMeaning, ComparisonsAndRemaindersRoundAScalarToTheTypeOfTheTensor) {
  for (const auto& [type, x] : {std::pair{"bf16[2]", tenth_bf16}, std::pair{"f16[2]", tenth_f16}}) {
    const std::string parameters = cat("x: \"", type, "\"");
    expect_meaning({parameters, "eq.Scalar(x, 0.1)", {x}, "b8[2]", {1, 0}});
    expect_meaning({parameters, "ne.Scalar(x, 0.1)", {x}, "b8[2]", {0, 1}});
    expect_meaning({parameters, "gt.Scalar(x, 0.1)", {x}, "b8[2]", {0, 1}});
    expect_meaning({parameters, "ge.Scalar(x, 0.1)", {x}, "b8[2]", {1, 1}});
    expect_meaning({parameters, "lt.Scalar(x, 0.1)", {x}, "b8[2]", {0, 0}});
    expect_meaning({parameters, "le.Scalar(x, 0.1)", {x}, "b8[2]", {1, 0}});
  }
  expect_meaning({"x: \"bf16[2]\"", "fmod.Scalar(x, 0.1)", {tenth_bf16}, "bf16[2]", {0, 0.099609375}});
  expect_meaning({"x: \"f16[2]\"", "remainder.Scalar(x, 0.1)", {tenth_f16}, "f16[2]", {0, 0.0001220703125}});
}

TEST(FxMeaning, ATensorWithoutAxesIsRoundedInComparisonsAndNotInArithmetic) {
  const Value exact = array(DType::f32, {}, {0.1});
  expect_meaning({"x: \"bf16[2]\", s: \"f32[]\"", "gt.Tensor(x, s)", {tenth_bf16, exact}, "b8[2]", {0, 1}});
  expect_meaning({"x: \"bf16[2]\", s: \"f32[]\"", "eq.Tensor(s, x)", {tenth_bf16, exact}, "b8[2]", {1, 0}});
  const Value near = array(DType::bf16, {1}, {-0.10009765625});
  expect_meaning({"x: \"bf16[1]\", s: \"f32[]\"", "add.Tensor(x, s)", {near, exact}, "bf16[1]", {0}});
}

TEST(FxMeaning, SumsAndProductsTakeANumberAsItIs) {
  const Value x = array(DType::bf16, {1}, {-0.10009765625});
  const double left = static_cast<double>(static_cast<float>(0.1F - 0.10009765625F));
  expect_meaning({"x: \"bf16[1]\"",
                  "add.Tensor(x, 0.1)",
                  {x},
                  "bf16[1]",
                  evaluate::numbers_in(array(DType::bf16, {1}, {left}))});
  const Value many = array(DType::bf16, {3}, {1.0078125, 3, 7.03125});
  std::vector<double> products;
  for (const double one : evaluate::numbers_in(many))
    products.push_back(static_cast<double>(static_cast<float>(one) * 0.1F));
  const std::vector<double> expected = evaluate::numbers_in(array(DType::bf16, {3}, products));
  expect_meaning({"x: \"bf16[3]\"", "mul.Tensor(x, 0.1)", {many}, "bf16[3]", expected});
  expect_meaning({"x: \"bf16[3]\", s: \"f32[]\"",
                  "mul.Tensor(x, s)",
                  {many, array(DType::f32, {}, {0.1})},
                  "bf16[3]",
                  expected});
}

TEST(FxMeaning, TruthsAddMultiplyAndHaveASign) {
  const Value a = array(DType::b8, {4}, {0, 0, 1, 1});
  const Value b = array(DType::b8, {4}, {0, 1, 0, 1});
  const std::string_view both = "a: \"b8[4]\", b: \"b8[4]\"";
  expect_meaning({both, "add.Tensor(a, b)", {a, b}, "b8[4]", {0, 1, 1, 1}});
  expect_meaning({both, "mul.Tensor(a, b)", {a, b}, "b8[4]", {0, 0, 0, 1}});
  expect_meaning({"a: \"b8[4]\"", "sgn.default(a)", {a}, "b8[4]", {0, 0, 1, 1}});
  expect_meaning({"a: \"b8[4]\"", "sign.default(a)", {a}, "b8[4]", {0, 0, 1, 1}});
  expect_meaning({"a: \"b8[4]\"", "signbit.default(a)", {a}, "b8[4]", {0, 0, 0, 0}});
  expect_meaning({"a: \"b8[4]\"", "prod.default(a, dtype = torch.bool)", {a}, "b8[]", {0}});
  expect_meaning({"a: \"b8[4]\"", "square.default(a)", {a}, "i64[4]", {0, 0, 1, 1}});
}

TEST(FxMeaning, TruthsScatter) {
  const Value base = array(DType::b8, {3}, {1, 0, 1});
  const Value index = array(DType::i64, {2}, {1, 2});
  const Value source = array(DType::b8, {2}, {1, 0});
  const std::string_view parameters = "x: \"b8[3]\", i: \"i64[2]\", v: \"b8[2]\"";
  const std::vector<Value> inputs{base, index, source};
  expect_meaning({parameters, "scatter_add.default(x, 0, i, v)", inputs, "b8[3]", {1, 1, 1}});
  expect_meaning({parameters, "scatter_reduce.two(x, 0, i, v, 'prod')", inputs, "b8[3]", {1, 0, 0}});
  expect_meaning({parameters, "index_add.default(x, 0, i, v)", inputs, "b8[3]", {1, 1, 1}});
  expect_meaning({parameters, "index_put.default(x, [i], v, True)", inputs, "b8[3]", {1, 1, 1}});
}

TEST(FxMeaning, AnyAndAllOfU8StayU8) {
  const Value x = array(DType::u8, {2, 2}, {0, 7, 3, 1});
  expect_meaning({"x: \"u8[2, 2]\"", "any.default(x)", {x}, "u8[]", {1}});
  expect_meaning({"x: \"u8[2, 2]\"", "all.dim(x, 1)", {x}, "u8[2]", {0, 1}});
  expect_meaning({"x: \"u8[2, 2]\"", "any.dims(x, [])", {x}, "u8[2, 2]", {0, 1, 1, 1}});
}

TEST(FxMeaning, ARowWithInfinityHasNoSoftmax) {
  const Value x = array(DType::f32, {2, 2}, {inf, 0, -inf, -inf});
  const std::string_view parameters = "x: \"f32[2, 2]\"";
  expect_meaning({parameters, "_softmax.default(x, 1, False)", {x}, "f32[2, 2]", {nan, nan, nan, nan}});
  expect_meaning({parameters, "_log_softmax.default(x, 1, False)", {x}, "f32[2, 2]", {nan, nan, nan, nan}});
  expect_meaning({parameters, "logsumexp.default(x, [1])", {x}, "f32[2]", {inf, -inf}});
}

TEST(FxMeaning, ATensorOfRank0HasOneAxisWhereOneIsNamed) {
  const Value x = array(DType::f32, {}, {7});
  const Value zero = array(DType::i64, {1}, {0});
  expect_meaning({"x: \"f32[]\"", "flip.default(x, [0])", {x}, "f32[]", {7}});
  expect_meaning({"x: \"f32[]\"", "unfold.default(x, 0, 1, 1)", {x}, "f32[1]", {7}});
  expect_meaning({"x: \"f32[]\", i: \"i64[1]\"", "index_select.default(x, -1, i)", {x, zero}, "f32[]", {7}});
  expect_meaning({"x: \"f32[]\", i: \"i64[1]\"", "gather.default(x, 0, i)", {x, zero}, "f32[1]", {7}});
  expect_meaning({"x: \"f32[]\"", "_softmax.default(x, 0, False)", {x}, "f32[]", {1}});
  expect_meaning(
      {"x: \"f32[1, 1]\"", "squeeze.dims(x, [])", {array(DType::f32, {1, 1}, {7})}, "f32[1, 1]", {7}});
}

TEST(FxMeaning, AScalarAndAnEmptyIndex) {
  expect_meaning({"x: \"f32[2]\", i: \"i64[]\", v: \"f32[]\"",
                  "scatter_add.default(x, 0, i, v)",
                  {array(DType::f32, {2}, {1, 2}), array(DType::i64, {}, {1}), array(DType::f32, {}, {5})},
                  "f32[2]",
                  {1, 7}});
  expect_meaning({"x: \"f32[2]\", i: \"i64[1]\", v: \"f32[]\"",
                  "index_copy.default(x, 0, i, v)",
                  {array(DType::f32, {2}, {1, 2}), array(DType::i64, {1}, {1}), array(DType::f32, {}, {5})},
                  "f32[2]",
                  {1, 5}});
  const Value x = array(DType::f32, {2}, {1, 2});
  expect_meaning({"x: \"f32[2]\", i: \"u8[3, 0]\"",
                  "gather.default(x, 0, i)",
                  {x, array(DType::u8, {3, 0}, {})},
                  "f32[3, 0]",
                  {}});
}

TEST(FxMeaning, BoundsAndNumbersBesideIntegers) {
  const Value x = array(DType::u8, {3}, {0, 1, 255});
  expect_meaning({"x: \"u8[3]\"", "hardtanh.default(x, -0.5, 1.5)", {x}, "u8[3]", {0, 1, 1}});
  expect_meaning({"x: \"u8[3]\"", "eq.Scalar(x, -1)", {x}, "b8[3]", {0, 0, 1}});
  expect_meaning({"x: \"u8[3]\"", "mul.Tensor(x, -1)", {x}, "u8[3]", {0, 255, 1}});
  expect_meaning({"x: \"u8[3]\"", "clamp.default(x, 0.5, 1.5)", {x}, "f32[3]", {0.5, 1, 1.5}});
  expect_meaning({"x: \"u8[3]\"", "isfinite.default(x)", {x}, "b8[3]", {1, 1, 1}});
}

TEST(FxMeaning, AlphaScales) {
  const Value x = array(DType::f32, {2}, {1, 2});
  expect_meaning({"x: \"f32[2]\"", "rsub.Scalar(x, 10, 3)", {x}, "f32[2]", {7, 4}});
  expect_meaning({"x: \"f32[2]\"",
                  "sub.Tensor(x, x, alpha = 3)",
                  {
                      x,
                  },
                  "f32[2]",
                  {-2, -4}});
}

TEST(FxMeaning, TheNextNumberOf16Bits) {
  const double tiny = 0x1p-133;
  const Value x = array(DType::bf16, {7}, {1, 1, 0, 2, inf, 0x1.FEp127, nan});
  const Value y = array(DType::bf16, {7}, {2, 0, -1, 2, 0, inf, 1});
  expect_meaning({"x: \"bf16[7]\", y: \"bf16[7]\"",
                  "nextafter.default(x, y)",
                  {x, y},
                  "bf16[7]",
                  {1.0078125, 0.99609375, -tiny, 2, 0x1.FEp127, inf, nan}});
  expect_meaning({"x: \"f16[2]\", y: \"f16[2]\"",
                  "nextafter.default(x, y)",
                  {array(DType::f16, {2}, {65504, 0x1p-14}), array(DType::f16, {2}, {inf, 0})},
                  "f16[2]",
                  {inf, 0x1p-14 - 0x1p-24}});
}

TEST(FxMeaning, AMaskAsIndexIsASelect) {
  const Value x = array(DType::f32, {2, 2}, {1, 2, 3, 4});
  const Value mask = array(DType::b8, {2}, {0, 1});
  const Value row = array(DType::f32, {2}, {10, 20});
  const std::string_view parameters = "x: \"f32[2, 2]\", m: \"b8[2]\", v: \"f32[2]\"";
  expect_meaning({parameters, "index_put.default(x, [m], v)", {x, mask, row}, "f32[2, 2]", {1, 2, 10, 20}});
  expect_meaning(
      {parameters, "index_put.default(x, [m], v, True)", {x, mask, row}, "f32[2, 2]", {1, 2, 13, 24}});
  expect_meaning({"x: \"f32[2, 2]\", m: \"b8[2, 2]\", v: \"f32[]\"",
                  "index_put.default(x, [m], v)",
                  {x, array(DType::b8, {2, 2}, {1, 0, 0, 1}), array(DType::f32, {}, {9})},
                  "f32[2, 2]",
                  {9, 2, 3, 9}});
}

TEST(FxMeaning, ChunksOfNothingAreAsManyAsAskedFor) {
  const std::string text = module_text("x: \"f32[0, 2]\"",
                                       "c = torch.ops.aten.chunk.default(x, 3)\na: \"f32[0, 2]\" = c[2]\ny: "
                                       "\"f32[0, 2]\" = torch.ops.aten.neg.default(a)",
                                       "(y,)");
  EXPECT_EQ(error_of(text), "nothing was thrown");
}

TEST(FxMeaning, ASliceOfNothingPutsNothing) {
  expect_meaning({"g: \"f32[0]\"",
                  "slice_backward.default(g, [2], 0, 1, 1, 1)",
                  {array(DType::f32, {0}, {})},
                  "f32[2]",
                  {0, 0}});
}

TEST(FxMeaning, ScatterMean) {
  const Value x = array(DType::f32, {3}, {1, 2, 3});
  const Value index = array(DType::i64, {3}, {0, 0, 2});
  const Value source = array(DType::f32, {3}, {4, 7, 5});
  const std::string_view parameters = "x: \"f32[3]\", i: \"i64[3]\", v: \"f32[3]\"";
  expect_meaning(
      {parameters, "scatter_reduce.two(x, 0, i, v, 'mean')", {x, index, source}, "f32[3]", {4, 2, 4}});
  expect_meaning({parameters,
                  "scatter_reduce.two(x, 0, i, v, 'mean', include_self = False)",
                  {x, index, source},
                  "f32[3]",
                  {5.5, 2, 5}});
  const Value whole = array(DType::i32, {2}, {1, 4});
  expect_meaning({"x: \"i32[2]\", i: \"i64[2]\", v: \"i32[2]\"",
                  "scatter_reduce.two(x, 0, i, v, 'mean')",
                  {whole, array(DType::i64, {2}, {0, 0}), array(DType::i32, {2}, {2, -4})},
                  "i32[2]",
                  {-1, 4}});
}

TEST(FxMeaning, RowsOfTheCore) {
  const Value x = array(DType::f32, {2}, {0, 30});
  expect_meaning(
      {"x: \"f32[2]\"", "softplus.default(x)", {x}, "f32[2]", {static_cast<double>(std::log1p(1.0F)), 30}});
  expect_meaning(
      {"x: \"f32[2]\"", "isfinite.default(x)", {array(DType::f32, {2}, {inf, 1})}, "b8[2]", {0, 1}});
  expect_meaning({"x: \"f32[2]\"", "fill.Scalar(x, 3)", {x}, "f32[2]", {3, 3}});
  expect_meaning({"x: \"f32[1]\"", "logit.default(x, 0.5)", {array(DType::f32, {1}, {0.1})}, "f32[1]", {0}});
  expect_meaning({"i: \"i64[2]\"",
                  "one_hot.default(i, 3)",
                  {array(DType::i64, {2}, {2, 0})},
                  "i64[2, 3]",
                  {0, 0, 1, 1, 0, 0}});
  expect_meaning(
      {"x: \"f32[2]\"", "sign.default(x)", {array(DType::f32, {2}, {nan, -3})}, "f32[2]", {0, -1}});
}

TEST(FxMeaning, ProductsOfMatrices) {
  const Value x = array(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}), y = array(DType::f32, {3, 1}, {1, 10, 100});
  expect_meaning({"x: \"f32[2, 3]\", y: \"f32[3, 1]\"", "mm.default(x, y)", {x, y}, "f32[2, 1]", {321, 654}});
  const Value batch = array(DType::f32, {2, 1, 2}, {1, 2, 3, 4}),
              by = array(DType::f32, {2, 2, 1}, {1, 1, 2, 2});
  expect_meaning({"x: \"f32[2, 1, 2]\", y: \"f32[2, 2, 1]\"",
                  "bmm.default(x, y)",
                  {batch, by},
                  "f32[2, 1, 1]",
                  {3, 14}});
}

// Statistics of 16-bit inputs have the type that the text says.
TEST(FxMeaning, StatisticsHaveThePrintedType) {
  for (const std::string_view type : {"bf16[2, 1]", "f32[2, 1]"}) {
    const std::string text =
        module_text("x: \"bf16[2, 4]\"",
                    cat("n = torch.ops.aten.native_layer_norm.default(x, [4], None, None, 1e-05)\nm: \"",
                        type, "\" = n[1]\nr: \"", type, "\" = n[2]"),
                    "(m, r)");
    ASSERT_EQ(error_of(text), "nothing was thrown");
    EXPECT_EQ(result_type(fx::read(text), 1), type);
  }
}

TEST(FxMeaning, BatchNormInTraining) {
  const std::string text = module_text(
      "x: \"f32[4, 1]\", m: \"f32[1]\", v: \"f32[1]\"",
      "n = torch.ops.aten._native_batch_norm_legit_functional.default(x, None, None, m, v, True, 0.5, 0.0)\n"
      "y: \"f32[4, 1]\" = n[0]\na: \"f32[1]\" = n[1]\nr: \"f32[1]\" = n[2]\nrm: \"f32[1]\" = n[3]\nrv: "
      "\"f32[1]\" = n[4]",
      "(y, a, r, rm, rv)");
  ASSERT_EQ(error_of(text), "nothing was thrown");
  const std::vector<evaluate::Argument> arguments{array(DType::f32, {4, 1}, {1, 1, 5, 5}),
                                                  array(DType::f32, {1}, {1}), array(DType::f32, {1}, {2})};
  const auto results = evaluate::evaluate(fx::read(text), arguments, evaluate::Arithmetic::strict);
  EXPECT_EQ(evaluate::numbers_in(*results[0]), (std::vector<double>{-1, -1, 1, 1}));
  EXPECT_EQ(evaluate::numbers_in(*results[1]), (std::vector<double>{3}));
  EXPECT_EQ(evaluate::numbers_in(*results[2]), (std::vector<double>{0.5}));
  EXPECT_EQ(evaluate::numbers_in(*results[3]), (std::vector<double>{2}));
  EXPECT_NEAR(evaluate::numbers_in(*results[4])[0], 0.5 * 2 + 0.5 * 16 / 3, 1e-6);
}

struct Refusal {
  std::string_view parameters, call, message;
};

constexpr Refusal refusals[] = {
    {"x: \"f32[3]\", m: \"b8[3]\"", "index.Tensor(x, [m])",
     "index 'y': how many elements a mask of b8 takes depends on data, so the result has no size; "
     "where(mask, x, y) "
     "keeps the shape"},
    {"x: \"f32[3]\", m: \"b8[3]\", v: \"f32[2]\"", "index_put.default(x, [m], v)",
     "index_put 'y': the values have the shape [2]; how many elements a mask of b8 takes depends on data, "
     "so their "
     "axis 0 must have size 1"},
    {"x: \"f32[3]\", m: \"b8[2]\", v: \"f32[]\"", "index_put.default(x, [m], v)",
     "index_put 'y': the mask has the shape [2], it speaks of [3] from axis 0 on"},
    {"x: \"f32[3]\", i: \"u8[3]\"", "index.Tensor(x, [i])",
     "torch.ops.aten.index.Tensor: an index must be i64, i32 or b8, it is u8"},
    {"x: \"f32[3]\", i: \"i16[3]\"", "gather.default(x, 0, i)",
     "torch.ops.aten.gather.default: 'index' must be i64 or i32, it is i16"},
    {"x: \"f32[3]\", i: \"i32[1]\"", "index_copy.default(x, 0, i, i)",
     "torch.ops.aten.index_copy.default: 'index' must be i64"},
    {"x: \"f32[3]\", i: \"i64[1, 1]\"", "index_select.default(x, 0, i)",
     "torch.ops.aten.index_select.default: 'index' must have at most one axis, it has rank 2"},
    {"x: \"f32[3]\", i: \"i64[1]\"", "embedding.default(x, i)",
     "torch.ops.aten.embedding.default: 'weight' must have two axes, it has rank 1"},
    {"i: \"i64[1]\"", "one_hot.default(i)",
     "torch.ops.aten.one_hot.default: num_classes must be given: the largest index, which it is otherwise, "
     "depends "
     "on data"},
    {"x: \"f32[3]\", i: \"i64[3]\", v: \"f16[3]\"", "scatter_add.default(x, 0, i, v)",
     "torch.ops.aten.scatter_add.default: 'src' must be f32 as 'self', it is f16"},
    {"x: \"f32[3, 2]\", i: \"u8[1]\"", "embedding.default(x, i)",
     "torch.ops.aten.embedding.default: 'indices' must be i64 or i32, it is u8"},
    {"x: \"f32[3]\", i: \"i64[0]\"", "gather.default(x, 1, i)",
     "torch.ops.aten.gather.default: axis 1 is out of range for rank 1"},
    {"x: \"f32[]\"", "transpose.int(x, 0, 1)", "transpose 'y': axis 1 is out of range for rank 1"},
    {"x: \"f32[2, 2]\"", "native_batch_norm.default(x, None, None, None, None, False, 0.1, 1e-05)",
     "torch.ops.aten.native_batch_norm.default: needs 'running_mean' and 'running_var' where it does not "
     "train"},
    {"x: \"f32[4, 1, 2]\", w: \"f32[2]\"",
     "native_batch_norm.default(x, w, None, None, None, True, 0.1, 1e-05)",
     "one number a channel of [4, 1, 2] is needed, given [2]"},
    {"x: \"i8[3]\"", "clamp.default(x, 300)", "torch.ops.aten.clamp.default: the number 300 does not fit i8"},
    {"x: \"i32[3]\"", "add.Tensor(x, x, alpha = 0.5)",
     "torch.ops.aten.add.Tensor: 'alpha' has a fraction and the result is i32"},
    {"x: \"i32[3]\"", "add.Tensor(x, x, alpha = True)",
     "torch.ops.aten.add.Tensor: a truth as 'alpha' needs a result of truths"},
    {"x: \"u8[3]\"", "add.Tensor(x, x, alpha = 300)",
     "torch.ops.aten.add.Tensor: the number 300 does not fit u8"},
    {"x: \"i8[3]\"", "sub.Scalar(x, 7, -128)", "torch.ops.aten.sub.Scalar: the number 128 does not fit i8"},
    {"x: \"f32[3]\", i: \"f32[0]\"", "index_select.default(x, 0, i)",
     "torch.ops.aten.index_select.default: 'index' must be i64 or i32, it is f32"},
    {"x: \"f32[3]\", i: \"f16[0]\", v: \"f32[0]\"", "index_add.default(x, 0, i, v)",
     "torch.ops.aten.index_add.default: 'index' must be i64 or i32, it is f16"},
    {"x: \"f16[3]\", i: \"i64[3]\", v: \"bf16[3]\"", "scatter_reduce.two(x, 0, i, v, 'mean')",
     "torch.ops.aten.scatter_reduce.two: 'src' must be f16 as 'self', it is bf16"},
    {"x: \"b8[3]\"", "sub.Tensor(x, x)",
     "torch.ops.aten.sub.Tensor: truths cannot be subtracted; logical_xor says whether they differ"},
    {"x: \"i8[3]\", m: \"b8[3]\"", "where.ScalarOther(m, x, 300)",
     "torch.ops.aten.where.ScalarOther: the number 300 does not fit i8"},
    {"x: \"u8[3]\"", "fill.Scalar(x, 300)", "torch.ops.aten.fill.Scalar: the number 300 does not fit u8"},
    {"x: \"i32[3]\"", "mean.default(x)",
     "torch.ops.aten.mean.default: needs elements of a floating type, given i32"},
    {"x: \"f64[3]\"", "linalg_vector_norm.default(x, 2, None, False, dtype = torch.float32)",
     "torch.ops.aten.linalg_vector_norm.default: 'dtype' f32 is narrower than f64"},
    {"x: \"f32[3]\", y: \"f16[3]\"", "lerp.Scalar(x, y, 0.5)",
     "torch.ops.aten.lerp.Scalar: takes tensors of one type, given f32 and f16"},
    {"x: \"i32[3]\"", "addcdiv.default(x, x, x)",
     "torch.ops.aten.addcdiv.default: one of 'tensor1' and 'tensor2' must be of a floating type"},
    {"x: \"f32[2, 3]\"", "native_layer_norm.default(x, [2], None, None, 1e-05)",
     "axis -1 has size 3, 'normalized_shape' says 2"},
    {"x: \"f32[1, 2, 3]\"", "t.default(x)", "torch.ops.aten.t.default: takes at most 2 axes, given 3"},
    {"x: \"f32[2]\"", "flip.default(x, [0, -1])", "flip: an axis is named twice for rank 1"},
    {"x: \"f32[2]\"", "roll.default(x, [])", "torch.ops.aten.roll.default: 'shifts' is empty"},
    {"x: \"f32[2]\"", "unfold.default(x, 0, 1, 0)", "unfold 'y': the step 0 must be at least 1"},
    {"x: \"f32[2]\"", "unfold.default(x, 0, -1, 1)", "unfold 'y': the size -1 must not be negative"},
    {"x: \"f32[2]\"", "constant_pad_nd.default(x, [-3, 4])",
     "torch.ops.aten.constant_pad_nd.default: 'pad' takes -3 and 4 away from axis -1 of size 2"},
    {"x: \"f32[0, 1]\", y: \"f32[0, 4]\"", "cat.default([x, y])",
     "concat 'y': axis 1 of input 1 ('y', f32 [0, 4]) has size 4, of input 0 ('x', f32 [0, 1]) 1; they must "
     "be equal"},
    {"x: \"f32[2]\", v: \"f32[1]\"", "masked_fill.Tensor(x, x, v)",
     "torch.ops.aten.masked_fill.Tensor: 'value' must have no axes, it has rank 1"},
};

TEST(FxMeaning, WhatPyTorchRefuses) {
  for (const Refusal& row : refusals) {
    const std::string text = module_text(row.parameters, cat("y = torch.ops.aten.", row.call), "(y,)");
    EXPECT_EQ(error_of(text), cat("FX graph line 3: ", row.message)) << row.call;
  }
}

}  // namespace
}  // namespace twinloom::tests
