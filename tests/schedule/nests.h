// The nests that the tests of this room schedule, as text.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace twinloom::tests {

using Lists = std::vector<std::vector<std::int64_t>>;
struct NestCase {
  std::string_view name, text;
  Lists sizes;                              // of the program's size symbols, in order
  std::vector<std::string_view> schedules;  // made by hand; where one does not fit the sizes it is refused
};
std::span<const NestCase> nest_cases();
std::vector<NestCase> nests_below_bounds();  // that are among them
std::vector<NestCase> nests_of_panels();     // too
std::vector<NestCase> nests_with_lookups();  // too

// Those with scans. See scan_nests.cpp.
std::vector<NestCase> scan_nests();

Lists each(std::initializer_list<std::int64_t> sizes);
// Pairs (rows, size) with few rows.
Lists rows_of(std::initializer_list<std::int64_t> sizes);

}  // namespace twinloom::tests
