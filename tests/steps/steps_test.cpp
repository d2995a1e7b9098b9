// Steps one by one: their text, what they make of a nest, what they refuse, and that no list of them changes
// results.
#include "core/steps/steps.h"

#include <gtest/gtest.h>

#include <random>

#include "core/base/error.h"
#include "core/schedule/schedule.h"
#include "core/steps/contraction.h"
#include "tests/steps/lists.h"
#include "tests/steps/run.h"

namespace twinloom::tests {

namespace {

constexpr std::string_view PRODUCT = R"(
program product(a: f32[n*k], b: f32[k*m], c: f32[m], y: written f32[n*m]; n in 0.., k in 0.., m in 0..) {
  for i < n {
    for j < m {
      start t0: sum f32 free
      for r < k {
        t0 += mul(a[i*k + r], b[r*m + j]) at r
      }
      y[i*m + j] = maximum(add(t0, c[j]), 0x0p+0:f32)
    }
  }
})";

const index::Values SIZES = {{index::Symbol("n"), 21}, {index::Symbol("k"), 19}, {index::Symbol("m"), 37}};

loops::Program product() { return loops::parse(PRODUCT); }

void expect_same_results(const loops::Program& nest, const std::vector<steps::Step>& list) {
  ASSERT_EQ(why_none(nest, list), "");
  const auto program = program_of(nest, list);
  EXPECT_EQ(run_on(Data::integers, *program, SIZES), run_on(Data::integers, nest, SIZES))
      << loops::print(*program);
}

TEST(Step, IsPrintedAsItIsRead) {
  for (const std::string_view text :
       {"split k 1024, 256, 16 mask", "split k 8 clip", "split k 8 exact", "split k 64, 8 remainder",
        "fuse i, j as r", "reorder i.0, j, k", "cache b at j.1 in scratch",
        "cache b at j.1 in scratch filled by u, v pad 1", "cache t3 at i.1 in registers",
        "store_at s at i.0 in scratch", "distribute i.1", "bind j.2 vector", "bind j.2 block",
        "bind i unroll", "bind i serial", "bind i thread"})
    EXPECT_EQ(steps::print(step(text)), text);
}

TEST(Step, OfAScheduleIsALineOfIt) {
  const std::string text = "schedule\n  split i 8 mask\n  bind i.0 block\n";
  EXPECT_EQ(schedule::print(schedule::parse(text)), text);
}

TEST(Step, HasAWordThatASchedulesTextKnows) {
  try {
    schedule::parse("schedule\n  splt 0 k : 8 mask");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "schedule line 2 column 3: expected grid, columns, split_scan, split, loop, panel, "
                 "transposed_rows, outermost_fastest, stage, values, prefetch, stream, fuse, reorder, cache, "
                 "store_at, distribute or bind, "
                 "found 'splt 0 k : 8 mask'");
  }
}

TEST(Step, StandsBesideNoSplitOfASibling) {
  const schedule::Schedule both = schedule::parse("schedule split -1 i : 8 mask split j 8 mask");
  EXPECT_EQ(schedule::why_illegal(product(), both), "only fuse stands before splits and loops of siblings");
}

// What a step makes of a nest, as text.
TEST(Step, ASplitMasksWhatIsPastTheEnd) {
  const loops::Program nest = loops::parse(R"(program copy(x: f32[n], y: written f32[n]; n in 0..) {
    for i < n { y[i] = neg(x[i]) } })");
  const auto kernel = steps::apply(steps::kernel_of(nest), step("split i 8 mask"));
  EXPECT_EQ(loops::print(std::get<steps::Kernel>(kernel).program),
            R"(program copy(x: f32[n], y: written f32[n]; n in 0..) {
  for i.0 < -floor_div(-n, 8) {
    for i.1 < 8 {
      y[8*i.0 + i.1] = neg((x[8*i.0 + i.1] if 8*i.0 + i.1 < n else 0x0p+0:f32)) if 8*i.0 + i.1 < n
    }
  }
}
)");
}

