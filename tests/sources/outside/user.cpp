// Calls an exported function as its user does: what it gives, and what it throws.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "lookup.h"

namespace {

std::string thrown(const std::vector<std::int64_t>& places) {
  const std::vector<float> table(40, 0.5f);
  std::vector<float> total(places.size() + 1);
  try {
    lookup(table.data(), places.data(), std::int64_t(places.size()), total.data());
  } catch (const std::exception& error) {
    return error.what();
  }
  for (std::size_t row = 0; row < places.size(); ++row)
    if (total[row] != 2.0f) return "a sum of four halves is not 2";
  return "nothing";
}

bool is(const std::string& given, const std::string& expected) {
  if (given == expected) return true;
  std::printf("given: %s\nexpected: %s\n", given.c_str(), expected.c_str());
  return false;
}

}  // namespace

int main() {
  bool ok = is(thrown({0, 9, -1}), "nothing");
  ok &= is(thrown({}), "lookup: the size s0 is 0; expected at least 1");
  ok &= is(thrown({3, 10}), "'rows': index 10 is out of range; expected 0 <= index < 10");
  return ok ? 0 : 1;
}
