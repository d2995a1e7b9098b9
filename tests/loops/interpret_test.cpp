// What each statement does, on programs short enough to check by eye.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/stopwatch.h"
#include "tests/loops/run.h"
#include "tests/support/thrown.h"

namespace twinloom::loops {
namespace {

using ops::DType;
using tests::Elements;
using tests::run;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Interpret, AMaskedLoadTouchesNothing) {
  Elements x(DType::f32, {1, 2}), y(DType::f32, 4);
  run("program p(x: f32[2], y: written f32[4]) { for i < 4 { y[i] = (x[i] if i < 2 else 9:f32) } }",
      Stage::nest, {&x, &y});
  tests::expect_same(y, Elements(DType::f32, {1, 2, 9, 9}));
}

TEST(Interpret, AnAccessOutsideItsMemoryIsABug) {
  Elements x(DType::f32, {1, 2}), y(DType::f32, 1);
  const auto bug = [&](std::string_view body) {
    const std::string text = cat("program p(x: f32[2], y: written f32[1]; n in 0..) { ", body, " }");
    return tests::words_of<Bug>([&] { run(text, Stage::nest, {&x, &y}, {2}); });
  };
  EXPECT_NE(bug("y[0] = x[n]").find("x[n] touches element 2 of x, which has the elements from 0 to below 2"),
            std::string::npos);
  EXPECT_NE(bug("y[n - 3] = x[0]").find("the store to y[n - 3] touches element -1 of y"), std::string::npos);
}

// What a thread computes for an element that there is not is nobody's, a quotient of 0 too.
TEST(Interpret, AThreadWithoutAnElementMayDivideByItsCount) {
  Elements x(DType::f32, {1, 2}), y(DType::f32, {7, 7});
  const auto text = [](const char* bind) {
    return cat("program p(x: f32[2], y: written f32[2]; n in 0..) { for i < 2 ", bind,
               " { t0 = f32(count(floor_mod(i, n))) y[i] = add(x[i], t0) if i < n } }");
  };
  run(text("thread"), Stage::program, {&x, &y}, {0});
  tests::expect_same(y, Elements(DType::f32, {7, 7}));
  EXPECT_NE(tests::words_of<Bug>([&] {
              run(text(""), Stage::program, {&x, &y}, {0});
            }).find("divided by 0"),
            std::string::npos);
}

TEST(Interpret, AViewMayReachBehindElementZero) {
  Elements x(DType::f32, {1, 2, 3}), y(DType::f32, 3);
  const Program program = parse("program p(x: f32[3], y: written f32[3]) { for i < 3 { y[i] = x[-i] } }");
  const std::vector<Memory> arguments = {{x.data() + 2 * sizeof(float), -2, 1}, {y.data(), 0, 3}};
  interpret(program, arguments, {});
  tests::expect_same(y, Elements(DType::f32, {3, 2, 1}));
}

TEST(Interpret, ConvertsRoundOnceAndSixteenBitsAreOnlyStored) {
  Elements x(DType::f16, {1.5, 65504, -0.0}), y(DType::bf16, 3), z(DType::i8, 3);
  run("program p(x: f16[3], y: written bf16[3], z: written i8[3]) { for i < 3 { "
      "y[i] = bf16(mul(f32(x[i]), 3:f32)) z[i] = i8(x[i]) } }",
      Stage::nest, {&x, &y, &z});
  tests::expect_same(y, Elements(DType::bf16, {4.5, 196608, -0.0}));
  tests::expect_same(z, Elements(DType::i8, {1, 127, 0}));
}

TEST(Interpret, AnyByteThatIsNotZeroIsTrue) {
  Elements x(DType::b8, {0, 1, 1}), y(DType::b8, 3), n(DType::i32, 3);
  x.data()[2] = std::byte{200};
  run("program p(x: b8[3], y: written b8[3], n: written i32[3]) { for i < 3 { y[i] = x[i] n[i] = i32(x[i]) } "
      "}",
      Stage::nest, {&x, &y, &n});
  EXPECT_EQ(y.data()[2], std::byte{1});
  tests::expect_same(n, Elements(DType::i32, {0, 1, 1}));
}

TEST(Interpret, TupleTotalsKeepThePlaceOfTheFirst) {
  Elements x(DType::f32, {1, 7, 2, 7, 2, nan, nan, 9}), y(DType::f32, 2), at(DType::i64, 2);
  run(R"(program p(x: f32[8], y: written f32[2], at: written i64[2]) {
    for r < 2 {
      start t0: argmax f32
      for k < 4 { t0 += x[4*r + k], count(k) at k }
      y[r] = t0
      at[r] = t0.1
    }
  })",
      Stage::nest, {&x, &y, &at});
  tests::expect_same(y, Elements(DType::f32, {7, nan}));
  tests::expect_same(at, Elements(DType::i64, {1, 1}));
}

