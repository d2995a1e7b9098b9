// Sums of products of scaled integers become sums of integers, where that is exact and a library has them.
#include <gtest/gtest.h>

#include "core/graph/composites.h"
#include "core/graph/convolution.h"
#include "core/graph/passes.h"
#include "core/graph/views.h"

namespace twinloom::graph {
namespace {

using ops::DType;

Array array_of(DType dtype, std::vector<std::int64_t> sizes, const std::vector<double>& elements) {
  const auto size = static_cast<std::size_t>(ops::size_of(dtype));
  std::vector<std::byte> bytes(elements.size() * size);
  for (std::size_t at = 0; at < elements.size(); ++at)
    ops::store_number(dtype, ops::cast(ops::Number(elements[at]), dtype), bytes.data() + at * size);
  return {dtype, std::move(sizes), std::move(bytes)};
}

// The type of each sum, and how often it was asked whether the products are worth it.
struct Sums {
  std::vector<DType> types;
  int asked = 0;
  std::string text;
};

Sums sums_of(const std::function<Tensor(Builder&)>& result, bool is_worth = true) {
  Builder builder;
  builder.output(result(builder));
  Sums sums;
  const Graph made = integer_products(builder.graph(), [&](const Node&) {
    ++sums.asked;
    return is_worth;
  });
  verify(made);
  for (const Node& node : made.nodes())
    if (std::holds_alternative<Reduce>(node.node)) sums.types.push_back(node.dtype);
  sums.text = print(made);
  return sums;
}
using Types = std::vector<DType>;

Tensor activations(Builder& builder, double zero = 114, DType through = DType::i32, DType of = DType::u8) {
  const Tensor numbers = cast(builder.input("x", of, {4, 16}), through);
  return cast(numbers - zero, DType::f32) * 0.5;
}
// A column each has a scale of its own.
Tensor weights(Builder& builder, std::int64_t depth = 16) {
  return cast(builder.input("w", DType::i8, {depth, 8}), DType::f32) *
         expand(builder.input("s", DType::f32, {8}), {depth, 8});
}

TEST(IntegerProducts, OfScaledIntegers) {
  for (const DType through : {DType::i32, DType::i64, DType::f32}) {
    const Sums sums =
        sums_of([&](Builder& b) { return matrix_product(activations(b, 114, through), weights(b)); });
    EXPECT_EQ(sums.types, Types{DType::i32}) << sums.text;
  }
}

TEST(IntegerProducts, OnlyWhereTheyAreWorthIt) {
  const Sums sums = sums_of([](Builder& b) { return matrix_product(activations(b), weights(b)); }, false);
  EXPECT_EQ(sums.types, Types{DType::f32});
  EXPECT_EQ(sums.asked, 1);
}

TEST(IntegerProducts, ZeroPointsThatAllChannelsShare) {
  const auto shared = [](std::vector<double> zeros) {
    return sums_of([&](Builder& b) {
      const Tensor zero = b.constant(array_of(DType::i8, {8}, zeros));
      const Tensor w =
          cast(b.input("w", DType::i8, {16, 8}), DType::i32) - expand(cast(zero, DType::i32), {16, 8});
      return matrix_product(activations(b), cast(w, DType::f32));
    });
  };
  EXPECT_EQ(shared(std::vector<double>(8, 0)).types, Types{DType::i32});
  EXPECT_EQ(shared(std::vector<double>(8, 3)).types, Types{DType::i32});  // beside one of the activations
}

// Of u8 they are moved to i8, and the zero point with them.
TEST(IntegerProducts, WeightsOfEitherType) {
  for (const double zero : {0.0, 128.0, 117.0}) {
    const Sums sums = sums_of([&](Builder& b) {
      const Tensor w = cast(b.constant(array_of(DType::u8, {16, 2}, std::vector<double>(32, 9))), DType::i32);
      return matrix_product(activations(b), cast(w - zero, DType::f32) * 0.25);
    });
    EXPECT_EQ(sums.types, Types{DType::i32}) << sums.text;
    EXPECT_NE(sums.text.find("i8"), std::string::npos) << sums.text;
  }
}

// The sums of the activations are one for all columns, which must be many.
TEST(IntegerProducts, ZeroPointsOfColumns) {
  const auto sums = [](std::int64_t columns) {
    return sums_of([&](Builder& b) {
      const std::vector<std::int64_t> sizes{16, columns};
      std::vector<double> zeros(static_cast<std::size_t>(columns), 120);
      zeros[1] = 131;
      const Tensor zero = cast(b.constant(array_of(DType::u8, {columns}, zeros)), DType::i32);
      const Tensor w = cast(b.input("w", DType::u8, {16, columns}), DType::i32) - expand(zero, {16, columns});
      return matrix_product(activations(b), cast(w, DType::f32));
    });
  };
  EXPECT_EQ(sums(16).types, (Types{DType::i32, DType::i32})) << sums(16).text;
  EXPECT_EQ(sums(15).types, Types{DType::f32});
}

// A library pads its windows, and knows no zero point of the filters then.
TEST(IntegerProducts, FiltersWithAZeroPoint) {
  const Sums sums = sums_of([&](Builder& b) {
    const Tensor x = cast(cast(b.input("x", DType::u8, {1, 4, 9, 9}), DType::i32) - 7, DType::f32) * 0.25;
    const Tensor w = cast(cast(b.input("w", DType::i8, {16, 4, 3, 3}), DType::i32) - 3, DType::f32);
    const Taps taps{.before = 1, .count = 9};
    return convolve(x, w, {"convolution", {taps, taps}});
  });
  EXPECT_EQ(sums.types, (Types{DType::i32, DType::i32})) << sums.text;
}

// As MatMulInteger has them.
TEST(IntegerProducts, SumsOfIntegers) {
  const auto sums = [](DType type) {
    return sums_of([&](Builder& b) {
      const Tensor zero = cast(b.input("z", DType::u8, {}), DType::i32);
      const Tensor x = cast(b.input("x", DType::u8, {4, 16}), DType::i32) - expand(zero, {4, 16});
      return matrix_product(x, cast(b.input("w", type, {16, 8}), DType::i32));
    });
  };
  EXPECT_NE(sums(DType::u8).text.find("i8"), std::string::npos) << sums(DType::u8).text;
}

TEST(IntegerProducts, PaddingIsTheZeroPoint) {
  const auto padded = [](double zero) {
    return sums_of([&](Builder& b) {
      const Tensor x =
          cast(cast(b.input("x", DType::u8, {1, 4, 9, 9}), DType::i32) - zero, DType::f32) * 0.25;
      const Tensor w = cast(b.input("w", DType::i8, {8, 4, 3, 3}), DType::f32);
      const Taps taps{.before = 1, .count = 9};
      return convolve(x, w, {"convolution", {taps, taps}});
    });
  };
  EXPECT_EQ(padded(7).types, Types{DType::i32});
  EXPECT_NE(padded(7).text.find("else 7"), std::string::npos) << padded(7).text;
  EXPECT_EQ(padded(-7).types, Types{DType::f32});  // which u8 does not have
}

TEST(IntegerProducts, NotBeyond32Bits) {
  const auto deep = [](std::int64_t depth) {
    return sums_of([&](Builder& b) {
      const Tensor x = cast(b.input("x", DType::u8, {4, depth}), DType::f32);
      return matrix_product(x, weights(b, depth));
    });
  };
  EXPECT_EQ(deep(65793).types, Types{DType::i32});
  EXPECT_EQ(deep(65794).types, Types{DType::f32});
}

TEST(IntegerProducts, NotOfOtherFactors) {
  const auto types = [](const std::function<Tensor(Builder&)>& left) {
    return sums_of([&](Builder& b) { return matrix_product(left(b), weights(b)); }).types;
  };
  const Types real{DType::f32};
  EXPECT_EQ(types([](Builder& b) { return activations(b, 0.5, DType::f32); }), real);
  EXPECT_EQ(types([](Builder& b) { return activations(b, 3, DType::i32, DType::i16); }), real);
  EXPECT_EQ(types([](Builder& b) { return b.input("x", DType::f32, {4, 16}); }), real);
  EXPECT_EQ(types([](Builder& b) {  // its scale changes along what is summed up
              return activations(b) * expand(b.input("r", DType::f32, {16}), {4, 16});
            }),
            real);
}

}  // namespace
}  // namespace twinloom::graph
