// Which sizes are of one class, and what a nest then knows of them.
#include "core/loops/size_class.h"

#include <gtest/gtest.h>

#include <random>

namespace twinloom::loops {
namespace {

using Kind = SizeQuestion::Kind;

index::Values sizes_of(std::int64_t n, std::int64_t m = 1) {
  return {{index::Symbol("n"), n}, {index::Symbol("m"), m}};
}

struct Row {
  SizeQuestion question;
  std::int64_t size;
  SizeAnswer answer;
};

TEST(SizeClass, AnswersQuestions) {
  const index::Expr n = index::Symbol("n"), m = index::Symbol("m");
  const SizeQuestion row{Kind::extent, n, 57000}, side{Kind::extent, n, 20}, amount{Kind::amount, n * m, 0},
      divisor{Kind::divisor, n, 8}, whole{Kind::whole, n, 1024};
  const std::vector<Row> rows = {
      {row, 0, {{0, 32}, 1}},
      {row, 1, {{0, 32}, 1}},
      {row, 32, {{0, 32}, 1}},
      {row, 33, {{33, 63}, 1}},
      {row, 64, {{64, 64}, 1}},
      {row, 4095, {{2049, 4095}, 1}},
      {row, 4096, {{4096, 4096}, 1}},
      {row, 4097, {{4097, 8191}, 1}},
      {row, 8193, {{8193, 8704}, 1}},
      {row, 16000, {{15873, 16383}, 1}},
      {row, 16384, {{16384, 16384}, 1}},
      {row, 50257, {{49153, 51200}, 1}},
      {row, 56999, {{55297, 57000}, 1}},
      {row, 57001, {{57001, {}}, 1}},
      {side, 7, {{0, 20}, 1}},
      {side, 21, {{21, {}}, 1}},
      {amount, 8, {{0, 8}, 1}},
      {amount, 9, {{9, 64}, 1}},
      {amount, 1 << 30, {{(1 << 27) + 1, 1 << 30}, 1}},
      {divisor, 7, {{}, 1}},
      {divisor, 12, {{}, 4}},
      {divisor, -6, {{}, 2}},  // a stride
      {divisor, 0, {{}, 8}},
      {divisor, 4096, {{}, 8}},
      {whole, 1025, {{}, 1}},
      {whole, 512, {{}, 1}},
      {whole, 3072, {{}, 1024}},
  };
  for (const Row& given : rows)
    EXPECT_TRUE(answer(given.question, sizes_of(given.size)) == given.answer) << given.size;
}

// Each size is in the range that its answer tells, and of a class with all others there.
TEST(SizeClass, RangesHoldTheirSizesAndNoOthers) {
  std::mt19937_64 random(3);
  for (const Kind kind : {Kind::extent, Kind::amount}) {
    const SizeQuestion question{kind, index::Symbol("n"), 57000};
    for (int tries = 0; tries < 2000; ++tries) {
      const std::int64_t size = 1 + static_cast<std::int64_t>(random() >> (20 + random() % 44));
      const SizeAnswer known = answer(question, sizes_of(size));
      ASSERT_TRUE(known.range.low <= size && (!known.range.high || size <= *known.range.high)) << size;
      EXPECT_TRUE(answer(question, sizes_of(*known.range.low)) == known) << size;
      if (*known.range.low > 0) {
        EXPECT_FALSE(answer(question, sizes_of(*known.range.low - 1)) == known) << size;
      }
      if (!known.range.high) continue;
      EXPECT_TRUE(answer(question, sizes_of(*known.range.high)) == known) << size;
      EXPECT_FALSE(answer(question, sizes_of(*known.range.high + 1)) == known) << size;
    }
  }
}

TEST(SizeClass, HoldsForSizesWithTheSameAnswers) {
  SizeClass known;
  EXPECT_TRUE(known.holds(sizes_of(5)));
  const std::vector<SizeQuestion> asked = {{Kind::extent, index::Symbol("n"), 4096},
                                           {Kind::divisor, index::Symbol("n"), 4}};
  known.add(asked, sizes_of(2052));
  known.add(asked, sizes_of(2052));
  EXPECT_EQ(known.questions.size(), 2u);
  EXPECT_TRUE(known.holds(sizes_of(4092, 77)));
  EXPECT_FALSE(known.holds(sizes_of(4096)));
  EXPECT_FALSE(known.holds(sizes_of(2048)));
  EXPECT_FALSE(known.holds(sizes_of(2053)));
  EXPECT_FALSE(known.holds(sizes_of(4100)));
}

TEST(SizeClass, NarrowsWhatANestKnows) {
  const Program nest =
      parse("program copy(x: f32[n*m], y: written f32[n*m]; n in 2..3000, m in 1.. % 3) { }");
  const auto sizes_after = [&](const std::vector<SizeQuestion>& asked, const index::Values& sizes) {
    const std::string text = print(narrowed(nest, asked, sizes));
    const std::size_t start = text.find("; ") + 2;
    return text.substr(start, text.find(')') - start);
  };
  const index::Expr n = index::Symbol("n"), m = index::Symbol("m");
  EXPECT_EQ(sizes_after({}, sizes_of(2100, 12)), "n in 2..3000, m in 1.. % 3");
  EXPECT_EQ(sizes_after({{Kind::extent, n, 4096}}, sizes_of(2100, 12)),
            "n in 2049..3000 ~ 2048, m in 1.. % 3");
  EXPECT_EQ(sizes_after({{Kind::divisor, m, 4}}, sizes_of(2100, 12)), "n in 2..3000, m in 1.. % 12 ~ 12");
  EXPECT_EQ(sizes_after({{Kind::amount, n * m, 0}}, sizes_of(2900, 99)),
            "n in 2..3000 ~ 2816, m in 1.. % 3 ~ 96");
  EXPECT_EQ(sizes_after({{Kind::amount, n, 0}}, sizes_of(2900, 99)), "n in 513..3000 ~ 2816, m in 1.. % 3");
  EXPECT_EQ(sizes_after({{Kind::extent, n, 4096}, {Kind::whole, n, 1024}}, sizes_of(2048, 3)),
            "n in 2048..2048 % 1024 ~ 2048, m in 1.. % 3");
  // Rounded, but not to what more divides.
  EXPECT_EQ(sizes_after({{Kind::divisor, n, 8}}, sizes_of(2050, 3)), "n in 2..3000 % 2 ~ 2050, m in 1.. % 3");
}

TEST(SizeClass, ASizeWithOneValueIsANumber) {
  const Program nest = parse(R"(program sums(x: f32[n*m], y: written f32[m]; n in 1.., m in 1..) {
    for i < m { start t0: sum f32 for k < n { t0 += x[i*n + k] at k } y[i] = t0 } })");
  const std::vector<SizeQuestion> asked = {{Kind::extent, index::Symbol("n"), 4096}};
  EXPECT_NE(print(narrowed(nest, asked, sizes_of(512, 3))).find("x[512*i + k]"), std::string::npos);
  EXPECT_NE(print(narrowed(nest, asked, sizes_of(511, 3))).find("x[i*n + k]"), std::string::npos);
}

}  // namespace
}  // namespace twinloom::loops
