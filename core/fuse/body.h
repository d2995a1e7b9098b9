// Inside of the room: how much a nest asks of the compiler and of registers, estimated from its statements.
#pragma once

#include "core/loops/loops.h"

namespace twinloom::fuse {

struct Body {
  int values = 0;  // operators and conversions that are written out: the length of the text
  // Named values that are alive at once, at the statement where they are most: registers, where a loop's body
  // is not cut. A value that a loop reads from outside lives until the loop ends.
  int live = 0;
};
Body body_of(const loops::Program& nest);

}  // namespace twinloom::fuse
