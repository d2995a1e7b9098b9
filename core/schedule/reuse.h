// Values of a row that a later sibling would compute again. For the inside of this room.
//   for k { s += exp(x[k] - m) };                    for k1 { y[k1] = exp(x[k1] - m) / s }
//   ->  for k { t = exp(x[k] - m); e[k] = t; s += t };   for k1 { y[k1] = e[k1] / s }
#pragma once

#include <optional>

#include "core/loops/nest.h"

namespace twinloom::schedule {

struct Kept {
  loops::Program nest;  // with the array as its last buffer; no Scratch declares it yet
  loops::Buffer array;
  std::int64_t count = 0;  // elements of a row, of the longest
  int work = 0;            // that an element is
  int computed = 0;        // of that, what is no load; with conversions
};
// The nest with the dearest value kept that two siblings compute at the same places; nothing where there is
// none that costs more than to store and load it. Siblings with Scan statements are left alone; a place that
// is looked up again for nothing but the value is looked up once.
std::optional<Kept> keep_value(const loops::Program& nest);

}  // namespace twinloom::schedule