TEST(Step, ARemainderIsMaskedBehindFullIterations) {
  const loops::Program nest = loops::parse(R"(program copy(x: f32[n], y: written f32[n]; n in 0..) {
    for i < n { y[i] = neg(x[i]) } })");
  const auto program = program_of(nest, steps_of({"split i 16, 4 remainder", "bind i.2 vector"}));
  EXPECT_EQ(loops::print(program.value()),
            R"(program copy(x: f32[n], y: written f32[n]; n in 0..) {
  for i.0 < floor_div(n, 16) {
    for i.1 < 4 {
      for i.2 < 4 vector {
        y[16*i.0 + 4*i.1 + i.2] = neg(x[16*i.0 + 4*i.1 + i.2])
      }
    }
  }
  for i.0t < -floor_div(-n, 16) - floor_div(n, 16) {
    for i.1_1 < 4 {
      for i.2_1 < 4 {
        y[4*i.1_1 + i.2_1 + 16*floor_div(n, 16)] = neg((x[4*i.1_1 + i.2_1 + 16*floor_div(n, 16)] if 4*i.1_1 + i.2_1 + 16*floor_div(n, 16) < n else 0x0p+0:f32)) if 4*i.1_1 + i.2_1 + 16*floor_div(n, 16) < n
      }
    }
  }
}
)");
}

TEST(Step, FusedLoopsAreOne) {
  const loops::Program nest =
      loops::parse(R"(program copy(x: f32[m*n], b: f32[n], y: written f32[m*n]; m in 0.., n in 0..) {
    for i < m { for j < n { y[i*n + j] = add(x[i*n + j], b[j]) } } })");
  const auto program = program_of(nest, steps_of({"fuse i, j as r", "split r 8 mask", "bind r.0 block"}));
  EXPECT_EQ(loops::print(program.value()),
            R"(program copy(x: f32[m*n], b: f32[n], y: written f32[m*n]; m in 0.., n in 0..) {
  for r.0 < -floor_div(-m*n, 8) block {
    for r.1 < 8 {
      y[8*r.0 + r.1] = add((x[8*r.0 + r.1] if 8*r.0 + r.1 < m*n else 0x0p+0:f32), (b[floor_mod(8*r.0 + r.1, n)] if 8*r.0 + r.1 < m*n else 0x0p+0:f32)) if 8*r.0 + r.1 < m*n
    }
  }
}
)");
}

// By what is known of sizes: there is nothing to divide by.
TEST(Step, FusedLoopsMayHaveNoIteration) {
  const loops::Program nest = loops::parse(R"(program copy(x: f32[n], y: written f32[n]; n in 1..3) {
    for i < n { for j < floor_div(n, 4) { y[i*floor_div(n, 4) + j] = x[j] } } })");
  const auto program = program_of(nest, steps_of({"fuse i, j as r", "bind r block"}));
  EXPECT_NE(loops::print(program.value()).find("for r < 0 block"), std::string::npos)
      << loops::print(program.value());
}

TEST(Step, AReorderExpandsWhatLosesItsScope) {
  const auto kernel =
      steps::apply(steps::kernel_of(product()), steps_of({"split j 8 mask", "reorder r, j.1"}));
  const std::string text = loops::print(std::get<steps::Kernel>(kernel).program);
  EXPECT_NE(text.find("start t0: sum f32 copies (j.1) free"), std::string::npos) << text;
  EXPECT_LT(text.find("for r < k"), text.find("for j.1 < 8")) << text;
}

struct Refused {
  std::vector<std::string_view> steps;
  std::string_view words;
};

class Refuses : public testing::TestWithParam<Refused> {};

