// The stable sort of small integer keys, by one worker: what the statement Call stable_sort means.
#pragma once

#include "device/kernel.h"

namespace twinloom::device {

// By counting, as `starts` has a place for each key anyway: counts, then first places, then each element to
// its place; starts[k + 1] serves as the cursor of key k and ends where it has to be.
template <class Key>
TWINLOOM_INLINE void stable_sort(i64* order, i64* starts, i64 n, i64 bound, Key key) {
  for (i64 k = 0; k <= bound; ++k) starts[k] = 0;
  i64 kept = 0;
  for (i64 p = 0; p < n; ++p) {
    const i64 k = key(p);
    if (k < 0 || k >= bound) continue;
    ++kept;
    if (k + 2 <= bound) ++starts[k + 2];
  }
  for (i64 k = 2; k <= bound; ++k) starts[k] += starts[k - 1];
  for (i64 p = 0; p < n; ++p) {
    const i64 k = key(p);
    if (k < 0 || k >= bound) continue;
    order[starts[k + 1]++] = p;
  }
  for (i64 p = kept; p < n; ++p) order[p] = -1;
}

}  // namespace twinloom::device
