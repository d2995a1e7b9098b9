// The named relaxations of mode `fast`: what it may change of results beyond mode `fused`, and how far. All
// but `atomics` are deterministic: two runs on one device give the same bits.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "core/ops/pointwise.h"

namespace twinloom::graph {

enum class Relaxation : std::uint8_t {
  // Sums and products, those that scatters make at one place included, in any order that the schedule fixes,
  // where what is summed up may be a product that is not rounded.
  // A sum of n terms x is within n u sum|x| of the exact one whatever the order, with u half a step of 1
  // (Higham, Accuracy and Stability of Numerical Algorithms, 4.4); where signs are random within
  // 8 u rms sqrt(n log2 n) (NUMERICS.md A.2).
  // A product of n factors is within n u of itself.
  // Both as long as no partial result overflows, and no partial product is subnormal: that may depend on
  // the order.
  //
  // Of a scan that is cut into parts, what comes before each of its chunks is summed up so; within its chunks
  // it keeps
  // the canonical order, and so do sums of columns that one kernel makes beside those of rows.
  // Sums by key of a CPU (scatters into places of their own) do too.
  reassociate,
  // A product that one addition or subtraction uses, and nothing else, is not rounded before it: the sum
  // is the nearest value to the exact one
  // of its operands.
  contract,
  // On a GPU what scatters add goes to its place in memory, in whatever order the threads come to it, and two
  // runs may give other bits. n contributions and what was there are off by no more than sums of n + 1 terms
  // in any order, above. Chains are as long as a place has contributions: where signs are random, the error
  // is 0.35 u rms n in the mean. Of 16 bits sums are made in f32 and rounded once. What is subnormal of f32
  // may count as 0.
  atomics,
  // exp, sigmoid, silu and gelu of f32 are within 4 units in the last place, on a GPU these, tanh, roots,
  // reciprocals and quotients within 2^-21 of the exact value, 4 units in the last place of a power of two,
  // where
  // that and what it is made of are 2^-118 in size or more; results of 16 bits within 1 unit. There a
  // quotient by what is above 2^126 may be 0.
  approximate,
  // With `approximate`, on a GPU: what is subnormal may count as 0 in these functions, of their inputs and of
  // their results.
  flush,
};

std::span<const Relaxation> all_relaxations();
std::string_view name(Relaxation relaxation);
// Error naming those that there are where none has the name.
Relaxation relaxation_named(std::string_view name);

class Relaxations {
 public:
  Relaxations() = default;
  Relaxations(std::initializer_list<Relaxation> relaxations) {
    for (const Relaxation relaxation : relaxations) add(relaxation);
  }
  static Relaxations all();
  void add(Relaxation relaxation) { bits_ |= bit(relaxation); }
  bool has(Relaxation relaxation) const { return (bits_ & bit(relaxation)) != 0; }
  friend bool operator==(const Relaxations&, const Relaxations&) = default;

 private:
  static std::uint32_t bit(Relaxation relaxation) { return 1u << static_cast<unsigned>(relaxation); }
  std::uint32_t bits_ = 0;
};

// What functions that are approximated do with them.
inline ops::Subnormals subnormals_of(Relaxations relaxations) {
  return relaxations.has(Relaxation::flush) ? ops::Subnormals::flushed : ops::Subnormals::kept;
}

}  // namespace twinloom::graph
