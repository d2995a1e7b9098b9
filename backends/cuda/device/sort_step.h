// What one launch of a sort does: plain structs, read by the library and by the text that NVRTC compiles.
#pragma once

#include "core/emit/abi.h"

namespace twinloom::cuda {

struct SortShape {
  int threads;  // of a block
  int items;    // elements that a thread takes in one iteration
  int bits;     // of a key that one pass looks at, at most
  int walked;   // iterations of a segment that each block of a range walks, at most
  int key_bits = 32;  // of a key that a word holds between two passes
  constexpr int warps() const { return threads / 32; }
  constexpr emit::Integer at_once() const { return emit::Integer{threads} * items; }  // of a block
  constexpr int digits() const { return 1 << bits; }
  constexpr int position_bits() const {  // of an element's number in an iteration
    int found = 0;
    while (emit::Integer{1} << found < at_once()) ++found;
    return found;
  }
  constexpr unsigned shared_bytes() const {
    const int bytes = 8 * threads * items + (2 * warps() + 8) * digits() + 4 * warps() + 4;
    return unsigned(bytes + 7) / 8 * 8;
  }
};
// 72 KiB of shared memory, which blocks of compute capability 7.0 and of 8.0 and above may have, and 64 registers a
// thread. With 10 bits two passes do for a million keys.
constexpr SortShape SORT_SHAPE = {512, 8, 10, 4};
constexpr emit::Integer MOST_UNSCANNED = 16;  // blocks whose counts each of them adds up itself, without `scan`
constexpr emit::Integer MOST_RANGES_EACH = 4;  // blocks of ranges, for each that runs at once
constexpr int SORT_BLOCKS_EACH = 2;  // that a multiprocessor runs at once

enum class SortTask : emit::Integer {
  block,  // each block: all of a segment by all digits, which an iteration holds
  range,  // each block: the elements of a segment whose keys are in a range of its own, all at once
  count,  // each block: how many of its elements have each digit
  scan,   // each warp: of one digit of a segment, how many the blocks before have
  move,   // each block: its elements go where these sums say
  mark,   // each block: where keys begin
};

// The last parameter of the kernel of a sort. Some rows that follow each other are sorted as one: a segment.
struct SortStep {
  SortTask task = SortTask::range;
  emit::Integer rows_each = 1;                // of a segment
  emit::Integer segments = 1;
  emit::Integer blocks = 1;                   // that walk one segment; of `range` as many as it has ranges
  emit::Integer each = 0;                     // elements of a segment that a block has: whole iterations
  emit::Integer pass = 0, passes = 1;         // each looks at `bits` of the keys
  emit::Integer bits = 1;
  emit::Integer is_whole = 1;                 // a word holds all of a key
  emit::Integer outside = 0;                  // what keys out of range count as: as much as `bound` or more
  emit::Integer* spare = nullptr;             // of two passes and more: a word for each element
  emit::Integer* counts = nullptr;            // of `count`: of each segment, digit and block
  emit::Integer* totals = nullptr;            // of `scan`: of each segment and digit
};

}  // namespace twinloom::cuda
