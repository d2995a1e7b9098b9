// Index-set splitting: which loops there are afterwards, and that no bit changes.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/loops/nest.h"
#include "core/schedule/schedule.h"
#include "tests/schedule/run.h"

namespace twinloom::tests {

namespace {

constexpr std::string_view VECTORS = R"(schedule
split -1 j : 8 exact
loop -1 i.0 block
loop -1 j.0 serial
loop -1 j.1 vector
)";

loops::Program scheduled(std::string_view nest, std::string_view plan = VECTORS) {
  const std::vector<loops::Program> programs = schedule::apply(loops::parse(nest), schedule::parse(plan));
  EXPECT_EQ(programs.size(), 1U);
  return programs.front();
}

int occurrences(std::string_view words, const std::string& text) {
  int count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

void expect_same_bits(std::string_view nest_text, std::string_view plan = VECTORS) {
  const loops::Program nest = loops::parse(nest_text), program = scheduled(nest_text, plan);
  ASSERT_NO_THROW(loops::verify(program, loops::Stage::program)) << loops::print(program);
  for (const std::int64_t rows : {0, 1, 5}) {
    const Arguments arguments(nest, {{nest.sizes.front().symbol, rows}});
    EXPECT_TRUE(arguments.run({program}) == arguments.run({nest})) << loops::print(program);
  }
}

// The halves of a row, the second negated and in front.
constexpr std::string_view HALVES = R"(program halves(x: f32[m*64], y: written f32[m*64]; m in 0..) {
  for i < m { for j < 64 { y[64*i + j] = where(lt(count(j), count(32)),
    neg((x[64*i + j + 32] if j < 32 else 0x0p+0:f32)), (x[64*i + j - 32] if 31 < j else 0x0p+0:f32)) } } })";

TEST(IndexSetSplitting, LeavesNoConditionOfAConcatenation) {
  const std::string text = loops::print(scheduled(HALVES));
  EXPECT_EQ(occurrences("for j.0", text), 2) << text;
  EXPECT_EQ(occurrences(" < 4 {", text), 2) << text;
  for (const std::string_view gone : {" if ", "where", "lt("}) EXPECT_EQ(occurrences(gone, text), 0) << text;
  expect_same_bits(HALVES);
}

// The condition changes between two lanes of the first vector.
TEST(IndexSetSplitting, KeepsALoopWhoseConditionChangesInsideAVector) {
  constexpr std::string_view shifted = R"(program shifted(x: f32[m*64], y: written f32[m*64]; m in 0..) {
    for i < m { for j < 64 { y[64*i + j] = (x[64*i + j - 3] if 2 < j else 0x0p+0:f32) } } })";
  EXPECT_EQ(occurrences("for j.0", loops::print(scheduled(shifted))), 1);
  expect_same_bits(shifted);
}

// Halves of a size that vectors divide are two loops as those of a constant are.
TEST(IndexSetSplitting, SplitsWhereASizeSays) {
  constexpr std::string_view halves =
      R"(program halves(x: f32[m*n], y: written f32[2*m*n]; m in 0.., n in 8..64 % 8) {
    for i < m { for j < 2*n { y[2*i*n + j] = where(lt(count(j), count(n)),
      neg((x[i*n + j] if j < n else 0x0p+0:f32)), (x[i*n + j - n] if n - 1 < j else 0x0p+0:f32)) } } })";
  const std::string text = loops::print(scheduled(halves));
  EXPECT_EQ(occurrences("for j.0", text), 2) << text;
  for (const std::string_view gone : {" if ", "where", "lt("}) EXPECT_EQ(occurrences(gone, text), 0) << text;
  for (const std::int64_t n : {8, 24}) {
    const Arguments arguments(loops::parse(halves), {{index::Symbol("m"), 3}, {index::Symbol("n"), n}});
    EXPECT_TRUE(arguments.run({scheduled(halves)}) == arguments.run({loops::parse(halves)})) << n;
  }
}

TEST(IndexSetSplitting, MakesFourLoopsAtMost) {
  std::string value = "0x0p+0:f32";
  for (int part = 7; part > 0; --part)
    value = cat("where(lt(count(j), count(", 8 * part, ")), (x[64*i + j + ", part, "] if j < ", 8 * part,
                " else 0x0p+0:f32), ", value, ")");
  const std::string nest = cat("program parts(x: f32[m*64 + 64], y: written f32[m*64]; m in 0..) ",
                               "{ for i < m { for j < 64 { y[64*i + j] = ", value, " } } }");
  EXPECT_EQ(occurrences("for j.0", loops::print(scheduled(nest))), 4);
  expect_same_bits(nest);
}

// A sum is merged in the order of the iterations, whatever loops they are in.
TEST(IndexSetSplitting, KeepsTheOrderOfASum) {
  constexpr std::string_view sum = R"(program sums(x: f32[m*64], y: written f32[m]; m in 0..) {
    for i < m { start t0: sum f32 for j < 64 {
      t0 += where(lt(count(j), count(32)), neg(x[64*i + j]), (x[64*i + j - 32] if 31 < j else 0x0p+0:f32)) at j }
      y[i] = t0 } })";
  for (const machine::Machine& machine : machines())
    expect_same_bits(sum, schedule::print(schedule::choose(loops::parse(sum), machine)));
}

}  // namespace

}  // namespace twinloom::tests
