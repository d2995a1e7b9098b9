// Fixed points of types, numbers, casts and operators, written down from the standards and by exact
// arithmetic, never from the table itself.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "core/ops/device_text.h"
#include "core/ops/number.h"
#include "core/ops/pointwise.h"
#include "core/ops/rounding.h"
#include "tests/ops/elements.h"

namespace twinloom::ops {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

Number parsed(std::string_view text) {
  Scanner scanner(text, "number");
  return parse_number(scanner);
}

TEST(Number, PrintsAndReadsBack) {
  for (const Number& number :
       {Number(0), Number(-7), Number(least), Number(0.0), Number(-0.0), Number(0.1), Number(inf),
        Number(-inf), Number(nan), Number(5e-324), Number(1.7976931348623157e308)}) {
    EXPECT_EQ(parsed(print(number)), number) << print(number);
  }
  EXPECT_EQ(print(Number(1.5)), "0x1.8p+0");
  EXPECT_EQ(print(Number(-inf)), "-inf");
  EXPECT_EQ(print(Number(-nan)), "nan");
}

TEST(Number, EqualityIsOfKindAndBits) {
  EXPECT_NE(Number(0.0), Number(-0.0));
  EXPECT_NE(Number(0.0), Number(0));
  EXPECT_EQ(Number(nan), Number(-nan));
  EXPECT_EQ(Number(nan).hash(), Number(-nan).hash());
}

TEST(Number, CastsAsTheElementHasIt) {
  EXPECT_EQ(cast(Number(300), DType::u8), Number(44));
  EXPECT_EQ(cast(Number(200), DType::i8), Number(-56));
  EXPECT_EQ(cast(Number(300.7), DType::u8), Number(255));
  EXPECT_EQ(cast(Number(-1.0), DType::u64), Number(0));
  EXPECT_EQ(cast(Number(1e20), DType::u64), Number(-1));  // all ones, held by its bits
  EXPECT_EQ(cast(Number(nan), DType::i32), Number(0));
  EXPECT_EQ(cast(Number(nan), DType::b8), Number(1));
  EXPECT_EQ(cast(Number(2), DType::b8), Number(1));
  EXPECT_EQ(cast(Number(9), DType::i4), Number(-7));
  EXPECT_EQ(cast(Number(-1), DType::u64, DType::f64), Number(18446744073709551616.0));
  EXPECT_EQ(cast(Number(33685505), DType::bf16), Number(33816576.0));  // through f32 it would be 33554432
  EXPECT_EQ(cast(Number(65520.0), DType::f16), Number(inf));
  EXPECT_EQ(cast(Number(65519.0), DType::f16), Number(65504.0));
  EXPECT_EQ(cast(Number(464.0), DType::f8e4m3), Number(448.0));
  EXPECT_EQ(cast(Number(465.0), DType::f8e4m3), Number(nan));
  EXPECT_EQ(cast(Number(61440.0), DType::f8e5m2), Number(inf));
}

// MPFR with a type's precision and range of exponents rounds as the type does.
double by_mpfr(DType to, double value, std::int64_t integer, bool from_integer) {
  const int digits = to == DType::f16 ? 11 : to == DType::bf16 ? 8 : 24;
  mpfr_set_emax(to == DType::f16 ? 16 : 128);
  mpfr_set_emin(to == DType::f16 ? -23 : to == DType::bf16 ? -132 : -148);
  mpfr_t rounded;
  mpfr_init2(rounded, digits);
  const int direction =
      from_integer ? mpfr_set_sj(rounded, integer, MPFR_RNDN) : mpfr_set_d(rounded, value, MPFR_RNDN);
  mpfr_subnormalize(rounded, mpfr_check_range(rounded, direction, MPFR_RNDN), MPFR_RNDN);
  const double result = mpfr_get_d(rounded, MPFR_RNDN);
  mpfr_clear(rounded);
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_set_emin(mpfr_get_emin_min());
  return result;
}

TEST(Number, RoundsAsMpfrDoes) {
  std::mt19937_64 random(3);
  for (const DType to : {DType::f16, DType::bf16, DType::f32}) {
    for (int i = 0; i < 100000; ++i) {
      const std::uint64_t exponent = 1023 - 155 + random() % 290;
      const std::uint64_t fraction = (random() >> 12) & (~std::uint64_t{0} << (random() % 53));
      const double value = std::bit_cast<double>((random() << 63) | (exponent << 52) | fraction);
      ASSERT_EQ(cast(Number(value), to), Number(by_mpfr(to, value, 0, false))) << value;
      const auto integer =
          static_cast<std::int64_t>((random() & (~std::uint64_t{0} << (random() % 64))) >> (random() % 64));
      if (integer == 0) continue;
      ASSERT_EQ(cast(Number(integer), to), Number(by_mpfr(to, 0, integer, true))) << integer;
    }
  }
}

struct Point {
  Pointwise op;
  DType element;
  std::vector<Number> inputs;
  Number want;
};

// Long because it is a table: one row a fixed point.
std::vector<Point> points() {
  using enum Pointwise;
  using enum DType;
  const double big = 3.4028234663852886e38;
  return {
      {div_trunc, i64, {7, 0}, 0},
      {div_floor, i64, {-7, 0}, 0},
      {fmod, i64, {7, 0}, 0},
      {remainder, i8, {-7, 0}, 0},
      {div_trunc, i64, {least, -1}, least},
      {div_floor, i8, {-128, -1}, -128},
      {fmod, i8, {-128, -1}, 0},
      {div_trunc, i32, {-7, 2}, -3},
      {div_floor, i32, {-7, 2}, -4},
      {fmod, i32, {-7, 2}, -1},
      {remainder, i32, {-7, 2}, 1},
      {remainder, i32, {7, -2}, -1},
      {div_floor, u8, {200, 7}, 28},
      {add, u8, {200, 100}, 44},
      {mul, u16, {65535, 65535}, 1},
      {mul, i8, {100, 3}, 44},
      {neg, u8, {1}, 255},
      {neg, i8, {-128}, -128},
      {abs, i8, {-128}, -128},
      {sub, i16, {-32768, 1}, 32767},
      {pow, i32, {3, 5}, 243},
      {pow, i32, {2, -1}, 0},
      {pow, i32, {-1, -3}, -1},
      {pow, i32, {1, -9}, 1},
      {pow, i32, {0, 0}, 1},
      {pow, u8, {2, 8}, 0},
      {pow, i64, {3, 64}, std::int64_t{8733086111712066817}},
      {shift_left, i32, {1, 31}, -2147483647 - 1},
      {shift_left, i32, {1, 32}, 0},
      {shift_left, u8, {255, 4}, 240},
      {shift_right, i8, {-128, 7}, -1},
      {shift_right, i8, {-1, 100}, -1},
      {shift_right, i8, {64, -1}, 0},
      {shift_right, u8, {255, 9}, 0},
      {bitwise_not, b8, {1}, 0},
      {bitwise_not, u8, {1}, 254},
      {maximum, f32, {-0.0, 0.0}, 0.0},
      {maximum, f32, {0.0, -0.0}, 0.0},
      {minimum, f32, {0.0, -0.0}, -0.0},
      {minimum, f32, {-0.0, 0.0}, -0.0},
      {maximum, f32, {nan, 1.0}, nan},
      {maximum, f32, {1.0, nan}, nan},
      {minimum, f32, {nan, -inf}, nan},
      {minimum, f32, {inf, nan}, nan},
      {relu, f32, {nan}, nan},
      {relu, f32, {-0.0}, 0.0},
      {relu, f32, {-3.0}, 0.0},
      {relu, f32, {inf}, inf},
      {relu, i8, {-3}, 0},
      {sign, f32, {nan}, nan},
      {sign, f32, {-0.0}, -0.0},
      {sign, f32, {-5.0}, -1.0},
      {sign, u8, {9}, 1},
      {abs, f32, {nan}, nan},
      {abs, f32, {-0.0}, 0.0},
      {round, f32, {0.5}, 0.0},
      {round, f32, {1.5}, 2.0},
      {round, f32, {2.5}, 2.0},
      {round, f32, {-0.5}, -0.0},
      {round, bf16, {3.5}, 4.0},
      {remainder, f32, {-7.0, 2.0}, 1.0},
      {remainder, f32, {-6.0, 2.0}, -0.0},
      {remainder, f32, {7.0, -inf}, -inf},
      {fmod, f32, {5.0, inf}, 5.0},
      {fmod, f32, {5.0, 0.0}, nan},
      {fmod, f32, {inf, 2.0}, nan},
      {fmod, f32, {big, 3.0}, 0.0},
      {fmod, f32, {-7.5, 2.0}, -1.5},
      {div_floor, f32, {1.0, 0x1.99999ap-4}, 9.0},
      {div_floor, f32, {1.0, 0.0}, inf},
      {div_floor, f32, {-1.0, 3.0}, -1.0},
      {div_trunc, f32, {-7.0, 2.0}, -3.0},
      {eq, f32, {nan, nan}, 0},
      {ne, f32, {nan, nan}, 1},
      {le, f32, {nan, 1.0}, 0},
      {eq, f32, {0.0, -0.0}, 1},
      {logical_not, f32, {nan}, 0},
      {logical_and, f32, {nan, 1.0}, 1},
      {isnan, f16, {nan}, 1},
      {isinf, bf16, {-inf}, 1},
      {isfinite, f64, {inf}, 0},
      {signbit, f32, {-0.0}, 1},
      {signbit, i8, {-1}, 1},
      {order_key, f64, {-0.0}, 0},
      {order_key, f64, {5e-324}, 1},
      {order_key, i64, {least}, least},
      {order_key, b8, {1}, 1},
      {exp, f32, {-inf}, 0.0},
      {exp, f32, {inf}, inf},
      {exp, f32, {-0.0}, 1.0},
      {exp, f32, {89.0}, inf},
      {exp, f32, {-104.0}, 0.0},
      {expm1, f32, {-0.0}, -0.0},
      {expm1, f32, {-inf}, -1.0},
      {log, f32, {0.0}, -inf},
      {log, f32, {-0.0}, -inf},
      {log, f32, {-1.0}, nan},
      {log, f32, {1.0}, 0.0},
      {log, f32, {inf}, inf},
      {log1p, f32, {-1.0}, -inf},
      {log1p, f32, {-0.0}, -0.0},
      {log1p, f32, {-2.0}, nan},
      {log2, f32, {0x1p-149}, -149.0},
      {exp2, f32, {-149.0}, 0x1p-149},
      {exp2, f32, {10.0}, 1024.0},
      {sin, f32, {-0.0}, -0.0},
      {sin, f32, {inf}, nan},
      {sin, f32, {0x1.fffffep+13}, -0x1.1e462ap-1},   // the last of the near angles
      {cos, f32, {0x1.5dbf64p+13}, 0x1.35ec52p-22},   // close to a multiple of pi/2
      {cos, f32, {0x1.80b8eep+14}, -0x1.54ea5ap-21},  // and too far for three parts of f32
      {cos, f32, {-0x1.9a48dep+15}, -0x1.16ae2ap-26},
      {cos, f32, {0.0}, 1.0},
      {cos, f64, {-inf}, nan},
      {tan, f32, {-0.0}, -0.0},
      {tanh, f32, {-inf}, -1.0},
      {tanh, f32, {-0.0}, -0.0},
      {sinh, f32, {-0.0}, -0.0},
      {sinh, f32, {-inf}, -inf},
      {cosh, f32, {-inf}, inf},
      {asin, f32, {2.0}, nan},
      {acos, f32, {1.0}, 0.0},
      {acos, f32, {-2.0}, nan},
      {atan, f32, {-0.0}, -0.0},
      {asinh, f32, {-inf}, -inf},
      {asinh, f32, {-0.0}, -0.0},
      {acosh, f32, {1.0}, 0.0},
      {acosh, f32, {0.5}, nan},
      {acosh, f32, {inf}, inf},
      {atanh, f32, {1.0}, inf},
      {atanh, f32, {-0.0}, -0.0},
      {atanh, f32, {2.0}, nan},
      {erf, f32, {-inf}, -1.0},
      {erf, f32, {-0.0}, -0.0},
      {erfc, f32, {inf}, 0.0},
      {erfc, f32, {-inf}, 2.0},
      {erfinv, f32, {1.0}, inf},
      {erfinv, f32, {-0.0}, -0.0},
      {erfinv, f32, {1.5}, nan},
      {lgamma, f32, {1.0}, 0.0},
      {lgamma, f32, {0.0}, inf},
      {lgamma, f32, {-3.0}, inf},
      {lgamma, f32, {inf}, inf},
      {digamma, f32, {0.0}, -inf},
      {digamma, f32, {-0.0}, inf},
      {digamma, f32, {-1.0}, nan},
      {i0, f32, {0.0}, 1.0},
      {i0, f32, {-inf}, inf},
      {sqrt, f32, {-0.0}, -0.0},
      {sqrt, f32, {-1.0}, nan},
      {rsqrt, f32, {0.0}, inf},
      {rsqrt, f32, {inf}, 0.0},
      {rsqrt, f32, {-1.0}, nan},
      {reciprocal, f32, {-0.0}, -inf},
      {sigmoid, f32, {-inf}, 0.0},
      {sigmoid, f32, {inf}, 1.0},
      {sigmoid, f32, {0.0}, 0.5},
      {silu, f32, {-inf}, -0.0},
      {silu, f32, {inf}, inf},
      {gelu_erf, f32, {-inf}, -0.0},
      {gelu_erf, f32, {inf}, inf},
      {gelu_tanh, f32, {-inf}, -0.0},
      {gelu_tanh, f32, {inf}, inf},
      {softplus, f32, {-inf}, 0.0},
      {softplus, f32, {inf}, inf},
      {pow, f32, {0.0, 0.0}, 1.0},
      {pow, f32, {nan, 0.0}, 1.0},
      {pow, f32, {1.0, nan}, 1.0},
      {pow, f32, {-1.0, inf}, 1.0},
      {pow, f32, {-2.0, 3.0}, -8.0},
      {pow, f32, {-2.0, 0.5}, nan},
      {pow, f32, {-0.0, -3.0}, -inf},
      {pow, f32, {-inf, 3.0}, -inf},
      {pow, f32, {-0.0, 2.0}, 0.0},
      {pow, f64, {2.0, -1074.0}, 5e-324},
      {pow, f32, {0.5, inf}, 0.0},
      {hypot, f32, {inf, nan}, inf},
      {hypot, f32, {3.0, 4.0}, 5.0},
      {hypot, f64, {1e300, 0.0}, 1e300},
      {atan2, f32, {0.0, -0.0}, 3.1415927410125732},
      {atan2, f32, {-0.0, 0.0}, -0.0},
      {atan2, f32, {inf, inf}, 0.78539818525314331},
      {copysign, f32, {3.0, -0.0}, -3.0},
      {nextafter, f32, {0.0, -1.0}, -0x1p-149},
      {nextafter, f32, {1.0, 2.0}, 0x1.000002p+0},
      {nextafter, f32, {inf, 0.0}, big},
      {where, i8, {1, 5, 6}, 5},
      {where, f32, {0, 5.0, 6.0}, 6.0},
      // The product has 48 digits; rounded before the sum, nothing would be left.
      {fma, f32, {1 + 0x1p-12, 1 - 0x1p-12, -1.0}, -0x1p-24},
      {fma, f64, {1 + 0x1p-30, 1 - 0x1p-30, -1.0}, -0x1p-60},
      {fma, f32, {0x1p-100, 0x1p-100, 0.0}, 0.0},
      {fma, f32, {big, 2.0, -big}, big},
      {fma, f32, {inf, 0.0, 1.0}, nan},
      {fma, f32, {-0.0, 1.0, 0.0}, 0.0},
      {fma, bf16, {1.0078125, 1.0078125, -1.015625}, 0x1p-14},
      {add, bf16, {256.0, 1.0}, 256.0},
      {add, bf16, {258.0, 1.0}, 260.0},
      {mul, f16, {256.0, 256.0}, inf},
  };
}

Number applied(const Point& point, decltype(apply_strict)* apply) {
  std::vector<std::uint64_t> elements(point.inputs.size());
  std::vector<const void*> pointers;
  std::vector<DType> types;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const DType type = takes(point.op) == Takes::select && i == 0 ? DType::b8 : point.element;
    store_number(type, cast(point.inputs[i], type), &elements[i]);
    pointers.push_back(&elements[i]);
    types.push_back(type);
  }
  std::uint64_t result = 0;
  apply(point.op, point.element, pointers, &result, 1);
  return load_number(result_type(point.op, types).value(), &result);
}