TEST_P(Refuses, InWords) {
  const auto made = steps::apply(steps::kernel_of(product()), steps_of(GetParam().steps));
  ASSERT_TRUE(std::holds_alternative<std::string>(made));
  EXPECT_EQ(std::get<std::string>(made), GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(
    Product, Refuses,
    testing::Values(
        Refused{{"split z 8 mask"}, "split z 8 mask: there is not one loop over z"},
        Refused{{"split i 8, 3 mask"}, "split i 8, 3 mask: the factor 8 is no multiple of 3, which follows"},
        Refused{{"split i 0 mask"}, "split i 0 mask: the factor 0 is below 1"},
        Refused{{"split i 8 exact"}, "split i 8 exact: exact, but 8 is not known to divide n"},
        Refused{{"bind i block", "split i 8 mask"}, "split i 8 mask: the loop over i is bound already"},
        Refused{{"fuse i as r"}, "fuse i as r: there is nothing to fuse"},
        Refused{{"fuse i, q as r"}, "fuse i, q as r: there is not one loop over q"},
        Refused{{"fuse i, r as q"}, "fuse i, r as q: the loop over i does not stand there"},
        Refused{{"fuse i, j as r"}, "fuse i, j as r: the name r is taken"},
        Refused{{"fuse j, r as q"}, "fuse j, r as q: a statement stands beside the loop over r"},
        Refused{{"split j 8 mask", "bind j.1 unroll", "fuse j.0, j.1 as q"},
                "fuse j.0, j.1 as q: the loop over j.1 is bound already"},
        Refused{{"split i 8 clip", "fuse i.0, i.1 as q"},
                "fuse i.0, i.1 as q: the extent of i.1 depends on i.0"},
        Refused{{"split j 8 mask", "split r 4 mask", "reorder r.0, j.1, r.1", "fuse j.1, r.1 as q"},
                "fuse j.1, r.1 as q: an accumulator has copies along the loops"},
        Refused{{"reorder i"}, "reorder i: there is nothing to reorder"},
        Refused{{"reorder i, i"}, "reorder i, i: a loop is named twice"},
        Refused{{"reorder r, q"}, "reorder r, q: there is not one loop over q"},
        Refused{{"reorder r, j"},
                "reorder r, j: accumulators would have copies along j, whose extent m is not constant"},
        Refused{{"split r 8 clip", "reorder r.1, r.0"},
                "reorder r.1, r.0: the extent of r.1 depends on r.0, which would stand inside"},
        Refused{{"split j 8 mask", "split r 4 remainder", "reorder r.0, j.1"},
                "reorder r.0, j.1: another part of t0 stands behind the loop over r.0"},
        Refused{{"cache y at j in scratch"}, "cache y at j in scratch: not only atomics store it"},
        Refused{{"cache z at j in scratch"},
                "cache z at j in scratch: there is no buffer and no accumulator z"},
        Refused{{"split r 8 clip", "cache a at r.0 in scratch filled by u, v"},
                "cache a at r.0 in scratch filled by u, v: the array has 1 dimensions, and 2 loops fill it"},
        Refused{{"split r 8 clip", "cache a at r.0 in scratch filled by j"},
                "cache a at r.0 in scratch filled by j: the name j is taken"},
        Refused{{"split r 8 clip", "cache t0 at r.0 in registers pad 1"},
                "cache t0 at r.0 in registers pad 1: t0 is no array"},
        Refused{{"cache b at i in scratch"},
                "cache b at i in scratch: no bound is known of the extent m of j"},
        Refused{{"split r 8 clip", "cache c at r.0 in scratch"},
                "cache c at r.0 in scratch: c is not loaded inside r.0"},
        Refused{{"split r 8 clip", "cache t0 at r.0 in scratch"},
                "cache t0 at r.0 in scratch: t0 is kept in registers"},
        Refused{{"cache t0 at i in registers"}, "cache t0 at i in registers: t0 is started inside i already"},
        Refused{{"bind j vector"}, "bind j vector: its extent m is not constant"},
        Refused{{"split j 6 mask", "bind j.1 vector"}, "bind j.1 vector: a vector of 6 lanes"},
        Refused{{"bind j block"}, "bind j block: a block loop stands in the loop over i, which is none"},
        Refused{{"split i 4 mask", "split j 8 mask", "bind i.1 vector", "bind j.1 vector"},
                "bind j.1 vector: it stands in the vector loop over i.1"},
        Refused{{"split i 4 mask", "split j 8 mask", "bind j.1 vector", "bind i.1 vector"},
                "bind i.1 vector: a vector loop stands inside"},
        Refused{{"split i 4 mask", "split j 8 mask", "bind i.1 vector", "bind j.1 thread"},
                "bind j.1 thread: it stands in the vector loop over i.1"},
        Refused{{"split i 4 mask", "split j 8 mask", "bind j.1 thread", "bind i.1 vector"},
                "bind i.1 vector: a thread loop stands inside"}));

// An accumulator in the canonical order is not to be summed up in parts.
TEST(Step, ACacheRefusesTheCanonicalOrder) {
  std::string text(PRODUCT);
  text.erase(text.find(" free"), 5);
  const auto made = steps::apply(steps::kernel_of(loops::parse(text)),
                                 steps_of({"split r 8 clip", "cache t0 at r.0 in registers"}));
  EXPECT_EQ(std::get<std::string>(made),
            "cache t0 at r.0 in registers: t0 has the canonical order, whose parts are not its to choose");
}

constexpr std::string_view TRANSPOSED = R"(
program transposed(x: f32[m*n], y: written f32[m*n]; m in 0.., n in 0..) {
  for j < n { for i < m { y[j*m + i] = neg(x[i*n + j]) } }
})";
const std::vector<std::string_view> BY_TILES = {"split j 8 mask",
                                                "split i 8 mask",
                                                "reorder j.0, i.0, j.1, i.1",
                                                "cache x at i.0 in scratch filled by u, v pad 1",
                                                "bind j.0 block",
                                                "bind i.1 thread",
                                                "bind u thread"};

TEST(Step, ATranspositionGoesThroughTheScratchOfABlock) {
  const loops::Program nest = loops::parse(TRANSPOSED);
  const auto program = program_of(nest, steps_of(BY_TILES));
  EXPECT_EQ(
      loops::print(program.value()),
      R"(program transposed(x: f32[m*n], y: written f32[m*n], x_cache: local f32[72]; m in 0.., n in 0..) {
  for j.0 < -floor_div(-n, 8) block {
    for i.0 < -floor_div(-m, 8) {
      scratch x_cache[72] in scratch {
        for u < 8 thread {
          for v < 8 {
            x_cache[9*u + v] = (x[8*i.0*n + n*v + 8*j.0 + u] if 8*j.0 + u < n && 8*i.0 + v < m else 0x0p+0:f32)
          }
        }
        sync
        for j.1 < 8 {
          for i.1 < 8 thread {
            y[8*j.0*m + j.1*m + 8*i.0 + i.1] = neg(x_cache[i.1 + 9*j.1]) if 8*j.0 + j.1 < n && 8*i.0 + i.1 < m
          }
        }
        sync
      }
    }
  }
}
)");
  for (const std::int64_t m : {0, 1, 8, 21})
    for (const std::int64_t n : {0, 1, 16, 37}) {
      const index::Values sizes = {{index::Symbol("m"), m}, {index::Symbol("n"), n}};
      for (const bool reversed : {false, true})
        EXPECT_EQ(run_on(Data::integers, *program, sizes, {reversed, reversed}),
                  run_on(Data::integers, nest, sizes));
    }
}

