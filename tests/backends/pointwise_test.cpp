// Pointwise programs on the CPU against the interpreter, bit for bit: element types, tails, strides, masks.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "core/base/text.h"
#include "core/ops/dtype.h"
#include "core/ops/pointwise.h"
#include "tests/backends/compare.h"

namespace twinloom::tests {

namespace {

using ops::DType;

constexpr DType types[] = {DType::b8,  DType::i8,  DType::i16, DType::i32,  DType::i64, DType::u8, DType::u16,
                           DType::u32, DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64};

std::string zero_of(DType dtype) {
  return cat(ops::is_floating(dtype) ? "0x0p+0" : "0", ": ", ops::name(dtype));
}

// `text` with every "$name" replaced.
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [name, word] : words) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + word.size()))
      text.replace(at, name.size(), word);
  }
  return text;
}

TEST(Pointwise, AVectorLoopWithAMaskedTail) {
  const char* text = R"(program add(x: f32[n], y: f32[n], z: written f32[n]; n in 0..) {
    for i < floor_div(n + 31, 32) block {
      for j < 4 unroll {
        for l < 8 vector {
          z[32*i + 8*j + l] = add((x[32*i + 8*j + l] if 32*i + 8*j + l < n else 0x0p+0: f32),
                                  (y[32*i + 8*j + l] if 32*i + 8*j + l < n else 0x0p+0: f32))
              if 32*i + 8*j + l < n
        }
      }
    }
  })";
  for (const std::int64_t n : {0, 1, 7, 8, 9, 31, 32, 33, 100}) expect_same(text, {.sizes = {n}});
  for (const int threads : {1, 2, 3}) expect_same(text, {.sizes = {1000}, .threads = threads});
}

// Of every size, and where the quotient or what is left of it is no normal number.
TEST(Pointwise, ARegisterIsDividedByOneNumber) {
  const char* text = R"(program rows(x: f32[m*512], s: f32[m], y: written f32[m*512]; m in 0..) {
    for i < m block { for k < 32 { for l < 16 vector {
      y[512*i + 16*k + l] = div(x[512*i + 16*k + l], s[i]) } } } })";
  std::mt19937_64 random(3);
  const auto any = [&] {
    const auto bits = static_cast<std::uint32_t>(random());
    return static_cast<double>(std::bit_cast<float>(bits));
  };
  const auto near_one = [&] {
    const auto bits = static_cast<std::uint32_t>(random());
    return static_cast<double>(std::bit_cast<float>((bits & 0x807fffff) | 0x3f800000));
  };
  std::vector<ops::Number> divisors, dividends;
  for (const double special : {0.0, -0.0, 1.0, -3.0, 0x1p-24, 0x1p24, 0x1.000002p24, 0x1.fffffep-25, 0x1p-149,
                               0x1.fffffep127, 0x1.fffffep0, HUGE_VAL, double(NAN)})
    divisors.emplace_back(special);
  while (divisors.size() < 400) divisors.emplace_back(divisors.size() % 2 == 0 ? any() : near_one());
  while (dividends.size() < divisors.size() * 512) {
    const std::size_t row = dividends.size() / 512, at = dividends.size() % 512;
    if (row % 4 == 0 && at % 32 < 2) dividends.emplace_back(at % 2 == 0 ? 0.0 : -0.0);
    dividends.emplace_back(row % 3 == 0 ? any() : near_one());
  }
  dividends.resize(divisors.size() * 512, ops::Number(1.0));
  const auto rows = static_cast<std::int64_t>(divisors.size());
  expect_same(text, {.sizes = {rows}, .contents = {{"x", dividends}, {"s", divisors}}});
}

// Whole registers of bf16 are packed from two of f32; half of one and parts of it are not. Numbers on either
// side of each step, halfway, subnormal, too large, and none.
TEST(Pointwise, NumbersAreRoundedToBf16InVectorsOfEveryLength) {
  std::mt19937_64 random(5);
  std::vector<ops::Number> numbers;
  while (numbers.size() < 6400) {
    constexpr std::uint32_t ends[] = {0x0000, 0x7fff, 0x8000, 0x8001, 0xffff};
    const auto bits = static_cast<std::uint32_t>(random());
    const std::uint32_t upper = numbers.size() % 3 == 0 ? bits & 0x80ff0000 : bits & 0xffff0000;
    const std::uint32_t word = upper | (numbers.size() % 2 == 0 ? ends[bits % 5] : bits & 0xffff);
    numbers.emplace_back(static_cast<double>(std::bit_cast<float>(word)));
  }
  for (const int lanes : {1, 4, 8, 16, 32, 64, 128}) {
    SCOPED_TRACE(cat(lanes, " lanes"));
    const std::string text =
        filled(R"(program round(x: f32[6400], y: written bf16[6400], z: written f32[6400]) {
      for i < 6400/$N { for l < $N $bind {
        t0 = x[$N*i + l]  y[$N*i + l] = bf16(t0)  z[$N*i + l] = abs(f32(bf16(t0))) } } })",
               {{"6400/$N", cat(6400 / lanes)}, {"$N", cat(lanes)}, {"$bind", lanes == 1 ? "" : "vector"}});
    expect_same(text, {.contents = {{"x", numbers}}});
  }
}

