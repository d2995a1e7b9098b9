// Runs a program given as text on the CPU and by the interpreter and compares every element of every
// buffer, bit for bit, but the room of a routine. Memory that may not be touched lies before and behind each
// argument.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/backend.h"

namespace twinloom::tests {

struct Outcome {
  std::map<std::string, std::vector<ops::Number>> buffers;  // what the CPU left in the arguments, by name
  std::optional<runtime::Failure> failure;
};

struct RunPlan {
  std::vector<std::int64_t> sizes = {};
  std::map<std::string, std::vector<ops::Number>> contents = {};  // of some buffers, by name; else random
  int threads = 1;
  std::uint64_t seed = 1;
};

// The back end under test: made once.
const runtime::Backend& cpu_backend();

// gtest failures name the buffer and element that differ, with the source of the kernel.
Outcome expect_same(std::string_view text, const RunPlan& plan);

}  // namespace twinloom::tests
