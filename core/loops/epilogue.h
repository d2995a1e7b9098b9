// Contractions whose totals are changed element by element before they are stored, by what libraries know
// too:
//
//   for i, j { start t; for k { t += a[i,k] * b[k,j] }; y[i,j] = relu(t + bias[j] + x[i,j]) }
//     ->  the contraction of a and b; add bias, add x, relu
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/loops/contraction.h"

namespace twinloom::loops {

// x becomes, in f32:
struct EpilogueStep {
  enum class Kind : std::uint8_t {
    add,         // x + operand
    subtract,    // x - operand
    multiply,    // x * operand
    divide,      // x / a, which may be a product with the reciprocal
    round,       // to the nearest integer, to an even one between two
    relu,        // maximum(x, 0)
    clip,        // minimum(maximum(x, a), b)
    hard_swish,  // x * minimum(maximum(a * x + b, 0), 1), where a * x + b may be rounded once or twice
  };
  Kind kind;
  std::optional<std::size_t> operand = {};  // of Contraction::operands; without one it is `a`
  float a = 0, b = 0;
};

struct ContractionCall {
  // Of the totals as they are, into what the nest stores; with the operands of the steps. Totals of integers
  // become f32 before the first step, and results of 8 bits are clipped to their type by the last.
  Contraction contraction;
  std::vector<EpilogueStep> epilogue;
};

// A nest that is a contraction (contraction.h), or one whose total goes through such steps alone: operands
// are floats of 32 or 16 bits and walked in steps of memory, and so is what is stored, or it is an integer
// of 8 bits. Lets must be written out. Nothing where it is something else.
std::optional<ContractionCall> contraction_call_of(const Program& nest);

}  // namespace twinloom::loops
