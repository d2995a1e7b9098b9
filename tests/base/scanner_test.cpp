// The scanner: what it accepts, and the words and places of its messages.
#include "core/base/scanner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/thrown.h"

namespace twinloom {
namespace {

TEST(Scanner, WordsEndWhereANameEnds) {
  Scanner scanner("split_2.k i.0, end.", "form");
  EXPECT_TRUE(scanner.peek_word());
  EXPECT_EQ(scanner.word(), "split_2.k");
  EXPECT_EQ(scanner.word(), "i.0");
  EXPECT_TRUE(scanner.accept(","));
  EXPECT_EQ(scanner.word(), "end");
  EXPECT_TRUE(scanner.accept("."));
  EXPECT_TRUE(scanner.at_end());
}

TEST(Scanner, ATokenOfLettersIsAWholeWord) {
  Scanner scanner("format for", "form");
  EXPECT_FALSE(scanner.accept("for"));
  EXPECT_TRUE(scanner.accept("format"));
  EXPECT_TRUE(scanner.peek("for"));
  EXPECT_TRUE(scanner.accept("for"));
}

TEST(Scanner, SkipsSpaceAndComments) {
  Scanner scanner("  # a comment\n\t a # another\n#last", "form");
  EXPECT_EQ(scanner.word(), "a");
  EXPECT_EQ(scanner.line(), 2);
  EXPECT_TRUE(scanner.at_end());
}

TEST(Scanner, IntegersOf64Bits) {
  Scanner scanner("-9223372036854775808 9223372036854775807 9223372036854775808", "form");
  EXPECT_TRUE(scanner.peek_number());
  EXPECT_EQ(scanner.integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(scanner.integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_THROW(scanner.integer(), Error);
}

TEST(Scanner, TellsRealsFromIntegers) {
  Scanner scanner("3 3.5 -1e3 0x1.8p+1 inf -nan", "form");
  EXPECT_FALSE(scanner.peek_real());
  EXPECT_EQ(scanner.real(), 3);
  EXPECT_TRUE(scanner.peek_real());
  EXPECT_EQ(scanner.real(), 3.5);
  EXPECT_EQ(scanner.real(), -1000);
  EXPECT_TRUE(scanner.peek_real());
  EXPECT_EQ(scanner.real(), 3);
  EXPECT_TRUE(scanner.peek_real());
  EXPECT_EQ(scanner.real(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(scanner.real()));
}

TEST(Scanner, ANumberEndsBeforeAnOperator) {
  Scanner scanner("2-1 1e-3-4", "form");
  EXPECT_EQ(scanner.real(), 2);
  EXPECT_EQ(scanner.integer(), -1);
  EXPECT_EQ(scanner.real(), 1e-3);
  EXPECT_EQ(scanner.integer(), -4);
}

TEST(Scanner, ARealBeyondADoubleIsAnError) {
  EXPECT_EQ(tests::words_of<Error>([] { Scanner("1e999", "form").real(); }),
            "form line 1 column 1: expected a number within the range of a double, found '1e999'");
}

TEST(Scanner, QuotedTextComesBackAsItWas) {
  const std::string given = "a \"b\" \\ \n \xff";
  const std::string text = cat("\"", escaped(given), "\" next");
  Scanner scanner(text, "form");
  EXPECT_EQ(scanner.quoted(), given);
  EXPECT_EQ(scanner.word(), "next");
}

TEST(Scanner, QuotedTextMustEnd) {
  EXPECT_EQ(tests::words_of<Error>([] { Scanner("\"abc", "form").quoted(); }),
            "form line 1 column 5: expected '\"' at the end of a text, found the end of the text");
  EXPECT_THROW(Scanner("\"abc\ndef\"", "form").quoted(), Error);
  EXPECT_THROW(Scanner("\"abc\\", "form").quoted(), Error);
}

TEST(Scanner, MessagesSayWhereAndWhat) {
  Scanner scanner("a\n  b c", "schedule");
  scanner.expect("a");
  scanner.expect("b");
  EXPECT_EQ(tests::words_of<Error>([&] { scanner.expect("loops"); }),
            "schedule line 2 column 5: expected 'loops', found 'c'");
  EXPECT_EQ(tests::words_of<Error>([&] { scanner.integer(); }),
            "schedule line 2 column 5: expected an integer of 64 bits, found 'c'");
  scanner.expect("c");
  EXPECT_EQ(tests::words_of<Error>([&] { scanner.word(); }),
            "schedule line 2 column 6: expected a name, found the end of the text");
}

}  // namespace
}  // namespace twinloom