// Over 8 numbers of very different size every pairing has bits of its own.
TEST(Interpret, CombineGoesByItsPairing) {
  Elements x(DType::f32, {1e8, 1, 2, 0.5, -1e8, 0.25, 4, 8}), y(DType::f32, 2);
  run(R"(program p(x: f32[8], y: written f32[2]) {
    start t0: sum f32 copies (l)
    start t1: sum f32 copies (l)
    for l < 8 vector {
      merge t0 (x[l])
      merge t1 (x[l])
    }
    combine t0 across l halves
    combine t1 across l neighbours
    y[0] = t0
    y[1] = t1
  })",
      Stage::program, {&x, &y});
  float v[8];
  for (int i = 0; i < 8; ++i) v[i] = static_cast<float>(x.get(i).real());
  const float halves = ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
  const float neighbours = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
  ASSERT_NE(halves, neighbours);
  tests::expect_same(y, Elements(DType::f32, {double{halves}, double{neighbours}}));
}

TEST(Interpret, TotalsOfColumnsAreOfThePlacesOfTheirRows) {
  Elements x(DType::f32, {1e8, 1, -1e8, 2, 1, 4}), y(DType::f32, 3), z(DType::f32, 2);
  run(R"(program p(x: f32[6], y: written f32[3], z: written f32[2]) {
    start t0: sum f32 copies (k)
    for i < 3 {
      start t1: sum f32
      for k < 2 {
        t0 += x[2*i + k] at floor_mod(2*i, 3)
        t1 += x[2*i + k] at k
      }
      y[i] = t1
    }
    for k < 2 {
      z[k] = t0
    }
  })",
      Stage::nest, {&x, &y, &z});
  tests::expect_same(y, Elements(DType::f32, {1e8, -1e8, 5}));
  tests::expect_same(z, Elements(DType::f32, {1, 7}));
}

TEST(Interpret, CombineInsideALoopOverCopiesTakesThatMember) {
  Elements x(DType::i32, {1, 2, 3, 4, 5, 6, 7, 8}), y(DType::i32, 3);
  run(R"(program p(x: i32[8], y: written i32[3]) {
    start t0: sum i32 copies (t, l)
    for t < 2 thread {
      for l < 4 vector { merge t0 (x[4*t + l]) }
      combine t0 across l halves
      y[t] = t0
    }
    sync
    combine t0 across t halves
    y[2] = t0
  })",
      Stage::program, {&x, &y});
  tests::expect_same(y, Elements(DType::i32, {10, 26, 36}));
}

TEST(Interpret, PrefixGivesWhatCameBeforeAndAll) {
  Elements x(DType::i32, {1, 2, 3, 4, 5}), y(DType::i32, 6);
  run(R"(program p(x: i32[5], y: written i32[6]) {
    start t0: sum i32 copies (r)
    for r < 5 { merge t0 (x[r]) }
    prefix t1, t2 = t0 across r
    for r < 5 { y[r] = t1 }
    y[5] = t2
  })",
      Stage::program, {&x, &y});
  tests::expect_same(y, Elements(DType::i32, {0, 1, 3, 6, 10, 15}));
}

constexpr std::string_view gather = R"(program p(x: f32[3], i: i64[4], y: written f32[4]; m in 0..) {
  for k < 4 {
    index j = i[k] below 3 wraps if k < m node 17
    y[k] = (x[j] else 8:f32)
  }
})";

TEST(Interpret, IndicesWrapFailAndAreMasked) {
  Elements x(DType::f32, {1, 2, 3}), y(DType::f32, 4);
  Elements good(DType::i64, {2, -1, -3, 99});
  EXPECT_FALSE(run(gather, Stage::nest, {&x, &good, &y}, {3}));
  tests::expect_same(y, Elements(DType::f32, {3, 3, 1, 8}));
  Elements bad(DType::i64, {0, 3, -4, 1});
  const auto failure = run(gather, Stage::nest, {&x, &bad, &y}, {4});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->node, 17);
  EXPECT_EQ(failure->value, 3);
  EXPECT_EQ(failure->bound, 3);
  EXPECT_EQ(failure->offset, 1);
  tests::expect_same(y, Elements(DType::f32, {1, 8, 8, 2}));
}

TEST(Interpret, AStoreThroughAFailedIndexDoesNothing) {
  Elements i(DType::u64, {1, -1}), y(DType::f32, {5, 6});
  const auto failure = run(R"(program p(i: u64[2], y: written f32[2]) {
    for k < 2 {
      index j = i[k] below 2 wraps
      y[j] = 9:f32
    }
  })",
                           Stage::nest, {&i, &y});
  EXPECT_TRUE(failure) << "a u64 above the range of int64 does not wrap";
  tests::expect_same(y, Elements(DType::f32, {5, 9}));
}

