// Schedules that the lists of core/schedule and steps both say: their programs are the same but for names.
#include <gtest/gtest.h>

#include "core/loops/rewrite.h"
#include "core/schedule/schedule.h"
#include "tests/steps/canonical_nests.h"
#include "tests/steps/lists.h"

namespace twinloom::tests {

namespace {

// With the names of axes and temps by the order in which the program binds them.
loops::Program renamed(const loops::Program& program) {
  loops::Renaming renaming;
  const auto name_temp = [&](loops::Temp temp) {
    renaming.temps.emplace(temp, loops::Temp{static_cast<std::uint32_t>(renaming.temps.size())});
  };
  loops::for_each_stmt(*program.body, [&](const loops::Stmt& stmt) {
    if (const auto* loop = std::get_if<loops::Loop>(&stmt.node))
      renaming.symbols.emplace(loop->axis, index::Symbol(cat("axis", renaming.symbols.size())));
    if (const auto* start = std::get_if<loops::Start>(&stmt.node)) name_temp(start->total);
    if (const auto* fold = std::get_if<loops::Fold>(&stmt.node)) name_temp(fold->result);
    if (const auto* let = std::get_if<loops::Let>(&stmt.node)) name_temp(let->temp);
  });
  loops::Program result = program;
  result.body = loops::rename(program.body, renaming);
  return result;
}

struct Both {
  std::string_view nest;
  std::int64_t length;
  std::string_view lists;
  std::vector<std::string_view> steps;
};

class SameProgram : public testing::TestWithParam<Both> {};

TEST_P(SameProgram, AsOfLists) {
  const Both& both = GetParam();
  const loops::Program nest = with_length(both.nest, both.length);
  const schedule::Schedule lists = schedule::parse(both.lists);
  ASSERT_EQ(schedule::why_illegal(nest, lists).value_or(""), "");
  ASSERT_EQ(why_none(nest, steps_of(both.steps)), "");
  EXPECT_EQ(loops::print(renamed(*program_of(nest, steps_of(both.steps)))),
            loops::print(renamed(schedule::apply(nest, lists).front())));
}

INSTANTIATE_TEST_SUITE_P(
    Canonical, SameProgram,
    testing::Values(
        // What is chosen for AVX-512: less than a unit, and whole units.
        Both{
            ROW_SUMS,
            1003,
            "schedule split -1 i : 32 clip split 0 k : 256, 64, 16 mask loop -1 i.0 block loop -1 i.1 serial "
            "loop 0 k.2 serial loop 0 k.3 vector loop 0 k.0 serial loop 0 k.1 unroll",
            {"split i 32 clip", "split k 256, 64, 16 mask", "reorder k.2, k.3, k.0, k.1", "bind i.0 block",
             "bind k.1 unroll", "bind k.3 vector"}},
        Both{ROW_SUMS,
             4096,
             "schedule split -1 i : 32 clip split 0 k : 1024, 256, 16 exact loop -1 i.0 block loop -1 i.1 "
             "serial "
             "loop 0 k.0 serial loop 0 k.2 serial loop 0 k.3 vector loop 0 k.1 serial",
             {"split i 32 clip", "split k 1024, 256, 16 exact", "reorder k.0, k.2, k.3, k.1",
              "bind i.0 block", "bind k.3 vector"}},
        // AVX2, with units that are not whole: the chain is written out in the main part.
        Both{ROW_SUMS,
             3000,
             "schedule split 0 k : 1024, 256, 32, 8 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.3 "
             "unroll "
             "loop 0 k.4 vector loop 0 k.1 unroll loop 0 k.2 unroll",
             {"split k 1024, 256, 32, 8 remainder", "reorder k.0, k.3, k.4, k.1, k.2",
              "reorder k.3_1, k.4_1, k.1_1, k.2_1", "bind i block", "bind k.3 unroll", "bind k.4 vector",
              "bind k.1 unroll", "bind k.2 unroll", "bind k.4_1 vector"}},
        // A row by the threads of a block.
        Both{ROW_SUMS,
             8192,
             "schedule split 0 k : 1024, 256 exact loop -1 i.0 block loop 0 k.0 serial loop 0 k.2 thread "
             "loop 0 k.1 unroll",
             {"split k 1024, 256 exact", "reorder k.0, k.2, k.1", "bind i block", "bind k.2 thread",
              "bind k.1 unroll"}},
        Both{ROW_SUMS,
             16384,
             "schedule split 0 k : 8192, 1024, 256, 4 exact loop -1 i.0 block loop 0 k.0 serial "
             "loop 0 k.1 thread loop 0 k.3 thread loop 0 k.4 vector loop 0 k.2 unroll",
             {"split k 8192, 1024, 256, 4 exact", "reorder k.0, k.1, k.3, k.4, k.2", "bind i block",
              "bind k.1 thread", "bind k.3 thread", "bind k.4 vector", "bind k.2 unroll"}},
        Both{SOFTMAX,
             4096,
             "schedule split 0 k : 64, 16 exact split 1 l : 1024, 256, 16 exact split 2 j : 16 exact "
             "loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 unroll loop 0 k.2 vector loop 1 l.0 serial "
             "loop 1 l.2 serial loop 1 l.3 vector loop 1 l.1 serial loop 2 j.0 serial loop 2 j.1 vector",
             {"split k 64, 16 exact", "split l 1024, 256, 16 exact", "split j 16 exact",
              "reorder l.0, l.2, l.3, l.1", "bind i block", "bind k.1 unroll", "bind k.2 vector",
              "bind l.3 vector", "bind j.1 vector"}}));

}  // namespace

}  // namespace twinloom::tests
