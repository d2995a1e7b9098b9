// Sums of floats, whose order shows in their bits, by lists of steps: each list that is not refused gives
// what the nest means.
#include <gtest/gtest.h>

#include "tests/steps/canonical_nests.h"
#include "tests/steps/lists.h"

namespace twinloom::tests {

namespace {

const std::vector<std::int64_t> LENGTHS = {0,   1,    7,    31,   255,  256,  257,
                                           600, 1023, 1024, 1025, 2048, 2049, 4097};

class AnyLength : public testing::TestWithParam<std::vector<std::string_view>> {};

TEST_P(AnyLength, OfRowSums) {
  for (const std::int64_t n : LENGTHS) {
    expect_same_bits(loops::parse(ROW_SUMS), steps_of(GetParam()), sizes_of(3, n));
    expect_same_bits(with_length(ROW_SUMS, n), steps_of(GetParam()), sizes_of(3, n));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Canonical, AnyLength,
    testing::Values(
        std::vector<std::string_view>{"split k 1024, 256, 16 mask", "bind k.2 unroll", "bind k.3 vector"},
        std::vector<std::string_view>{"split k 1024, 256, 32, 8 mask", "reorder k.0, k.3, k.4, k.1, k.2"},
        std::vector<std::string_view>{"split k 1024, 256 mask", "reorder k.0, k.2, k.1", "bind k.2 thread"},
        std::vector<std::string_view>{"split k 4096, 1024, 256 mask", "reorder k.0, k.1, k.3, k.2",
                                      "bind k.1 thread", "bind k.3 thread"},
        std::vector<std::string_view>{"split k 4096, 1024, 256, 16 mask", "bind k.4 vector"},
        std::vector<std::string_view>{"split k 1024, 256, 128, 64 mask", "reorder k.0, k.4, k.3, k.2, k.1"},
        std::vector<std::string_view>{"split k 1024, 256, 16 mask", "reorder k.0, k.2, k.1, k.3"},
        std::vector<std::string_view>{"split k 1024, 256, 64, 16, 4 mask",
                                      "reorder k.0, k.5, k.4, k.3, k.2, k.1"},
        std::vector<std::string_view>{"split k 1024, 256, 16 remainder", "bind k.2 unroll",
                                      "bind k.3 vector"},
        std::vector<std::string_view>{"split k 2048, 1024, 512, 256, 64 mask",
                                      "reorder k.0, k.4, k.1, k.2, k.3"}));

TEST(Canonical, TheLoopsOfARemainderHaveNamesOfTheirOwn) {
  for (const std::int64_t n : LENGTHS)
    expect_same_bits(loops::parse(ROW_SUMS),
                     steps_of({"split k 4096, 1024, 256, 16 remainder", "reorder k.2, k.4, k.3",
                               "bind k.1 thread", "bind k.1_1 thread", "bind k.4_1 vector"}),
                     sizes_of(3, n));
}

TEST(Canonical, TheSumOfOneUnitThatIsNotEmptyHasNoStack) {
  const auto program =
      program_of(with_length(ROW_SUMS, 600), steps_of({"split k 1024, 256, 16 mask", "bind k.3 vector"}));
  EXPECT_EQ(loops::print(program.value()), R"(program row_sums(x: f32[600*m], y: written f32[m]; m in 0..) {
  for i < m {
    start t0: sum f32 copies (k.2, k.3)
    for k.0 < 1 {
      for k.1 < 4 {
        for k.2 < 16 {
          for k.3 < 16 vector {
            merge t0 ((x[600*i + 256*k.1 + 16*k.2 + k.3] if 256*k.1 + 16*k.2 + k.3 < 600 else 0x0p+0:f32)) if 256*k.1 + 16*k.2 + k.3 < 600
          }
        }
      }
    }
    combine t0 across k.2 halves
    combine t0 across k.3 halves
    y[i] = t0
  }
}
)");
}

TEST(Canonical, LoopsThatCloseFirstHaveAnAccumulatorOfTheirOwn) {
  const auto program = program_of(
      loops::parse(ROW_SUMS),
      steps_of({"split k 4096, 1024, 256, 16 mask", "reorder k.0, k.1, k.4, k.2, k.3", "bind k.1 thread"}));
  EXPECT_EQ(loops::print(program.value()),
            R"(program row_sums(x: f32[m*n], y: written f32[m]; m in 0.., n in 0..) {
  for i < m {
    start t1: sum f32 depth 40
    for k.0 < -floor_div(-n, 4096) {
      start t2: sum f32 copies (k.1)
      for k.1 < 4 thread {
        start t3: sum f32 copies (k.4)
        for k.4 < 16 {
          start t4: sum f32 copies (k.3)
          for k.2 < 4 {
            for k.3 < 16 {
              merge t4 ((x[i*n + 4096*k.0 + 1024*k.1 + 256*k.2 + 16*k.3 + k.4] if 4096*k.0 + 1024*k.1 + 256*k.2 + 16*k.3 + k.4 < n else 0x0p+0:f32)) if 4096*k.0 + 1024*k.1 + 256*k.2 + 16*k.3 + k.4 < n
            }
          }
          combine t4 across k.3 halves
          merge t3 (t4)
        }
        combine t3 across k.4 halves
        merge t2 (t3)
      }
      combine t2 across k.1 neighbours
      push t2 onto t1 at k.0
    }
    fold t0 = t1 of -floor_div(-n, 4096)
    y[i] = t0
  }
}
)");
}

TEST(Canonical, ThreadsThatPushRunsOfTheirOwnLeaveEmptyOnesOut) {
  const std::vector<steps::Step> list =
      steps_of({"split k 8192, 2048, 1024, 256, 16 mask", "bind k.1 thread"});
  for (const std::int64_t n : {1, 1025, 2049, 4097, 5000, 8192, 9000})
    expect_same_bits(loops::parse(ROW_SUMS), list, sizes_of(2, n));
}

TEST(Canonical, TheSumOfOneUnitThatMayBeEmptyHasAStack) {
  std::string text(ROW_SUMS);
  text.replace(text.find("n in 0.."), 8, "n in 0..1000");
  for (const std::int64_t n : {0, 1, 600, 1000})
    expect_same_bits(loops::parse(text), steps_of({"split k 256, 16 mask", "bind k.2 vector"}),
                     sizes_of(2, n));
}

// Of several parts: what they have to compute waits until there is an element.
TEST(Canonical, AListThatIsLookedUpIsEnteredWhereItHasElements) {
  const auto text_of = [](const char* length) {
    const loops::Program nest =
        loops::parse(cat(R"(program sums(x: f32[2000], at: i64[1], y: written f32[1]; n in 0..) {
  index a = at[0] below 1401
  start t0: sum f32 for k < )",
                         length, R"( { t0 += x[k] at k } y[0] = t0 })"));
    return loops::print(program_of(nest, steps_of({"split k 1024, 256 remainder"})).value());
  };
  const std::string list = text_of("a"), sized = text_of("n");
  const std::size_t start = list.find("start t1"), guard = list.find("< least(1, -floor_div(-a, 1024))");
  ASSERT_NE(guard, std::string::npos) << list;
  EXPECT_LT(start, guard);
  EXPECT_LT(guard, list.find("floor_div(a, 1024)"));
  EXPECT_LT(guard, list.find("fold t0"));
  EXPECT_EQ(sized.find("least(1, -floor_div(-n, 1024))"), std::string::npos) << sized;
}

