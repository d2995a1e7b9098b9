// Inputs for elementary functions of f32 and f64: every exponent, subnormals, and the ranges in which
// functions are not trivial. The kinds of draws take turns.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace twinloom::ops::testing {

using Random = std::mt19937_64;

// In [-1, 1).
inline double signed_unit(Random& random) {
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -63);
}

template <class Real>
struct Draws {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int digits = std::numeric_limits<Real>::digits;

  static Real any_bits(Random& random) { return std::bit_cast<Real>(static_cast<Bits>(random())); }
  static Real subnormal(Random& random) {
    return any_bits(random) * std::numeric_limits<Real>::min() / std::numeric_limits<Real>::max();
  }
  static Real moderate(Random& random) {
    return static_cast<Real>(signed_unit(random) * std::exp2(10 - static_cast<double>(random() % 24)));
  }
  static Real small_interval(Random& random) { return static_cast<Real>(signed_unit(random) * 4); }
  // Where exponentials are finite.
  static Real whole_interval(Random& random) {
    return static_cast<Real>(signed_unit(random) * (sizeof(Real) == 4 ? 128 : 1100));
  }
  // Where logarithms, inverse functions and gamma functions vanish or end.
  static Real beside_a_small_integer(Random& random) {
    const auto near = static_cast<Real>(static_cast<int>(random() % 7) - 3);
    return near + static_cast<Real>(std::ldexp(signed_unit(random), -static_cast<int>(random() % digits)));
  }
  static Real beside_a_quarter_turn(Random& random) {
    const auto turns = static_cast<double>(random() >> (random() % 62));
    return static_cast<Real>(turns * (std::numbers::pi / 2)) * (random() % 2 == 0 ? Real(1) : Real(-1));
  }
  static constexpr std::array kinds = {any_bits,
                                       subnormal,
                                       moderate,
                                       small_interval,
                                       whole_interval,
                                       beside_a_small_integer,
                                       beside_a_quarter_turn};
};

// As many inputs of each of `operands` operands; with two, every kind meets every kind.
template <class Real>
std::vector<std::vector<Real>> draw(int operands, std::int64_t count, std::uint64_t seed) {
  constexpr auto& kinds = Draws<Real>::kinds;
  std::vector<std::vector<Real>> all(static_cast<std::size_t>(operands));
  Random random(seed);
  for (std::vector<Real>& inputs : all) inputs.reserve(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    std::size_t turn = i;
    for (std::vector<Real>& inputs : all) {
      inputs.push_back(kinds[turn % kinds.size()](random));
      turn /= kinds.size();
    }
  }
  return all;
}

}  // namespace twinloom::ops::testing
