// What atomics update, added up in an array first. On small integers every order gives the same bits.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/steps/steps.h"
#include "tests/steps/lists.h"
#include "tests/steps/run.h"

namespace twinloom::tests {

namespace {

// Of each row of x its elements by the remainder of k.
constexpr std::string_view HISTOGRAMS = R"(
program histograms(k: f32[m*n], x: f32[m*n], y: written f32[16*m]; m in 0.., n in 0..) {
  for i < m { for j < n {
    index at = bitwise_and(i64(k[i*n + j]), 15:i64) below 16
    y[16*i + at] atomic_add x[i*n + j]
  } }
})";
// Of rows of 8 those with one remainder.
constexpr std::string_view ROWS = R"(
program rows(k: f32[n], x: f32[8*n], y: written f32[40]; n in 0..) {
  for i < n { for j < 8 {
    index at = bitwise_and(i64(k[i]), 3:i64) below 5
    y[8*at + j] atomic_add x[8*i + j]
  } }
})";

struct Cached {
  std::string_view nest;
  std::vector<std::string_view> steps;
};

class CachedUpdates : public testing::TestWithParam<Cached> {};

TEST_P(CachedUpdates, GiveTheSameSums) {
  const loops::Program nest = loops::parse(GetParam().nest);
  ASSERT_EQ(why_none(nest, steps_of(GetParam().steps)), "");
  const loops::Program program = program_of(nest, steps_of(GetParam().steps)).value();
  EXPECT_TRUE(std::ranges::any_of(program.buffers, &loops::BufferInfo::local));
  for (const std::int64_t m : {0, 1, 3})
    for (const std::int64_t n : {0, 1, 16, 37}) {
      const index::Values sizes = {{index::Symbol("m"), m}, {index::Symbol("n"), n}};
      for (const bool reversed : {false, true})
        EXPECT_EQ(run_on(Data::integers, program, sizes, {reversed, reversed}),
                  run_on(Data::integers, nest, sizes));
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, CachedUpdates,
    testing::Values(Cached{HISTOGRAMS, {"cache y at i in scratch filled by u"}},
                    Cached{HISTOGRAMS, {"cache y at i in registers filled by u pad 3"}},
                    Cached{HISTOGRAMS,
                           {"split j 8, 4 mask", "cache y at j.0 in scratch filled by u", "split u 4 mask",
                            "bind i block", "bind j.0 block", "bind j.1 thread", "bind j.2 vector",
                            "bind u.0 thread"}},
                    Cached{ROWS,
                           {"split i 8 mask", "cache y at i.0 in scratch filled by u, v", "bind i.0 block",
                            "bind j thread", "bind v thread"}},
                    Cached{ROWS, {"split j 3 mask", "cache y at i in scratch filled by u, v, w"}}));

TEST(CachedUpdates, Refuse) {
  const auto why = [](std::string_view nest, std::string_view step) {
    return std::get<std::string>(steps::apply(steps::kernel_of(loops::parse(nest)), steps_of({step})));
  };
  EXPECT_EQ(why(HISTOGRAMS, "cache y at i in scratch"),
            "cache y at i in scratch: the array has 1 dimensions, and 0 loops fill it");
  EXPECT_EQ(why(HISTOGRAMS, "cache y at i in scratch filled by j"),
            "cache y at i in scratch filled by j: the name j is taken");
  EXPECT_EQ(why(R"(program sums(x: f32[n], y: written f32[n]; n in 0..) {
    for i < n { for j < n { y[i] atomic_add x[j] } } })",
                "cache y at i in scratch filled by u, v"),
            "cache y at i in scratch filled by u, v: the place in y is the same inside i");
  EXPECT_EQ(why(R"(program sums(x: f32[n], y: written f32[n]; n in 0..) {
    for i < n { for j < n { y[j] atomic_add x[j] } } })",
                "cache y at i in scratch filled by u"),
            "cache y at i in scratch filled by u: no bound is known of the extent n of j");
  EXPECT_EQ(why(R"(program sums(x: f32[64], y: written f32[8], z: written f32[64]) {
    for i < 8 { for j < 8 { y[j] atomic_add x[8*i + j] z[8*i + j] = y[j] } } })",
                "cache y at i in scratch filled by u"),
            "cache y at i in scratch filled by u: it is loaded too");
  EXPECT_EQ(why(R"(program sums(x: f32[64], y: written f32[8]) {
    for i < 8 { for j < 8 { for k < 8 { y[j] atomic_add x[8*i + k] if j + k < 9 } } } })",
                "cache y at i in scratch filled by u"),
            "cache y at i in scratch filled by u: its mask depends on more than the place");
}

}  // namespace

}  // namespace twinloom::tests
