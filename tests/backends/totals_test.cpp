// Reductions and prefixes on the CPU against the interpreter, bit for bit.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/backends/compare.h"

namespace twinloom::tests {

namespace {

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [name, word] : words) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + word.size()))
      text.replace(at, name.size(), word);
  }
  return text;
}

struct Case {
  const char* monoid;
  const char* dtype;
  const char* outside;
};
constexpr Case single_part[] = {
    {"sum", "f32", "-0x0p+0"}, {"sum", "f64", "-0x0p+0"}, {"prod", "f32", "0x1p+0"}, {"max", "f32", "-inf"},
    {"min", "i8", "127"},      {"sum", "i64", "0"},       {"any", "b8", "0"},        {"all", "b8", "1"}};

// The canonical tree of each row: chains in lanes, halves, a stack of units.
constexpr const char* inner = R"(program inner(x: $T[n*m], y: written $T[n]; n in 0.., m in 1..) {
  for i < n block {
    start t0 : $op $T depth 20
    for u < floor_div(m + 1023, 1024) {
      start t1 : $op $T copies (g, l)
      for c < 4 {
        for g < 32 unroll { for l < 8 vector {
          merge t1 ((x[m*i + 1024*u + 256*c + 8*g + l] if 1024*u + 256*c + 8*g + l < m else $out: $T)) $mask
        } }
      }
      combine t1 across g halves
      combine t1 across l halves
      push t1 onto t0 at u
    }
    fold t2 = t0 of floor_div(m + 1023, 1024)
    y[i] = t2
  } })";

TEST(Totals, RowsByHalvesAndAStackOfUnits) {
  for (const Case& of : single_part) {
    SCOPED_TRACE(cat(of.monoid, " ", of.dtype));
    for (const char* mask : {"", "if 1024*u + 256*c + 8*g + l < m"}) {
      const std::string text =
          filled(inner, {{"$mask", mask}, {"$op", of.monoid}, {"$out", of.outside}, {"$T", of.dtype}});
      expect_same(text, {.sizes = {2, 3}});
      expect_same(text, {.sizes = {3, 5000}, .threads = 2});
    }
  }
}

// The vector loop is around everything: each lane has a column of its own. Copies along a serial loop lie in
// memory.
constexpr const char* outer = R"(program outer(x: $T[m*n], y: written $T[n]; n in 0.., m in 1..) {
  for i < floor_div(n + 7, 8) block { for l < 8 vector {
    start t0 : $op $T depth 20
    for u < floor_div(m + 1023, 1024) {
      start t1 : $op $T copies (r)
      for c < 4 { for r < 256 {
        merge t1 ((x[n*(1024*u + 256*c + r) + 8*i + l] if 8*i + l < n && 1024*u + 256*c + r < m else $out: $T))
            if 1024*u + 256*c + r < m
      } }
      combine t1 across r halves
      push t1 onto t0 at u $mask
    }
    fold t2 = t0 of floor_div(m + 1023, 1024)
    y[8*i + l] = t2 if 8*i + l < n
  } } })";

TEST(Totals, ColumnsInLockStep) {
  for (const Case& of : single_part) {
    SCOPED_TRACE(cat(of.monoid, " ", of.dtype));
    for (const char* mask : {"", "if 0 < m"}) {
      const std::string text =
          filled(outer, {{"$mask", mask}, {"$op", of.monoid}, {"$out", of.outside}, {"$T", of.dtype}});
      expect_same(text, {.sizes = {11, 3}});
      expect_same(text, {.sizes = {5, 2100}, .threads = 2});
    }
  }
}

