// Threads and blocks that touch an element where nothing says which comes first.
#include <gtest/gtest.h>

#include "tests/loops/run.h"
#include "tests/support/thrown.h"

namespace twinloom::loops {
namespace {

using ops::DType;
using tests::Elements;

// What the interpreter says of statements with 8 elements of scratch, all written before unless they stand
// alone.
std::string said_of(std::string_view body, const Order& order = {}) {
  const Program program = parse(
      cat("program p(x: i32[8], y: written i32[8], s: local i32[8], q: local i32[8], r: local i32[8]) {\n",
          body, "\n}"));
  verify(program, Stage::program);
  Elements x(DType::i32, {0, 1, 2, 3, 4, 5, 6, 7}), y(DType::i32, 8);
  return tests::words_of<Bug>([&] { tests::run(program, {&x, &y}, {}, order); });
}

std::string in_scratch(std::string_view body) { return cat("scratch s[8] in scratch { ", body, " }"); }

struct Case {
  std::string_view name, body, words;
};
void PrintTo(const Case& given, std::ostream* stream) { *stream << given.name; }

class UnorderedTouches : public testing::TestWithParam<Case> {};
TEST_P(UnorderedTouches, AreABug) {
  const std::string said = said_of(in_scratch(GetParam().body));
  EXPECT_NE(said.find(GetParam().words), std::string::npos) << said;
  for (const Order& order : {Order{false, true}, Order{true, false}, Order{true, true}})
    EXPECT_NE(said_of(in_scratch(GetParam().body), order), tests::NOTHING_THROWN);
}

INSTANTIATE_TEST_SUITE_P(
    All, UnorderedTouches,
    testing::Values(
        Case{"AReadOfWhatAnotherWrote",
             "for t < 4 thread { s[t] = x[t] } for u < 4 thread { y[u] = s[3 - u] }",
             "s[-u + 3]: element 3 is read by thread 0 and was written by thread 3, without a sync in "
             "between"},
        Case{"AWriteOfWhatAnotherReads",
             "for t < 4 thread { s[t] = x[t] } sync for u < 4 thread { y[u] = s[u] } for v < 4 thread { s[3 "
             "- v] = "
             "x[v] }",
             "the store to s[-v + 3]: element 3 is written by thread 0 and was read by thread 3"},
        Case{"TwoWritesOfOneElement", "for t < 4 thread { s[0] = x[0] }",
             "the store to s[0]: element 0 is written by thread 1 and was written by thread 0"},
        Case{"OneLoopThatReadsAndWrites",
             "for t < 4 thread { s[t] = x[t] } sync for u < 4 thread { s[u] = s[floor_mod(u + 1, 4)] }",
             "the store to s[u]: element 1 is written by thread 1 and was read by thread 0"},
        Case{"AReadByAllOfWhatOneWrote", "for t < 4 thread { s[t] = x[t] } y[0] = s[2]",
             "s[2]: element 2 is read by threads 0 to 3 and was written by thread 2"},
        Case{"AReadByOneOfWhatStandsForAll", "s[0] = x[0] for t < 4 thread { y[t] = s[0] }",
             "element 0 is read by thread 1 and was written by thread 0"},
        Case{"MembersOfNestedLoops",
             "for t < 2 thread { for l < 4 thread { s[4*t + l] = x[0] } y[t] = s[4*t + 2] }",
             "is read by threads 0 to 3 and was written by thread 2"},
        Case{"TheMemberOfAnotherLoop",
             "for t < 2 thread { for l < 4 thread { s[4*t + l] = x[0] } } for u < 8 thread { y[u] = s[7 - u] "
             "}",
             "is read by thread 0 and was written by thread 7"},
        Case{"ASecondTurn",
             "for k < 2 { for t < 4 thread { s[t] = x[t] } sync for u < 4 thread { y[u] = s[3 - u] } }",
             "the store to s[t]: element 0 is written by thread 0 and was read by thread 3"},
        Case{"ScratchOfTheNextTurn",
             "for k < 2 { scratch q[8] in scratch { for t < 4 thread { q[t] = x[t] } sync for u < 4 thread { "
             "y[u] = "
             "q[3 - u] } } }",
             "the store to q[t]: element 0 is written by thread 0 and was read by thread 3"},
        Case{"ScratchOfTwoMembers",
             "for t < 4 thread { scratch q[8] in scratch { q[0] = x[t] y[t] = q[0] } }",
             "the store to q[0]: element 0 is written by thread 1 and was written by thread 0"},
        Case{"AMemberThatWritesBeforeAnotherReads",
             "for t < 2 thread { for l < 4 thread { s[4*t + l] = x[l] } sync for u < 4 thread { s[4 - 4*t + "
             "u] "
             "= x[u] } }",
             "element 4 is written by thread 4 and was written by thread 0"},
        Case{"AnUpdateAndARead",
             "for t < 4 thread { y[0] atomic_add x[t] } for u < 4 thread { y[u + 4] = y[0] }",
             "y[0]: element 0 is read by thread 0 and was updated by threads 0 to 3"},
        Case{"AnUpdateOfWhatAnotherWrote", "y[0] = x[0] for t < 4 thread { y[0] atomic_max x[t] }",
             "the store to y[0]: element 0 is updated by thread 1 and was written by thread 0"},
        Case{"ResultsInMemory", "for t < 4 thread { y[t] = x[t] } for u < 4 thread { y[u + 4] = y[3 - u] }",
             "y[-u + 3]: element 3 is read by thread 0 and was written by thread 3, without a sync in "
             "between"}),
    [](const auto& given) { return std::string(given.param.name); });

TEST(TouchesOfBlocks, AreABugWhereOneWrites) {
  EXPECT_NE(said_of("for b < 4 block { y[0] = x[b] }")
                .find("the store to y[0]: element 0 is written by a block and was written by another"),
            std::string::npos);
  const std::string_view read = "for b < 4 block { y[b] = x[b] y[b + 4] = y[0] }";
  EXPECT_NE(said_of(read).find("y[0]: element 0 is read by a block and was written by another"),
            std::string::npos);
  EXPECT_NE(said_of(read, {.reversed_blocks = true}).find("is written by a block and was read by another"),
            std::string::npos);
  EXPECT_NE(said_of("for b < 4 block { y[0] atomic_add x[b] y[b + 1] = y[0] }")
                .find("element 0 is updated by a block and was read by another"),
            std::string::npos);
  // A sync waits for the threads of one block.
  EXPECT_NE(said_of("for b < 4 block { for t < 2 thread { y[t] = x[b] } sync }"), tests::NOTHING_THROWN);
}

TEST(Touches, WithAnOrderAreNone) {
  const std::vector<std::string> bodies = {
      "for t < 4 thread { s[t] = x[t] s[t + 4] = s[t] } for u < 4 thread { y[u] = s[u] }",
      "for t < 4 thread { s[t] = x[t] } sync for u < 4 thread { y[u] = add(s[3 - u], s[0]) } y[7] = s[1]",
      "for k < 3 { for t < 4 thread { s[t] = x[t] } sync for u < 4 thread { y[u] = s[3 - u] } sync }",
      "for t < 2 thread { for l < 4 thread { s[4*t + l] = x[0] } } for u < 8 thread { y[u] = s[u] }",
      "for t < 4 thread { y[0] atomic_add x[t] } sync y[1] = y[0]",
      "for k < 2 { scratch q[8] in scratch { for t < 4 thread { q[t] = x[t] } sync for u < 4 thread { y[u] = "
      "q[3 - u] } "
      "} sync }",
      "for t < 4 thread { scratch q[8] in scratch { q[t] = x[t] y[t] = q[t] } }",
      "for b < 2 block { scratch q[8] in scratch { for t < 4 thread { q[t] = x[t] y[4*b + t] = q[t] } } }",
      "for b < 2 block { scratch q[8] in scratch { for t < 4 thread { q[3 - t] = x[t] } sync for u < 4 "
      "thread { y[4*b + u] = q[u] } } }",
      "for t < 2 thread { for l < 4 thread { s[4*t + l] = x[l] } sync for u < 4 thread { y[4*t + u] = s[4*t "
      "+ 3 - "
      "u] } }",
      "for b < 4 block { y[0] atomic_max x[b] }",
      "for b < 4 block { for t < 2 thread { y[2*b + t] = x[t] } sync y[2*b] = y[2*b + 1] }"};
  for (const std::string& body : bodies) {
    const bool blocks = body.find("block") != std::string::npos;
    for (const Order& order : {Order{}, Order{true, true}})
      EXPECT_EQ(said_of(blocks ? body : in_scratch(body), order), tests::NOTHING_THROWN) << body;
  }
}

TEST(Touches, OfRegistersAreEachThreadsOwn) {
  EXPECT_EQ(
      said_of(
          "scratch r[8] in registers { for t < 4 thread { r[0] = x[t] } for u < 4 thread { y[u] = r[0] } }"),
      tests::NOTHING_THROWN);
}

TEST(Touches, OfRegistersByThreadsTogetherAreABug) {
  const std::string said = said_of(
      "scratch r[8] in registers { for t < 2 thread { r[0] = x[t] for l < 4 thread { y[4*t + l] = r[0] } } "
      "}");
  EXPECT_NE(said.find("the store to r[0] is of 4 threads, with registers each"), std::string::npos) << said;
}

TEST(Touches, OfMembersThatDifferInThreadsAreABug) {
  const std::string said =
      said_of("for t < 2 thread { y[t] = x[t] } for t < 2 thread { for l < 4 thread { y[4*t + l] = x[l] } }");
  EXPECT_NE(said.find("a member of the thread loop t has 1 threads, and 4 elsewhere"), std::string::npos)
      << said;
}

}  // namespace
}  // namespace twinloom::loops
