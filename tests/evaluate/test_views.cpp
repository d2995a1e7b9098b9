// Views, merged and not, and indexing against tables that NumPy gives.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "core/graph/indexing.h"
#include "core/graph/views.h"
#include "tests/evaluate/arrays.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder;
using graph::concat;
using graph::stack;
using graph::Tensor;
using ops::DType;
using Sizes = std::vector<std::int64_t>;
using Reals = std::vector<double>;

struct Case {
  std::string name;
  std::function<Tensor(const Tensor&)> build;
  Sizes sizes;
  Reals numbers;
};

// Long because it is a table: of views of x = arange(6).reshape(2, 3), by hand.
TEST(Views, SmallTable) {
  const Case cases[] = {
      {"transpose", [](const Tensor& x) { return transpose(x, 0, 1); }, {3, 2}, {0, 3, 1, 4, 2, 5}},
      {"reshape",
       [](const Tensor& x) {
         return reshape(x, {3, -1});
       },
       {3, 2},
       {0, 1, 2, 3, 4, 5}},
      {"transposed reshape",
       [](const Tensor& x) {
         return reshape(transpose(x, 0, 1), {2, 3});
       },
       {2, 3},
       {0, 3, 1, 4, 2, 5}},
      {"slice", [](const Tensor& x) { return slice(x, 1, 0, 100, 2); }, {2, 2}, {0, 2, 3, 5}},
      {"slice from the end", [](const Tensor& x) { return slice(x, 1, -2, -1); }, {2, 1}, {1, 4}},
      {"select", [](const Tensor& x) { return select(x, 1, -1); }, {2}, {2, 5}},
      {"pad",
       [](const Tensor& x) {
         return pad(x, {{1, 0}, {0, -1}}, 9);
       },
       {3, 2},
       {9, 9, 0, 1, 3, 4}},
      {"flip", [](const Tensor& x) { return flip(x, {1}); }, {2, 3}, {2, 1, 0, 5, 4, 3}},
      {"repeat",
       [](const Tensor& x) {
         return repeat(select(x, 0, 0), {2, 2});
       },
       {2, 6},
       {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}},
      {"repeat_interleave",
       [](const Tensor& x) { return repeat_interleave(x, 1, 2); },
       {2, 6},
       {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}},
      {"roll", [](const Tensor& x) { return roll(x, {1}, {1}); }, {2, 3}, {2, 0, 1, 5, 3, 4}},
      {"roll flat", [](const Tensor& x) { return roll(x, {-1}, {}); }, {2, 3}, {1, 2, 3, 4, 5, 0}},
      {"as_strided",
       [](const Tensor& x) {
         return as_strided(x, {2, 2}, {1, 2}, 1);
       },
       {2, 2},
       {1, 3, 2, 4}},
      {"diagonal", [](const Tensor& x) { return diagonal(x, 1); }, {2}, {1, 5}},
      {"diagonal below", [](const Tensor& x) { return diagonal(x, -1); }, {1}, {3}},
      {"unfold", [](const Tensor& x) { return unfold(x, 1, 2, 1); }, {2, 2, 2}, {0, 1, 1, 2, 3, 4, 4, 5}},
      {"concat",
       [](const Tensor& x) {
         return concat({x, slice(x, 1, 0, 1)}, -1);
       },
       {2, 4},
       {0, 1, 2, 0, 3, 4, 5, 3}},
      {"stack",
       [](const Tensor& x) {
         return stack({select(x, 0, 1), select(x, 0, 0)}, 1);
       },
       {3, 2},
       {3, 0, 4, 1, 5, 2}},
      {"tril", [](const Tensor& x) { return tril(x); }, {2, 3}, {0, 0, 0, 3, 4, 0}},
      {"triu", [](const Tensor& x) { return triu(x, 1); }, {2, 3}, {0, 1, 2, 0, 0, 5}},
      {"slice_scatter",
       [](const Tensor& x) { return slice_scatter(x, full_like(slice(x, 1, 0, 3, 2), 7), 1, 0, 3, 2); },
       {2, 3},
       {7, 1, 7, 7, 4, 7}},
      {"select_scatter",
       [](const Tensor& x) { return select_scatter(x, full_like(select(x, 1, 1), 7), 1, 1); },
       {2, 3},
       {0, 7, 2, 3, 7, 5}},
      {"split", [](const Tensor& x) { return split_every(x, 2, 1)[1]; }, {2, 1}, {2, 5}},
      {"expand",
       [](const Tensor& x) {
         return expand(unsqueeze(select(x, 0, 1), 1), {3, 2});
       },
       {3, 2},
       {3, 3, 4, 4, 5, 5}},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    Builder builder;
    const Tensor x = builder.input("x", DType::f32, {2, 3});
    const Tensor y = row.build(x);
    verify(builder.graph());
    const Value value = value_of(y, {counting(DType::f32, {2, 3})});
    EXPECT_EQ(value.sizes, row.sizes);
    EXPECT_EQ(numbers_in(value), row.numbers);
  }
}

