// Inside of the component: what the parts of a nest hand on takes fewer arrays and is computed once.
//   for j { m += f(s[j]) }; for k { n += exp(f(s[k]) - m) }; for l { p[l] = exp(f(s[l]) - m) / n }
//     ->  for j { t = f(s[j]); s[j] = t; m += t }; for k { t = exp(s[k] - m); s[k] = t; n += t }
//         for l { s[l] = s[l] / n }
// A value that later loops compute again from the same elements of an array takes their place, where nobody
// needs the elements themselves any more; so does what the last of these loops stores.
#pragma once

#include "core/loops/loops.h"

namespace twinloom::fuse {

// The nest of several parts, which computes the same bits.
loops::Program with_values_in_place(const loops::Program& nest);

}  // namespace twinloom::fuse
