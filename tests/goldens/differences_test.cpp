// What is said of goldens that differ: that a change is found, and where it is.
#include "tests/goldens/differences.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/goldens/texts.h"

namespace twinloom::tests {

namespace {

KernelTexts kernel_of(const std::string& name, const std::string& loop, const std::string& source) {
  return {
      name, "nest\n", cat("schedule\n  ", loop, "\n  loop -1 j.0 vector\n"), {{name, "program\n", source}}};
}

std::string golden_with(const std::vector<SubjectTexts>& subjects) {
  machine::Machine machine;
  machine.name = "small";
  return golden_of(machine, subjects);
}

const std::vector<SubjectTexts> kept = {
    {"rows",
     {kernel_of("k0_sum", "loop -1 i.0 block", "a\n"), kernel_of("k1_exp", "loop -1 i.0 block", "b\n")}},
    {"columns", {kernel_of("k0_sum", "loop -1 i.0 block", "c\n")}}};

TEST(Differences, OfEqualGoldensThereAreNone) {
  EXPECT_EQ(differences(golden_with(kept), golden_with(kept)), "");
}

TEST(Differences, OfAScheduleNameTheKernelAndTheLine) {
  std::vector<SubjectTexts> made = kept;
  made[0].kernels[1] = kernel_of("k1_exp", "loop -1 i.0 serial", "b\n");
  EXPECT_EQ(differences(golden_with(kept), golden_with(made)),
            "small: rows, kernel k1_exp\n"
            "  - loop -1 i.0 block\n"
            "  + loop -1 i.0 serial\n");
}

TEST(Differences, OfASourceAloneAreFound) {
  std::vector<SubjectTexts> made = kept;
  made[1].kernels[0].programs[0].source = "d\n";
  const std::string words = differences(golden_with(kept), golden_with(made));
  EXPECT_TRUE(words.starts_with("small: columns, kernel k0_sum\n  - program ")) << words;
}

TEST(Differences, SayWhichKernelsOnlyOneHas) {
  std::vector<SubjectTexts> made = kept;
  made[0].kernels.pop_back();
  made[1].name = "panels";
  EXPECT_EQ(differences(golden_with(kept), golden_with(made)),
            "small: rows, kernel k1_exp\n  - only the golden has it\n"
            "small: columns, kernel k0_sum\n  - only the golden has it\n"
            "small: panels, kernel k0_sum\n  + the golden lacks it\n");
}

TEST(Differences, OfTheOrderAloneAreFound) {
  EXPECT_EQ(differences(golden_with(kept), golden_with({kept[1], kept[0]})),
            "the same kernels, in another order, with other blanks or beside other subjects\n");
}

TEST(Differences, OfManyKernelsAndLinesShowTheFirst) {
  std::vector<SubjectTexts> many;
  for (int at = 0; at < 20; ++at)
    many.push_back({cat("rows ", at), {kernel_of("k0_exp", "loop -1 i.0 block", "")}});
  const std::string all = differences(golden_with({}), golden_with(many));
  EXPECT_TRUE(all.ends_with("small: rows 19, kernel k0_exp\n  + the golden lacks it\n")) << all;
  many.push_back(kept[1]);
  EXPECT_EQ(differences(golden_with({}), golden_with(many)), all + "and 1 more\n");
  EXPECT_EQ(differences("machine \"m\" {\n  a\n", "machine \"m\" {\n  b\n  c\n  d\n  e\n  f\n  g\n  h\n"),
            "m: the machine\n  - a\n  + b\n  + c\n  + d\n  + e\n  + f\n  + g\n  + and 1 more lines\n");
}

}  // namespace

}  // namespace twinloom::tests
