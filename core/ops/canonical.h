// The canonical order of sums, products and scans, as constants that the evaluator, schedules and
// the interpreter read. Written down nowhere else.
//
// Of a reduction over elements 0..N-1: unit u holds elements UNIT*u .. UNIT*u + UNIT-1. Lane l of it
// holds c(l) = ((x(UNIT*u + l) + x(.. + LANES)) + x(.. + 2*LANES)) + x(.. + 3*LANES), in that order;
// then for h = LANES/2, ..., 2, 1: c(l) = c(l) + c(l+h) for l < h. The unit is c(0). Units combine as
// a binary counter: push a unit; while bit k of the count is set v = stack[k] + v; at the end the
// stack is folded from low to high, v = stack[k] + v. A missing operand is skipped.
//
// Of a scan: element SCAN_CHUNK*k + SCAN_ROW*r + j is x(k,r,j). p(r,0) = x(k,r,0), p(r,j) = p(r,j-1) +
// x(k,r,j); o(0) is missing, o(1) = p(0,last), o(r) = o(r-1) + p(r-1,last); q(r,j) = o(r) + p(r,j);
// carry(0) is missing, carry(1) = total(0), carry(k) = carry(k-1) + total(k-1), where total(k) is the
// chunk's last q. The result is carry(k) + q(r,j).
#pragma once

#include <cstdint>

namespace twinloom::ops {

inline constexpr std::int64_t LANES = 256;
inline constexpr std::int64_t CHAIN = 4;
inline constexpr std::int64_t UNIT = LANES * CHAIN;
inline constexpr std::int64_t SCAN_ROW = 32;
inline constexpr std::int64_t SCAN_ROWS = 32;
inline constexpr std::int64_t SCAN_CHUNK = SCAN_ROW * SCAN_ROWS;

}  // namespace twinloom::ops
