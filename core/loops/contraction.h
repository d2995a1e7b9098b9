// Nests that are one contraction, sums of products over axes that both factors have, in the terms of the
// libraries that compute them:
//   product      out[i, j] = sum over k of left[i, k] * right[k, j]
//   convolution  the same, where dimensions of `left` are read through windows
// Factors are f32, or of 16 bits, and summed up in f32; or integers of 8 bits without their zero points,
// summed up in i32. Axes and dimensions are walked in steps of memory, so every layout is one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/loops/nest.h"

namespace twinloom::loops {

struct Contraction {
  // How far neighbours along an axis lie apart in each buffer, in elements; 0 where it does not have the
  // axis.
  struct Axis {
    index::Expr extent;
    index::Expr out, left, right;
    std::vector<index::Expr> operands = {};  // of a kept axis
  };
  // A dimension of `left` with `extent` elements that lie `step` apart, read at the element
  // by_kept * i + by_summed * k - before, with i and k on a kept and a summed axis or on one of them; 0 where
  // there is none. Its axes have no steps of their own in `left`.
  struct Window {
    std::optional<std::size_t> kept, summed;
    std::int64_t by_kept = 1, by_summed = 1;
    std::int64_t before = 0;
    index::Expr extent = 1, step = 1;
  };
  // What each result is changed by (epilogue.h), read where the kept axes stand.
  struct Operand {
    Buffer buffer;
    index::Expr begin;
  };
  Buffer out, left, right;
  index::Expr out_begin, left_begin, right_begin;  // of element 0 of all axes and windows
  std::vector<Axis> kept, summed;                  // as the nest has them, outermost first
  std::vector<Window> windows;
  std::vector<Operand> operands = {};
  // What is subtracted from each element of a factor, and windows read outside: a number, or an element of a
  // buffer.
  struct Zero {
    std::int64_t number = 0;
    std::optional<Operand> stored = {};
    bool is_none() const { return number == 0 && !stored; }
  };
  ops::DType sums = ops::DType::f32;  // or i32
  Zero left_zero = {}, right_zero = {};
};

// The steps of an offset along loops, where it is a sum of them and of what no loop changes.
struct StepsAlong {
  index::Expr begin;
  std::vector<index::Expr> steps;  // by loop
};
std::optional<StepsAlong> steps_along(const std::vector<NestLoop>& loops, const index::Expr& offset);

// A nest whose one total is a sum, of f32 in free order or of integers, of products of what two buffers hold,
// stored as it is or in another type; nothing where it is something else.
std::optional<Contraction> contraction_of(const Program& nest);

// The nest with its sums in any order, which only a contraction may have: whether it is one is then asked.
Nest with_free_sums(Nest nest);

// Axes that are walked as one: each is as long as the step of the next one, in all buffers.
std::optional<Contraction::Axis> merged(const std::vector<Contraction::Axis>& axes);

}  // namespace twinloom::loops
