// See canonical_nests.h.
#include "tests/steps/canonical_nests.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/steps/lists.h"
#include "tests/steps/run.h"

namespace twinloom::tests {

loops::Program with_length(std::string_view text, std::int64_t n) {
  std::string result(text);
  const auto replace = [&](std::string_view what, const std::string& by) {
    for (auto at = result.find(what); at != std::string::npos; at = result.find(what, at + by.size()))
      result.replace(at, what.size(), by);
  };
  replace(", n in 0..", "");
  replace(", n in 1..", "");
  replace("*n", cat("*", n));
  replace("n*", cat(n, "*"));
  replace("< n ", cat("< ", n, " "));
  return loops::parse(result);
}

index::Values sizes_of(std::int64_t m, std::int64_t n) {
  return {{index::Symbol("m"), m}, {index::Symbol("n"), n}};
}

void expect_same_bits(const loops::Program& nest, const std::vector<steps::Step>& list,
                      const index::Values& sizes) {
  SCOPED_TRACE(print(list) + "\n" + loops::print(nest) + index::print(index::Expr(sizes.rbegin()->second)));
  ASSERT_EQ(why_none(nest, list), "");
  const auto program = program_of(nest, list);
  for (const Data data : {Data::fractions, Data::negative_zeros}) {
    const auto expected = run_on(data, nest, sizes);
    for (const bool reversed : {false, true})
      ASSERT_EQ(run_on(data, *program, sizes, {reversed, reversed}), expected) << loops::print(*program);
  }
}

}  // namespace twinloom::tests
