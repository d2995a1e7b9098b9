// Gather and Scatter in the shapes that users know, against tables that NumPy gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "core/graph/indexing.h"
#include "core/graph/views.h"
#include "tests/evaluate/arrays.h"
#include "tests/support/thrown.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder;
using graph::index;
using graph::Indices;
using graph::Mode;
using graph::Negative;
using graph::Tensor;
using ops::DType;
using Sizes = std::vector<std::int64_t>;
using Reals = std::vector<double>;

Tensor constant(Builder& builder, DType dtype, Sizes sizes, const Reals& numbers) {
  Value value = array(dtype, std::move(sizes), numbers);
  return builder.constant({value.dtype, std::move(value.sizes), std::move(value.bytes)});
}
Tensor integers(Builder& builder, Sizes sizes, const Reals& numbers) {
  return constant(builder, DType::i64, std::move(sizes), numbers);
}

struct Case {
  std::string name;
  std::function<Tensor(Builder&, const Tensor&)> build;
  Sizes sizes;
  Reals numbers;
};

// Long because it is a table: of cases with the answers that NumPy gives.
// x = arange(24).reshape(2, 3, 4); a = [0, 1], c = [1, -1] are the indices.
TEST(Indexing, PlacesTheAxesOfAdvancedIndicesAsNumPyDoes) {
  const auto a = [](Builder& b) { return integers(b, {2}, {0, 1}); };
  const auto c = [](Builder& b) { return integers(b, {2}, {1, -1}); };
  const Case cases[] = {
      {"x[a]",
       [&](Builder& b, const Tensor& x) { return index(select(x, 0, 0), {a(b)}); },
       {2, 4},
       {0, 1, 2, 3, 4, 5, 6, 7}},
      {"x[:, c]",
       [&](Builder& b, const Tensor& x) {
         return index(x, {std::nullopt, c(b)});
       },
       {2, 2, 4},
       {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23}},
      {"x[a, c]: neighbours",
       [&](Builder& b, const Tensor& x) {
         return index(x, {a(b), c(b)});
       },
       {2, 4},
       {4, 5, 6, 7, 20, 21, 22, 23}},
      {"x[:, a, c]",
       [&](Builder& b, const Tensor& x) {
         return index(x, {std::nullopt, a(b), c(b)});
       },
       {2, 2},
       {1, 7, 13, 19}},
      {"x[a, :, c]: apart, so in front",
       [&](Builder& b, const Tensor& x) {
         return index(x, {a(b), std::nullopt, c(b)});
       },
       {2, 3},
       {1, 5, 9, 15, 19, 23}},
      {"x[:, [[0], [2]], [1, 3]]: broadcast",
       [&](Builder& b, const Tensor& x) {
         return index(x, {std::nullopt, integers(b, {2, 1}, {0, 2}), integers(b, {2}, {1, 3})});
       },
       {2, 2, 2},
       {1, 3, 9, 11, 13, 15, 21, 23}},
      {"take(x, c, axis=2)",
       [&](Builder& b, const Tensor& x) { return take(x, 2, c(b), Negative::wraps); },
       {2, 3, 2},
       {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23}},
      {"take(x, scalar)",
       [&](Builder& b, const Tensor& x) { return take(x, 1, integers(b, {}, {2})); },
       {2, 4},
       {8, 9, 10, 11, 20, 21, 22, 23}},
      {"take_along(x, axis 2)",
       [&](Builder& b, const Tensor& x) {
         return take_along(x, 2, integers(b, {1, 2, 2}, {3, 0, 1, 1}));
       },
       {1, 2, 2},
       {3, 0, 5, 5}},
      {"index_put x[0, [2, 2, 0]] = [1, 2, 3]",
       [&](Builder& b, const Tensor& x) {
         const Tensor row = select(x, 0, 0);
         const Tensor values = constant(b, DType::f32, {3, 1}, {-1, -2, -3});
         return index_put(row, {integers(b, {3}, {2, 2, 0})}, values);
       },
       {3, 4},
       {-3, -3, -3, -3, 4, 5, 6, 7, -2, -2, -2, -2}},
      {"index_put with accumulate",
       [&](Builder& b, const Tensor& x) {
         const Tensor column = select(select(x, 0, 0), 1, 0);
         return index_put(column, {integers(b, {3}, {2, 2, -3})}, constant(b, DType::f32, {3}, {1, 2, 3}),
                          Mode::add);
       },
       {3},
       {3, 4, 11}},
      {"scatter along axis 1",
       [&](Builder& b, const Tensor& x) {
         const Tensor table = select(x, 0, 0);
         return scatter(table, 1, integers(b, {2, 1}, {3, 0}), 50.0);
       },
       {3, 4},
       {0, 1, 2, 50, 50, 5, 6, 7, 8, 9, 10, 11}},
      {"scatter greatest without self",
       [&](Builder& b, const Tensor& x) {
         const Tensor row = select(select(x, 0, 1), 0, 0);
         return scatter(row, 0, integers(b, {3}, {1, 1, 2}), constant(b, DType::f32, {3}, {-5, -7, -9}),
                        Mode::greatest, false);
       },
       {4},
       {12, -5, -9, 15}},
      {"index_update adds rows",
       [&](Builder& b, const Tensor& x) {
         const Tensor table = select(x, 0, 0);
         return index_update(table, 0, integers(b, {2}, {1, 1}), slice(table, 0, 0, 2), Mode::add);
       },
       {3, 4},
       {0, 1, 2, 3, 8, 11, 14, 17, 8, 9, 10, 11}},
      {"one_hot",
       [&](Builder& b, const Tensor&) {
         return one_hot(integers(b, {3}, {2, 0, 7}), 3, DType::f32);
       },
       {3, 3},
       {0, 0, 1, 1, 0, 0, 0, 0, 0}},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    Builder builder;
    const Tensor x = builder.input("x", DType::f32, {2, 3, 4});
    const Tensor y = row.build(builder, x);
    verify(builder.graph());
    for (const Arithmetic arithmetic : {Arithmetic::strict, Arithmetic::wide}) {
      const Value value = value_of(y, {counting(DType::f32, {2, 3, 4})}, arithmetic);
      EXPECT_EQ(value.sizes, row.sizes);
      EXPECT_EQ(numbers_in(value), row.numbers);
    }
  }
}

std::string error_of(const Tensor& x, const std::vector<Argument>& arguments) {
  return tests::words_of<Error>([&] { value_of(x, arguments); });
}

TEST(Indexing, OutOfRangeNamesThePlace) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {4, 2});
  const Tensor at = builder.input("at", DType::i32, {3});
  const std::vector<Argument> arguments{counting(DType::f32, {4, 2}), array(DType::i32, {3}, {1, -4, 4})};
  builder.origin.name = "picked";
  EXPECT_EQ(error_of(index(x, {at}), arguments),
            "gather 'picked': index 0 at position [2, 0] is 4, out of range for size 4");
  EXPECT_EQ(error_of(embedding(x, at), arguments),
            "gather 'picked': index 0 at position [1, 0] is -4, out of range for size 4");
  EXPECT_EQ(error_of(index_update(x, 0, at, slice(x, 0, 0, 3), Mode::add), arguments),
            "scatter add 'picked': index 0 at position [1, 0] is -4, out of range for size 4");
}

}  // namespace
}  // namespace twinloom::evaluate