TEST(Pointwise, EveryElementTypeIsMaskedAndComputed) {
  for (const DType dtype : types) {
    const DType wide = ops::compute_type(dtype);
    const std::string element = cat(ops::name(wide), "((x[$at] if $at < n else ", zero_of(dtype), "))");
    const std::string value = dtype == DType::b8
                                  ? cat("logical_not(", element, ")")
                                  : cat(ops::name(dtype), "(mul(", element, ", ", element, "))");
    const std::string text =
        filled(R"(program square(x: $T[n], y: written $T[n]; n in 0..) {
      for i < floor_div(n + 15, 16) block { for l < 16 vector { y[$at] = $value if $at < n } } })",
               {{"$value", value}, {"$at", "16*i + l"}, {"$T", std::string(ops::name(dtype))}});
    SCOPED_TRACE(ops::name(dtype));
    for (const std::int64_t n : {1, 15, 16, 17, 45}) expect_same(text, {.sizes = {n}});
  }
}

TEST(Pointwise, EveryTypeIsConvertedToEveryOther) {
  for (const DType from : types) {
    std::string buffers, stores;
    for (const DType to : types) {
      if (to == from) continue;
      buffers += cat(", y_", ops::name(to), ": written ", ops::name(to), "[64]");
      stores += cat("y_", ops::name(to), "[8*i + l] = ", ops::name(to), "(x[8*i + l])\n");
    }
    SCOPED_TRACE(ops::name(from));
    expect_same(cat("program all_types(x: ", ops::name(from), "[64]", buffers,
                    ") { for i < 8 { for l < 8 vector {", stores, "} } }"),
                {});
    expect_same(cat("program single(x: ", ops::name(from), "[64]", buffers, ") { for i < 8 { for l < 8 {",
                    stores, "} } }"),
                {.seed = 7});
  }
}

// Stores of one vector at a time whose loads run along the axis in every way there is.
TEST(Pointwise, EveryWayAnOffsetRunsAlongTheAxis) {
  const char* loads[] = {
      "x[i]",                      // uniform
      "x[8*i + l]",                // neighbours
      "x[n - 1 - 8*i - l]",        // backwards
      "x[2*i + 3*l]",              // a constant stride
      "x[n*l + i]",                // a stride of the run: transposed
      "x[floor_div(8*i + l, 3)]",  // not linear
      "x[floor_mod(5*i + 7*l, n) + 2*floor_div(l, 2)]",
      "x[least(i, l) + greatest(i, 3)]",
      "x[i*l]",  // a stride that the loop changes
  };
  for (const char* load : loads) {
    SCOPED_TRACE(load);
    for (const char* dtype : {"f32", "i64", "u8"}) {
      const std::string text = filled(R"(program p(x: $T[8*n + 64], y: written $T[n]; n in 1..) {
          for i < floor_div(n, 8) block { for l < 8 vector { y[8*i + l] = $load } } })",
                                      {{"$T", dtype}, {"$load", load}});
      expect_same(text, {.sizes = {40}});
    }
  }
}

TEST(Pointwise, SquaresAreTurnedOver) {
  for (const DType dtype : types) {
    for (const int count : {2, 4, 8, 16, 32, 64}) {
      if (count > 32 && ops::size_of(dtype) > 1) continue;
      SCOPED_TRACE(cat(ops::name(dtype), " ", count));
      const std::string text = filled(R"(program p(x: $T[$N*$N*m], y: written $T[$N*$N*m]; m in 1..) {
          for i < m block { for r < $N unroll { for l < $N vector {
            y[$N*i + m*$N*r + l] = x[m*$N*l + $N*i + r] } } } })",
                                      {{"$T", std::string(ops::name(dtype))}, {"$N", cat(count)}});
      expect_same(text, {.sizes = {3}});
    }
  }
}

