// Pointwise programs on the CPU against the interpreter, bit for bit.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/ops/dtype.h"
#include "tests/backends/compare.h"

namespace twinloom::tests {

namespace {

TEST(Pointwise, AVectorLoopWithAMaskedTail) {
  const char* text = R"(program add(x: f32[n], y: f32[n], z: written f32[n]; n in 0..) {
    for i < floor_div(n + 31, 32) block {
      for j < 4 unroll {
        for l < 8 vector {
          z[32*i + 8*j + l] = add((x[32*i + 8*j + l] if 32*i + 8*j + l < n else 0x0p+0: f32), (y[32*i + 8*j + l] if 32*i + 8*j + l < n else 0x0p+0: f32)) if 32*i + 8*j + l < n
        }
      }
    }
  })";
  for (const std::int64_t n : {0, 1, 7, 8, 9, 31, 32, 33, 100}) expect_same(text, {.sizes = {n}});
  for (const int threads : {1, 2, 3}) expect_same(text, {.sizes = {1000}, .threads = threads});
}

}  // namespace

}  // namespace twinloom::tests
