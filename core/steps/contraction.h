// Which sums of a nest may be made in any order. Contractions are sums of products whose factors each lack an
// axis of the result that the other has.
#pragma once

#include "core/loops/loops.h"

namespace twinloom::steps {

// The nest with the sums of floats that are contractions marked as free. For modes in which a contraction may
// be summed up in any order, as a library's matrix product is.
loops::Program with_free_contractions(const loops::Program& nest);
bool has_contraction(const loops::Program& nest);
// Whether both factors depend on all axes that are summed over, and each on one of the result that the other
// lacks.
bool is_contraction(const loops::Accumulate& step, const std::vector<index::Symbol>& kept,
                    const std::vector<index::Symbol>& summed);
// The nest with all sums and products of floats marked so, and as folded, but for those of columns beside
// rows. For modes in which any order will do; and back: with contractions alone.
loops::Program with_free_sums(const loops::Program& nest);
loops::Program without_free_sums(const loops::Program& nest);

}  // namespace twinloom::steps
