// Totals while the interpreter runs: their copies and stacks, and the canonical order over elements
// that an Accumulate or a Scan hands over one by one. For the inside of this room.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/loops/loops.h"

namespace twinloom::loops {

using Parts = std::array<ops::Number, 2>;

// How two totals of one sort are combined, and what they are without elements.
struct Combiner {
  ops::Monoid monoid;
  ops::DType element;
  Parts operator()(const Parts& left, const Parts& right) const {
    return ops::combine(monoid, element, left, right);
  }
  Parts identity() const { return ops::identity(monoid, element); }
  Parts over_nothing() const;
};

// The pairs (place, element) of a reduction, in any order, and their canonical combination.
class Reduction {
 public:
  void add(const Combiner& combine, std::int64_t place, const Parts& element);
  // Bug unless the places are 0..N-1, each once.
  const Parts& result(const Combiner& combine);

 private:
  Parts computed(const Combiner& combine);
  std::vector<std::pair<std::int64_t, Parts>> pending_;
  Parts any_order_{};  // of monoids whose bits do not depend on the order
  std::optional<Parts> result_;
  std::int64_t count_ = 0, highest_ = -1;
};

// The elements of a scan in ascending places, each answered by its result.
class Prefixes {
 public:
  void clear() { *this = Prefixes(); }
  Parts add(const Combiner& combine, std::int64_t place, const Parts& element, bool exclusive);
  // Of all elements so far.
  Parts result(const Combiner& combine) const;

 private:
  std::int64_t count_ = 0;
  std::optional<Parts> row_, rows_before_, chunk_, chunks_before_, last_;
};

// The copies of a total; a stack has `depth` cells for each copy, a total one.
struct Total {
  std::vector<std::int64_t> extents, strides;  // of the copies, in the order of Start::copies
  std::vector<Parts> cells;
  std::vector<bool> occupied;  // of a stack
  std::vector<Reduction> reductions;  // one for each cell, once one of them is accumulated
  Prefixes prefixes;

  void start(const Combiner& combine, std::vector<std::int64_t> copy_extents, int depth);
  Reduction& reduction(std::int64_t cell);
};

// Combines the cells first + i * stride for i < count into the first.
void combine_cells(Total& total, const Combiner& combine, std::int64_t first, std::int64_t stride,
                   std::int64_t count, Pairing pairing);
// The cells of one stack, from its first: a binary counter.
void push_cell(Total& stack, const Combiner& combine, std::int64_t first, int depth, std::int64_t number,
               const Parts& unit);
Parts fold_cells(const Total& stack, const Combiner& combine, std::int64_t first, int depth,
                 std::int64_t count);

}  // namespace twinloom::loops
