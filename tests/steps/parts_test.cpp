// Nests of several parts: arrays that one hands to the next are stored for blocks of rows, and each part is
// walked by loops of its own.
#include <gtest/gtest.h>

#include "core/loops/parts.h"
#include "core/loops/rewrite.h"
#include "core/schedule/schedule.h"
#include "tests/steps/lists.h"
#include "tests/steps/run.h"
#include "tests/support/nests_of_parts.h"

namespace twinloom::tests {

namespace {

loops::Program attention() { return loops::parse(ATTENTION); }

std::vector<steps::Step> both(const std::vector<std::string_view>& first,
                              const std::vector<std::string_view>& second) {
  std::vector<steps::Step> list = steps_of(first);
  const std::vector<steps::Step> more = steps_of(second);
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

TEST(Parts, OfANestAreGroupsThatUseNoTempOfAnother) {
  const loops::Program nest = attention();
  loops::verify(nest, loops::Stage::nest);
  const loops::Parts parts = loops::parts_of(nest);
  EXPECT_EQ(parts.common.size(), 2u);
  EXPECT_EQ(parts.arrays.size(), 2u);
  ASSERT_EQ(parts.parts.size(), 3u);
  EXPECT_EQ(parts.parts[1].size(), 5u);
  EXPECT_TRUE(loops::equal(*loops::put_together(parts), *nest.body));
}

std::string canonical() {
  std::string text(ATTENTION);
  for (auto at = text.find(" free"); at != std::string::npos; at = text.find(" free")) text.erase(at, 5);
  return text;
}

void expect_equal_bits(const loops::Program& program, const loops::Program& expected) {
  for (const std::int64_t heads : {0, 1, 3}) {
    const index::Values sizes = {{index::Symbol("h"), heads}};
    for (const Data data : {Data::integers, Data::fractions})
      for (const bool reversed : {false, true})
        EXPECT_EQ(run_on(data, program, sizes, {reversed, reversed}), run_on(data, expected, sizes))
            << loops::print(program);
  }
}

TEST(Parts, AreWalkedByLoopsOfTheirOwnOverABlockOfRows) {
  const loops::Program nest = loops::parse(canonical());
  const std::vector<std::string_view> vectors = {"split i.1 4 exact",
                                                 "split j 16, 8 mask",
                                                 "reorder i.1.0, j.0, j.1, i.1.1, j.2",
                                                 "bind j.2 vector",
                                                 "split r 4 mask",
                                                 "bind r.1 vector",
                                                 "split u 32, 4 mask",
                                                 "bind u.1 unroll",
                                                 "bind u.2 vector",
                                                 "split w 4 exact",
                                                 "bind w.1 vector",
                                                 "split m 32 mask",
                                                 "split e 4 exact",
                                                 "reorder e.0, m.0, m.1, e.1",
                                                 "bind e.1 vector",
                                                 "bind b block",
                                                 "bind i.0 block"};
  for (const std::string_view rows : {"split i 8 mask", "split i 4 exact", "split i 20 exact"}) {
    std::vector<std::string_view> by_rows = ATTENTION_BY_ROWS;
    by_rows.front() = rows;
    ASSERT_EQ(why_none(nest, both(by_rows, vectors)), "");
    expect_equal_bits(*program_of(nest, both(by_rows, vectors)), nest);
  }
}

// Sums in a free order: tiles of one size sum up alike, whatever block of rows they stand in.
TEST(Parts, HaveTheSameBitsInEveryBlockOfRows) {
  const loops::Program nest = attention();
  ASSERT_EQ(why_none(nest, both(ATTENTION_BY_ROWS, ATTENTION_BY_TILES)), "");
  const loops::Program program = *program_of(nest, both(ATTENTION_BY_ROWS, ATTENTION_BY_TILES));
  for (const std::string_view rows : {"split i 4 exact", "split i 12 mask", "split i 20 exact"}) {
    std::vector<std::string_view> by_rows = ATTENTION_BY_ROWS;
    by_rows.front() = rows;
    ASSERT_EQ(why_none(nest, both(by_rows, ATTENTION_BY_TILES)), "");
    expect_equal_bits(*program_of(nest, both(by_rows, ATTENTION_BY_TILES)), program);
  }
}

// Of each array, as much as a block of rows needs.
TEST(Parts, StoreArraysForABlockOfRows) {
  const auto program = program_of(attention(), both(ATTENTION_BY_ROWS, ATTENTION_BY_TILES));
  ASSERT_TRUE(program.has_value());
  EXPECT_NE(loops::print(*program).find("s: local f32[160], p: local f32[160]"), std::string::npos)
      << loops::print(*program);
}

struct RefusedParts {
  std::vector<std::string_view> steps;
  std::string_view words;
};
class RefusesParts : public testing::TestWithParam<RefusedParts> {};

TEST_P(RefusesParts, InWords) {
  EXPECT_EQ(why_none(attention(), steps_of(GetParam().steps)), GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(
    Parts, RefusesParts,
    testing::Values(
        RefusedParts{{"store_at z at i in scratch"}, "store_at z at i in scratch: there is no array z"},
        RefusedParts{{"store_at q at i in scratch"}, "store_at q at i in scratch: there is no array q"},
        RefusedParts{{"store_at s at j in scratch"},
                     "store_at s at j in scratch: the loop over j does not stand around it"},
        RefusedParts{{"split i 4 exact", "bind i.1 unroll", "store_at s at i.0 in scratch"},
                     "store_at s at i.0 in scratch: the loop over i.1 is bound already"},
        RefusedParts{{"fuse b, i as c", "split c 100000 mask", "store_at s at c.0 in scratch"},
                     "store_at s at c.0 in scratch: the array would have more than 1048576 elements"},
        RefusedParts{{"distribute z"}, "distribute z: there is not one loop over z"},
        RefusedParts{{"distribute i"}, "distribute i: the loop over i has one group of statements"},
        RefusedParts{
            {"store_at p at b in scratch", "store_at s at b in scratch", "bind i unroll", "distribute i"},
            "distribute i: the loop over i is bound already"},
        RefusedParts{{"store_at p at b in scratch", "distribute i"},
                     "distribute i: the loop over i has one group of statements"},
        RefusedParts{{"cache p at i in scratch"}, "cache p at i in scratch: it is loaded too"}));

TEST(Parts, AreNotDistributedWhereTheyShareElements) {
  for (const std::string_view element : {"j", "i + j"}) {
    std::string text = R"(
program running(x: f32[64], y: written f32[64], s: local f32[16]) {
  scratch s[16] in scratch { for i < 8 { for j < 8 { s[AT] = x[8*i + j] } for j < 8 { y[8*i + j] = s[AT] } } } })";
    for (auto at = text.find("AT"); at != std::string::npos; at = text.find("AT"))
      text.replace(at, 2, element);
    EXPECT_EQ(why_none(loops::parse(text), steps_of({"distribute i"})),
              "distribute i: iterations of i touch the same elements of s");
  }
}

TEST(Parts, HaveAScheduleOfSteps) {
  EXPECT_EQ(schedule::why_illegal(attention(), schedule::parse("schedule panel")),
            "a nest of several parts has a schedule of steps");
  EXPECT_EQ(schedule::why_illegal(attention(), {}), "copies along u, whose extent 20 is no power of two");
}

}  // namespace

}  // namespace twinloom::tests
