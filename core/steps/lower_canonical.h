// An accumulator in the canonical order, written out. For the inside of this component.
#pragma once

#include "core/steps/tree.h"

namespace twinloom::steps {

// The next Temp that nothing uses yet.
using NewTemp = std::function<loops::Temp()>;
// The mask of the Merge that an Accumulate becomes; the loops are those that it sums up over.
using MaskOf = std::function<index::Condition(const loops::Accumulate&, const std::vector<loops::Loop>&)>;

// `stmts` are those behind the Start in its block. With every Accumulate of the accumulator as a Merge and
// all that reaches the accumulator; or why that cannot be done.
std::variant<std::vector<Ref<Stmt>>, std::string> lower_canonical(const Kernel& kernel,
                                                                  const loops::Start& start,
                                                                  const std::vector<Ref<Stmt>>& stmts,
                                                                  const NewTemp& new_temp,
                                                                  const MaskOf& mask_of);

}  // namespace twinloom::steps
