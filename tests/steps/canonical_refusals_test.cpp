// Lists of steps whose loops do not walk the canonical tree: why, in words.
#include <gtest/gtest.h>

#include "tests/steps/canonical_nests.h"
#include "tests/steps/lists.h"

namespace twinloom::tests {

namespace {

struct NotCanonical {
  std::vector<std::string_view> steps;
  std::string_view words;
  std::int64_t length = 5000;
  std::string_view nest = ROW_SUMS;
};

class RefusesTheOrder : public testing::TestWithParam<NotCanonical> {};

TEST_P(RefusesTheOrder, InWords) {
  const NotCanonical& wrong = GetParam();
  EXPECT_EQ(why_none(with_length(wrong.nest, wrong.length), steps_of(wrong.steps)), wrong.words);
}

constexpr std::string_view WHOLE = R"(
program whole(x: f32[n], y: written f32[1]; m in 0..) {
  start t0: sum f32
  for k < n { t0 += x[k] at k }
  y[0] = t0
})";

constexpr std::string_view BEGINS_LATE = R"(
program late(x: f32[n], y: written f32[1]; m in 0..) {
  start t0: sum f32
  for k < n { t0 += x[k] at k if 3 < k }
  y[0] = t0
})";
constexpr std::string_view SHIFTED = R"(
program shifted(x: f32[n], y: written f32[1]; m in 0..) {
  start t0: sum f32
  for k < n { t0 += x[k] at k + 3 }
  y[0] = t0
})";

constexpr std::string_view ENDS_SOMEWHERE = R"(
program somewhere(x: f32[n], e: i64[1], y: written f32[1]; m in 0..) {
  start t0: sum f32
  for k < n {
    index at = e[0] below n + 1
    t0 += x[k] at k if k < at
  }
  y[0] = t0
})";

INSTANTIATE_TEST_SUITE_P(
    Canonical, RefusesTheOrder,
    testing::Values(
        NotCanonical{{"bind i block"}, "the loop over k crosses places 256 apart, where the lanes of t0 end"},
        NotCanonical{{"split k 512, 16 mask", "bind k.2 vector"},
                     "the loop over k.1 crosses places 256 apart, where the lanes of t0 end"},
        NotCanonical{{"split k 256 mask"},
                     "the loop over k.0 crosses places 1024 apart, where the units of t0 end"},
        NotCanonical{{"split k 1024, 256 clip"},
                     "the loop over k.1 stands in the place of t0 above one without a constant extent"},
        NotCanonical{
            {"split k 1024, 256, 16 mask", "bind k.1 thread"},
            "the loop over k.1 walks the chain of a lane of t0, whose elements come one after the other"},
        NotCanonical{{"split k 1024, 512, 256, 16 mask", "reorder k.0, k.2, k.1, k.3"},
                     "the loop over k.1 walks the chain of a lane of t0 inside a loop of smaller strides"},
        NotCanonical{{"split k 1024, 256, 16 mask", "bind k.0 thread"},
                     "copies along k.0, whose extent 5 is no power of two"},
        NotCanonical{{"split k 3072, 1024, 256, 16 mask", "bind k.1 thread"},
                     "copies along k.1, whose extent 3 is no power of two"},
        NotCanonical{{"split k 16 mask"}, "copies along k.0, whose extent 7 is no power of two", 100},
        NotCanonical{{"split k 3072, 1024, 256, 16 mask", "bind k.0 thread"},
                     "runs of 3 units are no nodes of the tree of t0",
                     6144},
        NotCanonical{{"split k 32768, 1024, 256, 16 mask", "reorder k.0, k.2, k.3, k.4, k.1"},
                     "t0 would have more than 4096 copies"},
        NotCanonical{{"split k 1024, 256 mask", "bind k.0 block"},
                     "the loop over k.0 is a block loop, and blocks do not share t0",
                     5000,
                     WHOLE},
        NotCanonical{{"split k 64 mask"},
                     "the loop over h has the stride 100 in the place of t0, where the loops below it have "
                     "128 iterations",
                     100,
                     PLANES},
        NotCanonical{{"split k 1024, 256 mask"},
                     "the mask 3 < 1024*k.0 + 256*k.1 + k.2 of t0 is no end of its places",
                     5000,
                     BEGINS_LATE},
        NotCanonical{{"split k 2048, 1024, 256 mask", "split k.0 2 remainder"},
                     "a part of t0 follows one that is masked"},
        NotCanonical{{"split k 2048, 1024, 256 remainder", "bind k.1 thread"},
                     "parts of t0 push runs of different lengths"},
        NotCanonical{{"split k 512, 256 remainder"},
                     "the loop over k.0 crosses places 1024 apart, where the units of t0 end"},
        NotCanonical{{"split k 2048, 1024, 256 mask", "split k.3 3 remainder"},
                     "two parts of t0 stand in one loop"},
        NotCanonical{{"split k 1024, 256 exact"},
                     "the end of t0 depends on at, which is looked up inside",
                     4096,
                     ENDS_SOMEWHERE},
        NotCanonical{{"split k 1024, 256 mask"}, "a part of t0 begins at 3, expected 0", 5000, SHIFTED},
        NotCanonical{{"split h 4, 2 mask"},
                     "the loop over h.0 crosses places 1024 apart, where the units of t0 end",
                     64,
                     PLANES}));

TEST(Canonical, ThreadsCombineWhereAllOfThemAre) {
  EXPECT_EQ(
      why_none(loops::parse(SOFTMAX),
               steps_of({"split k 16 mask", "split l 4096, 1024, 256, 16 mask", "bind l.1 thread",
                         "bind l.4 thread", "split j 256 mask", "bind j.1 thread"})),
      "copies along the threads of l.4 are combined in the loop over l.1, which only 64 of 256 threads walk");
}

}  // namespace

}  // namespace twinloom::tests
