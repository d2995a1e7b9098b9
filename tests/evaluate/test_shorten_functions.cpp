// What modes `fused` and `fast` compute functions by.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/graph/composites.h"
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "tests/evaluate/arrays.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder;
using graph::Tensor;
using ops::DType;
using Reals = std::vector<double>;

TEST(ShortenFunctions, TakesFormsOfF32AndOf16Bits) {
  Builder builder;
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    builder.output(tanh(builder.input(cat("x", name(dtype)), dtype, {3})));
  const graph::Graph after = shorten_functions(builder.take());
  verify(after);
  std::vector<ops::Pointwise> found;
  for (const graph::Node& node : after.nodes())
    if (const auto* pointwise = std::get_if<graph::Pointwise>(&node.node)) found.push_back(pointwise->op);
  using enum ops::Pointwise;
  EXPECT_EQ(found, (std::vector{tanh_short, tanh_short, ops::Pointwise::tanh}));
}

// The operators of the graph that divide.
std::vector<ops::Pointwise> divisions_in(const graph::Graph& graph) {
  std::vector<ops::Pointwise> found;
  for (const graph::Node& node : graph.nodes()) {
    const auto* pointwise = std::get_if<graph::Pointwise>(&node.node);
    const bool divides = pointwise != nullptr && (pointwise->op == ops::Pointwise::div ||
                                                  pointwise->op == ops::Pointwise::reciprocal);
    if (divides) found.push_back(pointwise->op);
  }
  return found;
}

TEST(ShortenFunctions, ASoftmaxDividesOnceForEachSum) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Builder builder;
    builder.output(softmax(builder.input("x", dtype, {2, 3}), 1));
    builder.output(softmax(builder.input("y", dtype, {2, 3}), 0));
    const graph::Graph after = shorten_functions(builder.take());
    verify(after);
    EXPECT_EQ(divisions_in(after), std::vector(2, ops::Pointwise::reciprocal));
  }
}

TEST(ShortenFunctions, OtherQuotientsStay) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {3, 3});
  const auto over_sum = [](const Tensor& e, int axis) { return e / sum(e, {axis}, true); };
  builder.output(over_sum(exp(x), 1));                                        // whose sum may be subnormal
  builder.output(over_sum(exp(x - amax(x, {0}, true)), 1));                   // of other rows
  builder.output(over_sum(exp(x - transpose(amax(x, {1}, true), 0, 1)), 1));  // of other rows
  builder.output(over_sum(exp(amax(x, {1}, true) - x), 1));                   // may overflow
  builder.output(softmax(builder.input("wide", DType::f64, {3, 3}), 1));
  const graph::Graph after = shorten_functions(builder.take());
  verify(after);
  EXPECT_EQ(divisions_in(after), std::vector(5, ops::Pointwise::div));
}

TEST(ShortenFunctions, SoftmaxOfExtremesIsThatOfStrict) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {6, 2});
  builder.output(softmax(x, 1));
  const graph::Graph before = builder.take();
  const std::vector<Argument> arguments{array(
      DType::f32, {6, 2}, {-INFINITY, 3, 0, -100, -3e38, 3e38, INFINITY, 0, -INFINITY, -INFINITY, NAN, 1})};
  const Reals strict = numbers_in(*evaluate(before, arguments, Arithmetic::strict)[0]);
  const Reals fused = numbers_in(*evaluate(shorten_functions(before), arguments, Arithmetic::strict)[0]);
  for (std::size_t k = 0; k < strict.size(); ++k)
    EXPECT_TRUE(strict[k] == fused[k] || (std::isnan(strict[k]) && std::isnan(fused[k]))) << k;
}

TEST(ShortenFunctions, SoftmaxIsWithinItsBoundOfTheQuotient) {
  constexpr std::int64_t SIZE = 4096;
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {SIZE});
  const Tensor e = exp(x - amax(x, {0}, true));
  const Tensor s = sum(e, {0}, true);
  for (const Tensor& result : {e, s, e / s}) builder.output(result);
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 15);
  Reals drawn(static_cast<std::size_t>(SIZE));
  for (double& number : drawn) number = normal(random);
  const std::vector<Argument> arguments{array(DType::f32, {SIZE}, drawn)};
  const auto found = evaluate(shorten_functions(builder.take()), arguments, Arithmetic::strict);
  const Reals over = numbers_in(*found[0]), under = numbers_in(*found[1]), got = numbers_in(*found[2]);
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    const double want = over[k] / under[0];
    const double place = std::ldexp(1.0, std::max(want == 0 ? -149 : std::ilogb(want) - 23, -149));
    EXPECT_LE(std::fabs(got[k] - want), 1.5 * place) << k;
  }
}