TEST(Step, ACacheOfABlockStandsOutsideOfItsThreads) {
  const loops::Program nest = loops::parse(TRANSPOSED);
  EXPECT_EQ(why_none(nest, steps_of({"split j 8 mask", "split i 8 mask", "bind j.1 thread",
                                     "cache x at i.0 in scratch"})),
            "the array x_cache is shared by a block and stands in a loop over its threads");
  EXPECT_EQ(why_none(nest, steps_of({"split i 8 mask", "cache x at i.0 in registers", "bind i.1 thread"})),
            "the array x_cache is in the registers of each thread and stands around their loops");
}

TEST(Step, ACacheRefusesWhatIsLookedUpInside) {
  const loops::Program nest =
      loops::parse(R"(program gather(x: f32[n], e: i64[8], y: written f32[8]; n in 1..) {
    for i < 8 { index at = e[i] below n y[i] = x[at] } })");
  EXPECT_EQ(why_none(nest, steps_of({"cache x at i in scratch"})),
            "cache x at i in scratch: the place in x is looked up inside");
}

TEST(Product, InTilesOfRegistersWithPackedOperands) {
  expect_same_results(
      product(), steps_of({"split i 8, 4 mask", "split j 16, 8, 4 mask", "split r 6 clip",
                           "reorder i.0, j.0, r.0, j.1, i.1, r.1, i.2, j.2, j.3", "cache a at r.0 in scratch",
                           "cache b at j.1 in scratch", "cache t0 at i.1 in registers", "bind i.0 block",
                           "bind j.0 block", "bind i.2 unroll", "bind j.2 unroll", "bind j.3 vector"}));
}

