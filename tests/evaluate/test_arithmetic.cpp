// Order and rounding: totals, scans and scatters against definitions written another way, and composites.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "core/base/error.h"
#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/passes.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "tests/evaluate/arrays.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder;
using graph::Tensor;
using ops::DType;
using Reals = std::vector<double>;

Reals random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Reals numbers(count);
  for (double& number : numbers) number = static_cast<double>(normal(random) * std::exp(normal(random)));
  return numbers;
}

std::optional<float> joined(std::optional<float> a, std::optional<float> b) {
  if (!a) return b;
  if (!b) return a;
  return *a + *b;
}

// The tree by its recursive definition: T(k, i) over units, and inside a unit by lanes and halves.
std::optional<float> lane(const Reals& x, std::size_t unit, std::size_t l, std::size_t half) {
  if (half < 256) return joined(lane(x, unit, l, half * 2), lane(x, unit, l + half, half * 2));
  std::optional<float> c;
  for (std::size_t step = 0; step < 4; ++step) {
    const std::size_t e = unit * 1024 + step * 256 + l;
    if (e < x.size()) c = joined(c, static_cast<float>(x[e]));
  }
  return c;
}

std::optional<float> tree(const Reals& x, std::size_t level, std::size_t i) {
  if (level == 0) return lane(x, i, 0, 1);
  return joined(tree(x, level - 1, 2 * i), tree(x, level - 1, 2 * i + 1));
}

float tree_sum(const Reals& x) {
  std::size_t level = 0;
  while ((std::size_t{1024} << level) < x.size()) ++level;
  return tree(x, level, 0).value_or(0.0F);
}

TEST(Totals, SumIsTheCanonicalTree) {
  for (const std::int64_t count : {0, 1, 2, 31, 255, 256, 257, 600, 1023, 1024, 1025, 3000, 5000, 9217}) {
    SCOPED_TRACE(count);
    const Reals numbers = random_numbers(static_cast<std::size_t>(count), 7);
    Builder builder;
    const Tensor x = builder.input("x", DType::f32, {index::Symbol("n")});
    const Value total = value_of(sum(x), {array(DType::f32, {count}, numbers)});
    EXPECT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(numbers_in(total)[0])),
              std::bit_cast<std::uint32_t>(tree_sum(numbers)));
  }
}

TEST(Totals, SumOverSeveralAxesIsRowMajor) {
  const Reals numbers = random_numbers(3 * 50 * 40, 3);
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {50, 3, 40});
  const Reals given = numbers_in(value_of(sum(x, {0, 2}), {array(DType::f32, {50, 3, 40}, numbers)}));
  for (std::size_t j = 0; j < 3; ++j) {
    Reals row;
    for (std::size_t i = 0; i < 50; ++i)
      for (std::size_t k = 0; k < 40; ++k) row.push_back(numbers[(i * 3 + j) * 40 + k]);
    EXPECT_EQ(static_cast<float>(given[j]), tree_sum(row));
  }
}

// The scan by its definition, element for element.
float scan_at(const Reals& x, std::size_t element) {
  const auto p = [&](std::size_t chunk, std::size_t r, std::size_t j) {
    float total = static_cast<float>(x[chunk * 1024 + r * 32]);
    for (std::size_t n = 1; n <= j; ++n) total = total + static_cast<float>(x[chunk * 1024 + r * 32 + n]);
    return total;
  };
  const auto q = [&](std::size_t chunk, std::size_t r, std::size_t j) {
    if (r == 0) return p(chunk, 0, j);
    float o = p(chunk, 0, 31);
    for (std::size_t n = 2; n <= r; ++n) o = o + p(chunk, n - 1, 31);
    return o + p(chunk, r, j);
  };
  const std::size_t k = element / 1024;
  const float here = q(k, element % 1024 / 32, element % 32);
  if (k == 0) return here;
  float carry = q(0, 31, 31);
  for (std::size_t n = 2; n <= k; ++n) carry = carry + q(n - 1, 31, 31);
  return carry + here;
}