// Up to the last element of the buffer, which ends where memory does.
TEST(Pointwise, EveryFewElementsAreLoadedInEveryType) {
  for (const DType dtype : types) {
    for (const int lanes : {4, 16, 64}) {
      for (const int stride : {2, 3, 4}) {
        SCOPED_TRACE(cat(ops::name(dtype), " ", lanes, " lanes, every ", stride));
        const std::string text = filled(R"(program every(x: $T[$R*n + 2], y: written $T[$N*n]; n in 0..) {
          for i < n { for l < $N vector { y[$N*i + l] = x[$R*i + $S*l + 2] } } })",
                                        {{"$T", std::string(ops::name(dtype))},
                                         {"$N", cat(lanes)},
                                         {"$S", cat(stride)},
                                         {"$R", cat((lanes - 1) * stride + 1)}});
        expect_same(text, {.sizes = {3}});
      }
    }
  }
}

// No element behind the last lane that the mask holds, none where it holds none, and all where it holds more.
TEST(Pointwise, EveryFewElementsAreLoadedUnderAMask) {
  for (const DType dtype : {DType::u8, DType::bf16, DType::f32, DType::i64}) {
    for (const int lanes : {4, 64}) {
      for (const int stride : {2, 3, 4}) {
        for (const char* mask : {"l < n", "n + l < 4 && 0 < n", "n < 5", "n < 4"}) {
          SCOPED_TRACE(cat(ops::name(dtype), " ", lanes, " lanes, every ", stride, " if ", mask));
          const bool whole = std::string_view(mask) == "n < 5";
          const std::string text =
              filled(R"(program every(x: $T[$R*n + $E], y: written $T[$N*n]; n in 1..) {
          for i < n { for l < $N vector { y[$N*i + l] = (x[$I*i + $S*l + 1] if $mask else $other) } } })",
                     {{"$T", std::string(ops::name(dtype))},
                      {"$other", cat(ops::is_floating(dtype) ? "-0x1.8p+0: " : "1: ", ops::name(dtype))},
                      {"$N", cat(lanes)},
                      {"$S", cat(stride)},
                      {"$mask", mask},
                      {"$I", whole ? cat((lanes - 1) * stride + 1) : "1"},
                      {"$R", cat(whole ? (lanes - 1) * stride + 1 : stride + 1)},
                      {"$E", cat(whole ? 1 : 1 - stride)}});
          expect_same(text, {.sizes = {4}});
        }
      }
    }
  }
}

// Neighbours of several parts, one part after the other or a lane of each in turn, and places that are
// neither.
TEST(Pointwise, PartsOfNeighboursAreLoadedInEverySize) {
  const char* places[] = {"floor_div(l, $P) + 70*floor_mod(l, $P)", "floor_mod(l, $P) + 70*floor_div(l, $P)",
                          "70 - floor_div(l, $P) + 3*floor_mod(l, $P)", "floor_mod(l, $P) + floor_mod(l, 2)"};
  for (const DType dtype : {DType::u8, DType::bf16, DType::f32, DType::i64}) {
    for (const int lanes : {8, 32}) {
      for (const int parts : {2, 4}) {
        for (const char* place : places) {
          SCOPED_TRACE(cat(ops::name(dtype), " ", lanes, " lanes, ", parts, ", ", place));
          // The last place of any of them is the last element.
          const int most = std::string_view(place).starts_with("floor_mod(l, $P) + 70")
                               ? (lanes - 1) / parts * 70 + parts - 1
                               : (lanes - 1) / parts + 70 * (parts - 1) + 70;
          const std::string text =
              filled(filled("program parts(x: $T[$M*n], y: written $T[$N*n]; n in 0..) {\n"
                            "for i < n { for l < $N vector { y[$N*i + l] = x[$M*i + $W] } } }",
                            {{"$T", std::string(ops::name(dtype))},
                             {"$N", cat(lanes)},
                             {"$M", cat(most + 1)},
                             {"$W", place}}),
                     {{"$P", cat(parts)}});
          expect_same(text, {.sizes = {3}});
        }
      }
    }
  }
}

