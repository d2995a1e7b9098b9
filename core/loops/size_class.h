// Classes of sizes. Machine code may be made for all sizes or for those of a class, for which more is known:
// a bound of a row's length, what divides it. Nests say what tells their classes apart
// (schedule::size_questions); a run's sizes are of a class when they give its answers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/loops/loops.h"

namespace twinloom::loops {

// What is asked of the sizes of a run.
struct SizeQuestion {
  enum class Kind : std::uint8_t {
    extent,   // of a row or side: a power of two up to `most`, between two of them, or beyond it
    amount,   // of rows or elements: between powers of 8
    divisor,  // which power of two divides it, up to `most`
    whole,    // whether `most` divides it
  };
  Kind kind;
  index::Expr what;  // extent, divisor and whole: a size
  std::int64_t most = 0;
  friend bool operator==(const SizeQuestion&, const SizeQuestion&) = default;
};
struct SizeAnswer {
  index::Range range;  // that it lies in, as far as is known
  std::int64_t divisor = 1;
  friend bool operator==(const SizeAnswer&, const SizeAnswer&) = default;
};
SizeAnswer answer(const SizeQuestion& question, const index::Values& sizes);

struct SizeClass {
  std::vector<SizeQuestion> questions;
  std::vector<SizeAnswer> answers;  // to each
  bool holds(const index::Values& sizes) const;
  // Asks these too, where it does not yet.
  void add(const std::vector<SizeQuestion>& asked, const index::Values& sizes);
};

// The nest for sizes of the class that these are of: with what the answers tell of each size, and, where a
// question speaks of it, with nearly this value as its usual one; a size that has one value in the class is
// that number.
Program narrowed(const Program& nest, const std::vector<SizeQuestion>& questions, const index::Values& sizes);

}  // namespace twinloom::loops