TEST(Totals, ScanIsInItsOrder) {
  const Reals numbers = random_numbers(3500, 11);
  Reals reversed(numbers.rbegin(), numbers.rend());
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {3500});
  const Argument argument = array(DType::f32, {3500}, numbers);
  const Reals forwards = numbers_in(value_of(cumsum(x, 0), {argument}));
  const Reals exclusive = numbers_in(value_of(cumsum(x, 0, {true, false}), {argument}));
  const Reals backwards = numbers_in(value_of(cumsum(x, 0, {false, true}), {argument}));
  for (std::size_t e = 0; e < 3500; e += 7) {
    ASSERT_EQ(static_cast<float>(forwards[e]), scan_at(numbers, e)) << e;
    ASSERT_EQ(exclusive[e], e == 0 ? 0.0 : forwards[e - 1]) << e;
    ASSERT_EQ(static_cast<float>(backwards[3499 - e]), scan_at(reversed, e)) << e;
  }
}

TEST(Totals, ScatterAddSumsContributionsThenAddsThemToWhatWasThere) {
  const Reals numbers = random_numbers(3000, 5);
  Reals places;
  std::vector<Reals> rows(7);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    places.push_back(static_cast<double>(k * k % 7));
    rows[k * k % 7].push_back(numbers[k]);
  }
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {7});
  const Tensor at = builder.input("at", DType::i64, {3000});
  const Tensor values = builder.input("values", DType::f32, {3000});
  const Reals old = random_numbers(7, 6);
  const Reals given = numbers_in(value_of(
      scatter(x, 0, at, values, graph::Mode::add),
      {array(DType::f32, {7}, old), array(DType::i64, {3000}, places), array(DType::f32, {3000}, numbers)}));
  for (std::size_t k = 0; k < 7; ++k) {
    const auto was = static_cast<float>(old[k]);
    EXPECT_EQ(static_cast<float>(given[k]), rows[k].empty() ? was : was + tree_sum(rows[k]));
  }
}

TEST(Totals, PlacesAndSpecialValues) {
  const double nan = std::nan("");
  const double inf = INFINITY;
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {2, 4});
  const Argument argument = array(DType::f32, {2, 4}, {1, 5, -2, 5, nan, 7, nan, inf});
  EXPECT_EQ(numbers_in(value_of(argmax(x, 1), {argument})), (Reals{1, 0}));
  EXPECT_EQ(numbers_in(value_of(argmin(x, 1), {argument})), (Reals{2, 0}));
  EXPECT_EQ(numbers_in(value_of(argmax(x), {argument})), (Reals{4}));
  EXPECT_EQ(numbers_in(value_of(cummax(x, 1).place, {argument})), (Reals{0, 1, 1, 3, 0, 0, 2, 2}));
  const Reals highest = numbers_in(value_of(amax(x, {1}), {argument}));
  EXPECT_EQ(highest[0], 5);
  EXPECT_TRUE(std::isnan(highest[1]));
  EXPECT_EQ(numbers_in(value_of(any(x, {0}), {argument})), (Reals{1, 1, 1, 1}));
}

TEST(Totals, OverNothing) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {3, index::Symbol("n")});
  const Argument nothing = array(DType::f32, {3, 0}, {});
  EXPECT_EQ(numbers_in(value_of(sum(x, {1}), {nothing})), (Reals{0, 0, 0}));
  EXPECT_EQ(numbers_in(value_of(prod(x, {1}), {nothing})), (Reals{1, 1, 1}));
  EXPECT_TRUE(std::isnan(numbers_in(value_of(mean(x, {1}), {nothing}))[0]));
  const Tensor highest = amax(x, {1});
  EXPECT_THROW(value_of(highest, {nothing}), Error);
  EXPECT_EQ(numbers_in(value_of(sum(highest), {array(DType::f32, {3, 1}, {1, 2, 3})})), (Reals{6}));
}