TEST(Pointwise, NeighboursUnderAMaskOfAnyLanesInEveryType) {
  for (const DType dtype : types) {
    for (const int lanes : {4, 16, 64}) {
      for (const char* mask : {"3 < i + l", "2 < 8*i + 3*l && l < 9", "floor_mod(l + i, 3) < 1", "7 < i"}) {
        SCOPED_TRACE(cat(ops::name(dtype), " ", lanes, " lanes if ", mask));
        const std::string text =
            filled(R"(program where(x: $T[n + $N - 1], y: written $T[$N*n]; n in 1..) {
          for i < n { for l < $N vector { y[$N*i + l] = (x[i + l] if $mask else $other) if $mask } } })",
                   {{"$T", std::string(ops::name(dtype))},
                    {"$N", cat(lanes)},
                    {"$other", cat(ops::is_floating(dtype) ? "-0x1.8p+0: " : "1: ", ops::name(dtype))},
                    {"$mask", mask}});
        expect_same(text, {.sizes = {7}});
      }
    }
  }
}

TEST(Pointwise, EveryWayUnderAMaskInTheMiddle) {
  const char* loads[] = {"x[i]",         "x[8*i + l]", "x[8*n - 1 - 8*i - l]",
                         "x[2*i + 3*l]", "x[n*l + i]", "x[floor_div(8*i + l, 3)]"};
  const char* masks[] = {"8*i + l < n",   "2 < 8*i + l",         "8*i + l < n && 3 < i",
                         "8*i + 2*l < n", "floor_mod(l, 2) < i", "3 < i && 2 < l && l < 6",
                         "i < 3"};
  for (const char* load : loads) {
    for (const char* mask : masks) {
      SCOPED_TRACE(cat(load, " if ", mask));
      const std::string text =
          filled(R"(program p(x: $T[8*n + 64], y: written $T[8*n + 64]; n in 1..) {
          for i < floor_div(n + 7, 8) block { for l < 8 vector {
              y[8*i + l] = ($load if $mask else $other)
              y[n + 63 + 7*n - 8*i - l] = ($load if $mask else $other) if $mask } } })",
                 {{"$T", "f32"}, {"$other", "-0x1.8p+0: f32"}, {"$load", load}, {"$mask", mask}});
      expect_same(text, {.sizes = {37}});
    }
  }
}

TEST(Pointwise, StoresRunAlongTheAxisInEveryWay) {
  const char* offsets[] = {"8*i + l", "n - 1 - 8*i - l", "24*i + 3*l", "n*l + i", "9*floor_div(8*i + l, 1)"};
  for (const char* offset : offsets) {
    for (const char* mask : {"", "if 8*i + l < 19", "if 3 < l", "if 1 < i"}) {
      SCOPED_TRACE(cat(offset, " ", mask));
      for (const char* dtype : {"f64", "b8", "i16"}) {
        expect_same(filled(R"(program p(x: $T[n], y: written $T[12*n]; n in 1..) {
            for i < floor_div(n, 8) { for l < 8 vector { y[$offset] = x[8*i + l] $mask } } })",
                           {{"$T", dtype}, {"$offset", offset}, {"$mask", mask}}),
                    {.sizes = {40}});
      }
    }
  }
}

TEST(Pointwise, SerialLoopsInAVectorLoopAreInLockStep) {
  expect_same(R"(program p(x: f32[n*n], y: written f32[n*n]; n in 1..) {
      for i < n block { for l < 8 vector { for k < floor_div(n, 8) {
          y[n*i + 8*k + l] = sub(x[n*i + 8*k + l], f32(count(k + l))) } } } })",
              {.sizes = {24}, .threads = 3});
}

TEST(Pointwise, AStoreIsSeenByTheLoadsAfterIt) {
  expect_same(R"(program p(x: written f32[64]) {
      for i < 7 { for l < 8 vector {
          x[8*i + l] = add(x[8*i + l], x[8*i + l + 8])
          x[8*i + l] = add(x[8*i + l], x[8*i + l + 8]) } } })",
              {});
  expect_same(R"(program p(x: written f32[64]) {
      for i < 60 { for k < 3 { x[i] = add(x[i], x[i + 1]) } } })",
              {});
}

TEST(Pointwise, LiteralsAreExact) {
  expect_same(R"(program p(a: written i64[3], b: written f32[6], c: written f64[3], d: written u64[1],
                           e: written bf16[2], g: written f16[2], h: written i8[1]) {
      a[0] = -9223372036854775808: i64  a[1] = 9223372036854775807: i64  a[2] = -1: i64
      b[0] = nan: f32  b[1] = inf: f32  b[2] = -inf: f32  b[3] = -0x0p+0: f32  b[4] = 0x1p-149: f32
      b[5] = 0x1.fffffep+127: f32
      c[0] = 0x1.5555555555555p-2: f64  c[1] = -0x0p+0: f64  c[2] = 0x0.0000000000001p-1022: f64
      d[0] = -1: u64
      e[0] = 0x1.8p+0: bf16  e[1] = -inf: bf16  g[0] = 0x1p-24: f16  g[1] = nan: f16  h[0] = -128: i8 })",
              {});
}

