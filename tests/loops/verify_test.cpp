// Each rule of the loop form, broken once: what verify() says, and in which line.
#include <gtest/gtest.h>

#include "core/loops/nest.h"
#include "core/loops/rewrite.h"
#include "tests/loops/run.h"
#include "tests/support/thrown.h"

namespace twinloom::loops {
namespace {

constexpr std::string_view head =
    "program p(x: f32[n], h: f16[n], i: i64[n], y: written f32[n], c: written i32[1], s: local f32[8]; "
    "n in 0..) {\n";

struct Case {
  std::string_view body;
  int line;
  std::string_view words;
};

void expect_refused(const Case& refused, Stage stage) {
  const std::string text = cat(head, refused.body, "\n}");
  const std::string bug = tests::words_of<Bug>([&] { verify(parse(text), stage); });
  EXPECT_NE(bug.find(refused.words), std::string::npos) << text << "\n" << bug;
  EXPECT_NE(bug.find(cat("\nline ", refused.line, " of the program\n")), std::string::npos) << bug;
}

class RefusedNest : public testing::TestWithParam<Case> {};
TEST_P(RefusedNest, SaysWhy) { expect_refused(GetParam(), Stage::nest); }

INSTANTIATE_TEST_SUITE_P(
    Rules, RefusedNest,
    testing::Values(
        Case{"y[0] = t1", 2, "t1 is read where it is not defined"},
        Case{"for k < n {\n t1 = x[k]\n}\ny[0] = t1", 5, "t1 is read where it is not defined"},
        Case{"t1 = x[0]\nt1 = x[1]", 3, "t1 is defined twice"},
        Case{"y[k] = 0x0p+0:f32", 2, "the symbol k is not bound here"},
        Case{"for k < n {\n for k < n {\n y[k] = x[k]\n}\n}", 3, "the symbol k is bound already"},
        Case{"t1 = x[0]\nfor k < n {\n y[k] = t1\n}\nfor k < 4 {\n y[k] = t1\n}", 6,
             "have the extents n and 4"},
        Case{"y[0] = (x[0] if 0 < n else 0:i32)", 2, "a load of x gives i32 outside its mask"},
        Case{"y[0] = h[0]", 2, "a store of f16 to y, which has f32"},
        Case{"t1 = h[0]", 2, "may only be converted or stored"},
        Case{"y[0] = f32(add(h[0], h[1]))", 2, "add computes with f16, f16"},
        Case{"y[0] = add(x[0], f32(lt(x[0], i[0])))", 2, "lt does not take (f32, i64)"},
        Case{"x[0] = y[0]", 2, "a store to x, which is not written"},
        Case{"y[0] = s[0]", 2, "the local buffer s is used outside its scratch"},
        Case{"y[0] atomic_max x[0]", 2, "an atomic store of f32"},
        Case{"index j = x[0] below n", 2, "the index j is f32, not an integer"},
        Case{"index j = i[0] below n\nindex j = i[1] below n", 3, "the symbol j is bound twice"},
        Case{"for k < n vector {\n y[k] = x[k]\n}", 2, "the vector loop k in a nest"},
        Case{"start t1: sum f16", 2, "sum has no totals of f16"},
        Case{"start t1: sum f32 depth 2", 2, "a depth of t1 in a nest"},
        Case{"start t1: sum f32\nfor k < n {\n t1 += i[k] at k\n}", 4,
             "part 0 of t1 is f32 and is given i64"},
        Case{"start t1: argmax f32\nfor k < n {\n t1 += x[k] at k\n}", 4, "t1 has 2 parts and is given 1"},
        Case{"start t1: sum f32\nfor k < n {\n t1 += x[k] at k\n t1 += x[k] at k\n}", 5,
             "t1 is filled by two statements"},
        Case{"start t1: sum f32\nfor k < n {\n t1 += x[k] at k\n y[k] = t1\n}", 5,
             "t1 is read inside the loop that accumulates it"},
        Case{"start t1: sum f32\nfor k < n {\n t2 = t1\n t1 += x[k] at k\n}", 5,
             "t1 is read inside the loop that accumulates it"},
        Case{"start t1: sum f32\nmerge t1 (x[0])", 3, "a merge in a nest"},
        Case{"sync", 2, "a sync in a nest"}, Case{"prefetch x[n]", 2, "a prefetch in a nest"},
        Case{"t1 = x[0]\nfor k < n {\n start t2: sum f32\n}", 1, "holds a statement that belongs outside it"},
        Case{"start t1: sum f32\nfor j < n {\n for k < n {\n scan t2 = t1 (x[k]) at j*n + k\n}\n}", 1,
             "a scan stands in more than one loop"},
        Case{"start t1: sum f32 copies (k)\nfor k < n {\n t1 += x[k] at 0\n}", 1,
             "totals of columns have no loop of theirs after that of the rows"},
        Case{"start t1: sum f32 copies (k)\nfor j < n {\n for k < 4 {\n t1 += x[k] at j\n}\n}\nfor k < 4 {\n"
             "for l < n {\n y[k] = t1\n}\n}",
             1, "the loop over columns holds a statement that belongs elsewhere"},
        Case{"start t1: sum f32 copies (k)\nfor j < n {\n for k < 4 {\n t1 += x[k] at j\n}\n}\nfor l < 4 {\n"
             "y[l] = x[l]\n}",
             1, "t1 has copies along other loops than that of the columns"},
        Case{"start t1: sum f32 copies (k)\nfor j < n {\n y[0] = x[0]\n for l < 4 {\n for k < 4 {\n t1 += "
             "x[k] at j\n}\n}\n}\n"
             "for k < 4 {\n y[k] = t1\n}",
             1, "t1 is accumulated in other loops than that of the columns"},
        Case{"for j < n {\n start t1: sum f32 copies (k)\n for k < 4 {\n t1 += x[k] at j\n}\n}", 1,
             "t1 of a turn has copies"},
        Case{"start t1: sum f32 copies (k)\nfor j < n {\n t1 += x[j] at j\n}\nfor k < 4 {\n y[k] = t1\n}", 4,
             "t1 has copies along k and is used outside that loop"},
        Case{"y[0] = x[0]\ncall stable_sort(y, y) sizes (n, n) {\n}", 3, "a call is not the whole body"}));

class RefusedProgram : public testing::TestWithParam<Case> {};
TEST_P(RefusedProgram, SaysWhy) { expect_refused(GetParam(), Stage::program); }

INSTANTIATE_TEST_SUITE_P(
    Rules, RefusedProgram,
    testing::Values(
        Case{"start t1: sum f32\nfor k < n {\n t1 += x[k] at k\n}", 4, "an accumulate in a program"},
        Case{"start t1: sum f32\nfor k < n {\n scan t2 = t1 (x[k]) at k\n}", 4, "a scan in a program"},
        Case{"for k < n vector {\n y[k] = x[k]\n}", 2,
             "the vector loop k has the extent n, which is not constant"},
        Case{"for k < n unroll {\n y[k] = x[k]\n}", 2,
             "the unroll loop k has the extent n, which is not constant"},
        Case{"for k < n thread {\n y[k] = x[k]\n}", 2,
             "the thread loop k has the extent n, which is not constant"},
        Case{"for k < 6 vector {\n y[k] = x[k]\n}", 2, "which is no power of two"},
        Case{"for k < n {\n for b < n block {\n y[k] = x[b]\n}\n}", 3,
             "stands in a loop that is not a block loop"},
        Case{"prefetch x[0] written", 2, "a prefetch for stores to x, which is not written"},
        Case{"for k < 8 thread {\n prefetch x[0] count 64\n}", 3,
             "a prefetch of 64 elements stands in a thread loop"},
        Case{"prefetch x[0] count q", 2, "the symbol q is not bound here"},
        Case{"prefetch x[0] if q < n", 2, "the symbol q of a mask is not bound here"},
        Case{"prefetch y[q]", 2, "the symbol q is not bound here"},
        Case{"for k < 8 vector {\n sync\n}", 3, "a sync stands in a vector loop"},
        Case{"for k < 8 thread {\n sync\n}\nfor t < 16 thread {\n y[t] = x[t]\n}", 3,
             "a sync stands in the thread loop k, which only 8 of 16 threads walk"},
        Case{"start t1: sum f32 copies (l)", 2, "copies along l, which no loop walks"},
        Case{"for l < 8 vector {\n start t1: sum f32 copies (l)\n}", 3, "copies along l, which it stands in"},
        Case{"start t1: sum f32 copies (l)\nfor l < 8 vector {\n merge t1 (x[l])\n}\ny[0] = t1", 6,
             "t1 has copies along l and is used outside that loop"},
        Case{"start t1: sum f32\nfor l < 8 vector {\n merge t1 (x[l])\n}", 4,
             "t1 has no copies along l, whose turns run together"},
        Case{"start t1: sum f32 copies (l)\nfor l < 6 {\n merge t1 (x[l])\n}\ncombine t1 across l halves", 6,
             "is not a constant power of two"},
        Case{"start t1: sum f32 copies (l)\nfor l < 8 {\n combine t1 across l halves\n}", 4,
             "a combine across l stands in that loop"},
        Case{"start t1: sum f32 copies (l)\nfor l < 8 {\n merge t1 (x[l])\n}\nfor k < 2 {\n"
             "combine t1 across l halves\n}",
             7, "a combine of t1 stands in the loop k, which its start does not"},
        Case{"start t1: sum f32\ncombine t1 across l halves", 3, "t1 has no copies along l"},
        Case{"start t1: sum f32 depth 2\ny[0] = t1", 3, "the stack t1 is read"},
        Case{"start t1: sum f32\nt2 = x[0]\npush t2 onto t1 at 0", 4, "t1 is not a stack"},
        Case{"start t1: sum f32 depth 2\npush t9 onto t1 at 0", 3, "t9 is read where it is not defined"},
        Case{"start t1: sum f32\nfold t2 = t1 of 1", 3, "t1 is not a stack"},
        Case{"scratch x[8] in memory {\n}", 2, "the buffer x of a scratch is not local"},
        Case{"scratch s[n] in registers {\n}", 2, "an array in registers has the count n"},
        Case{"scratch s[8] in registers {\n s[0] = x[0]\n for t < 8 thread {\n s[0] = x[t]\n}\n}", 3,
             "in the registers of each thread is used outside thread loops"},
        Case{"for b < n {\n last_block c[0] among (b) {\n}\n}", 3, "b, which is no block loop around it"},
        Case{"for b < n block {\n last_block c[0] among (b) {\n y[b] = x[0]\n}\n}", 4,
             "the symbol b is not bound here"},
        Case{"last_block x[0] among () {\n}", 2, "the counter x of a last_block is not written integers"},
        Case{"call stable_sort(y, y) sizes (n, n) {\nslot t0 at (p) {\nt0 = i[p]\n}\n}", 2,
             "the operand y of stable_sort is not written i64"},
        Case{"call stable_sort() sizes (n, n) {\nslot t0 at (p) {\nt0 = i[p]\n}\n}", 2,
             "stable_sort takes 2 or 3 sizes, 1 or 2 operands and 1 slot"},
        Case{"call stable_sort(c, c) sizes (n, n) {\nslot t0 at (p) {\nt0 = i[p]\n}\n"
             "slot t1 at (r, q) {\nc[q] = t1\n}\n}",
             2, "or 2 with 1 operand"},
        Case{"call sums_by_key(y, y) sizes (n, n, n) {\nslot t0 at (p) {\nt0 = i[p]\n}\n}", 2,
             "sums_by_key takes 3 sizes, 3 operands and 2 slots"},
        Case{"call sums_by_key(c, y, c) sizes (n, n, n) {\nslot t0 at (r, p) {\nt0 = i[p]\n}\n"
             "slot t1 at (s, q) {\nt1 = x[q]\n}\n}",
             2, "by key"},
        Case{"call sums_by_key(y, y, y) sizes (n, n, n) {\nslot t0 at (r, p) {\nt0 = i[p]\n}\n"
             "slot t1 at (s, q) {\nt1 = x[q]\n}\n}",
             2, "the operand y of sums_by_key is not written i64"}));

TEST(Verify, AnEpilogueHasARowAndAPosition) {
  const Program program = parse(R"(program p(i: i64[n], order: written i64[n]; n in 0..) {
    call stable_sort(order) sizes (n, n) { slot t0 at (p) { t0 = i[p] } slot t1 at (q) { } }
  })");
  EXPECT_NE(tests::words_of<Bug>([&] {
              verify(program, Stage::nest);
            }).find("an epilogue runs for 1 axes instead of 2"),
            std::string::npos);
}

TEST(Verify, RefusesAHeadThatContradictsItself) {
  const auto bug = [](std::string_view text, Stage stage = Stage::nest) {
    return tests::words_of<Bug>([&] { verify(parse(text), stage); });
  };
  EXPECT_NE(bug("program p(s: local f32[1], x: f32[1]) {}").find("x comes after local"), std::string::npos);
  EXPECT_NE(bug("program p(x: f32[n]) {}").find("the count of x mentions n"), std::string::npos);
  constexpr std::string_view numbered = "program p(y: written f32[1]) outermost_fastest {}";
  EXPECT_NE(bug(numbered).find("a nest that numbers threads"), std::string::npos);
  EXPECT_EQ(bug(numbered, Stage::program), tests::NOTHING_THROWN);
  EXPECT_NE(print(parse(numbered)).find(") outermost_fastest {"), std::string::npos);
  constexpr std::string_view streamed = "program p(y: written streamed f32[1]) {}";
  EXPECT_NE(bug(streamed).find("the streamed buffer y in a nest"), std::string::npos);
  EXPECT_EQ(bug(streamed, Stage::program), tests::NOTHING_THROWN);
  EXPECT_NE(bug("program p(y: streamed f32[1]) {}", Stage::program).find("y is not written"),
            std::string::npos);
  EXPECT_NE(bug("program p(y: written streamed f32[1]) {\n t1 = y[0]\n}", Stage::program)
                .find("a load from y, which is streamed"),
            std::string::npos);
  EXPECT_NE(bug("program p(x: f32[1]; n in 0.., n in 0..) {}").find("n is listed twice"), std::string::npos);
}

TEST(Verify, AcceptsSiblingsThatShareAnAxis) {
  const Program softmax = parse(R"(program softmax(x: f32[c*n], y: written f32[c*n]; n in 0.., c in 1..) {
    for i < n {
      start t0: max f32
      for k < c { t0 += x[c*i + k] at k }
      start t1: sum f32
      for k < c { t1 += exp(sub(x[c*i + k], t0)) at k }
      for k < c { y[c*i + k] = div(exp(sub(x[c*i + k], t0)), t1) }
    }
  })");
  verify(softmax, Stage::nest);
  const Nest nest = take_apart(softmax);
  ASSERT_EQ(nest.common.size(), 1u);
  ASSERT_EQ(nest.items.size(), 5u);
  EXPECT_EQ(std::get<Sibling>(nest.items[3]).loops, (std::vector<NestLoop>{{Axis("k"), index::parse("c")}}));
  EXPECT_TRUE(equal(*put_together(nest), *softmax.body));
}

}  // namespace
}  // namespace twinloom::loops
