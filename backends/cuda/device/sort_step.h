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
  constexpr emit::Integer most_in_ranges() const { return walked * at_once(); }  // elements of a segment
  constexpr unsigned shared_bytes() const {
    const int bytes = 8 * threads * items + (2 * warps() + 8) * digits() + 4 * warps() + 4;
    return unsigned(bytes + 7) / 8 * 8;
  }
};
// 72 KiB of shared memory, which blocks of compute capability 7.0 and of 8.0 and above may have. With 10 bits two
// passes do for a million keys.
constexpr SortShape SORT_SHAPE = {512, 8, 10, 8};
constexpr emit::Integer MOST_UNSCANNED = 16;  // blocks whose counts each of them adds up itself, without `scan`
constexpr emit::Integer MOST_RANGES_EACH = 4;  // blocks of ranges, for each that runs at once
constexpr int SORT_BLOCKS_EACH = 2;  // that a multiprocessor runs at once

// Of a sort whose order is all that is asked for.
struct OrderShape {
  int threads;  // of a block
  int items;    // elements of a thread
  int bits;     // of a key that one pass looks at
  constexpr int warps() const { return threads / 32; }
  constexpr int at_once() const { return threads * items; }  // of a block
  constexpr int digits() const { return 1 << bits; }
  constexpr int most_passes() const { return (32 + bits - 1) / bits; }  // keys have 32 bits at most
  constexpr int position_bits() const {  // of an element's number in a row that a block holds
    int found = 0;
    while (1 << found < at_once()) ++found;
    return found;
  }
  constexpr unsigned shared_bytes() const {
    const int bytes = 8 * at_once() + 2 * warps() * digits() + 8 * warps() + 4 * digits() + 4;
    return unsigned(bytes + 7) / 8 * 8;
  }
};
// 64 registers a thread, of which 32 are for 16 words. With 512 threads rows of 1,024 take the same, with 8
// or with 32 elements a thread a tenth and a third more.
constexpr OrderShape ORDER_SHAPE = {256, 16, 8};
constexpr int ORDER_BLOCKS_EACH = 4;  // that a multiprocessor runs at once
// What the kernel of such a sort can do: rows that a block holds, passes over others, or either.
enum class OrderTasks { rows, passes, either };

enum class SortTask : emit::Integer {
  range,  // each block: the elements of a segment whose keys are in a range of its own, all at once
  count,  // each block: how many of its elements have each digit
  scan,   // each warp: of one digit of a segment, how many the blocks before have
  move,   // each block: its elements go where these sums say
  mark,   // each block: where keys begin
  // Of a sort whose order is all that is asked for.
  rows,    // each block: rows that it holds
  clear,   // each block: what the others count in
  digits,  // each block: how many of its elements have each digit, of all passes
  tiles,   // each block: the elements of a tile go where these counts and the tiles before say
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
  // Of a sort whose order is all that is asked for. What is counted lies in one piece, in 32 bits each: the
  // next tile of each pass, how many have a digit (of each pass, row and digit), what tiles have said in this
  // pass and in the next by turns (of each row, tile and digit).
  emit::Integer row_bits = 0;        // of `rows`: a row has 2^row_bits threads
  emit::Integer tiles = 1;           // of a row
  emit::Integer cleared = 0;         // of `clear`: how many counts, from next_tile on
  unsigned* next_tile = nullptr;     // of the pass
  unsigned* having_digit = nullptr;  // of the pass; of `digits`, of all
  unsigned* said = nullptr;          // in the pass
  unsigned* said_next = nullptr;     // in the next pass, if there is one
};

}  // namespace twinloom::cuda