// Every row of one argument, in vectors of any width: where a Clang folds what it should not, it is for one
// width only.
TEST(Pointwise, EveryFunctionInVectorsOfEveryWidth) {
  for (const char* dtype : {"f32", "f64"}) {
    for (const int lanes : {2, 4, 16}) {
      std::string stores;
      int row = 0;
      for (const ops::Pointwise op : ops::all_pointwise()) {
        if (ops::arity(op) != 1 || ops::takes(op) != ops::Takes::real || ops::gives(op) != ops::Gives::same)
          continue;
        stores += cat("y[", 32 * row++, " + i + l] = ", ops::name(op), "(x[i + l])\n");
      }
      const std::string text = filled(
          R"(program functions(x: $T[32], y: written $T[$n]) {
            for k < $turns { for l < $lanes vector { $stores } } })",
          {{"$stores", stores},
           {"i + l", cat(lanes, "*k + l")},
           {"$T", dtype},
           {"$n", cat(32 * row)},
           {"$turns", cat(32 / lanes)},
           {"$lanes", cat(lanes)}});
      SCOPED_TRACE(cat(dtype, " in ", lanes, " lanes"));
      expect_same(text, {});
    }
  }
}

TEST(Pointwise, ASignIsCopiedInOneLaneOfAChoice) {
  for (const char* choice :
       {"where(lt(t0, t1), t0, copysign(t1, t0))", "where(lt(t0, t1), t1, copysign(t1, t0))",
        "where(lt(t0, t1), copysign(t1, t0), t0)"}) {
    for (const char* dtype : {"f32", "f64"}) {
      expect_same(filled(R"(program p(x: $T[64], y: $T[64], z: written $T[64]) {
          for k < 8 { for l < 8 vector { t0 = x[8*k + l]  t1 = y[8*k + l]  z[8*k + l] = $choice } } })",
                         {{"$choice", choice}, {"$T", dtype}}),
                  {});
    }
  }
}

// Products with quotients by a constant, turned over: see widen_byte_divisions() of jit.
TEST(Pointwise, ProductsOfTurnedQuotients) {
  for (const char* dtype : {"u8", "i8", "i16"}) {
    for (const char* op : {"div_trunc", "fmod", "div_floor"}) {
      for (const char* count : {"4", "8", "16"}) {
        SCOPED_TRACE(cat(dtype, " ", op, " ", count));
        expect_same(filled(R"(program p(x: $T[16*n], z: $T[16*n], y: written $T[16*n]; n in 1..) {
            for i < n { for l < $N vector {
              y[$N*i + l] = mul(z[$N*i + l], $op(x[$N*i + $N - 1 - l], 3:$T)) } } })",
                           {{"$T", dtype}, {"$op", op}, {"$N", count}}),
                    {.sizes = {5}});
      }
    }
  }
}

// x & C | y & ~C, and a choice between that and x or y: see hide_bit_choices() of jit.
TEST(Pointwise, BitsOfTwoAreMixedInOneLaneOfAChoice) {
  const std::string mixed = "bitwise_or(bitwise_and(t0, 252645135: $T), bitwise_and(t1, -252645136: $T))";
  for (const char* choice : {"where(lt(t0, t1), t0, $mixed)", "where(lt(t0, t1), t1, $mixed)",
                             "where(lt(t0, t1), $mixed, t0)", "where(lt(t0, t1), $mixed, t1)"}) {
    for (const char* dtype : {"i32", "i64"}) {
      expect_same(filled(R"(program p(x: $T[64], y: $T[64], z: written $T[64]) {
          for k < 8 { for l < 8 vector { t0 = x[8*k + l]  t1 = y[8*k + l]  z[8*k + l] = $choice } } })",
                         {{"$choice", choice}, {"$mixed", mixed}, {"$T", dtype}}),
                  {});
    }
  }
}

TEST(Pointwise, ElementaryFunctionsAgreeWithTheInterpreter) {
  expect_same(R"(program p(x: f32[n], y: written f32[n], z: written f32[n]; n in 1..) {
      for i < floor_div(n, 8) block { for l < 8 vector {
          t0 = x[8*i + l]
          y[8*i + l] = tanh(exp(t0))
          z[8*i + l] = where(lt(t0, 0x0p+0: f32), erf(t0), sqrt(t0)) } } })",
              {.sizes = {256}, .threads = 2});
}

}  // namespace

}  // namespace twinloom::tests
