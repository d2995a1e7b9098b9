// The nests of sorts give the evaluator's bits: by ranks, by parts and by digits, of every width of key, on
// cores and by blocks of threads.
#include <gtest/gtest.h>

#include "core/graph/composites.h"
#include "core/graph/passes.h"
#include "core/graph/sorting.h"
#include "core/graph/views.h"
#include "tests/lower/run_lowered.h"

namespace twinloom::tests {

using namespace graph;
using ops::DType;

namespace {

const index::Expr n = index::Symbol("n");

constexpr DType TYPES[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32,
                           DType::i16, DType::i8,  DType::u64, DType::u8,   DType::b8};

// Values and offsets, in an order that is not that of the other results.
void output(Builder& b, const Sorted& sorted) {
  b.output(sorted.values);
  b.output(sorted.offsets);
}

void expect_same_sorted(const Graph& graph, const index::Values& sizes = {}, std::int64_t below = 3) {
  expect_same_bits(graph, sizes, below);
  expect_same_bits(graph, sizes, below, {.long_keys = true});
}

}  // namespace

// An axis whose size is not known is sorted by digits.
TEST(LoweredSort, RowsOfEveryType) {
  for (const DType dtype : TYPES) {
    Builder b;
    const Tensor x = b.input("x", dtype, {3, n});
    output(b, sort(x, 1));
    output(b, sort(x, 1, Direction::descending));
    for (const std::int64_t size : {0, 1, 2, 41})
      expect_same_sorted(b.graph(), {{index::Symbol("n"), size}}, 100);
  }
}

// As in what is compiled for runs where a size is 0.
TEST(LoweredSort, OfNothing) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {3, n, index::Symbol("m")});
  output(b, sort(x, 1));
  output(b, sort(x, 2));
  for (const auto& [rows, columns] : {std::pair{0, 5}, {5, 0}, {0, 0}})
    expect_same_sorted(specialise(b.graph(), {{index::Symbol("n"), rows}, {index::Symbol("m"), columns}}));
}

TEST(LoweredSort, AlongEachAxis) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {3, n, 2});
  for (const int axis : {0, 1, 2}) output(b, sort(x, axis, Direction::descending));
  output(b, sort(transpose(x, 0, 1), 0));
  for (const std::int64_t size : {0, 1, 70}) expect_same_sorted(b.graph(), {{index::Symbol("n"), size}});
}

TEST(LoweredSort, ShortAxesByRanks) {
  for (const DType dtype : TYPES) {
    Builder b;
    const Tensor x = b.input("x", dtype, {5, 9});
    output(b, sort(x, 1));
    output(b, top(x, 2, 1));
    output(b, top(x, 3, 0, Direction::ascending));
    output(b, top(x, 0, 0));
    expect_same_sorted(b.take());
  }
}

TEST(LoweredSort, LongAxesByDigits) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {2, 300}), y = b.input("y", DType::f32, {5000});
  output(b, sort(x, 1));
  output(b, sort(y, 0, Direction::descending));
  expect_same_sorted(b.take());
}

TEST(LoweredSort, FirstsOfLongAxesByParts) {
  for (const DType dtype : {DType::f32, DType::i8}) {
    Builder b;
    const Tensor x = b.input("x", dtype, {2, 4999});
    output(b, top(x, 7, 1));
    output(b, top(x, 30, 1));  // parts of parts
    output(b, top(x, 70, 1, Direction::ascending));
    expect_same_sorted(b.take(), {}, 100);
  }
}

TEST(LoweredSort, WhatIsFoundByThem) {
  for (const DType dtype : {DType::f32, DType::f16, DType::i32}) {
    Builder b;
    const Tensor x = b.input("x", dtype, {4, n}), s = b.input("s", dtype, {});
    for (const bool keep : {false, true}) {
      const Extreme third = kth_value(x, 3, 1, keep), middle = median(x, 1, keep),
                    other = median(x, 0, keep, Nans::ignored);
      for (const Extreme& found : {third, middle, other}) b.output(found.value), b.output(found.place);
    }
    b.output(median(x));
    b.output(median(x, Nans::ignored));
    output(b, sort(s, 0));
    b.output(kth_value(s, 1, -1).value);
    for (const std::int64_t size : {3, 100}) expect_same_sorted(b.graph(), {{index::Symbol("n"), size}});
  }
}

TEST(LoweredSort, AKeyOf32BitsIsOnePass) {
  const auto kernels = [](DType dtype, const graph::Shape& shape, int axis = -1) {
    Builder b;
    b.output(argsort(b.input("x", dtype, shape), axis));
    return lower::lower(b.take(), {}, {.long_keys = true}).units.size();
  };
  EXPECT_EQ(kernels(DType::f32, {5000}), 1u);
  EXPECT_EQ(kernels(DType::f32, {1, n}), 1u);
  EXPECT_EQ(kernels(DType::bf16, {2, 300}), 1u);
  EXPECT_EQ(kernels(DType::bf16, {300, 2}, 0), 2u) << "and a transposition";
  EXPECT_EQ(kernels(DType::f64, {5000}), 3u);
}

// What reads the order position by position is the sort's epilogue, one that others need too.
TEST(LoweredSort, TheValuesAreStoredByTheSort) {
  const auto kernels = [](const graph::Shape& shape, int axis, const index::Values& sizes = {}) {
    Builder b;
    const Tensor x = b.input("x", DType::f32, shape);
    output(b, sort(x, axis));
    return expect_same_bits(b.take(), sizes, 3, {.long_keys = true});
  };
  EXPECT_EQ(kernels({5000}, 0), 1u);
  EXPECT_EQ(kernels({3, 300}, 1), 1u);
  EXPECT_EQ(kernels({3, n}, 1, {{index::Symbol("n"), 41}}), 1u);
  EXPECT_EQ(kernels({2, 3, 200}, 2), 1u);
  EXPECT_EQ(kernels({300, 3}, 0), 2u) << "whose values lie apart";
}

TEST(LoweredSort, NoEpilogueHasTotals) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {3, 300});
  b.output(sum(sort(x, 1).values, {1}));
  b.output(argsort(x, 1));
  expect_same_bits(b.take(), {}, 3, {.long_keys = true});
}

TEST(LoweredSort, OfWhatIsComputed) {
  Builder b;
  const Tensor x = b.input("x", DType::bf16, {3, n}), y = b.input("y", DType::bf16, {3, n});
  const Sorted sorted = sort(softmax(x + y, 1), 1, Direction::descending);
  b.output(sorted.values * 2.0);
  b.output(cumsum(sorted.values, 1));
  b.output(sorted.offsets);
  expect_same_sorted(b.take(), {{index::Symbol("n"), 130}});
}

}  // namespace twinloom::tests
