// The nests that the tests of this room schedule, as text.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace twinloom::tests {

struct NestCase {
  std::string_view name, text;
  std::vector<std::vector<std::int64_t>> sizes;  // of the program's size symbols, in order
  std::vector<std::string_view> schedules;  // made by hand; where one does not fit the sizes it is refused
};
std::span<const NestCase> nest_cases();

}  // namespace twinloom::tests
