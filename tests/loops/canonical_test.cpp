// The canonical order three times over: a nest's Accumulate or Scan, a program that spells it with
// Merge, Combine, Push, Fold and Prefix, and a direct recursion in this file. All bits agree.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "core/loops/canonical.h"
#include "tests/loops/run.h"
#include "tests/support/thrown.h"

namespace twinloom::loops {
namespace {

using tests::Elements;
using tests::run;

constexpr std::int64_t lengths[] = {0, 1, 3, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 1026, 2048, 4097};

Elements drawn(std::int64_t count) {
  Elements x(ops::DType::f32, count);
  std::mt19937_64 random(static_cast<std::uint64_t>(count) + 1);
  tests::random_memory(x, random);
  return x;
}

float at(const Elements& x, std::int64_t i) { return static_cast<float>(x.get(i).real()); }

// The balanced tree over `count` leaves, from leaf `first` on.
float tree(const std::function<float(std::int64_t)>& leaf, std::int64_t first, std::int64_t count) {
  if (count == 1) return leaf(first);
  std::int64_t left = 1;
  while (2 * left < count) left *= 2;
  return tree(leaf, first, left) + tree(leaf, first + left, count - left);
}

float lane(const Elements& x, std::int64_t first, std::int64_t end, std::int64_t step) {
  float sum = at(x, first);
  for (std::int64_t e = first + step; e < end; e += step) sum += at(x, e);
  return sum;
}

// Lanes r, r + stride, ... of a unit: halves pair those that are an even and an odd number of strides
// away from r.
float halves(const Elements& x, std::int64_t unit, std::int64_t end, std::int64_t r, std::int64_t stride) {
  if (stride == LANES) return lane(x, unit + r, end, LANES);
  const float even = halves(x, unit, end, r, 2 * stride);
  return unit + r + stride < end ? even + halves(x, unit, end, r + stride, 2 * stride) : even;
}

float expected_sum(const Elements& x) {
  const std::int64_t n = x.count();
  if (n == 0) return 0.0F;
  const auto unit = [&](std::int64_t u) { return halves(x, UNIT * u, std::min(n, UNIT * (u + 1)), 0, 1); };
  return tree(unit, 0, (n + UNIT - 1) / UNIT);
}

constexpr std::string_view sum_nest = R"(program sum(x: f32[n], y: written f32[1]; n in 0..) {
  start t0: sum f32
  for k < n {
    t0 += x[k] at k
  }
  y[0] = t0
})";

constexpr std::string_view sum_program = R"(program sum(x: f32[n], y: written f32[1]; n in 0..) {
  start t0: sum f32 depth 16
  for u < ceil_div(n, 1024) {
    start t1: sum f32 copies (g, l)
    for q < 4 {
      for g < 16 unroll {
        for l < 16 vector {
          merge t1 ((x[1024*u + 256*q + 16*g + l] if 1024*u + 256*q + 16*g + l < n else 5:f32))
            if 1024*u + 256*q + 16*g + l < n
        }
      }
    }
    combine t1 across g halves
    combine t1 across l halves
    push t1 onto t0 at u
  }
  fold t2 = t0 of ceil_div(n, 1024)
  y[0] = t2
})";

TEST(Canonical, SumsAgree) {
  for (const std::int64_t n : lengths) {
    SCOPED_TRACE(n);
    Elements x = drawn(n), nest(ops::DType::f32, 1), program(ops::DType::f32, 1);
    const Elements expected(ops::DType::f32, {double{expected_sum(x)}});
    run(sum_nest, Stage::nest, {&x, &nest}, {n});
    run(sum_program, Stage::program, {&x, &program}, {n});
    tests::expect_same(nest, expected);
    tests::expect_same(program, expected);
  }
}

TEST(Canonical, ASumDoesNotHangOnTheOrderOfTheLoops) {
  Elements x = drawn(40 * 70), rows(ops::DType::f32, 1), columns(ops::DType::f32, 1);
  constexpr std::string_view text = R"(program sum(x: f32[2800], y: written f32[1]) {
    start t0: sum f32
    for a < 40 { for b < 70 { t0 += x[70*a + b] at 70*a + b } }
    y[0] = t0
  })";
  constexpr std::string_view swapped = R"(program sum(x: f32[2800], y: written f32[1]) {
    start t0: sum f32
    for b < 70 { for a < 40 { t0 += x[70*a + b] at 70*a + b } }
    y[0] = t0
  })";
  run(text, Stage::nest, {&x, &rows});
  run(swapped, Stage::nest, {&x, &columns});
  tests::expect_same(rows, columns);
}

TEST(Canonical, PlacesAreWithoutGapsAndRepetition) {
  Elements x = drawn(4), y(ops::DType::f32, 1);
  const auto bug = [&](std::string_view place) {
    const std::string text =
        cat("program p(x: f32[4], y: written f32[1]) { start t0: sum f32 for k < 4 { t0 += x[k] at ", place,
            " } y[0] = t0 }");
    return tests::words_of<Bug>([&] { run(text, Stage::nest, {&x, &y}); });
  };
  EXPECT_NE(bug("2*k").find("4 elements are accumulated at places up to 6"), std::string::npos);
  EXPECT_NE(bug("k - floor_div(k, 2) + floor_div(k, 3)").find("two elements are accumulated at the place 1"),
            std::string::npos);
}

