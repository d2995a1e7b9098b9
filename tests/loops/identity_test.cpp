// Which nests are one, whatever they are called.
#include "core/loops/identity.h"

#include <gtest/gtest.h>

namespace twinloom::loops {
namespace {

constexpr std::string_view ROWS =
    R"(program k3_rows(in7: f32[s0*9], at: i64[n], out2: written f32[n*9]; s0 in 1..64 % 2 ~ 48, n in 0..) {
  for i < n { index x0 = at[i] below s0 node 5 for j < 9 { out2[9*i + j] = in7[9*x0 + j] } } })";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}
Identity identity(const std::string& text) { return identity_of(parse(text)); }

TEST(Identity, IsWrittenByNamesOfItsOwn) {
  const Identity rows = identity(std::string(ROWS));
  EXPECT_EQ(
      print(rows.nest),
      R"(program nest(b0: f32[9*size0], b1: i64[size1], b2: written f32[9*size1]; size0 in .., size1 in ..) {
  for i < size1 {
    index x0 = b1[i] below size0
    for j < 9 {
      b2[9*i + j] = b0[j + 9*x0]
    }
  }
}
)");
  EXPECT_EQ(rows.sizes, "size0 in 1..64 % 2, size1 in 0..");
  EXPECT_EQ(rows.hash.size(), 32u);
  EXPECT_EQ(print(parse(print(rows.nest))), print(rows.nest));
}

TEST(Identity, IsTheSameForOtherNames) {
  const std::string text(ROWS);
  const Identity rows = identity(text);
  for (const auto& [from, to] : {std::pair{"k3_rows", "other"},
                                 {"in7", "temp12"},
                                 {"out2", "in7b"},
                                 {"s0", "s27"},
                                 {"node 5", "node 8"},
                                 {" ~ 48", ""}}) {
    const Identity other = identity(replaced(text, from, to));
    EXPECT_EQ(other.hash, rows.hash) << from;
    EXPECT_EQ(other.sizes, rows.sizes) << from;
  }
}

TEST(Identity, TellsNestsApart) {
  const std::string text(ROWS);
  const Identity rows = identity(text);
  for (const auto& [from, to] : {std::pair{"9", "10"},
                                 {"f32", "f64"},
                                 {"below s0", "below s0 wraps"},
                                 {"for i < n", "for i < n - 1"},
                                 {"for j", "for j2"}}) {
    std::string changed = replaced(text, from, to);
    if (std::string_view(to) == "for j2") changed = replaced(changed, "+ j", "+ j2");
    EXPECT_NE(identity(changed).hash, rows.hash) << to;
  }
  const Identity wider = identity(replaced(text, "1..64", "1..65"));
  EXPECT_EQ(wider.hash, rows.hash);
  EXPECT_NE(wider.sizes, rows.sizes);
}

TEST(Identity, NoSizeTakesTheNameOfAnAxis) {
  const std::string text =
      R"(program p(x: f32[n], y: written f32[n]; n in 0..) { for size0 < n { y[size0] = x[size0] } })";
  EXPECT_NE(print(identity(text).nest).find("for size0 < size_0 {"), std::string::npos)
      << print(identity(text).nest);
}

}  // namespace
}  // namespace twinloom::loops