TEST(Product, SummedUpByLanesThatAreCombined) {
  expect_same_results(product(), steps_of({"split r 8 mask", "bind r.1 vector", "bind i block"}));
}

TEST(Product, SummedUpByPartsThatAreMerged) {
  expect_same_results(product(), steps_of({"split r 4 remainder", "bind r.1 vector", "bind r.1_1 vector"}));
  expect_same_results(
      product(), steps_of({"split j 8 mask", "reorder r, j.1", "split r 4 remainder", "bind r.1 unroll"}));
}

TEST(Product, OfFusedRows) {
  expect_same_results(product(), steps_of({"fuse i, j as q", "split q 64, 8 remainder", "bind q.0 block",
                                           "bind q.1 unroll"}));
}

TEST(Product, OfSizesOfZero) {
  const auto program =
      program_of(product(), steps_of({"split i 8 mask", "split r 6 clip", "reorder i.0, r.0, j, i.1, r.1"}));
  EXPECT_FALSE(program.has_value());  // j has no constant extent
  const auto tiled = program_of(product(), steps_of({"split i 8 mask", "split j 4 mask", "split r 6 clip",
                                                     "reorder i.0, j.0, r.0, i.1, j.1, r.1"}));
  ASSERT_TRUE(tiled.has_value());
  for (const char* name : {"n", "k", "m"}) {
    index::Values sizes = SIZES;
    sizes[index::Symbol(name)] = 0;
    EXPECT_EQ(run_on(Data::integers, *tiled, sizes), run_on(Data::integers, product(), sizes)) << name;
  }
}

// Random steps: those that are not refused keep the results.
TEST(Product, OfRandomSteps) {
  std::mt19937_64 random(11);
  int applied = 0;
  for (int tries = 0; tries < 60; ++tries) {
    std::vector<std::string> axes = {"i", "j", "r"};
    std::vector<steps::Step> list;
    const auto add = [&](const steps::Step& next) {
      list.push_back(next);
      if (!program_of(product(), list)) list.pop_back();
    };
    std::vector<std::string> loops;
    for (const std::string& axis : axes) {
      const std::vector<std::int64_t> factors = {8,
                                                 static_cast<std::int64_t>(std::uint64_t{1} << random() % 3)};
      list.push_back(
          {steps::Split{axis, factors, random() % 2 == 0 ? steps::Tail::mask : steps::Tail::clip}});
      for (const char* piece : {".0", ".1", ".2"}) loops.push_back(axis + piece);
    }
    for (int count = 0; count < 8; ++count) {
      const std::string one = loops[random() % loops.size()], other = loops[random() % loops.size()];
      const std::string_view whats[] = {"a", "b", "c", "t0"};
      const std::string what(whats[random() % 4]);
      if (random() % 3 == 0) add({steps::Reorder{{one, other}}});
      if (random() % 3 == 0)
        add({steps::Cache{what, one, what == "t0" ? loops::Place::registers : loops::Place::scratch}});
      if (random() % 3 == 0)
        add({steps::BindLoop{one, random() % 2 == 0 ? loops::Bind::vector : loops::Bind::unroll}});
    }
    const auto program = program_of(product(), list);
    ASSERT_TRUE(program.has_value());
    applied += static_cast<int>(list.size()) - 3;
    ASSERT_EQ(run_on(Data::integers, *program, SIZES), run_on(Data::integers, product(), SIZES))
        << print(list) << "\n"
        << loops::print(*program);
  }
  EXPECT_GT(applied, 120);
}

TEST(Contraction, IsASumOfProductsThatEachLackAnAxis) {
  std::string text(PRODUCT);
  text.erase(text.find(" free"), 5);
  const std::string marked = loops::print(steps::with_free_contractions(loops::parse(text)));
  EXPECT_NE(marked.find("start t0: sum f32 free"), std::string::npos) << marked;
}

