// Rows that begin between words of memory, walked from word to word.
//
//   for i < n { for k < 4099 { y[4099*i + k] = f(x[4099*i + k]) } }       of elements of 2 bytes
//     -> for i < n {
//          for e < 11 { .. element e, or e + 4088 from the first multiple of 8 elements on .. }
//          for m < 4088 { y[a + m] = f(x[a + m]) }                        a = 8*floor_div(4099*i, 8) + 8
//        }
//
// Threads load and store 16 bytes of the second loop at once; of such rows as they are each loads an element,
// and a warp's stores cover parts of sectors. Loops that reduce nothing alone: what a reduction's lanes hold
// is fixed by its order. For the inside of this component.
#pragma once

#include "core/loops/loops.h"

namespace twinloom::schedule {

// The nest as it is, its body the same, where no loop is one of such rows. No bit changes.
loops::Program with_aligned_rows(const loops::Program& nest);

}  // namespace twinloom::schedule
