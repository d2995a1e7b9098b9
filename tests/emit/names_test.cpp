// Names of kernels in profilers and in keys of machine code.
#include "core/emit/names.h"

#include <gtest/gtest.h>

namespace twinloom::emit {
namespace {

TEST(KernelNames, AreFunctionsOfC) {
  EXPECT_EQ(function_name("k3_sum_mul"), "twinloom_sum_mul");
  EXPECT_EQ(function_name("k12_sum_mul_parts"), "twinloom_sum_mul_parts");
  EXPECT_EQ(function_name("rows of \"x\"\n"), "twinloom_rows_of__x__");
  EXPECT_EQ(function_name(""), "twinloom_");
  const std::string longest = function_name("k1_" + std::string(100, 'a'));
  EXPECT_EQ(longest, "twinloom_" + std::string(55, 'a'));
}

TEST(KernelNames, LoseTheirNumberAlone) {
  EXPECT_EQ(without_number("k107_where"), "where");
  for (const char* name : {"", "k", "k1", "k1_", "kernel_1", "k_1", "where"})
    EXPECT_EQ(without_number(name), name);
}

}  // namespace
}  // namespace twinloom::emit