TEST(Contraction, IsNoSumOfSquaresNorOfRowsTimesOneVector) {
  for (const std::string_view factors : {"mul(a[i*k + r], a[i*k + r])", "mul(a[i*k + r], b[r])",
                                         "add(a[i*k + r], b[r*m + j])", "mul(a[i], b[r*m + j])"}) {
    std::string text(PRODUCT);
    text.erase(text.find(" free"), 5);
    text.replace(text.find("mul("), std::string_view("mul(a[i*k + r], b[r*m + j])").size(), factors);
    const loops::Program nest = loops::parse(text);
    EXPECT_EQ(loops::print(steps::with_free_contractions(nest)), loops::print(nest));
  }
}

constexpr std::string_view LONG_SUMS = R"(
program sums(x: f32[n*m], y: written f32[m]; n in 0..1000000, m in 0..) {
  for j < m {
    start t0: sum f32 free folded
    for r < n {
      t0 += x[r*m + j] at r
    }
    y[j] = t0
  }
})";

TEST(FoldedSums, HaveChainsOf512) {
  const auto program = program_of(loops::parse(LONG_SUMS), steps_of({"bind r serial"}));
  EXPECT_EQ(loops::print(program.value()),
            R"(program sums(x: f32[m*n], y: written f32[m]; n in 0..1000000, m in 0..) {
  for j < m {
    start t0: sum f32 free folded
    for rff < -floor_div(-n, 262144) {
      start t2: sum f32 free folded
      for rf < least(512, -512*rff - floor_div(-n, 512)) {
        start t1: sum f32 free folded
        for r < least(512, n - 512*rf - 262144*rff) {
          merge t1 (x[m*r + 512*m*rf + 262144*m*rff + j])
        }
        merge t2 (t1)
      }
      merge t0 (t2)
    }
    y[j] = t0
  }
}
)");
}

// Copies inside and outside of what is folded, ends that no chain divides, two levels.
TEST(FoldedSums, AreThoseOfTheNest) {
  const std::vector<std::vector<std::string_view>> lists = {
      {"bind r serial"},
      {"bind j block"},
      {"split j 8 mask", "bind j.1 vector"},
      {"split r 32 mask", "bind r.1 vector"},
      {"split r 64, 16 remainder", "bind r.1 unroll", "bind r.2 vector"},
      {"split r 1024 clip"},
      {"split r 16 mask", "split j 8 mask", "reorder j.0, r.0, r.1, j.1", "bind j.1 vector"},
      {"split r 12 mask", "bind r.1 unroll"},
      {"split r 32 mask", "bind j block", "bind r.1 thread"}};
  for (const std::int64_t n : {1, 511, 513, 3000})
    for (const auto& list : lists) {
      SCOPED_TRACE(print(steps_of(list)));
      const loops::Program nest = loops::parse(LONG_SUMS);
      const index::Values sizes = {{index::Symbol("n"), n}, {index::Symbol("m"), 11}};
      ASSERT_EQ(why_none(nest, steps_of(list)), "");
      EXPECT_EQ(run_on(Data::integers, *program_of(nest, steps_of(list)), sizes),
                run_on(Data::integers, nest, sizes));
    }
}

TEST(FreeSums, AreThoseThatRoundAndComeBack) {
  for (const std::string_view monoid : {"sum f32", "prod f64", "max f32", "sum i64"}) {
    const std::string type(monoid.substr(monoid.find(' ') + 1)), start = cat("start t0: ", monoid);
    const loops::Program nest =
        loops::parse(cat("program k(a: ", type, "[100], b: written ", type, "[1]) {\n  ", start,
                         "\n  for r < 100 {\n    t0 += a[r] at r\n  }\n", "  b[0] = t0\n}\n"));
    const loops::Program free = steps::with_free_sums(nest);
    const bool rounds = monoid == "sum f32" || monoid == "prod f64";
    EXPECT_EQ(loops::print(free).find(start + " free folded") != std::string::npos, rounds) << monoid;
    EXPECT_EQ(free.body == nest.body, !rounds) << monoid;
    EXPECT_EQ(loops::print(steps::without_free_sums(free)), loops::print(nest));
  }
}

}  // namespace

}  // namespace twinloom::tests