// One random view of x. Sizes stay small; all kinds can follow each other.
Tensor random_view(const Tensor& x, std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int axis = below(x.rank());
  const std::int64_t size = *index::constant_of(x.size(axis));
  switch (below(9)) {
    case 0:
      return transpose(x, axis, below(x.rank()));
    case 1:
      return flip(x, {axis});
    case 2:
      return slice(x, axis, below(static_cast<int>(size)), size, 1 + below(2));
    case 3: {
      std::vector<graph::Padding> padding(static_cast<std::size_t>(x.rank()));
      padding[static_cast<std::size_t>(axis)] = {below(3), below(3)};
      return pad(x, padding, below(2));
    }
    case 4:
      return reshape(x, {x.count()});
    case 5:
      return x.rank() > 3 ? reshape(x, {-1, x.size(x.rank() - 1)}) : unsqueeze(x, below(x.rank() + 1));
    case 6:
      return size % 2 == 0 ? [&] {
        graph::Shape sizes = x.shape();
        sizes[static_cast<std::size_t>(axis)] = 2;
        sizes.insert(sizes.begin() + axis, size / 2);
        return reshape(x, sizes);
      }() : roll(x, {1}, {axis});
    case 7:
      return size > 6 ? slice(x, axis, 1, 5) : repeat_interleave(x, axis, 2);
    default:
      return size == 1 ? expand(x,
                                [&] {
                                  graph::Shape sizes = x.shape();
                                  sizes[static_cast<std::size_t>(axis)] = 3;
                                  return sizes;
                                }())
                       : roll(x, {below(5)}, {axis});
  }
}

// A chain built with a Realize after every view is never merged.
TEST(Views, MergedChainsGiveTheSame) {
  const unsigned base = 20240611;
  for (unsigned seed = base; seed < base + 300; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    std::mt19937 random(seed);
    std::mt19937 again(seed);
    Builder builder;
    Tensor merged = builder.input("x", DType::f32, {4, 6});
    Tensor apart = merged;
    for (int step = 0; step < 6; ++step) {
      merged = random_view(merged, random);
      apart = realize(random_view(apart, again));
    }
    verify(builder.graph());
    const Value expected = value_of(apart, {counting(DType::f32, {4, 6})});
    const Value given = value_of(merged, {counting(DType::f32, {4, 6})});
    ASSERT_EQ(given.sizes, expected.sizes);
    ASSERT_EQ(numbers_in(given), numbers_in(expected)) << print(builder.graph());
  }
}

TEST(Views, SymbolicSizes) {
  const index::Expr n = index::Symbol("n");
  const index::Expr m = index::Symbol("m");
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {n, m, 6});
  const Tensor a = reshape(x, {n * m, 2, -1});
  const Tensor b = permute(a, {2, 0, 1});
  const Tensor c = reshape(b, {3, n, -1, 2});
  EXPECT_EQ(c.size(2), m);
  const Tensor d = slice(c, 1, 1, 3);
  verify(builder.graph());
  for (const std::int64_t rows : {0, 1, 2, 3}) {
    SCOPED_TRACE(rows);
    const Value value = value_of(d, {counting(DType::f32, {rows, 2, 6})});
    const std::int64_t taken = std::max<std::int64_t>(0, std::min<std::int64_t>(rows, 3) - 1);
    ASSERT_EQ(value.sizes, (Sizes{3, taken, 2, 2}));
    Reals expected;
    for (int k = 0; k < 3; ++k)
      for (std::int64_t i = 1; i < 1 + taken; ++i)
        for (int j = 0; j < 2; ++j)
          for (int h = 0; h < 2; ++h) expected.push_back(static_cast<double>(i * 12 + j * 6 + h * 3 + k));
    EXPECT_EQ(numbers_in(value), expected);
  }
}

// Around nothing there is still a padding, whose positions are remainders of a size that is 0.
TEST(Views, PaddingAroundNothing) {
  const index::Expr n = index::Symbol("n");
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {2, n, 4});
  const Tensor padded = pad(reshape(x, {n * 8}), {{3, 0}}, 2.0);
  for (const std::int64_t rows : {0, 1}) {
    const Reals numbers = numbers_in(value_of(padded, {counting(DType::f32, {2, rows, 4})}));
    ASSERT_EQ(numbers.size(), static_cast<std::size_t>(3 + 8 * rows));
    for (std::size_t e = 0; e < numbers.size(); ++e)
      EXPECT_EQ(numbers[e], e < 3 ? 2.0 : static_cast<double>(e - 3));
  }
}

// The same where the views are one and the nothing is a part of x.
TEST(Views, PaddingAroundAPartWithoutElements) {
  const index::Expr n = index::Symbol("n");
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {2, n});
  const Tensor padded = pad(reshape(slice(x, 1, 2, n), {-1}), {{1, 1}}, 5.0);
  EXPECT_EQ(numbers_in(value_of(padded, {counting(DType::f32, {2, 1})})), (Reals{5, 5}));
  EXPECT_EQ(numbers_in(value_of(padded, {counting(DType::f32, {2, 2})})), (Reals{5, 5}));
  EXPECT_EQ(numbers_in(value_of(padded, {counting(DType::f32, {2, 3})})), (Reals{5, 2, 5, 5}));
}

}  // namespace
}  // namespace twinloom::evaluate
