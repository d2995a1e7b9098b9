// The constants of the canonical order, under the names that this room uses. See core/ops/canonical.h.
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