TEST(Interpret, AtomicsUpdate) {
  Elements x(DType::i32, {3, 9, 4}), y(DType::i32, {100, 5});
  run(R"(program p(x: i32[3], y: written i32[2]) {
    for k < 3 {
      y[0] atomic_add x[k]
      y[1] atomic_max x[k]
    }
  })",
      Stage::nest, {&x, &y});
  tests::expect_same(y, Elements(DType::i32, {116, 9}));
}

TEST(Interpret, TheLastBlockSeesAllStoresInAnyOrder) {
  const Program program =
      parse(R"(program p(x: i32[8], part: written i32[4], c: written i32[1], y: written i32[1]) {
    for b < 4 block {
      part[b] = add(x[2*b], x[2*b + 1])
      last_block c[0] among (b) {
        start t0: sum i32
        for k < 4 { merge t0 (part[k]) }
        y[0] = t0
      }
    }
  })");
  verify(program, Stage::program);
  for (const bool reversed : {false, true}) {
    Elements x(DType::i32, {1, 2, 3, 4, 5, 6, 7, 8}), part(DType::i32, 4), c(DType::i32, {0}),
        y(DType::i32, 1);
    run(program, {&x, &part, &c, &y}, {}, {.reversed_blocks = reversed});
    EXPECT_EQ(y.get(0), ops::Number(36));
    EXPECT_EQ(c.get(0), ops::Number(0));
  }
}

// The first failure is that of the first turn.
TEST(Interpret, BlocksAndThreadsRunFromTheLastWhenAsked) {
  const auto first = [](std::string_view bind, const Order& order) {
    const Program program =
        parse(cat("program p(x: i64[4]) { for k < 4 ", bind, " { index j = x[k] below 5 } }"));
    Elements x(DType::i64, {5, 6, 7, 8});
    return run(program, {&x}, {}, order)->value;
  };
  EXPECT_EQ(first("block", {}), 5);
  EXPECT_EQ(first("block", {.reversed_blocks = true}), 8);
  EXPECT_EQ(first("block", {.reversed_threads = true}), 5);
  EXPECT_EQ(first("thread", {}), 5);
  EXPECT_EQ(first("thread", {.reversed_blocks = true}), 5);
  EXPECT_EQ(first("thread", {.reversed_threads = true}), 8);
}

TEST(Interpret, ScratchIsSharedAndRegistersAreEachThreads) {
  Elements x(DType::i32, {1, 2, 3, 4}), y(DType::i32, 4);
  run(R"(program p(x: i32[4], y: written i32[4], s: local i32[4], r: local i32[1]) {
    scratch s[4] in scratch {
      scratch r[1] in registers {
        for t < 4 thread {
          s[t] = x[t]
          r[0] = x[t]
        }
        sync
        for t < 4 thread { y[t] = add(mul(10:i32, s[3 - t]), r[0]) }
      }
    }
  })",
      Stage::program, {&x, &y});
  tests::expect_same(y, Elements(DType::i32, {41, 32, 23, 14}));
}

TEST(Interpret, ScratchStartsPoisonedInEveryTurn) {
  Elements y(DType::f32, 2);
  run(R"(program p(y: written f32[2], s: local f32[1]) {
    for k < 2 { scratch s[1] in memory { y[k] = s[0] s[0] = 1:f32 } }
  })",
      Stage::program, {&y});
  tests::expect_same(y, Elements(DType::f32, {nan, nan}));
}

TEST(Interpret, StableSortOrdersAndCounts) {
  Elements keys(DType::i64, {2, 0, -1, 2, 3, 0, 1}), order(DType::i64, 7), starts(DType::i64, 4);
  run(R"(program p(keys: i64[n], order: written i64[n], starts: written i64[m + 1]; n in 0.., m in 0..) {
    call stable_sort(order, starts) sizes (n, m) {
      slot t0 at (p) { t0 = keys[p] }
    }
  })",
      Stage::nest, {&keys, &order, &starts}, {7, 3});
  tests::expect_same(order, Elements(DType::i64, {1, 5, 6, 0, 3, -1, -1}));
  tests::expect_same(starts, Elements(DType::i64, {0, 2, 3, 5}));
}

TEST(Interpret, StableSortOfRowsSortsEachAlone) {
  Elements keys(DType::i64, {2, 0, 2, 1, 1, 0}), order(DType::i64, 6), starts(DType::i64, 7);
  constexpr const char* text =
      R"(program p(keys: i64[n*r], order: written i64[n*r], starts: written i64[m*r + 1];
      n in 0.., m in 0.., r in 0..) {
    call stable_sort(order, starts) sizes (n, m, r) {
      slot t0 at (p) { t0 = keys[p] }
    }
  })";
  run(text, Stage::nest, {&keys, &order, &starts}, {3, 3, 2});
  tests::expect_same(order, Elements(DType::i64, {1, 0, 2, 5, 3, 4}));
  tests::expect_same(starts, Elements(DType::i64, {0, 1, 1, 3, 4, 6, 6}));
  Elements outside(DType::i64, {2, 0, 3, 1, 1, 0});
  EXPECT_NE(tests::words_of<Bug>([&] {
              run(text, Stage::nest, {&outside, &order, &starts}, {3, 3, 2});
            }).find("the key 3 of a row, below 3"),
            std::string::npos);
}

