// Inside of the room: what two units take and what the one takes that they may become, by `Limits::seconds`.
#pragma once

#include <optional>
#include <string>

#include "core/fuse/combine.h"

namespace twinloom::fuse {

struct Pair {
  const Around& around;
  std::size_t first, second;
};

// Why the fused kernel may not be: it takes longer than the two. Nothing where it does not. Of many
// iterations that is rare; where usual schedules clearly say so, chosen ones decide.
struct Slower {
  Reason reason;
  std::string words;
};
std::optional<Slower> slower_than_two(const Pair& pair, const loops::Program& fused);
// The same of one pass over rows and columns, which saves one over memory: clearly, as all three are
// scheduled. Nothing where that is not known.
std::optional<Slower> clearly_slower(const Pair& pair, const loops::Program& fused);

// Where seconds are known: a cached row is computed once. What estimates say of long chains of operators is
// less sure than what they say of memory, so where operators alone do not pay, the one kernel must be clearly
// faster: take at most so much of the two.
bool is_faster(const Pair& pair, const loops::Program& fused, double most);

}  // namespace twinloom::fuse
