// Rows that begin between words of memory: which loops are cut where memory is aligned, and that no bit
// changes.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/loops/nest.h"
#include "core/loops/rewrite.h"
#include "core/machine/gpu.h"
#include "core/schedule/aligned_rows.h"
#include "core/schedule/schedule.h"
#include "tests/schedule/run.h"

namespace twinloom::tests {

namespace {

// Rows as they are written below, of so many elements that lie so far apart.
struct Sizes {
  std::int64_t columns, apart = columns, rows = 9;
};
loops::Program rows(std::string_view body, const Sizes& sizes, std::string_view dtype = "bf16") {
  std::string text = cat("program rows(x: TYPE[SIZE], w: f32[ROWS], at: i64[ROWS], y: written TYPE[SIZE]) ",
                         "{ for i < ROWS { ", body, " } }");
  const std::vector<std::pair<std::string, std::string>> words = {
      {"TYPE", std::string(dtype)},
      {"SIZE", cat(2 * sizes.rows * sizes.apart + 16)},
      {"ROWS", cat(sizes.rows)},
      {"ROW", cat(sizes.apart)},
      {"COUNT", cat(sizes.columns)}};
  for (const auto& [word, value] : words)
    for (std::size_t at = 0; (at = text.find(word)) != std::string::npos;)
      text.replace(at, word.size(), value);
  return loops::parse(text);
}
constexpr std::string_view SCALED = "for k < COUNT { y[ROW*i + k] = TYPE(mul(f32(x[ROW*i + k]), w[i])) }";
// Beside a sum of other elements, and of its own.
constexpr std::string_view BESIDE =
    "start t0: sum f32 for r < COUNT { t0 += f32(count(r)) at r } "
    "for k < COUNT { y[ROW*i + k] = TYPE(mul(f32(x[ROW*i + k]), add(t0, f32(count(k))))) }";
constexpr std::string_view NORMAL =
    "start t0: sum f32 for r < COUNT { t0 += f32(x[ROW*i + r]) at r } "
    "for k < COUNT { y[ROW*i + k] = TYPE(mul(f32(x[ROW*i + k]), add(t0, f32(count(k))))) }";

bool is_cut(const loops::Program& nest) { return schedule::with_aligned_rows(nest).body != nest.body; }

void expect_same_bits(const loops::Program& nest) {
  const loops::Program cut = schedule::with_aligned_rows(nest);
  ASSERT_TRUE(cut.body != nest.body) << loops::print(nest);
  ASSERT_NO_THROW(loops::verify(cut, loops::Stage::nest)) << loops::print(cut);
  const Arguments arguments(nest, {});
  const auto expected = arguments.run({nest});
  EXPECT_TRUE(arguments.run({cut}) == expected) << loops::print(cut);
  for (const machine::Machine& machine : machines()) {
    const std::vector<loops::Program> programs = schedule::apply(cut, schedule::choose(cut, machine));
    EXPECT_TRUE(arguments.run(programs) == expected) << machine.name << "\n"
                                                     << loops::print(programs.front());
  }
}

TEST(AlignedRows, AreWalkedFromWordToWord) {
  for (const std::int64_t columns : {2049, 2055, 2063}) expect_same_bits(rows(SCALED, {columns}));
  expect_same_bits(rows(SCALED, {2057}, "i8"));
  expect_same_bits(rows(SCALED, {2048, 2063}, "f16"));
  expect_same_bits(rows(BESIDE, {2051}));
  expect_same_bits(
      rows("for k < COUNT { t0 = f32(x[ROW*i + k]) y[ROW*i + k] = TYPE(mul(t0, add(t0, w[i]))) }", {2051}));
}

TEST(AlignedRows, KeepWhatIsAskedOfPositions) {
  expect_same_bits(
      rows("t0 = w[i] index z = at[i] below 4099 wraps node 3 "
           "for k < COUNT { y[ROW*i + k + 3] = "
           "TYPE(where(eq(count(k), count(z)), t0, f32(x[ROW*i + k + 3]))) }",
           {4099}));
}

// Threads may keep what others read too.
TEST(AlignedRows, AreReadByOneLoop) {
  EXPECT_TRUE(is_cut(rows(BESIDE, {4099})));
  EXPECT_FALSE(is_cut(rows(NORMAL, {4099})));
}

TEST(AlignedRows, AreLongOnesOfShortElementsThatLieAlike) {
  EXPECT_FALSE(is_cut(rows(SCALED, {515})));
  EXPECT_FALSE(is_cut(rows(SCALED, {4096})));
  EXPECT_FALSE(is_cut(rows(SCALED, {4098})));  // words
  EXPECT_FALSE(is_cut(rows(SCALED, {4099}, "f32")));
  EXPECT_FALSE(is_cut(rows("for k < COUNT { y[ROW*i + k] = x[ROW*i + k + 1] }", {4099})));
  EXPECT_FALSE(is_cut(rows("for k < COUNT { y[ROW*i + k] = x[2*ROW*i + 2*k] }", {4099})));
}

TEST(AlignedRows, AreChosenByTheEstimate) {
  const auto chooses = [](const loops::Program& nest, const machine::Machine& machine = machine::h200()) {
    schedule::Choices choices(machine);
    return schedule::choose_aligned(nest, choices).body != nest.body;
  };
  EXPECT_TRUE(chooses(rows(SCALED, {50257, 50257, 8192})));
  EXPECT_FALSE(chooses(rows(SCALED, {2049, 2049, 2})));
  EXPECT_FALSE(chooses(rows(SCALED, {50257, 50257, 8192}), machines()[1]));
}

}  // namespace

}  // namespace twinloom::tests
