// Inside of the room: an elementwise reader of a sort's order becomes the sort's epilogue. See epilogue.cpp.
#pragma once

#include <optional>

#include "core/loops/nest.h"
#include "core/lower/names.h"

namespace twinloom::fuse {

// The sort (a nest that is a Call) with what the reader does of the element that `order` says. Nothing where
// the sort has no room for it, or the reader does not walk the order element by element, in its memory's
// order.
std::optional<loops::Nest> with_epilogue(const loops::Nest& sort, const loops::Nest& reader,
                                         loops::Buffer order, lower::Names& names);

}  // namespace twinloom::fuse
