// A contraction of known sizes as cuBLASLt has products: matrices by columns, D = op(A) op(B) + C + bias, a
// batch of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/loops/library_nest.h"

namespace twinloom::cuda {

// Steps are in elements.
struct ColumnMatrix {
  std::int64_t rows = 1, columns = 1, column_step = 1;  // neighbours along a column are neighbours in memory
  bool transposed = false;                              // it is to be read so
  std::int64_t begin = 0;                               // behind element 0 of the buffer
  std::int64_t batch_step = 0;
};

struct MatrixCall {
  enum Which : std::uint8_t { A, B, C, D };
  template <class Each>
  using Four = std::array<Each, 4>;  // by Which

  std::int64_t depth = 0;
  Four<ColumnMatrix> matrices;  // where no C is added it is D
  bool swapped = false;         // A is the contraction's left factor, else its right one
  std::int64_t batch = 1;
  // What no batch with one step takes: a call for each, outermost first.
  struct Outer {
    std::int64_t extent;
    Four<std::int64_t> steps;
  };
  std::vector<Outer> outer;
  // Operands of the contraction, of the results' type: C, and what has one number for each row of D.
  std::optional<std::size_t> added, bias;
  std::int64_t bias_begin = 0;
};

// Nothing where cuBLASLt has no such product: windows, several axes that are no one step, factors of two
// types, operands of another type than the results, a step behind the sums that is no addition (its manual
// does not say that its relu keeps a NaN).
std::optional<MatrixCall> matrix_call_of(const loops::ContractionCall& call,
                                         const loops::ContractionTypes& types);

}  // namespace twinloom::cuda