TEST(FixedPoints, HoldForMeaningAndSpelling) {
  for (const Point& point : points()) {
    const auto words = join(point.inputs, ", ", [](const Number& number) { return print(number); });
    const DType given = gives(point.op) == Gives::truth ? DType::b8
                        : gives(point.op) == Gives::i64 ? DType::i64
                                                        : point.element;
    const Number want = cast(point.want, given);
    EXPECT_EQ(applied(point, apply_strict), want) << "meaning of " << name(point.op) << "(" << words << ")";
    EXPECT_EQ(applied(point, apply_spelled), want) << "spelling of " << name(point.op) << "(" << words << ")";
  }
}

TEST(FixedPoints, WideKeepsTheDigitsOfDouble) {
  EXPECT_EQ(apply_wide(Pointwise::add, DType::f32, std::array{Number(1.0), Number(0x1p-40)}),
            Number(1.0 + 0x1p-40));
  EXPECT_EQ(apply_wide(Pointwise::exp, DType::bf16, std::array{Number(1.0)}), Number(std::exp(1.0)));
  EXPECT_EQ(apply_wide(Pointwise::mul, DType::i64, std::array{Number(least), Number(3)}), Number(least));
  EXPECT_EQ(apply_wide(Pointwise::lt, DType::f32, std::array{Number(1.0), Number(2.0)}), Number(1));
}