TEST(Interpret, TheEpilogueOfAStableSort) {
  Elements keys(DType::i64, {7, 0, 7, 1, 1, 0}), x(DType::f32, {10, 11, 12, 20, 21, 22}),
      order(DType::i64, 6), y(DType::f32, 6);
  run(R"(program p(keys: i64[n*r], x: f32[n*r], order: written i64[n*r], y: written f32[n*r];
      n in 0.., r in 0..) {
    call stable_sort(order) sizes (n, 4294967296, r) {
      slot t0 at (p) { t0 = keys[p] }
      slot t1 at (j, q) { index i = t1 below n  y[n*j + q] = x[i + n*j] }
    }
  })",
      Stage::nest, {&keys, &x, &order, &y}, {3, 2});
  tests::expect_same(order, Elements(DType::i64, {1, 0, 2, 2, 0, 1}));
  tests::expect_same(y, Elements(DType::f32, {11, 10, 12, 22, 20, 21}));
}

TEST(Interpret, StableSortOfTheOrderAlone) {
  Elements keys(DType::i64, {4294967295.0, 0, 7, 1, 1, 0}), order(DType::i64, 6);
  constexpr const char* text =
      R"(program p(keys: i64[n*r], order: written i64[n*r]; n in 0.., r in 0..) {
    call stable_sort(order) sizes (n, 4294967296, r) {
      slot t0 at (p) { t0 = keys[p] }
    }
  })";
  run(text, Stage::nest, {&keys, &order}, {3, 2});
  tests::expect_same(order, Elements(DType::i64, {1, 2, 0, 2, 0, 1}));
  Elements outside(DType::i64, {2, 0, 3, 1, -1, 0});
  EXPECT_NE(tests::words_of<Bug>([&] {
              run(text, Stage::nest, {&outside, &order}, {6, 1});
            }).find("the key -1 of a row"),
            std::string::npos);
}

// (a + d) + c of three; what is there before plays no part.
TEST(Interpret, SumsByKeyAreCanonicalInEachRow) {
  Elements keys(DType::i64, {2, 0, 2, 2, 1, 1, 1, 1}), values(DType::f64, {0x1p53, -0.0, 1, 1, 1, 2, 3, 4}),
      sums(DType::f64, {7, 7, 7, 7, 7, 7});
  Elements list(DType::f64, 8), ends(DType::i64, 6);
  constexpr const char* text = R"(program p(keys: i64[n*r], values: f64[n*r], sums: written f64[m*r],
      list: written f64[n*r], ends: written i64[m*r]; n in 0.., m in 0.., r in 0..) {
    call sums_by_key(sums, list, ends) sizes (n, m, r) {
      slot t0 at (j, p) { t0 = keys[j*n + p] }
      slot t1 at (i, q) { t1 = values[i*n + q] }
    }
  })";
  run(text, Stage::nest, {&keys, &values, &sums, &list, &ends}, {4, 3, 2});
  tests::expect_same(sums, Elements(DType::f64, {-0.0, -0.0, 0x1p53, -0.0, 10, -0.0}));
  Elements outside(DType::i64, {2, 0, 3, 1, 1, 0, 0, 0});
  EXPECT_NE(tests::words_of<Bug>([&] {
              run(text, Stage::nest, {&outside, &values, &sums, &list, &ends}, {4, 3, 2});
            }).find("the key 3 of a row, below 3"),
            std::string::npos);
}

TEST(Interpret, AMillionElementsTakeSeconds) {
  const std::int64_t n = 1 << 20;
  Elements x(DType::f32, n), y(DType::f32, n);
  x.fill([](std::int64_t i) { return static_cast<double>(i % 7); });
  Stopwatch stopwatch;
  run("program p(x: f32[n], y: written f32[n]; n in 0..) { for i < n { y[i] = add(mul(x[i], x[i]), 1:f32) } "
      "}",
      Stage::nest, {&x, &y}, {n});
  const double seconds = stopwatch.lap();
  EXPECT_EQ(y.get(n - 1), ops::Number(std::pow((n - 1) % 7, 2) + 1));
  EXPECT_LT(seconds, 60) << "two orders of magnitude above what it takes";
  RecordProperty("seconds", std::to_string(seconds));
}

}  // namespace
}  // namespace twinloom::loops
