// Sums of floats, whose order shows in their bits, by lists of steps: each list that is not refused gives
// what the nest means.
#include <gtest/gtest.h>

#include <random>

#include "core/base/text.h"
#include "tests/steps/lists.h"
#include "tests/steps/run.h"

namespace twinloom::tests {

namespace {

constexpr std::string_view ROW_SUMS = R"(
program row_sums(x: f32[m*n], y: written f32[m]; m in 0.., n in 0..) {
  for i < m {
    start t0: sum f32
    for k < n { t0 += x[i*n + k] at k }
    y[i] = t0
  }
})";

constexpr std::string_view SOFTMAX = R"(
program softmax(x: f32[m*n], y: written f32[m*n]; m in 0.., n in 1..) {
  for i < m {
    start t0: max f32
    for k < n { t0 += x[i*n + k] at k }
    start t1: sum f32
    for l < n { t1 += exp(sub(x[i*n + l], t0)) at l }
    for j < n { y[i*n + j] = div(exp(sub(x[i*n + j], t0)), t1) }
  }
})";

constexpr std::string_view COLUMN_SUMS = R"(
program column_sums(x: f32[n*m], y: written f32[m]; m in 0.., n in 0..) {
  for j < m {
    start t0: sum f32
    for k < n { t0 += x[k*m + j] at k }
    y[j] = neg(t0)
  }
})";

// `n` as a number, in the text and among the sizes.
loops::Program with_length(std::string_view text, std::int64_t n) {
  std::string result(text);
  const auto replace = [&](std::string_view what, const std::string& by) {
    for (auto at = result.find(what); at != std::string::npos; at = result.find(what, at + by.size()))
      result.replace(at, what.size(), by);
  };
  replace(", n in 0..", "");
  replace(", n in 1..", "");
  replace("*n", cat("*", n));
  replace("n*", cat(n, "*"));
  replace("< n ", cat("< ", n, " "));
  return loops::parse(result);
}

index::Values sizes_of(std::int64_t m, std::int64_t n) {
  return {{index::Symbol("m"), m}, {index::Symbol("n"), n}};
}

void expect_same_bits(const loops::Program& nest, const std::vector<steps::Step>& list,
                      const index::Values& sizes) {
  ASSERT_EQ(why_none(nest, list), "") << print(list);
  const auto program = program_of(nest, list);
  const auto expected = run_on(Data::fractions, nest, sizes);
  for (const bool reversed : {false, true})
    ASSERT_EQ(run_on(Data::fractions, *program, sizes, {reversed, reversed}), expected)
        << print(list) << "\n"
        << loops::print(*program);
}

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
        std::vector<std::string_view>{"split k 2048, 1024, 512, 256, 64 mask",
                                      "reorder k.0, k.4, k.1, k.2, k.3"}));

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
      steps_of({"split k 2048, 1024, 256, 16 mask", "bind k.0 thread", "bind k.4 vector"});
  for (const std::int64_t n : {2049, 4097, 5000, 8192}) {
    const loops::Program nest = with_length(ROW_SUMS, n);
    const bool is_power = n > 4096 && n <= 8192 ? n > 6144 : n > 2048 && n <= 4096;
    if (is_power) expect_same_bits(nest, list, sizes_of(2, n));
  }
}

TEST(Canonical, Softmax) {
  const std::vector<steps::Step> list =
      steps_of({"bind i block", "split k 64, 16 mask", "bind k.1 unroll", "bind k.2 vector",
                "split l 1024, 256, 16 mask", "bind l.2 unroll", "bind l.3 vector", "split j 16 mask",
                "bind j.1 vector"});
  for (const std::int64_t n : LENGTHS)
    if (n > 0) expect_same_bits(loops::parse(SOFTMAX), list, sizes_of(2, n));
}

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

// Over two axes of the same sum.
constexpr std::string_view PLANES = R"(
program planes(x: f32[m*n*s], y: written f32[m]; m in 0.., s in 0..) {
  for i < m {
    start t0: sum f32
    for h < s { for k < n { t0 += x[i*n*s + h*n + k] at h*n + k } }
    y[i] = t0
  }
})";
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
        NotCanonical{{"split k 1024, 256 mask"}, "a part of t0 begins at 3, expected 0", 5000, SHIFTED},
        NotCanonical{{"split h 4, 2 mask"},
                     "the loop over h.0 crosses places 1024 apart, where the units of t0 end",
                     64,
                     PLANES}));

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

