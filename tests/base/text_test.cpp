// Text, errors, hashes and integers of the lowest room.
#include "core/base/text.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/integers.h"

namespace twinloom {
namespace {

TEST(Text, CatAndJoin) {
  EXPECT_EQ(cat("a", 1, -2.5, 'c'), "a1-2.5c");
  EXPECT_EQ(cat(), "");
  EXPECT_EQ(cat(true, false, std::uint8_t{200}, std::int8_t{-5}), "truefalse200-5");
  EXPECT_EQ(cat(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::uint64_t>::max()),
            "-922337203685477580818446744073709551615");
  EXPECT_EQ(cat(0.1f, 0.1, 1e300), "0.10.11e+300");
  EXPECT_EQ(cat(std::string("x"), std::string_view("y")), "xy");
  EXPECT_EQ(join(std::vector<int>{1, 2, 3}, ", ", [](int i) { return cat(2 * i); }), "2, 4, 6");
  EXPECT_EQ(join(std::vector<int>{}, ", ", [](int i) { return cat(i); }), "");
}

TEST(Text, EscapesWhatIsNotPrintable) {
  EXPECT_EQ(escaped("a\"b\\c\n\x7f\xc3"), "a\\\"b\\\\c\\x0a\\x7f\\xc3");
  EXPECT_EQ(escaped("*/ plain"), "*/ plain");
}

TEST(Text, WriterIndents) {
  Writer writer;
  writer.line("for i < ", 3);
  {
    const Indented inner(writer);
    writer.line("x");
    writer.line();
  }
  writer.line("end");
  EXPECT_EQ(writer.text(), "for i < 3\n  x\n\nend\n");
}

TEST(Text, NearestName) {
  const std::vector<std::string> known{"reduce", "reshape", "relu"};
  EXPECT_EQ(nearest_name("reshpae", known), "reshape");
  EXPECT_EQ(nearest_name("rel", known), "relu");
  EXPECT_EQ(nearest_name("xyzzy", known), "");
  EXPECT_EQ(nearest_name("", known), "");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("", "abc"), 3);
}

TEST(Error, ACheckThatFailsIsABugWithItsWords) {
  const int found = 3;
  try {
    CHECK(found == 4, "found ", found);
    FAIL() << "no Bug";
  } catch (const Bug& bug) {
    const std::string words = bug.what();
    EXPECT_TRUE(words.starts_with("bug in Twinloom: found 3 (found == 4 is false, ")) << words;
  }
}

TEST(Hash, IsTheSameEverywhere) {
  // XXH3_64bits of the empty text, from its reference implementation.
  EXPECT_EQ(stable_hash(""), 0x2d06800538d394c2ull);
  EXPECT_NE(mix_hash(mix_hash(1, 2), 3), mix_hash(mix_hash(1, 3), 2));
}

TEST(Integers, DivisionRoundsDown) {
  for (std::int64_t a = -20; a <= 20; ++a) {
    for (std::int64_t b = 1; b <= 7; ++b) {
      const std::int64_t quotient = floor_div(a, b);
      const std::int64_t remainder = floor_mod(a, b);
      EXPECT_EQ(quotient * b + remainder, a);
      EXPECT_TRUE(0 <= remainder && remainder < b);
      EXPECT_EQ(ceil_div(a, b), quotient + (remainder != 0 ? 1 : 0));
    }
  }
  EXPECT_EQ(floor_div(std::numeric_limits<std::int64_t>::min(), 1), std::numeric_limits<std::int64_t>::min());
}

TEST(Integers, CheckedArithmetic) {
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(checked_add(largest, 0), largest);
  EXPECT_EQ(checked_add(largest, 1), std::nullopt);
  EXPECT_EQ(checked_multiply(largest, -1), -largest);
  EXPECT_EQ(checked_multiply(std::numeric_limits<std::int64_t>::min(), -1), std::nullopt);
}

TEST(Integers, PowersOfTwo) {
  EXPECT_EQ(next_power_of_two(1), 1);
  EXPECT_EQ(next_power_of_two(5), 8);
  EXPECT_EQ(next_power_of_two(8), 8);
  EXPECT_TRUE(is_power_of_two(1024));
  EXPECT_FALSE(is_power_of_two(0));
  EXPECT_FALSE(is_power_of_two(-4));
  EXPECT_FALSE(is_power_of_two(12));
}

}  // namespace
}  // namespace twinloom