// Zeros with their signs, infinities and NaN: a form of mode `fused` may differ in digits alone.
TEST(FusedForms, AreSpecialWhereTheirFunctionsAre) {
  const std::array special = {0.0,
                              -0.0,
                              1.0,
                              -1.0,
                              2.0,
                              -2.0,
                              3.0,
                              -3.0,
                              0.5,
                              -0.5,
                              inf,
                              -inf,
                              nan,
                              0x1p-149,
                              -0x1p-149,
                              0x1p-130,
                              0x1.fffffep+127,
                              -0x1.fffffep+127,
                              0x1p100,
                              -0x1p100,
                              90.0,
                              -90.0,
                              105.0,
                              -105.0};
  int forms = 0;
  for (const Pointwise op : all_pointwise()) {
    const Pointwise form = fused_form(op, DType::f32);
    EXPECT_EQ(fused_form(op, DType::f64), op);
    if (form == op) continue;
    ++forms;
    for (const double x : special) {
      for (const double y : special) {
        Point point{op, DType::f32, {Number(x), Number(y)}, Number(0.0)};
        point.inputs.resize(static_cast<std::size_t>(arity(op)), Number(0.0));
        Point shorter = point;
        shorter.op = form;
        const double want = applied(point, apply_spelled).real(),
                     got = applied(shorter, apply_spelled).real();
        const auto same_kind = std::isnan(want) == std::isnan(got) && std::isinf(want) == std::isinf(got) &&
                               (want == 0) == (got == 0) &&
                               (std::isnan(want) || std::signbit(want) == std::signbit(got));
        EXPECT_TRUE(same_kind) << name(form) << "(" << x << ", " << y << ") is " << got
                               << ", of its function " << want;
      }
    }
  }
  EXPECT_GT(forms, 10);
}

