// See accumulators.h.
#include "core/steps/accumulators.h"

#include <algorithm>
#include <bit>

namespace twinloom::steps {

loops::Start start_like(const loops::Start& start, loops::Temp total, std::vector<loops::Axis> copies,
                        int depth) {
  return {total, start.monoid, start.element, std::move(copies), depth};
}

loops::Ref<loops::Stmt> merge_total(loops::Temp into, loops::Temp from, const loops::Start& start,
                                    index::Condition mask) {
  std::vector<loops::Ref<loops::Value>> values;
  for (int part = 0; part < ops::parts(start.monoid); ++part) values.push_back(loops::read(from, part));
  return loops::stmt(loops::Merge{into, std::move(values), std::move(mask)});
}

int stack_depth(const index::Expr& count, const index::Facts& facts) {
  constexpr int UNBOUNDED = 40;  // no tensor has 2^50 elements to add up
  const auto most = facts.range(count).high;
  return most ? std::min(UNBOUNDED, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*most | 1))))
              : UNBOUNDED;
}

}  // namespace twinloom::steps