Tensor softplus_by_parts(const Tensor& x, double threshold) {
  return where(gt(x, threshold), x, log1p(exp(x)));
}

std::ptrdiff_t tanhs_in(const graph::Graph& graph) {
  return std::ranges::count_if(graph.nodes(), [](const graph::Node& node) {
    const auto* pointwise = std::get_if<graph::Pointwise>(&node.node);
    return pointwise != nullptr &&
           (pointwise->op == ops::Pointwise::tanh || pointwise->op == ops::Pointwise::tanh_short);
  });
}

// Of the whole range, where exp is subnormal, where it is large, and at the threshold.
TEST(ShortenFunctions, TheTanhOfASoftplusIsWithinThreeUlp) {
  Reals drawn = {-INFINITY, -120, -104,    -103, -90, -88,  -1e-30,   0,  1e-30,
                 19.9999,   20,   20.0001, 44,   89,  3e38, INFINITY, NAN};
  for (double x = -100; x < 25; x += 0.013) drawn.push_back(static_cast<float>(x));
  const auto size = static_cast<std::int64_t>(drawn.size());
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {size});
  builder.output(tanh(softplus_by_parts(x, 20)));
  builder.output(tanh(softplus(x)));
  const graph::Graph after = shorten_functions(builder.take());
  verify(after);
  EXPECT_EQ(tanhs_in(after), 0);
  const std::vector<Argument> arguments{array(DType::f32, {size}, drawn)};
  const auto found = evaluate(after, arguments, Arithmetic::strict);
  for (const auto& result : found) {
    const Reals got = numbers_in(*result);
    for (std::size_t k = 0; k < drawn.size(); ++k) {
      const double want = std::tanh(std::log1p(std::exp(std::min(drawn[k], 40.0))));
      if (std::isnan(drawn[k])) {
        EXPECT_TRUE(std::isnan(got[k]));
        continue;
      }
      const double place = std::ldexp(1.0, std::max(want == 0 ? -149 : std::ilogb(want) - 23, -149));
      EXPECT_LE(std::fabs(got[k] - want), 3 * place) << drawn[k];
    }
  }
}

TEST(ShortenFunctions, OtherTanhsStay) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {3}), y = builder.input("y", DType::f32, {3});
  builder.output(tanh(softplus_by_parts(x, 5)));               // whose tanh is not yet 1 there
  builder.output(tanh(softplus_by_parts(x, 50)));              // whose square overflows
  builder.output(tanh(where(gt(y, 20.0), x, log1p(exp(x)))));  // of another question
  builder.output(tanh(where(gt(x, 20.0), x, log1p(exp(y)))));  // of another value
  builder.output(tanh(softplus(builder.input("wide", DType::f64, {3}))));
  EXPECT_EQ(tanhs_in(shorten_functions(builder.take())), 5);
}

// A logistic function that is written out, and what is divided by its denominator.
TEST(ShortenFunctions, QuotientsByALogisticDenominatorAreWithinThreeUlp) {
  Reals drawn = {-INFINITY, -3e38, -104, -90, -88, -1e-30, 0, 1e-30, 20, 89, 3e38, INFINITY, NAN};
  for (double x = -87; x < 40; x += 0.013) drawn.push_back(static_cast<float>(x));
  const auto size = static_cast<std::int64_t>(drawn.size());
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {size});
  builder.output(x / (exp(-x) + 1.0));
  builder.output(reciprocal(1.0 + exp(-x)));
  const graph::Graph after = shorten_functions(builder.take());
  verify(after);
  for (const graph::Node& node : after.nodes())
    EXPECT_FALSE(graph::is_of(node, ops::Pointwise::div)) << print(after);
  const std::vector<Argument> arguments{array(DType::f32, {size}, drawn)};
  const auto found = evaluate(after, arguments, Arithmetic::strict);
  for (const std::size_t number : {0u, 1u}) {
    const Reals got = numbers_in(*found[number]);
    for (std::size_t k = 0; k < drawn.size(); ++k) {
      const double want = (number == 0 ? drawn[k] : 1.0) / (1 + std::exp(-drawn[k]));
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got[k])) << drawn[k];
      } else if (std::isinf(want)) {
        EXPECT_EQ(got[k], want);
      } else {
        const double place = std::ldexp(1.0, std::max(want == 0 ? -149 : std::ilogb(want) - 23, -149));
        const double factor = number == 0 ? std::fabs(drawn[k]) : 1.0;
        const double bound = drawn[k] < -88.72 ? 0.75 * std::ldexp(factor, -149) : 3 * place;
        EXPECT_LE(std::fabs(got[k] - want), std::max(bound, place)) << drawn[k];
      }
    }
  }
}

