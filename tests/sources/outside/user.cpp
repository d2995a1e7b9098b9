// Calls an exported function as its user does: what it gives, and what it throws.
#include "lookup.h"
#include "lookup_cases.h"

namespace {

std::string thrown(const std::vector<std::int64_t>& places) {
  const std::vector<float> table(40, 0.5f);
  return thrown_by(places.size(), [&](std::vector<float>& total) {
    lookup(table.data(), places.data(), std::int64_t(places.size()), total.data());
  });
}

}  // namespace

int main() {
  bool ok = is(thrown({0, 9, -1}), "nothing");
  ok &= is(thrown({}), "lookup: the size s0 is 0; expected at least 1");
  ok &= is(thrown({3, 10}), "'rows': index 10 is out of range; expected 0 <= index < 10");
  return ok ? 0 : 1;
}