TEST(Totals, ATupleTotalKeepsThePlaceOfTheFirstOfEquals) {
  for (const char* monoid : {"argmax", "argmin", "argmax_last", "argmin_last"}) {
    for (const char* dtype : {"f32", "i32", "f64"}) {
      const std::string text =
          filled(R"(program p(x: $T[n*m], v: written $T[n], y: written i64[n]; n in 0.., m in 1..) {
          for i < n block {
            start t0 : $op $T copies (g, l)
            for c < floor_div(m + 15, 16) { for g < 2 unroll { for l < 8 vector {
              merge t0 ((x[m*i + 16*c + 8*g + l] if 16*c + 8*g + l < m else 0: $T), count(16*c + 8*g + l))
                  if 16*c + 8*g + l < m
            } } }
            combine t0 across g halves
            combine t0 across l halves
            v[i] = t0.0
            y[i] = t0.1
          } })",
                 {{"$op", monoid}, {"0: $T", dtype[0] == 'f' ? "0x0p+0: $T" : "0: $T"}, {"$T", dtype}});
      SCOPED_TRACE(cat(monoid, " ", dtype));
      for (const std::int64_t m : {1, 15, 16, 100}) expect_same(text, {.sizes = {6, m}});
    }
  }
}

TEST(Totals, NeighboursArePairedInEveryKindOfLoop) {
  for (const char* bind : {"", "unroll", "vector"}) {
    SCOPED_TRACE(bind);
    for (const char* pairing : {"halves", "neighbours"}) {
      expect_same(filled(R"(program p(x: f32[n], y: written f32[1]; n in 0..) {
          start t0 : sum f32 copies (a)
          for c < floor_div(n, 16) { for a < 16 $bind { merge t0 (x[16*c + a]) } }
          combine t0 across a $pairing
          y[0] = t0 })",
                         {{"$bind", bind}, {"$pairing", pairing}}),
                  {.sizes = {64}});
    }
  }
}

TEST(Totals, PrefixesAlongEveryKindOfLoop) {
  for (const char* bind : {"", "unroll", "vector"}) {
    SCOPED_TRACE(bind);
    expect_same(filled(R"(program p(x: f32[1024*n], y: written f32[1024*n], z: written f32[n]; n in 0..) {
          for k < n {
            start t0 : sum f32 copies (r)
            for r < 32 $bind { for j < 32 { merge t0 (x[1024*k + 32*r + j]) } }
            prefix t1, t2 = t0 across r
            for r2 < 32 { }
            z[k] = t2
          } })",
                       {{"$bind", bind}}),
                {.sizes = {3}});
  }
}

TEST(Totals, ATupleHasPrefixes) {
  for (const char* bind : {"", "unroll", "vector"}) {
    SCOPED_TRACE(bind);
    expect_same(filled(R"(program p(x: i32[64*n], z: written i32[n], at: written i64[n]; n in 0..) {
          for k < n {
            start t0 : argmax_last i32 copies (r)
            for r < 8 $bind { for j < 8 { merge t0 (x[64*k + 8*r + j], count(8*r + j)) } }
            prefix t1, t2 = t0 across r
            z[k] = t2.0
            at[k] = t2.1
          } })",
                       {{"$bind", bind}}),
                {.sizes = {3}});
  }
}

// What core/schedule/panel.cpp makes of sums of columns.
TEST(Totals, ColumnsSideBySideWaitInArrays) {
  expect_same(R"(program columns(x: f32[32768], y: written f32[16], chains: local written f32[1024],
                                 units: local written f32[32]) {
    scratch units[32] in registers {
      scratch chains[1024] in registers {
        for k0 < 2 {
          for k3 < 64 { for i < 2 { for l < 8 vector {
            start t1: sum f32 copies (k2)
            for k1 < 4 { for k2 < 4 unroll { merge t1 (x[16384*k0 + 4096*k1 + 1024*k2 + 16*k3 + 8*i + l]) } }
            combine t1 across k2 halves
            chains[16*k3 + 8*i + l] = t1
          } } }
          for i1 < 2 { for l1 < 8 vector {
            start t2: sum f32 copies (k4)
            for k4 < 64 { merge t2 (chains[16*k4 + 8*i1 + l1]) }
            combine t2 across k4 halves
            units[16*k0 + 8*i1 + l1] = t2
          } }
        }
        for i2 < 2 { for l2 < 8 vector {
          start t4: sum f32 depth 2
          for u < 2 { start t3: sum f32 merge t3 (units[16*u + 8*i2 + l2]) push t3 onto t4 at u }
          fold t0 = t4 of 2
          y[8*i2 + l2] = t0
        } }
      }
    }
  })",
              {});
}

}  // namespace

}  // namespace twinloom::tests