TEST(Canonical, Softmax) {
  const std::vector<steps::Step> list =
      steps_of({"bind i block", "split k 64, 16 mask", "bind k.1 unroll", "bind k.2 vector",
                "split l 1024, 256, 16 mask", "bind l.2 unroll", "bind l.3 vector", "split j 16 mask",
                "bind j.1 vector"});
  for (const std::int64_t n : LENGTHS)
    if (n > 0) expect_same_bits(loops::parse(SOFTMAX), list, sizes_of(2, n));
}

TEST(Canonical, FusedLoopsAreSplitAsOne) {
  for (const std::int64_t s : {0, 1, 15, 40})
    expect_same_bits(with_length(PLANES, 100),
                     steps_of({"fuse h, k as r", "split r 1024, 256, 16 mask", "bind r.3 vector"}),
                     {{index::Symbol("m"), 2}, {index::Symbol("s"), s}});
}

TEST(Canonical, ALoopThatIsSplitAgainHasTwoEnds) {
  for (const std::int64_t n : LENGTHS)
    expect_same_bits(loops::parse(ROW_SUMS),
                     steps_of({"split k 1024, 256 mask", "split k.0 4 mask", "bind k.0.1 thread"}),
                     sizes_of(2, n));
}

TEST(Canonical, SeveralLoopsQualifyAsTheyStand) {
  for (const std::int64_t s : {1, 15, 16, 17, 40, 64})
    expect_same_bits(with_length(PLANES, 64),
                     steps_of({"split h 16, 4 mask", "split k 16 exact", "bind k.1 vector"}),
                     {{index::Symbol("m"), 2}, {index::Symbol("s"), s}});
}

// Columns side by side: every level has a copy of each.
TEST(Canonical, ColumnSums) {
  for (const std::vector<std::string_view>& lines : std::vector<std::vector<std::string_view>>{
           {"split j 8 mask", "split k 1024, 256 mask", "reorder j.0, k.0, k.2, k.1, j.1", "bind j.1 vector"},
           {"split j 8 mask", "split k 1024, 256 mask", "reorder j.0, k.0, j.1, k.2, k.1", "bind j.1 thread"},
           {"split j 8 mask", "split k 1024, 256 mask", "reorder j.0, k.0, k.2, j.1, k.1"},
           {"split j 4 mask", "split k 1024, 256, 128, 64, 32 mask",
            "reorder j.0, k.0, k.5, k.4, k.3, k.2, k.1, j.1"}})
    for (const std::int64_t n : LENGTHS)
      expect_same_bits(loops::parse(COLUMN_SUMS), steps_of(lines), sizes_of(11, n));
}

}  // namespace

}  // namespace twinloom::tests
