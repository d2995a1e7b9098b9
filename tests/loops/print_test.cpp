// The loop form prints, reads back as the same form, and prints the same again.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/loops/rewrite.h"
#include "tests/support/thrown.h"

namespace twinloom::loops {
namespace {

constexpr std::string_view row_sum =
    R"(program row_sum(x: f32[m*n], y: written f32[n]; n in 0..100, m in 1.. % 4 ~ 64) {
  for i < n {
    start t0: sum f32
    for k < m {
      t0 += x[i*m + k] at k
    }
    y[i] = t0
  }
}
)";

// One of everything that row_sum has not.
constexpr std::string_view everything =
    R"(program all_kinds(x: f32[n], h: bf16[n], p: i64[n], y: written f32[n], c: written i32[1],
    s: local f32[64], r: local i32[n]; n in ..4096) {
  for b < ceil_blocks block {
    scratch s[64] in scratch {
      scratch r[n] in memory {
        start t1: sum f32 copies (l.1, l.0)
        start t2: argmax f32
        start t3: sum f32 depth 24
        for l.1 < 4 thread {
          for l.0 < 16 vector {
            merge t1 ((x[64*b + 16*l.1 + l.0] if 64*b + 16*l.1 + l.0 < n else -0x0p+0:f32)) if l.0 < n && 0 < n
          }
        }
        prefetch x[64*b + 2*n]
        prefetch y[b - 1] written
        prefetch x[64*b] count 64 if b < n
        sync
        combine t1 across l.0 halves
        combine t1 across l.1 neighbours
        push t1 onto t3 at b if 0 < n
        fold t4 = t3 of b + 1
        for u < 2 unroll {
          index j = p[u] below n wraps if u < n node 3
          index q = p[u + 1] below n
          y[j] = where(lt(t4, f32(h[j])), (x[j] else inf:f32), 0x1.8p+1:f32) if j < n
          r[j] atomic_add i32(count(j + 1))
          c[0] atomic_max 7:i32
        }
        last_block c[0] among (b) {
          t5 = add(t2, t4)
          y[0] = t5
          y[1] = f32(t2.1)
        }
      }
    }
  }
}
)";

constexpr std::string_view scans = R"(program scans(x: f32[n], y: written f32[n]; n in 0..) {
  start t0: prod f32
  for k < n {
    scan t1 = t0 (x[k]) at k exclusive
    y[k] = t1
  }
  start t2: sum f32 copies (g)
  prefix t3, t4 = t2 across g
  {
    y[0] = nan:f32
  }
}
)";

constexpr std::string_view sort =
    R"(program sort(keys: i64[n], order: written i64[n], starts: written i64[m + 1]; n in 0.., m in 0..) {
  call stable_sort(order, starts) sizes (n, m) {
    slot t0 at (p) {
      t0 = keys[p]
    }
  }
}
)";

constexpr std::string_view order =
    R"(program order(keys: i64[n*r], x: f32[n*r], order: written i64[n*r], y: written f32[n*r]; n in 0.., r in 0..) {
  call stable_sort(order) sizes (n, 4294967296, r) {
    slot t0 at (p) {
      t0 = keys[p]
    }
    slot t1 at (j, q) {
      index i = t1 below n
      y[n*j + q] = x[i + n*j]
    }
  }
}
)";

constexpr std::string_view sums =
    R"(program sums(keys: i64[n*r], x: f32[n*r], y: written f32[m*r], list: written f32[n*r], ends: written i64[m*r]; n in 0.., m in 0.., r in 0..) {
  call sums_by_key(y, list, ends) sizes (n, m, r) {
    slot t0 at (j, p) {
      t0 = keys[n*j + p]
    }
    slot t1 at (k, q) {
      t1 = x[n*k + q]
    }
  }
}
)";

class RoundTrip : public testing::TestWithParam<std::string_view> {};

TEST_P(RoundTrip, PrintsWhatItRead) {
  const Program program = parse(GetParam());
  const std::string text = print(program);
  const Program again = parse(text);
  EXPECT_EQ(print(again), text);
  EXPECT_TRUE(equal(*program.body, *again.body));
}

INSTANTIATE_TEST_SUITE_P(Texts, RoundTrip, testing::Values(row_sum, everything, scans, sort, order, sums));

TEST(Print, IsTheTextItself) {
  EXPECT_EQ(print(parse(row_sum)), row_sum);
  EXPECT_EQ(print(parse(sort)), sort);
}

TEST(Print, KeepsWhatALoadGivesOutsideItsMask) {
  const Program program = parse("program p(x: f32[1], y: written f32[1]) { y[0] = (x[0] else -inf:f32) }");
  EXPECT_NE(print(program).find("y[0] = (x[0] else -inf:f32)"), std::string::npos);
}

std::string error_of(std::string_view text) {
  return tests::words_of<Error>([&] { parse(text); });
}

TEST(Parse, SaysWhereItStopped) {
  EXPECT_NE(
      error_of("program p() {\n  t0 = exq(1:f32)\n}").find("program line 2 column 11: expected an operator"),
      std::string::npos)
      << error_of("program p() {\n  t0 = exq(1:f32)\n}");
  EXPECT_NE(error_of("program p() { z[0] = 1:f32 }").find("expected a buffer"), std::string::npos);
  EXPECT_NE(error_of("program p() { t0 = add(1:f32) }").find("expected 2 inputs of add"), std::string::npos);
  EXPECT_NE(error_of("program p(x: f32[1], x: f32[1]) {}").find("no second buffer 'x'"), std::string::npos);
  EXPECT_NE(error_of("program p() { q5 = 1:f32 }").find("a temp such as t3"), std::string::npos);
}

}  // namespace
}  // namespace twinloom::loops
