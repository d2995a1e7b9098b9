// Whether a program may write a buffer into the memory of another one that it reads.
//
//   for i < n { store y[i] = load x[i] + load w[i] }            x -> y and w -> y, one of them
//   for i < n { store y[i] = load x[n - 1 - i] }                no: another iteration reads what is written
//   for i < n { let t = load x[i]; store y[i] = t; store z[i] = t + load x[i] }   x -> z
//   for i < n { store x_row[i] = load x[i] } for i < n { store y[i] = load x_row[n - 1 - i] }   x -> y
#pragma once

#include "core/loops/loops.h"

namespace twinloom::loops {

// Element 0 of both lies at one address.
struct InPlace {
  Buffer from, to;  // arguments of the program: what is read, and what is written in its memory
  friend bool operator==(const InPlace&, const InPlace&) = default;
};

// Whether every load reads what was in the buffer before the program began: each stands before a store to the
// same element in the same iteration of the same loops, or all of its iterations come before the first store.
// A program stores an element of a buffer once, so no other iteration writes it. Both are of one type, so
// that a compiler sees that the two may touch. False is "not seen".
bool is_in_place(const Program& program, const InPlace& pair);

}  // namespace twinloom::loops
