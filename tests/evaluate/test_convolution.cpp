// Convolutions against loops, and their gradients against what makes them gradients: with whole numbers all
// three inner products are the same number, exactly.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>

#include "core/base/error.h"
#include "core/graph/convolution.h"
#include "tests/evaluate/arrays.h"
#include "tests/support/thrown.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder;
using graph::Convolution;
using graph::Tensor;
using ops::DType;
using Reals = std::vector<double>;
using Sizes = std::vector<std::int64_t>;

// Along its two axes: elements, taps, stride, dilation, elements of padding before.
struct Along {
  std::int64_t size, taps, stride, dilation, before;
  std::int64_t count() const { return (size + 2 * before - dilation * (taps - 1) - 1) / stride + 1; }
};
struct Subject {
  std::int64_t batch, channels, outputs, groups;
  std::array<Along, 2> along;

  Sizes x() const { return {batch, channels, along[0].size, along[1].size}; }
  Sizes filters() const { return {outputs, channels / groups, along[0].taps, along[1].taps}; }
  Sizes result() const { return {batch, outputs, along[0].count(), along[1].count()}; }
  Convolution convolution(bool of_x = false) const {
    Convolution result{"convolution", {}, groups};
    for (const Along& each : along)
      result.taps.push_back({each.stride, each.dilation, each.before, of_x ? each.size : each.count()});
    return result;
  }
};
constexpr std::array SUBJECTS = {
    Subject{2, 3, 4, 1, {{{7, 3, 1, 1, 1}, {6, 2, 1, 1, 0}}}},
    Subject{1, 4, 6, 2, {{{8, 3, 2, 1, 1}, {9, 2, 3, 2, 2}}}},
    Subject{2, 3, 3, 3, {{{5, 1, 2, 1, 0}, {5, 5, 1, 1, 4}}}},
    Subject{1, 2, 2, 1, {{{4, 4, 1, 1, 0}, {3, 1, 1, 3, 1}}}},
};

graph::Shape shape_of(const Sizes& sizes) { return {sizes.begin(), sizes.end()}; }

Reals whole_numbers(const Sizes& sizes, unsigned seed) {
  std::mt19937 random(seed);
  std::size_t count = 1;
  for (const std::int64_t size : sizes) count *= static_cast<std::size_t>(size);
  Reals numbers(count);
  for (double& number : numbers) number = static_cast<double>(random() % 9) - 4;
  return numbers;
}

// What is made of three tensors of whole numbers: x, filters, and one of the result's shape.
using Make = Tensor (*)(const Subject& subject, const Tensor& x, const Tensor& filters, const Tensor& result);
Reals made(const Subject& subject, Make make) {
  Builder b;
  std::vector<Argument> arguments;
  std::vector<Tensor> inputs;
  unsigned seed = 0;
  for (const Sizes& sizes : {subject.x(), subject.filters(), subject.result()}) {
    inputs.push_back(b.input(cat("in", seed), DType::f32, shape_of(sizes)));
    arguments.emplace_back(array(DType::f32, sizes, whole_numbers(sizes, seed++)));
  }
  return numbers_in(value_of(make(subject, inputs[0], inputs[1], inputs[2]), arguments));
}
double inner(const Reals& a, const Reals& b) {
  EXPECT_EQ(a.size(), b.size());
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Reals by_loops(const Subject& subject) {
  const auto x = whole_numbers(subject.x(), 0), filters = whole_numbers(subject.filters(), 1);
  const auto& [rows, columns] = subject.along;
  const std::int64_t per_group = subject.channels / subject.groups, made = subject.outputs / subject.groups;
  Reals result;
  for (std::int64_t n = 0; n < subject.batch; ++n)
    for (std::int64_t o = 0; o < subject.outputs; ++o)
      for (std::int64_t i = 0; i < rows.count(); ++i)
        for (std::int64_t j = 0; j < columns.count(); ++j) {
          double total = 0;
          for (std::int64_t c = 0; c < per_group; ++c)
            for (std::int64_t k = 0; k < rows.taps; ++k)
              for (std::int64_t l = 0; l < columns.taps; ++l) {
                const std::int64_t row = i * rows.stride - rows.before + k * rows.dilation,
                                   column = j * columns.stride - columns.before + l * columns.dilation;
                if (row < 0 || row >= rows.size || column < 0 || column >= columns.size) continue;
                const std::int64_t channel = o / made * per_group + c;
                const auto at = ((n * subject.channels + channel) * rows.size + row) * columns.size + column;
                const auto tap = ((o * per_group + c) * rows.taps + k) * columns.taps + l;
                total += x[static_cast<std::size_t>(at)] * filters[static_cast<std::size_t>(tap)];
              }
          result.push_back(total);
        }
  return result;
}

TEST(Convolution, IsWhatLoopsGive) {
  for (const Subject& subject : SUBJECTS)
    EXPECT_EQ(made(subject, [](const Subject& of, const Tensor& x, const Tensor& filters,
                               const Tensor&) { return convolve(x, filters, of.convolution()); }),
              by_loops(subject));
}

TEST(Convolution, GradientsAreAdjoint) {
  for (const Subject& subject : SUBJECTS) {
    const auto gradient = whole_numbers(subject.result(), 2);
    const double expected = inner(by_loops(subject), gradient);
    const auto of_x =
        made(subject, [](const Subject& of, const Tensor&, const Tensor& filters, const Tensor& g) {
          return convolve_transposed(g, filters, of.convolution(true));
        });
    const auto of_filters =
        made(subject, [](const Subject& of, const Tensor& x, const Tensor&, const Tensor& g) {
          return convolve_filters(g, x, shape_of(of.filters()), of.convolution());
        });
    EXPECT_EQ(inner(of_x, whole_numbers(subject.x(), 0)), expected);
    EXPECT_EQ(inner(of_filters, whole_numbers(subject.filters(), 1)), expected);
  }
}

TEST(Convolution, WhatDoesNotFitIsAnError) {
  const auto said = [](const Sizes& filters, std::int64_t groups) {
    Builder b;
    const Tensor input = b.input("x", DType::f32, {1, 2, 4}),
                 weights = b.input("w", DType::f32, shape_of(filters));
    return tests::words_of<Error>([&] { convolve(input, weights, {"convolution", {{1, 1, 0, 2}}, groups}); });
  };
  EXPECT_EQ(said({3, 2, 3}, 1), tests::NOTHING_THROWN);
  const std::pair<std::string, std::string_view> rows[] = {
      {said({3, 3, 3}, 1), "filters of 3 channels in 1 groups do not fit an input of 2"},
      {said({3, 1, 3}, 2), "3 filters are no multiple of 2 groups"},
      {said({3, 2}, 1), "needs tensors of 3 axes"},
      {said({3, 2, 3}, 0), "there must be at least 1 group"},
  };
  for (const auto& [words, part] : rows) EXPECT_NE(words.find(part), std::string::npos) << words;
}

}  // namespace
}  // namespace twinloom::evaluate