TEST(Composites, AgreeWithTheirFormulasInDouble) {
  const Reals numbers = random_numbers(5 * 40, 21);
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {5, 40});
  const Argument argument = array(DType::f32, {5, 40}, numbers);
  const Reals soft = numbers_in(value_of(softmax(x, -1), {argument}, Arithmetic::wide));
  const Reals normal =
      numbers_in(value_of(layer_norm(x, 1, {}, {}, 1e-5).value, {argument}, Arithmetic::wide));
  for (std::size_t i = 0; i < 5; ++i) {
    const auto at = [&](std::size_t j) {
      return static_cast<double>(static_cast<float>(numbers[i * 40 + j]));
    };
    double exponentials = 0;
    double mean = 0;
    for (std::size_t j = 0; j < 40; ++j) {
      exponentials += std::exp(at(j));
      mean += at(j) / 40;
    }
    double variance = 0;
    for (std::size_t j = 0; j < 40; ++j) variance += (at(j) - mean) * (at(j) - mean) / 40;
    for (std::size_t j = 0; j < 40; ++j) {
      EXPECT_NEAR(soft[i * 40 + j], std::exp(at(j)) / exponentials, 1e-12);
      // epsilon is the f32 number in either arithmetic
      EXPECT_NEAR(normal[i * 40 + j], (at(j) - mean) / std::sqrt(variance + double{1e-5F}), 1e-12);
    }
  }
}

TEST(Composites, StrictIsNearWide) {
  const Reals numbers = random_numbers(6 * 33, 23);
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {6, 33});
  const Tensor g = builder.input("g", DType::f32, {6, 33});
  const std::vector<Argument> arguments{array(DType::f32, {6, 33}, numbers),
                                        array(DType::f32, {6, 33}, random_numbers(6 * 33, 24))};
  const graph::Normalized normal = layer_norm(x, 1, {}, {}, 1e-5);
  const Tensor all[] = {softmax(x, 0),
                        log_softmax(x, 1),
                        softmax_backward(g, softmax(x, 1), 1),
                        log_softmax_backward(g, log_softmax(x, 1), 1),
                        *layer_norm_backward(g, x, 1, normal.mean, normal.rstd, {}).x,
                        rms_norm(x, 1, {}, 1e-6),
                        group_norm(reshape(x, {6, 3, 11}), {}, {}, 1, 1e-5).value,
                        batch_norm_training(x, {}, {}, 1e-5).value,
                        gelu_backward(g, x),
                        gelu_backward(g, x, graph::Gelu::tanh),
                        silu_backward(g, x),
                        logsumexp(x, {1}),
                        var(x, {0}),
                        standard_deviation(x),
                        vector_norm(x, 3, {1})};
  for (const Tensor& y : all) {
    SCOPED_TRACE(y.builder().graph()[y.id()].origin.composite);
    const Reals strict = numbers_in(value_of(y, arguments));
    const Reals wide = numbers_in(value_of(y, arguments, Arithmetic::wide));
    for (std::size_t k = 0; k < strict.size(); ++k)
      ASSERT_NEAR(strict[k], wide[k], 2e-5 * std::max(1.0, std::abs(wide[k])));
  }
}

TEST(Composites, SoftmaxOfInfinities) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {2});
  const Reals given = numbers_in(value_of(softmax(x, 0), {array(DType::f32, {2}, {-INFINITY, 3})}));
  EXPECT_EQ(given, (Reals{0, 1}));
}

TEST(Rounding, SixteenBitsAreComputedInF32AndRoundedOnce) {
  Builder builder;
  const Tensor x = builder.input("x", DType::bf16, {3});
  const std::vector<Argument> arguments{array(DType::bf16, {3}, {1, 1, 256})};
  // 1 + 2^-9 does not fit bf16; 256 + 1 rounds to 256.
  EXPECT_EQ(numbers_in(value_of(x + 0x1p-9, arguments)), (Reals{1, 1, 256}));
  EXPECT_EQ(numbers_in(value_of((x + 0x1p-9) - x, arguments)), (Reals{0, 0, 0}));
  EXPECT_EQ(numbers_in(value_of((x + 0x1p-9) - x, arguments, Arithmetic::wide)),
            (Reals{0x1p-9, 0x1p-9, 0x1p-9}));
}

