// Goldens of generated text: short enough to be checked by eye.
#include "core/emit/emit.h"

#include <gtest/gtest.h>

#include "backends/cpu/dialect.h"

namespace twinloom::tests {

namespace {

std::string text_of(std::string_view program) { return emit::emit(loops::parse(program), cpu::CpuDialect()); }

TEST(Emit, CountsTasksOfBlockLoopsOnly) {
  const loops::Program program = loops::parse(R"(program p(x: written f32[n*m]; n in 0.., m in 0..) {
    for i < n block { for j < 4 block { for k < m { x[m*i + j + k] = 0x0p+0: f32 } } } })");
  EXPECT_EQ(index::print(emit::task_count(program)), "4*n");
  EXPECT_NE(text_of("program p(x: written f32[1]) { x[0] = 0x1p+0: f32 }"), "");
}

}  // namespace

}  // namespace twinloom::tests
