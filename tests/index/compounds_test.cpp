#include "core/index/compounds.h"

#include <gtest/gtest.h>

#include "tests/index/support.h"

namespace twinloom::index {
namespace {

// "nothing" where no expression over what is told has the value.
std::string resolved(std::vector<std::string_view> told, std::string_view wanted) {
  std::vector<Expr> exprs;
  for (const std::string_view text : told) exprs.push_back(parse(text));
  int count = 0;
  const Compounds compounds(std::move(exprs), [&] { return Symbol(cat("c", count++)); });
  const auto found = compounds.resolved(parse(wanted));
  return found ? print(*found) : "nothing";
}

TEST(Compounds, SymbolsThatAreToldStayAsTheyAre) {
  EXPECT_EQ(resolved({"n", "3*m + 1"}, "n*m"), "m*n");
  EXPECT_EQ(resolved({"n", "n*m"}, "m"), "m");
  EXPECT_EQ(resolved({"n"}, "m"), "nothing");
}

TEST(Compounds, PartsThatAreToldAloneHaveSymbols) {
  EXPECT_EQ(resolved({"2*a*b"}, "6*a*b"), "6*c0");
  EXPECT_EQ(resolved({"2*a*b"}, "a"), "nothing");
  EXPECT_EQ(resolved({"n", "n*a*b"}, "a*b + n"), "c0 + n");
  EXPECT_EQ(resolved({"4*floor_div(a, 4)"}, "floor_div(a, 4) + 1"), "c0 + 1");
  EXPECT_EQ(resolved({"4*floor_div(a, 4)"}, "floor_mod(a, 4)"), "nothing");
  EXPECT_EQ(resolved({"a*b", "floor_div(a*b, 2)"}, "a*b - 2*floor_div(a*b, 2)"),
            resolved({"a*b"}, "a*b - 2*floor_div(a*b, 2)"));
}

TEST(Compounds, SumsThatAreToldAsAWholeHaveASymbol) {
  EXPECT_EQ(resolved({"a + b"}, "2*a + 2*b + 3"), "2*c0 + 3");
  EXPECT_EQ(resolved({"a + b"}, "a - b"), "nothing");
}

}  // namespace
}  // namespace twinloom::index
