// Accumulators written out: in which order their elements come, and what they are reached by. For the inside
// of this component.
#pragma once

#include "core/index/simplify.h"
#include "core/steps/tree.h"

namespace twinloom::steps {

// What all accumulators of a kernel are lowered with.
struct Lowering {
  const Kernel& kernel;
  const index::Simplifier& simplify;  // by the facts of the kernel
  Proofs proofs;
  // The next Temp that nothing uses yet.
  std::function<loops::Temp()> new_temp;
  // A symbol that nothing uses yet.
  std::function<index::Symbol(std::string_view stem)> new_symbol;
  // The mask of the Merge that an Accumulate becomes; the loops are those that it sums up over.
  std::function<index::Condition(const loops::Accumulate&, const std::vector<loops::Loop>&)> mask_of;
};

// Accumulators that are started in one block and accumulated side by side, in the same loops and at the same
// places.
using Group = std::vector<loops::Start>;
std::optional<std::size_t> number_in(const Group& group, loops::Temp total);
bool is_accumulated_in(const Stmt& stmt, const Group& group);
bool is_copied(const loops::Start& start, const loops::Axis& axis);
// Starts of `temps` like those of the group, with more copies.
std::vector<Ref<Stmt>> starts_of(const Group& group, const std::vector<loops::Temp>& temps,
                                 const std::vector<loops::Axis>& more_copies, int depth = 0);

// `stmts` are those of the block, without the Starts of the group. With every Accumulate of the group as a
// Merge, and all that reaches the accumulators; or why that cannot be done.
using Lowered = std::variant<std::vector<Ref<Stmt>>, std::string>;
Lowered lower_canonical(const Lowering& lowering, const Group& group, std::vector<Ref<Stmt>> stmts);
Lowered lower_any_order(const Lowering& lowering, const Group& group, std::vector<Ref<Stmt>> stmts);

// Where the group is merged, and which loops around have copies.
struct Chains {
  const std::vector<loops::Temp>& into;
  const std::vector<loops::Loop>& path;  // outermost first, those over copies of the nest included
  const std::vector<loops::Axis>& copies;
};
// The statement with no more than 512 merges into one accumulator after each other.
Ref<Stmt> fold_chains(const Lowering& lowering, const Group& group, const Chains& chains, Ref<Stmt> stmt);

}  // namespace twinloom::steps
