// Sums that steps schedule, as machine code.
#include <gtest/gtest.h>

#include "core/schedule/schedule.h"
#include "tests/backends/compare.h"
#include "tests/support/nests_of_parts.h"
#include "tests/support/nests_of_sums.h"

namespace twinloom::tests {

namespace {

void expect_same_by_steps(std::string_view nest, std::string_view schedule, std::int64_t rows,
                          std::int64_t length) {
  const auto programs = schedule::apply(loops::parse(nest), schedule::parse(schedule));
  expect_same(loops::print(programs.front()), {.sizes = {rows, length}});
}

class Length : public testing::TestWithParam<std::int64_t> {};

TEST_P(Length, OfRowsBySteps) {
  expect_same_by_steps(
      SOFTMAX,
      "schedule bind i block split k 64, 16 mask bind k.1 unroll bind k.2 vector "
      "split l 1024, 256, 16 mask bind l.2 unroll bind l.3 vector split j 16 mask bind j.1 vector",
      3, GetParam());
  expect_same_by_steps(
      SOFTMAX,
      "schedule bind i block split l 4096, 1024, 256, 32, 8 mask reorder l.0, l.1, l.5, l.4, l.2, l.3 "
      "bind l.5 vector bind l.3 unroll",
      2, GetParam());
}

TEST_P(Length, OfColumnsBySteps) {
  expect_same_by_steps(COLUMN_SUMS,
                       "schedule split j 16 mask split k 1024, 256, 128, 64 mask "
                       "reorder j.0, k.0, k.4, k.3, k.2, k.1, j.1 bind j.0 block bind j.1 vector",
                       37, GetParam());
}

TEST(Parts, OfAttentionBySteps) {
  std::string schedule = "schedule";
  for (const auto& steps : {ATTENTION_BY_ROWS, ATTENTION_BY_TILES})
    for (const std::string_view step : steps) schedule += cat(" ", step);
  const auto programs = schedule::apply(loops::parse(ATTENTION), schedule::parse(schedule));
  for (const std::int64_t heads : {0, 1, 3}) expect_same(loops::print(programs.front()), {.sizes = {heads}});
}

INSTANTIATE_TEST_SUITE_P(Steps, Length, testing::Values(1, 7, 255, 256, 257, 1023, 1024, 1025, 3000, 5000));

}  // namespace

}  // namespace twinloom::tests