TEST(ShortenFunctions, QuotientsByOtherSumsStay) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {3}), wide = builder.input("wide", DType::f64, {3});
  for (const Tensor& under : {exp(-x) + 2.0, exp(x) + 1.0}) builder.output(x / under);
  builder.output(wide / (exp(-wide) + 1.0));
  const graph::Graph after = shorten_functions(builder.take());
  EXPECT_EQ(
      std::ranges::count_if(after.nodes(),
                            [](const graph::Node& node) { return graph::is_of(node, ops::Pointwise::div); }),
      3);
}

// The operators after the pass of tanh, gelu by tanh, exp and a quotient, of f32, bf16 and f64.
std::vector<ops::Pointwise> approximated(ops::Subnormals subnormals, ops::ComputedBy unit) {
  Builder builder;
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    const auto x = builder.input(cat("x", name(dtype)), dtype, {3});
    builder.output(tanh(x));
    builder.output(gelu_tanh(x));
    builder.output(exp(x));
    builder.output(x / 3.0);
  }
  const graph::Graph after = approximate_functions(shorten_functions(builder.take()), subnormals, unit);
  verify(after);
  std::vector<ops::Pointwise> found;
  for (const graph::Node& node : after.nodes())
    if (const auto* pointwise = std::get_if<graph::Pointwise>(&node.node)) found.push_back(pointwise->op);
  return found;
}

TEST(ApproximateFunctions, TakesFormsOfF32AndOf16Bits) {
  using enum ops::Pointwise;
  EXPECT_EQ(approximated(ops::Subnormals::kept, ops::ComputedBy::gpu),
            (std::vector{tanh_approximate, gelu_tanh_approximate, exp_approximate, div_approximate,
                         tanh_brief_approximate, gelu_tanh_brief_approximate, exp_brief_approximate,
                         div_approximate, ops::Pointwise::tanh, ops::Pointwise::gelu_tanh,
                         ops::Pointwise::exp, div}));
  EXPECT_EQ(approximated(ops::Subnormals::flushed, ops::ComputedBy::gpu),
            (std::vector{tanh_flushed, gelu_tanh_flushed, exp_flushed, div_flushed, tanh_brief_flushed,
                         gelu_tanh_brief_flushed, exp_brief_flushed, div_flushed, ops::Pointwise::tanh,
                         ops::Pointwise::gelu_tanh, ops::Pointwise::exp, div}));
}

TEST(ApproximateFunctions, TakesWhatCoresHave) {
  using enum ops::Pointwise;
  EXPECT_EQ(approximated(ops::Subnormals::kept, ops::ComputedBy::cores),
            (std::vector{tanh_short, gelu_tanh_approximate, exp_approximate, div, tanh_brief_approximate,
                         ops::Pointwise::gelu_tanh, exp_brief_approximate, div, ops::Pointwise::tanh,
                         ops::Pointwise::gelu_tanh, ops::Pointwise::exp, div}));
}

// What is written out as PyTorch's decompositions do, with other factors and orders of operands.
Tensor written_gelu(const Tensor& x) { return x * 0.5 * (erf(x * std::sqrt(0.5)) + 1.0); }
Tensor written_slope(const Tensor& x) {
  const Tensor density = x * (exp(x * x * -0.5) * 0.3989422804014327);
  return (1.0 + erf(x * std::sqrt(0.5))) * 0.5 + density;
}
Tensor tanh_gate(const Tensor& x) { return tanh((x + x * x * x * 0.044715) * 0.7978845608028654); }
Tensor written_tanh_gelu(const Tensor& x) { return (tanh_gate(x) + 1.0) * (x * 0.5); }
Tensor written_tanh_slope(const Tensor& x) {
  const Tensor t = tanh_gate(x), bend = (1.0 + x * x * 0.134145) * 0.7978845608028654;
  return (t + 1.0) * 0.5 + x * 0.5 * (1.0 - t * t) * bend;
}

std::vector<ops::Pointwise> briefs_in(const graph::Graph& graph) {
  using enum ops::Pointwise;
  const std::vector asked{gelu_erf_brief,        gelu_tanh_brief, gelu_erf_slope_brief,
                          gelu_tanh_slope_brief, erf_short,       tanh_short};
  std::vector<ops::Pointwise> found;
  for (const graph::Node& node : graph.nodes())
    for (const ops::Pointwise op : asked)
      if (is_of(node, op)) found.push_back(op);
  return found;
}

