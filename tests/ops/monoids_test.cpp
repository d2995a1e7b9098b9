// Monoids: identities are neutral bit for bit on both sides, ties and NaN go to the place that the row says,
// and the device header's combine is the one that the row means. Philox gives its published answers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/ops/device/kernel.h"
#include "core/ops/monoid.h"
#include "core/ops/pointwise.h"
#include "tests/ops/elements.h"

namespace twinloom::ops {
namespace {

using Pair = std::array<Number, 2>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<Number> values_of(DType element) {
  std::vector<Number> all;
  for (const std::uint64_t bits : testing::special_bits(element)) all.push_back(load_number(element, &bits));
  return all;
}

template <class Visit>
void for_each_total(Visit visit) {
  for (const Monoid monoid : all_monoids()) {
    for (const DType element : all_dtypes()) {
      if (accepts(monoid, element) && !is_16_bit_float(element)) visit(monoid, element);
    }
  }
}

TEST(Monoid, IdentityIsNeutralOnBothSides) {
  for_each_total([](Monoid monoid, DType element) {
    const Pair neutral = identity(monoid, element);
    for (const Number& value : values_of(element)) {
      for (const std::int64_t place : {std::int64_t{0}, std::int64_t{5}, std::int64_t{1} << 40}) {
        const Pair total = {value, parts(monoid) == 2 ? Number(place) : Number(0)};
        EXPECT_EQ(combine(monoid, element, neutral, total), total) << name(monoid) << " of " << name(element);
        EXPECT_EQ(combine(monoid, element, total, neutral), total) << name(monoid) << " of " << name(element);
      }
    }
  });
}

TEST(Monoid, TiesAndNaNsHaveAPlace) {
  const auto place = [](Monoid monoid, double left, double right) {
    return combine(monoid, DType::f32, {Number(left), Number(3)}, {Number(right), Number(8)})[1].integer();
  };
  EXPECT_EQ(place(Monoid::argmax, 1, 1), 3);
  EXPECT_EQ(place(Monoid::argmax_last, 1, 1), 8);
  EXPECT_EQ(place(Monoid::argmin, -0.0, 0.0), 3);
  EXPECT_EQ(place(Monoid::argmin_last, 0.0, -0.0), 8);
  EXPECT_EQ(place(Monoid::argmax, nan, nan), 3);
  EXPECT_EQ(place(Monoid::argmax_last, nan, nan), 8);
  EXPECT_EQ(place(Monoid::argmax, 5, nan), 8);
  EXPECT_EQ(place(Monoid::argmin, -5, nan), 8);
  EXPECT_EQ(place(Monoid::argmin_last, nan, -5), 3);
  EXPECT_EQ(place(Monoid::argmax, 1, 2), 8);
  EXPECT_EQ(place(Monoid::argmin, 1, 2), 3);
}

TEST(Monoid, OverNothing) {
  EXPECT_EQ(over_nothing(Monoid::sum, DType::f32), Number(0.0));
  EXPECT_EQ(identity(Monoid::sum, DType::f32)[0], Number(-0.0));
  EXPECT_EQ(over_nothing(Monoid::prod, DType::i8), Number(1));
  EXPECT_EQ(over_nothing(Monoid::all, DType::b8), Number(1));
  EXPECT_EQ(over_nothing(Monoid::any, DType::b8), Number(0));
  EXPECT_EQ(over_nothing(Monoid::max, DType::f32), std::nullopt);
  EXPECT_EQ(over_nothing(Monoid::argmin, DType::i64), std::nullopt);
  EXPECT_EQ(identity(Monoid::max, DType::i8)[0], Number(-128));
  EXPECT_EQ(identity(Monoid::min, DType::u64)[0], Number(-1));
  EXPECT_EQ(order(Monoid::sum, DType::f32), Order::canonical);
  EXPECT_EQ(order(Monoid::sum, DType::i32), Order::any);
  EXPECT_EQ(spelling(Monoid::argmax), "argmax($0, $1, $2, $3)");
}

// By name, as the spelling does.
template <class Element>
bool device_replaces(Monoid monoid, Element left, std::int64_t left_place, Element right,
                     std::int64_t right_place) {
  switch (monoid) {
#define MONOID_1(name) \
  case Monoid::name:   \
    break;
#define MONOID_2(name) \
  case Monoid::name:   \
    return device::name(left, left_place, right, right_place);
#define MONOID(name, parts, ...) MONOID_##parts(name)
#include "core/ops/monoid.def"
#undef MONOID
#undef MONOID_1
#undef MONOID_2
  }
  return false;
}
template <class Element>
Element device_total(Monoid monoid, Element left, Element right) {
  switch (monoid) {
#define MONOID_1(name) \
  case Monoid::name:   \
    return device::name(left, right);
#define MONOID_2(name) \
  case Monoid::name:   \
    break;
#define MONOID(name, parts, ...) MONOID_##parts(name)
#include "core/ops/monoid.def"
#undef MONOID
  }
  return Element{};
}

template <class Element>
void compare_combines(DType element) {
  for (const Monoid monoid : all_monoids()) {
    if (!accepts(monoid, element)) continue;
    for (const Number& a : values_of(element)) {
      for (const Number& b : values_of(element)) {
        Element left{};
        Element right{};
        store_number(element, a, &left);
        store_number(element, b, &right);
        for (const std::int64_t right_place : {std::int64_t{2}, std::int64_t{9}}) {
          const Pair meant = combine(monoid, element, {a, Number(4)}, {b, Number(right_place)});
          if (parts(monoid) == 1) {
            const Element total = device_total(monoid, left, right);
            EXPECT_EQ(load_number(element, &total), meant[0]) << name(monoid) << " of " << name(element);
          } else {
            const bool replaces = device_replaces(monoid, left, std::int64_t{4}, right, right_place);
            EXPECT_EQ(Number(replaces ? right_place : 4), meant[1])
                << name(monoid) << " of " << name(element);
          }
        }
      }
    }
  }
}

TEST(Monoid, DeviceCombinesAsTheRowMeans) {
  compare_combines<float>(DType::f32);
  compare_combines<double>(DType::f64);
  compare_combines<std::int8_t>(DType::i8);
  compare_combines<std::int64_t>(DType::i64);
  compare_combines<std::uint64_t>(DType::u64);
  compare_combines<bool>(DType::b8);
}

// The known answers published with the generator.
TEST(Random, PhiloxGivesItsPublishedAnswers) {
  using Words = device::FourWords<std::uint32_t>;
  const auto expect = [](Words got, std::uint32_t w0, std::uint32_t w1, std::uint32_t w2, std::uint32_t w3) {
    EXPECT_EQ(got.w0, w0);
    EXPECT_EQ(got.w1, w1);
    EXPECT_EQ(got.w2, w2);
    EXPECT_EQ(got.w3, w3);
  };
  expect(device::philox(Words{0, 0, 0, 0}, 0u, 0u), 0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u);
  const std::uint32_t ones = 0xffffffffu;
  expect(device::philox(Words{ones, ones, ones, ones}, ones, ones), 0x408f276du, 0x41c83b0eu, 0xa20bc7c6u,
         0x6d5451fdu);
  expect(device::philox(Words{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, 0xa4093822u, 0x299f31d0u),
         0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u);
}

TEST(Random, NumbersAreMadeOfTheWords) {
  // Element 0, seed 0, offset 0, operator 0: the first of the published answers.
  EXPECT_EQ(device::random_uniform<std::int64_t>(0, 0, 0, 0),
            static_cast<float>(0x6627e8d5u >> 8) * 0x1p-24f);
  // Four neighbours are the words of one counter.
  const std::array<std::uint32_t, 4> of_counter_0 = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  for (std::int64_t n = 0; n < 4; ++n)
    EXPECT_EQ(device::random_uniform<std::int64_t>(n, 0, 0, 0),
              static_cast<float>(of_counter_0[static_cast<std::size_t>(n)] >> 8) * 0x1p-24f);
  EXPECT_EQ(device::random_uniform<std::int64_t>(4 * 7 + 2, 5, 6, 8),
            device::unit_of(device::random_words<std::int64_t>(7, 5, 6, 8).w2));
  const std::uint64_t words = 0xe169c58d6627e8d5u;
  EXPECT_EQ(device::random_uniform_f64<std::int64_t>(0, 0, 0, 0), static_cast<double>(words >> 11) * 0x1p-53);
  const auto scaled =
      static_cast<std::int64_t>((static_cast<long double>(words) * 1000) / 18446744073709551616.0L);
  EXPECT_EQ(device::random_integers<std::int64_t>(0, 0, 0, 0, -300, 700), scaled - 300);
  const double u0 = (0x6627e8d5u >> 8) * 0x1p-24;
  const double u1 = (0xe169c58du >> 8) * 0x1p-24;
  const double normal = std::sqrt(-2 * std::log(1 - u0)) * std::cos(2 * M_PI * u1);
  EXPECT_NEAR(device::random_normal<std::int64_t>(0, 0, 0, 0), normal, 1e-6 * std::fabs(normal));
}

TEST(Random, LanesThatAreDrawnTogetherHaveTheirNumbers) {
  const auto alone = [](std::int64_t n) { return device::random_uniform<std::int64_t>(n, 42, 1, 3); };
  for (const std::int64_t first : {std::int64_t{0}, std::int64_t{4}, std::int64_t{1} << 40}) {
    EXPECT_EQ((device::random_uniform_beside<3, 4>(first, 42, 1, 3)), alone(first + 3));
    EXPECT_EQ((device::random_uniform_beside<6, 4>(first, 42, 1, 3)), alone(first + 6));
    for (const std::int64_t pair : {first, first + 2}) {
      EXPECT_EQ((device::random_uniform_beside<0, 2>(pair, 42, 1, 3)), alone(pair));
      EXPECT_EQ((device::random_uniform_beside<1, 2>(pair, 42, 1, 3)), alone(pair + 1));
    }
  }
}

// Mean and spread over many draws; bounds are five standard errors.
TEST(Random, DrawsHaveTheirDistribution) {
  constexpr int count = 200000;
  double sum = 0;
  double squares = 0;
  double uniform = 0;
  std::array<int, 7> hits{};
  for (std::int64_t n = 0; n < count; ++n) {
    const double x = device::random_normal<std::int64_t>(n, 42, 1, 3);
    sum += x;
    squares += x * x;
    uniform += device::random_uniform<std::int64_t>(n, 42, 1, 4);
    ++hits.at(static_cast<std::size_t>(device::random_integers<std::int64_t>(n, 42, 1, 5, 0, 7)));
  }
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2.0 / count));
  EXPECT_NEAR(uniform / count, 0.5, 5 * std::sqrt(1.0 / 12 / count));
  for (const int hit : hits) EXPECT_NEAR(hit, count / 7.0, 5 * std::sqrt(count * 6.0 / 49));
}

}  // namespace
}  // namespace twinloom::ops
