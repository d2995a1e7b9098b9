// What both users of the exported lookup() expect of it.
#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

// What call(total) throws, in words; else whether each total is that of four halves.
template <class Call>
std::string thrown_by(std::size_t rows, Call call) {
  std::vector<float> total(rows + 1);
  try {
    call(total);
  } catch (const std::exception& error) {
    return error.what();
  }
  for (std::size_t row = 0; row < rows; ++row)
    if (total[row] != 2.0f) return "a sum of four halves is not 2";
  return "nothing";
}

inline bool is(const std::string& given, const std::string& expected) {
  if (given == expected) return true;
  std::printf("given: %s\nexpected: %s\n", given.c_str(), expected.c_str());
  return false;
}