TEST(DropImplicitRounding, KeepsArithmeticInF32) {
  Builder builder;
  const Tensor x = builder.input("x", DType::bf16, {3});
  const Tensor inner = flip(x + 0x1p-9, {0});
  builder.output(inner - flip(x, {0}));  // only arithmetic reads `inner`
  const Tensor kept = x + 0x1p-8;
  builder.output(kept - x);  // `kept` is a result
  builder.output(kept);
  builder.output(cast(cast(widened(x) + 0x1p-9, DType::bf16), DType::f32) - widened(x));  // explicit
  const graph::Graph before = builder.take();
  const graph::Graph after = drop_implicit_rounding(before);
  verify(after);
  const std::vector<Argument> arguments{array(DType::bf16, {3}, {1, 1, 1})};
  const auto strict = evaluate(before, arguments, Arithmetic::strict);
  const auto fused = evaluate(after, arguments, Arithmetic::strict);
  EXPECT_EQ(numbers_in(*strict[0]), (Reals{0, 0, 0}));
  EXPECT_EQ(numbers_in(*fused[0]), (Reals{0x1p-9, 0x1p-9, 0x1p-9}));
  for (std::size_t k = 1; k < 4; ++k) {
    EXPECT_EQ(fused[k]->bytes, strict[k]->bytes) << k;
    EXPECT_EQ(fused[k]->dtype, strict[k]->dtype) << k;
  }
}

TEST(DropImplicitRounding, WhatIsComparedKeepsIt) {
  Builder builder;
  const Tensor x = builder.input("x", DType::bf16, {3});
  const Tensor inner = x + 0x1p-9;
  const Tensor most = amax(inner, {0}, true);
  builder.output(cast(eq(inner, most), DType::f32));
  builder.output(most);
  builder.output(cast(eq(x * 0x1.02p0, 0.0), DType::f32));  // beside a number arithmetic is enough
  const graph::Graph before = builder.take();
  const std::vector<Argument> arguments{array(DType::bf16, {3}, {1, 1, 0.5})};
  const auto fused = evaluate(drop_implicit_rounding(before), arguments, Arithmetic::strict);
  EXPECT_EQ(numbers_in(*fused[0]), (Reals{1, 1, 0}));
  EXPECT_EQ(dropped_roundings(before).size(), 1u);
}

// A product of matrices takes what is rounded, as libraries do; a weighted sum of rows has nothing of it.
TEST(DropImplicitRounding, FactorsOfProductsKeepIt) {
  const auto dropped = [](const std::function<Tensor(const Tensor& y, const Tensor& w)>& sum,
                          graph::Shape shape) {
    Builder builder;
    const Tensor y = builder.input("x", DType::bf16, {2, 3}) + 0x1p-9;
    builder.output(sum(y, builder.input("w", DType::bf16, std::move(shape))));
    return dropped_roundings(builder.take()).size();
  };
  const auto product = [](const Tensor& y, const Tensor& w) { return matrix_product(y, w); };
  const auto weighted = [](const Tensor& y, const Tensor& w) { return sum(y * w, {1}); };
  EXPECT_EQ(dropped(product, {3, 4}), 1U) << "that of each product, not that of the factor";
  EXPECT_EQ(dropped(weighted, {3}), 2U);
}

TEST(Random, DrawsDependOnSeedNumberAndElement) {
  Builder builder;
  const Tensor a = builder.uniform({64}, DType::f32);
  const Tensor b = builder.uniform({64}, DType::f32);
  const Tensor c = builder.integers(-3, 4, {64}, DType::i32);
  for (const Tensor& x : {a, b, c}) builder.output(x);
  const graph::Graph graph = builder.take();
  const auto first = evaluate(graph, {}, Arithmetic::strict, {1, 2});
  const auto again = evaluate(graph, {}, Arithmetic::strict, {1, 2});
  const auto other = evaluate(graph, {}, Arithmetic::strict, {2, 2});
  EXPECT_EQ(first[0]->bytes, again[0]->bytes);
  EXPECT_NE(first[0]->bytes, first[1]->bytes);
  EXPECT_NE(first[0]->bytes, other[0]->bytes);
  for (const double x : numbers_in(*first[0])) EXPECT_TRUE(x >= 0 && x < 1);
  for (const double x : numbers_in(*first[2])) EXPECT_TRUE(x >= -3 && x < 4);
}

}  // namespace
}  // namespace twinloom::evaluate