// The inputs at which each was found to err most among all 2^32, or did before it was mended.
TEST(FusedForms, StayWithinTheirBoundsAtTheirHardestInputs) {
  struct Hard {
    Pointwise op;
    double x;
  };
  constexpr std::array inputs = {
      Hard{Pointwise::asin_short, 0x1.ad44e8p-1},      Hard{Pointwise::asin_short, 0x1.223c7ep-1},
      Hard{Pointwise::sin_short, 0x1.b75adcp+5},       Hard{Pointwise::cos_short, 0x1.d15a24p+6},
      Hard{Pointwise::sigmoid_short, -0x1.69c008p-12}, Hard{Pointwise::silu_short, -0x1.0007fcp-11},
      Hard{Pointwise::gelu_tanh_short, -0x1.6952p+2},  Hard{Pointwise::gelu_tanh_short, -0x1.1f70e4p-3},
      Hard{Pointwise::softplus_short, 0x1.6781cp-7}};
  for (const auto [op, x] : inputs) {
    const Number input(x);
    const double want = apply_wide(op, DType::f32, {&input, 1}).real();
    const double got = applied({op, DType::f32, {input}, Number(0.0)}, apply_spelled).real();
    const double place = std::ldexp(1.0, std::ilogb(want) - 23);
    EXPECT_LE(std::fabs(got - want), ulp_bound(op, DType::f32) * place) << name(op) << "(" << x << ")";
  }
}