TEST(Canonical, PushAndFoldMakeTheTree) {
  constexpr std::string_view text = R"(program tree(x: f32[n], y: written f32[1]; n in 0..) {
    start t0: sum f32 depth 7
    for u < n {
      t1 = x[u]
      push t1 onto t0 at u
    }
    fold t2 = t0 of n
    y[0] = t2
  })";
  for (std::int64_t n = 0; n <= 70; ++n) {
    SCOPED_TRACE(n);
    Elements x = drawn(n), y(ops::DType::f32, 1);
    const float expected = n == 0 ? 0.0F : tree([&](std::int64_t i) { return at(x, i); }, 0, n);
    run(text, Stage::program, {&x, &y}, {n});
    tests::expect_same(y, Elements(ops::DType::f32, {double{expected}}));
  }
}

TEST(Canonical, APushWithAWrongNumberIsFound) {
  Elements x = drawn(4), y(ops::DType::f32, 1);
  constexpr std::string_view text = R"(program tree(x: f32[4], y: written f32[1]) {
    start t0: sum f32 depth 7
    t1 = x[0]
    push t1 onto t0 at 1
  })";
  EXPECT_NE(tests::words_of<Bug>([&] {
              run(text, Stage::program, {&x, &y});
            }).find("push 1 finds nothing at depth 0"),
            std::string::npos);
}

std::vector<float> expected_scan(const Elements& x) {
  std::vector<float> results;
  float carry = 0;
  for (std::int64_t chunk = 0; chunk < x.count(); chunk += SCAN_CHUNK) {
    float offset = 0, last = 0;
    const std::int64_t end = std::min(x.count(), chunk + SCAN_CHUNK);
    for (std::int64_t row = chunk; row < end; row += SCAN_ROW) {
      float running = 0;
      for (std::int64_t e = row; e < std::min(end, row + SCAN_ROW); ++e) {
        running = e == row ? at(x, e) : running + at(x, e);
        last = row == chunk ? running : offset + running;
        results.push_back(chunk == 0 ? last : carry + last);
      }
      offset = row == chunk ? running : offset + running;
    }
    carry = chunk == 0 ? last : carry + last;
  }
  return results;
}

constexpr std::string_view scan_program = R"(program scan(x: f32[n], y: written f32[n]; n in 0..) {
  start t0: sum f32
  for c < ceil_div(n, 1024) {
    start t1: sum f32 copies (r)
    for r < 32 {
      for j < 32 {
        merge t1 ((x[1024*c + 32*r + j] if 1024*c + 32*r + j < n else 5:f32)) if 1024*c + 32*r + j < n
      }
    }
    prefix t2, t3 = t1 across r
    for r < 32 {
      start t4: sum f32
      for j < 32 {
        merge t4 ((x[1024*c + 32*r + j] if 1024*c + 32*r + j < n else 5:f32)) if 1024*c + 32*r + j < n
        y[1024*c + 32*r + j] = add(t0, add(t2, t4)) if 1024*c + 32*r + j < n
      }
    }
    merge t0 (t3)
  }
})";

std::string scan_nest(std::string_view ending) {
  return cat(
      "program scan(x: f32[n], y: written f32[n]; n in 0..) { start t0: sum f32 for k < n { "
      "scan t1 = t0 (x[k]) at k ",
      ending, " y[k] = t1 } }");
}

TEST(Canonical, ScansAgree) {
  for (const std::int64_t n : lengths) {
    SCOPED_TRACE(n);
    Elements x = drawn(n), nest(ops::DType::f32, n), program(ops::DType::f32, n),
             expected(ops::DType::f32, n);
    const std::vector<float> results = expected_scan(x);
    expected.fill([&](std::int64_t i) { return double{results[static_cast<std::size_t>(i)]}; });
    run(scan_nest(""), Stage::nest, {&x, &nest}, {n});
    run(scan_program, Stage::program, {&x, &program}, {n});
    tests::expect_same(nest, expected);
    tests::expect_same(program, expected);
  }
}

TEST(Canonical, AnExclusiveScanIsTheInclusiveOneMovedByOne) {
  const std::int64_t n = 2100;
  Elements x = drawn(n), inclusive(ops::DType::f32, n), exclusive(ops::DType::f32, n);
  run(scan_nest(""), Stage::nest, {&x, &inclusive}, {n});
  run(scan_nest("exclusive"), Stage::nest, {&x, &exclusive}, {n});
  EXPECT_EQ(exclusive.get(0), ops::Number(0.0));
  for (std::int64_t i = 1; i < n; ++i) ASSERT_EQ(exclusive.get(i), inclusive.get(i - 1)) << i;
}

TEST(Canonical, NegativeZeroSurvivesAndNothingIsPositiveZero) {
  for (const std::int64_t n : {1, 3, 1025}) {
    SCOPED_TRACE(n);
    Elements x(ops::DType::f32, n), nest(ops::DType::f32, 1), program(ops::DType::f32, 1);
    x.fill([](std::int64_t) { return -0.0; });
    run(sum_nest, Stage::nest, {&x, &nest}, {n});
    run(sum_program, Stage::program, {&x, &program}, {n});
    EXPECT_EQ(nest.get(0), ops::Number(-0.0));
    EXPECT_EQ(program.get(0), ops::Number(-0.0));
  }
  Elements x(ops::DType::f32, 0), y(ops::DType::f32, 1);
  run(sum_program, Stage::program, {&x, &y}, {0});
  EXPECT_EQ(y.get(0), ops::Number(0.0));
}

}  // namespace
}  // namespace twinloom::loops
