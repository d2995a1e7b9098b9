// Threads whose row lies past the end load the last row, and indices that are one for all elements are looked
// up once: which of them have no mask, and that no bit changes.
#include <gtest/gtest.h>

#include "core/loops/nest.h"
#include "core/schedule/schedule.h"
#include "tests/schedule/run.h"

namespace twinloom::tests {

namespace {

std::string programs_of(const loops::Program& nest, const schedule::Schedule& plan) {
  std::string text;
  for (const loops::Program& program : schedule::apply(nest, plan)) text += loops::print(program);
  return text;
}

struct Case {
  std::string_view name, nest, schedule;
  std::string_view has, has_not;  // words of the programs
};

constexpr std::string_view ROWS = R"(program rows(x: f32[m*32], y: written f32[m]; m in 1..) {
  for i < m { start t0: sum f32 for k < 32 { t0 += x[32*i + k] at k } y[i] = t0 } })";
constexpr std::string_view BY_WARPS =
    "schedule split -1 i : 4 mask loop -1 i.0 block loop -1 i.1 thread loop 0 k.0 thread";

const std::vector<Case> cases = {
    {"a row a warp", ROWS, BY_WARPS, "x[k.0 + 32*least(4*i.0 + i.1, m - 1)]", "else"},
    {"threads without a block around, of a size that may be 0",
     R"(program rows(x: f32[m*32], y: written f32[m]; m in 0..8) {
  for i < m { start t0: sum f32 for k < 32 { t0 += x[32*i + k] at k } y[i] = t0 } })",
     "schedule split -1 i : mask loop -1 i.0 thread loop 0 k.0 thread", "if i.0 < m", "least"},
    {"one index for all elements, of which there is one",
     R"(program picked(x: f32[n], k: i64[1], y: written f32[n]; n in 1..64) {
  for i < n { index f0 = k[0] below n node 1 y[i] = x[f0] } })",
     "schedule split -1 i : mask loop -1 i.0 vector", "below n node 1", "below n if"},
    {"one index for all elements, of which there may be none",
     R"(program picked(x: f32[n], k: i64[1], y: written f32[n]; n in 0..64) {
  for i < n { index f0 = k[0] below n node 1 y[i] = x[f0] } })",
     "schedule split -1 i : mask loop -1 i.0 vector", "below n if i.0 < n node 1", "below n node 1"},
    {"vectors that lie inside or outside as a whole",
     R"(program columns(x: f32[m*n], y: written f32[n]; m in 1.., n in 1.. % 2) {
  for j < n { start t0: max f32 for k < m { t0 += x[k*n + j] at k } y[j] = t0 } })",
     "schedule split -1 j : 8, 2 mask loop -1 j.0 block loop -1 j.1 thread loop -1 j.2 vector loop 0 k.0 "
     "serial",
     "least(", "else"},
    {"vectors that end anywhere",
     R"(program columns(x: f32[m*n], y: written f32[n]; m in 1.., n in 1..) {
  for j < n { start t0: max f32 for k < m { t0 += x[k*n + j] at k } y[j] = t0 } })",
     "schedule split -1 j : 8, 2 mask loop -1 j.0 block loop -1 j.1 thread loop -1 j.2 vector loop 0 k.0 "
     "serial",
     "if 8*j.0 + 2*j.1 + j.2 < n else", "least"},
    {"places that only the run finds",
     R"(program found(x: f32[n*32], at: i64[m], y: written f32[m]; m in 1.., n in 1..) {
  for i < m { index a = at[i] below n start t0: sum f32 for k < 32 { t0 += x[32*a + k] at k } y[i] = t0 } })",
     BY_WARPS, "x[32*a + k.0] if 4*i.0 + i.1 < m else", "x[32*a + k.0])"},
    {"elements of their own, of which none is past the end",
     R"(program scaled(x: f32[m], y: written f32[m]; m in 1..) { for i < m { y[i] = neg(x[i]) } })",
     "schedule split -1 i : 64 mask loop -1 i.0 block loop -1 i.1 thread", "if 64*i.0 + i.1 < m else",
     "least"},
};

TEST(LastRows, AreLoadedInPlaceOfMasks) {
  for (const Case& one : cases) {
    const std::string text = programs_of(loops::parse(one.nest), schedule::parse(one.schedule));
    EXPECT_NE(text.find(one.has), std::string::npos) << one.name << "\n" << text;
    EXPECT_EQ(text.find(one.has_not), std::string::npos) << one.name << "\n" << text;
  }
}

TEST(LastRows, GiveTheSameBits) {
  for (const Case& one : cases) {
    const loops::Program nest = loops::parse(one.nest);
    for (const std::int64_t m : {1, 3, 4, 7}) {
      index::Values sizes;
      for (const loops::SizeInfo& size : nest.sizes)
        sizes[size.symbol] = size.symbol == index::Symbol("m") ? m : 6;
      const Arguments arguments(nest, sizes);
      EXPECT_TRUE(arguments.run(schedule::apply(nest, schedule::parse(one.schedule))) ==
                  arguments.run({nest}))
          << one.name << ", m = " << m;
    }
  }
}

}  // namespace

}  // namespace twinloom::tests