TEST(Table, RowsNameTheirTypes) {
  const std::array real = {DType::f16, DType::f16};
  EXPECT_EQ(result_type(Pointwise::add, real), DType::f16);
  EXPECT_EQ(result_type(Pointwise::lt, real), DType::b8);
  EXPECT_EQ(result_type(Pointwise::shift_left, real), std::nullopt);
  EXPECT_EQ(result_type(Pointwise::add, std::array{DType::f32, DType::f64}), std::nullopt);
  EXPECT_EQ(result_type(Pointwise::where, std::array{DType::b8, DType::i8, DType::i8}), DType::i8);
  EXPECT_EQ(result_type(Pointwise::where, std::array{DType::i8, DType::i8, DType::i8}), std::nullopt);
  EXPECT_EQ(spelling(Pointwise::pow), "pow($0, $1)");
  EXPECT_EQ(pointwise_named("gelu_erf"), Pointwise::gelu_erf);
  EXPECT_EQ(pointwise_named("frobnicate"), std::nullopt);
}

TEST(DeviceText, HoldsTheWholeHeader) {
  bool has_kernel = false;
  for (const DeviceHeader& header : device_headers()) {
    EXPECT_TRUE(header.path.starts_with("device/") && header.path.ends_with(".h")) << header.path;
    EXPECT_NE(header.text.find("#pragma once"), std::string_view::npos) << header.path;
    EXPECT_EQ(header.text.find("#include <"), std::string_view::npos) << header.path;
    has_kernel = has_kernel || header.path == "device/kernel.h";
  }
  EXPECT_TRUE(has_kernel);
}

}  // namespace
}  // namespace twinloom::ops
