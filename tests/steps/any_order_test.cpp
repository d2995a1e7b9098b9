// Accumulators in any order whose loops have several parts.
#include <gtest/gtest.h>

#include "tests/steps/lists.h"
#include "tests/steps/run.h"

namespace twinloom::tests {

namespace {

constexpr std::string_view ROW_MAXIMA = R"(
program maxima(x: f32[m*n], y: written f32[m]; m in 0.., n in 0..) {
  for i < m {
    start t0: max f32
    for k < n {
      t0 += x[n*i + k] at k
    }
    y[i] = t0
  }
})";

TEST(AnyOrder, VectorsOfARemainderAreMergedLaneByLane) {
  const auto program = program_of(
      loops::parse(ROW_MAXIMA),
      steps_of({"split k 64, 16 remainder", "bind k.1 unroll", "bind k.2 vector", "bind k.2_1 vector"}));
  EXPECT_EQ(loops::print(program.value()),
            R"(program maxima(x: f32[m*n], y: written f32[m]; m in 0.., n in 0..) {
  for i < m {
    start t0: max f32 copies (k.1, k.2)
    start t1: max f32 copies (k.2)
    for k.0 < floor_div(n, 64) {
      for k.1 < 4 unroll {
        for k.2 < 16 vector {
          merge t0 (x[i*n + 64*k.0 + 16*k.1 + k.2])
        }
      }
    }
    for k.0t < -floor_div(-n, 64) - floor_div(n, 64) {
      for k.1_1 < 4 {
        for k.2 < 16 vector {
          merge t1 ((x[i*n + 16*k.1_1 + k.2 + 64*floor_div(n, 64)] if 16*k.1_1 + k.2 + 64*floor_div(n, 64) < n else 0x0p+0:f32)) if 16*k.1_1 + k.2 + 64*floor_div(n, 64) < n
        }
      }
    }
    combine t0 across k.1 halves
    for k.2 < 16 vector {
      merge t0 (t1)
    }
    combine t0 across k.2 halves
    y[i] = t0
  }
}
)");
}

TEST(AnyOrder, PartsOfAnySizeHaveTheMaximaOfTheNest) {
  const std::vector<std::vector<std::string_view>> lists = {
      {"split k 64, 16 remainder", "bind k.1 unroll", "bind k.2 vector", "bind k.2_1 vector"},
      {"split k 64, 16 remainder", "bind k.1 unroll", "bind k.2 vector", "bind k.1_1 unroll",
       "bind k.2_1 vector"},
      {"split k 64, 16 remainder", "bind k.1 unroll", "bind k.2 vector"},
      {"split k 16 remainder", "bind k.1 vector", "bind k.1_1 vector"},
      {"split i 8 mask", "bind i.1 vector", "split k 4 remainder", "bind k.1 unroll"}};
  for (const auto& list : lists)
    for (const std::int64_t n : {1, 15, 64, 77, 333}) {
      SCOPED_TRACE(print(steps_of(list)));
      const loops::Program nest = loops::parse(ROW_MAXIMA);
      const index::Values sizes = {{index::Symbol("n"), n}, {index::Symbol("m"), 11}};
      ASSERT_EQ(why_none(nest, steps_of(list)), "");
      EXPECT_EQ(run_on(Data::fractions, *program_of(nest, steps_of(list)), sizes),
                run_on(Data::fractions, nest, sizes));
    }
}

}  // namespace

}  // namespace twinloom::tests