TEST(Canonical, ThreadsCombineWhereAllOfThemAre) {
  EXPECT_EQ(
      why_none(loops::parse(SOFTMAX),
               steps_of({"split k 16 mask", "split l 4096, 1024, 256, 16 mask", "bind l.1 thread",
                         "bind l.4 thread", "split j 256 mask", "bind j.1 thread"})),
      "copies along the threads of l.4 are combined in the loop over l.1, which only 64 of 256 threads walk");
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

// Factors of random lengths in a random order, bound at random: what is not refused keeps every bit.
class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool one_of(std::uint64_t count) { return below(count) == 0; }

  steps::Split split(const std::string& axis) {
    steps::Split split{axis, {}, one_of(4) ? steps::Tail::clip : steps::Tail::mask};
    std::int64_t factor = std::int64_t{16384} >> below(7);
    if (one_of(8)) split.factors.push_back(factor * 3);
    for (; factor > 1; factor >>= 1 + below(4)) {
      const bool crosses = (factor < 1024 && !split.factors.empty() && split.factors.back() > 1024) ||
                           (factor < 256 && !split.factors.empty() && split.factors.back() > 256);
      if (crosses && !one_of(20))
        split.factors.push_back(factor < 256 && split.factors.back() <= 1024 ? 256 : 1024);
      if (split.factors.empty() || factor < split.factors.back()) split.factors.push_back(factor);
    }
    return split;
  }

  std::vector<std::string> shuffled(std::vector<std::string> names, std::uint64_t swaps) {
    for (; swaps > 0; --swaps) std::swap(names[below(names.size())], names[below(names.size())]);
    return names;
  }

 private:
  std::mt19937_64 random_;
};

// Adds the step to the list unless the list would be refused then.
void try_to_add(const loops::Program& nest, std::vector<steps::Step>& list, steps::Step next) {
  list.push_back(std::move(next));
  if (!why_none(nest, list).empty()) list.pop_back();
}

std::vector<steps::Step> random_list(const loops::Program& nest, bool columns, Random& random) {
  const steps::Split split = random.split("k");
  std::vector<steps::Step> list = {{split}};
  std::vector<std::string> names;
  for (std::size_t number = 0; number <= split.factors.size(); ++number) names.push_back(cat("k.", number));
  if (columns) {
    list.push_back({steps::Split{"j", {4}, steps::Tail::mask}});
    names.push_back("j.1");
  }
  for (int tries = 0; tries < 4; ++tries) {
    std::vector<std::string> order = random.shuffled(names, 1 + random.below(4));
    if (columns) order.insert(order.begin(), "j.0");
    try_to_add(nest, list, {steps::Reorder{order}});
    if (list.size() > (columns ? 2u : 1u)) break;
  }
  constexpr loops::Bind BINDS[] = {loops::Bind::unroll, loops::Bind::vector, loops::Bind::thread};
  for (int tries = 0; tries < 5; ++tries)
    try_to_add(nest, list, {steps::BindLoop{names[random.below(names.size())], BINDS[random.below(3)]}});
  return list;
}

TEST(Canonical, RandomLists) {
  int applied = 0, long_ones = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const bool columns = random.one_of(3);
    const auto n = static_cast<std::int64_t>(1 + random.below(random.one_of(2) ? 5000 : 1100));
    const std::string_view text = columns ? COLUMN_SUMS : ROW_SUMS;
    const loops::Program nest = random.one_of(2) ? loops::parse(text) : with_length(text, n);
    const std::vector<steps::Step> list = random_list(nest, columns, random);
    if (!why_none(nest, list).empty()) continue;
    SCOPED_TRACE(cat("seed ", seed, ", n = ", n));
    expect_same_bits(nest, list, sizes_of(columns ? 6 : 2, n));
    if (HasFatalFailure()) return;
    ++applied;
    long_ones += list.size() > 4 ? 1 : 0;
  }
  EXPECT_GT(applied, 150);
  EXPECT_GT(long_ones, 60);
}

}  // namespace

}  // namespace twinloom::tests