TEST(BriefFunctions, AGeluThatIsWrittenOutAndRoundedIsOne) {
  using enum ops::Pointwise;
  for (const DType narrow : {DType::f16, DType::bf16}) {
    Builder builder;
    const Tensor x = cast(builder.input("x", narrow, {5}), DType::f32);
    const Tensor mask = builder.input("mask", DType::f32, {5});
    const Tensor g = builder.input("g", narrow, {5}), y = builder.input("y", narrow, {5});
    builder.output(cast(written_gelu(x), narrow));
    builder.output(cast(mask * written_gelu(x + 1.0) * 3.0, narrow));
    builder.output(cast(written_tanh_gelu(x), narrow));
    builder.output(cast(mask * gelu(x + 2.0), narrow));
    builder.output(cast(mask * written_slope(x), narrow));
    builder.output(gelu_backward(g, y));
    builder.output(cast(mask * written_tanh_slope(x), narrow));
    builder.output(gelu_backward(g, y, graph::Gelu::tanh));
    const graph::Graph after = shorten_functions(builder.take());
    verify(after);
    EXPECT_EQ(briefs_in(after), (std::vector{gelu_erf_brief, gelu_erf_brief, gelu_tanh_brief, gelu_erf_brief,
                                             gelu_erf_slope_brief, gelu_erf_slope_brief,
                                             gelu_tanh_slope_brief, gelu_tanh_slope_brief}));
  }
}

TEST(BriefFunctions, WhatIsNotRoundedOrNeededOtherwiseStays) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {5});
  const auto rounded = [&](const Tensor& value) { builder.output(cast(value, DType::bf16)); };
  builder.output(written_gelu(x));
  const Tensor twice = written_gelu(x * 2.0);
  rounded(twice);
  builder.output(sum(twice, {0}));
  rounded(written_slope(x + 1.0) + x);                            // no product
  rounded(x * (erf(x) + 1.0));                                    // another slope of erf
  rounded((x + 3.0) * (erf(x * std::sqrt(0.5)) + 1.0));           // of another number
  rounded(x * ((erf(x * std::sqrt(0.5)) + 1.0) * 0.5 + exp(x)));  // another density
  builder.output(cast(written_gelu(x + 5.0), DType::f64));
  rounded(x * (tanh((x + x * x * x * 0.04) * 0.7978845608028654) + 1.0));      // another cubic
  rounded(x * ((tanh_gate(x) + 1.0) * 0.5 + x * 0.4 * (1.0 - tanh_gate(x))));  // no slope
  const graph::Graph after = shorten_functions(builder.take());
  verify(after);
  std::vector wanted(5, ops::Pointwise::erf_short);  // of x, 2 x, x + 1, x sqrt 2, x + 5
  wanted.resize(7, ops::Pointwise::tanh_short);
  EXPECT_EQ(briefs_in(after), wanted);
}

TEST(BriefFunctions, ManySquaresTakeNoTime) {
  Builder builder;
  Tensor x = builder.input("x", DType::f32, {5});
  for (int k = 0; k < 100; ++k) x = x * x;
  builder.output(cast(x, DType::bf16));
  EXPECT_TRUE(briefs_in(shorten_functions(builder.take())).empty());
}

TEST(BriefFunctions, ResultsAreThoseOfF64RoundedOnce) {
  Builder builder;
  const Tensor x = cast(builder.input("x", DType::bf16, {4096}), DType::f32);
  builder.output(cast(written_gelu(x), DType::bf16));
  builder.output(cast(3.0 * written_slope(x), DType::bf16));
  builder.output(cast(3.0 * written_tanh_slope(x), DType::bf16));
  const graph::Graph after = shorten_functions(builder.take());
  Reals drawn;
  for (int i = 0; i < 4096; ++i) drawn.push_back((i - 2048) / 256.0);
  const Value given = array(DType::bf16, {4096}, drawn);
  const Reals numbers = numbers_in(given);
  const auto found = evaluate(after, std::vector<Argument>{given}, Arithmetic::strict);
  const Reals gelus = numbers_in(*found[0]), slopes = numbers_in(*found[1]), others = numbers_in(*found[2]);
  const auto near = [](double value) { return std::ldexp(std::fabs(value), -8) * 1.02; };
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double v = numbers[i], normal = 0.5 * std::erfc(-v * std::sqrt(0.5));
    const double slope = 3 * (normal + v * std::exp(-v * v / 2) * 0.3989422804014327);
    EXPECT_NEAR(gelus[i], v * normal, near(v * normal)) << v;
    EXPECT_NEAR(slopes[i], slope, near(slope)) << v;
    const double bend = 2 * 0.7978845608028654 * v * (1 + 0.134145 * v * v);
    const double away = 2 * 0.7978845608028654 * (v + 0.044715 * v * v * v);
    const double gate = 1 / (1 + std::exp(-away)), other = 1 / (1 + std::exp(away));
    const double of_tanh = 3 * gate * (1 + bend * other);
    EXPECT_NEAR(others[i], of_tanh, near(of_tanh) + 1e-7) << v;
  }
}

}  // namespace
}  // namespace twinloom::evaluate
