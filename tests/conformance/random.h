// Random choices that are the same on every machine: a seed means one graph, whatever the standard library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace twinloom::tests {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 0x1234567) {}
  // SplitMix64.
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // 0 <= result < count
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count));
  }
  // low <= result <= high
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  int axis(int rank) { return static_cast<int>(below(rank)); }
  bool chance(int percent) { return below(100) < percent; }
  // -1 <= result < 1
  double real() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1; }
  template <class List>
  const auto& pick(const List& list) {
    return *(std::begin(list) + below(static_cast<std::int64_t>(std::size(list))));
  }

 private:
  std::uint64_t state_;
};

}  // namespace twinloom::tests
