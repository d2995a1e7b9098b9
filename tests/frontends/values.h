// What the statements of FX texts give of the numbers 0, 1, 2, ...
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace twinloom::tests {

struct ValueRow {
  std::string_view parameters;
  std::string_view statement;  // that make y
  std::string_view type;       // of y
  std::vector<double> numbers;
};

// Every parameter counted from 0.
void expect_all(std::span<const ValueRow> rows);

}  // namespace twinloom::tests
