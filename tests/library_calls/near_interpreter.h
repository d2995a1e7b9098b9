// Calls of a library beside the interpreter of their nests; tests are skipped where oneDNN is not found.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "backends/cpu/onednn.h"
#include "core/runtime/backend.h"

namespace twinloom::tests {

// On two threads.
const runtime::Backend& cpu();

// Below 1.
std::vector<float> drawn(std::size_t count, unsigned seed);

// Both a NaN, or no further apart.
bool is_near(double a, double b, double most);

using Arrays = std::vector<std::vector<float>>;
std::vector<loops::Memory> memory_of(Arrays& arrays);

// The call where the first of the pair lies in the memory of the second, begun again where it asks for that.
// Whether it did.
bool run_in_place(const runtime::Kernel& kernel, const loops::InPlace& pair, Arrays& arrays,
                  std::span<const std::int64_t> sizes, runtime::RunSettings settings);

// Operands of f32 below 1, as long as the buffers say but for some elements of the first, and the result
// beside the interpreter's: sums of so many terms are within n u sum|x| of the exact one (NUMERICS.md A.2).
using Elements = std::map<std::size_t, float>;
void expect_near(const std::string& text, double terms, std::vector<std::int64_t> sizes = {},
                 const Elements& elements = {});

class LibraryCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cpu::onednn_path()) GTEST_SKIP() << "oneDNN 3 is not found";
  }
};

}  // namespace twinloom::tests
