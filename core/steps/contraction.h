// Which sums of a nest are contractions: of products whose factors each lack an axis of the result that the
// other has.
#pragma once

#include "core/loops/loops.h"

namespace twinloom::steps {

// The nest with the sums of floats that are contractions marked as free. For modes in which a contraction may
// be summed up in any order, as a library's matrix product is.
loops::Program with_free_contractions(const loops::Program& nest);
bool has_contraction(const loops::Program& nest);

}  // namespace twinloom::steps
