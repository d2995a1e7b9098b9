// What one launch of a sort does: plain structs, read by the library and by the text that NVRTC compiles.
#pragma once

#include "core/emit/abi.h"

namespace twinloom::cuda {

constexpr int SORT_THREADS = 1024;  // of a block
constexpr int SORT_ITEMS = 8;       // elements that a thread takes in one turn
constexpr int SORT_BITS = 8;        // of a key that one pass looks at, at most

enum class SortTask : emit::Integer {
  count,  // each block: how many of its elements have each digit
  scan,   // one block: where the first of these goes
  move,   // each block: its elements go there
  mark,   // each block: where keys begin
};

// The last parameter of the kernel of a sort, whose launches are the passes' count, scan and move, then mark.
struct SortStep {
  SortTask task = SortTask::count;
  emit::Integer pass = 0, passes = 1, bits = SORT_BITS;
  emit::Integer blocks = 1;         // of `count` and `move`
  emit::Integer* spare = nullptr;   // as many as there are elements
  emit::Integer* counts = nullptr;  // of each digit, of each block
};

}  // namespace twinloom::cuda
