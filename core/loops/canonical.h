// The canonical order of sums, products and scans: the constants of core/ops/canonical.h, which holds
// the order in words, under the names that schedules and the interpreter use.
#pragma once

#include "core/ops/canonical.h"

namespace twinloom::loops {

using ops::CHAIN;
using ops::LANES;
using ops::SCAN_CHUNK;
using ops::SCAN_ROW;
using ops::SCAN_ROWS;
using ops::UNIT;

}  // namespace twinloom::loops
