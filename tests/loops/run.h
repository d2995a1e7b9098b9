// Runs a program text over arrays of elements, as the tests of the interpreter do.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/loops/interpret.h"
#include "tests/support/memory.h"

namespace twinloom::tests {

inline std::optional<loops::Failure> run(const loops::Program& program,
                                         const std::vector<Elements*>& arguments,
                                         const std::vector<std::int64_t>& sizes = {},
                                         const loops::Order& order = {}) {
  std::vector<loops::Memory> memory;
  for (Elements* elements : arguments) memory.push_back({elements->data(), 0, elements->count()});
  return loops::interpret(program, memory, sizes, order);
}

inline std::optional<loops::Failure> run(std::string_view text, loops::Stage stage,
                                         const std::vector<Elements*>& arguments,
                                         const std::vector<std::int64_t>& sizes = {}) {
  const loops::Program program = loops::parse(text);
  loops::verify(program, stage);
  return run(program, arguments, sizes);
}

inline void expect_same(const Elements& given, const Elements& expected) {
  const auto difference = first_difference(given, expected);
  EXPECT_FALSE(difference) << *difference;
}

}  // namespace twinloom::tests
