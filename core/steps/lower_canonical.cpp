// The levels of reduction_order.h as statements:
//   start t; for k.0 { for k.1 < 4 { for k.2 < 256 vector { t += x at 1024*k.0 + 256*k.1 + k.2 } } }
//     ->  start stack
//         for k.0 { start unit copies (k.2); for k.1 { for k.2 vector { merge unit (x) } }
//                   combine unit across k.2 halves; push unit onto stack at k.0 }
//         fold t = stack
// Of a single unit that is not empty the accumulator itself has the copies. An accumulator that has copies in
// the nest has them on all levels that stand around the loops over these; they are handed on in loops of
// their own.
#include <algorithm>

#include "core/steps/accumulators.h"
#include "core/steps/lower.h"
#include "core/steps/reduction_order.h"

namespace twinloom::steps {

namespace {

class PartLowering {
 public:
  // `outermost`: what its first level is reached by; stacks that all parts share, or the accumulators.
  PartLowering(const Lowering& lowering, const Group& group, const Part& part,
               const std::vector<loops::Temp>& outermost)
      : lowering_(lowering), group_(group), part_(part), temps_{outermost} {
    while (temps_.size() < part.levels.size()) {
      temps_.emplace_back();
      for (std::size_t number = 0; number < group.size(); ++number)
        temps_.back().push_back(lowering.new_temp());
    }
  }

  // The statement, which holds Accumulates, `depth` loops of the path inwards.
  Ref<Stmt> run(const Ref<Stmt>& stmt, std::size_t depth = 0) const {
    if (const auto* block = std::get_if<loops::Block>(&stmt->node)) {
      std::vector<Ref<Stmt>> stmts = block->stmts;
      for (Ref<Stmt>& inner : stmts)
        if (is_accumulated_in(*inner, group_)) inner = run(inner, depth);
      return loops::block(std::move(stmts));
    }
    if (const auto* array = std::get_if<loops::Scratch>(&stmt->node)) {
      loops::Scratch changed = *array;
      changed.body = run(array->body, depth);
      return loops::stmt(std::move(changed));
    }
    if (const auto* loop = std::get_if<loops::Loop>(&stmt->node)) {
      loops::Loop changed = *loop;
      changed.body = run(loop->body, depth + 1);
      return around(depth, loops::stmt(std::move(changed)), 0, group_.size());
    }
    const auto& step = std::get<loops::Accumulate>(stmt->node);
    const std::size_t number = *number_in(group_, step.total);
    const auto merge = loops::stmt(
        loops::Merge{temps_.back()[number], step.values, lowering_.mask_of(step, reduced()), false});
    return around(depth, merge, number, number + 1);
  }

 private:
  std::vector<loops::Loop> reduced() const {
    std::vector<loops::Loop> loops = part_.path;
    std::erase_if(loops, [&](const loops::Loop& loop) { return is_copied(group_.front(), loop.axis); });
    return loops;
  }
  // The loops over copies of the nest that stand inside the level.
  std::vector<loops::Loop> copied_in(const Level& level) const {
    std::vector<loops::Loop> loops(part_.path.begin() + static_cast<std::ptrdiff_t>(level.at),
                                   part_.path.end());
    std::erase_if(loops, [&](const loops::Loop& loop) { return !is_copied(group_.front(), loop.axis); });
    return loops;
  }

  // What is started before the loops at this depth and closed behind them, of the accumulators first..last.
  Ref<Stmt> around(std::size_t depth, Ref<Stmt> loops, std::size_t first, std::size_t last) const {
    for (std::size_t level = part_.levels.size(); level-- > 0;)
      if (part_.levels[level].at == depth) loops = close(level, std::move(loops), first, last);
    return loops;
  }

  Ref<Stmt> close(std::size_t at, Ref<Stmt> inside, std::size_t first, std::size_t last) const {
    const Level& level = part_.levels[at];
    if (at == 0 && level.is_stack) return inside;  // started and folded beside the Start
    const std::vector<loops::Loop> copied = copied_in(level);
    std::vector<loops::Axis> copies;
    for (const loops::Loop& loop : copied) copies.push_back(loop.axis);
    for (const Closing& closing : level.closings) copies.push_back(closing.axis);
    const int depth = level.is_stack ? stack_depth(count_of(level), lowering_.kernel.facts) : 0;
    std::vector<Ref<Stmt>> stmts, handed;
    for (std::size_t number = first; number < last; ++number)
      stmts.push_back(loops::stmt(start_like(group_[number], temps_[at][number], copies, depth)));
    stmts.push_back(std::move(inside));
    for (const Closing& closing : level.closings)
      for (std::size_t number = first; number < last; ++number)
        stmts.push_back(loops::stmt(loops::Combine{temps_[at][number], closing.axis, closing.pairing}));
    for (std::size_t number = first; number < last && at > 0; ++number) handed.push_back(hand_on(at, number));
    stmts.push_back(in_loops(copied, loops::block(std::move(handed))));
    return loops::block(std::move(stmts));
  }

  // Of a stack in a loop of parallel runs.
  index::Expr count_of(const Level& level) const {
    if (!part_.masked) return level.runs;
    return least(level.runs, greatest(0, ceil_div(part_.end - level.outside, level.run)));
  }

  // To the level around.
  Ref<Stmt> hand_on(std::size_t at, std::size_t number) const {
    const Level& from = part_.levels[at];
    const Level& to = part_.levels[at - 1];
    const loops::Temp temp = temps_[at][number], into = temps_[at - 1][number];
    if (to.is_stack) {
      const index::Expr pushed = at == 1 ? to.inside : to.inside - to.outside;
      return loops::stmt(loops::Push{into, temp, floor_div(pushed, to.run), mask_of_push(at - 1)});
    }
    if (!from.is_stack) return merge_total(into, temp, group_[number]);
    // Nothing is folded where no run begins: the value over nothing is not the identity.
    const loops::Temp folded = lowering_.new_temp();
    index::Condition mask;
    if (part_.masked) mask.all.push_back({from.outside, part_.end});
    return loops::block({loops::stmt(loops::Fold{folded, temp, count_of(from)}),
                         merge_total(into, folded, group_[number], mask)});
  }

  // No run that begins past the end is pushed.
  index::Condition mask_of_push(std::size_t at) const {
    const Level& level = part_.levels[at];
    if ((at > 0 && !part_.masked) || (at == 0 && level.is_whole_part && part_.has_elements)) return {};
    const index::Expr begun = ceil_div(part_.end - level.outside, level.run);
    return lowering_.kernel.facts.proves_equal(level.runs, begun)
               ? index::Condition{}
               : index::Condition{{{level.inside, part_.end}}};
  }

  const Lowering& lowering_;
  const Group& group_;
  const Part& part_;
  std::vector<std::vector<loops::Temp>> temps_;  // of the levels, one for each accumulator
};

// A symbol that is looked up inside the statement.
std::optional<index::Symbol> found_inside(const Stmt& stmt, const index::Expr& expr) {
  std::optional<index::Symbol> found;
  loops::for_each_stmt(stmt, [&](const Stmt& inner) {
    const auto* index = std::get_if<loops::Index>(&inner.node);
    if (index != nullptr && index::mentions(expr, index->symbol)) found = index->symbol;
  });
  return found;
}

bool has_accumulates(const Stmt& stmt) {
  bool found = false;
  loops::for_each_stmt(stmt, [&](const Stmt& inner) {
    found = found || std::holds_alternative<loops::Accumulate>(inner.node);
  });
  return found;
}

struct Found {
  std::size_t at = 0;  // of the statement that holds the part
  Part part;
};

// The parts in the order of their places.
class Parts {
 public:
  Parts(const Lowering& lowering, const loops::Start& start, const std::vector<Ref<Stmt>>& stmts)
      : lowering_(lowering), start_(start), stmts_(stmts) {}

  std::variant<std::vector<Found>, std::string> find() {
    std::vector<std::pair<std::size_t, Accumulated>> steps;
    for (std::size_t at = 0; at < stmts_.size(); ++at) {
      const std::vector<Accumulated> inside = all_accumulated_in(*stmts_[at], start_.total);
      if (inside.size() > 1) return cat("two parts of t", start_.total.index, " stand in one loop");
      for (const Accumulated& step : inside) steps.emplace_back(at, step);
    }
    for (const auto& [at, step] : steps)
      if (std::string reason = add(at, step, steps.size() == 1); !reason.empty()) return reason;
    return std::move(found_);
  }

 private:
  std::string add(std::size_t at, const Accumulated& step, bool is_only_part) {
    const index::Expr first = found_.empty() ? index::Expr(0) : found_.back().part.end;
    if (lowering_.proofs == Proofs::wanted && !found_.empty() && found_.back().part.masked)
      return cat("a part of t", start_.total.index, " follows one that is masked");
    auto made = reduction_order(lowering_, start_, step, first, is_only_part);
    if (auto* reason = std::get_if<std::string>(&made)) return std::move(*reason);
    Part& part = std::get<Part>(made);
    if (std::string reason = lowering_.proofs == Proofs::wanted ? why_bad(part, at) : ""; !reason.empty())
      return reason;
    // A part of less than one run is pushed as one.
    if (!found_.empty() && part.levels.front().is_whole_part)
      part.levels.front().run = found_.front().part.levels.front().run;
    found_.push_back({at, std::move(part)});
    return "";
  }

  std::string why_bad(const Part& part, std::size_t at) const {
    const std::int64_t run = part.levels.front().run;
    if (!found_.empty() && (found_.front().part.levels.front().run != run ||
                            !lowering_.kernel.facts.proves_equal(floor_mod(part.first, run), 0)))
      return cat("parts of t", start_.total.index, " push runs of different lengths");
    if (const auto symbol = found_inside(*stmts_[at], part.end))
      return cat("the end of t", start_.total.index, " depends on ", *symbol, ", which is looked up inside");
    return "";
  }

  const Lowering& lowering_;
  const loops::Start& start_;
  const std::vector<Ref<Stmt>>& stmts_;
  std::vector<Found> found_;
};

// Each accumulator = what its stack holds; of those with copies, each of them.
std::vector<Ref<Stmt>> folded(const Lowering& lowering, const Group& group, const Part& part,
                              const std::vector<loops::Temp>& stacks, const index::Expr& count) {
  std::vector<loops::Loop> copied = part.path;
  std::erase_if(copied, [&](const loops::Loop& loop) { return !is_copied(group.front(), loop.axis); });
  std::vector<Ref<Stmt>> stmts, each;
  for (std::size_t number = 0; number < group.size(); ++number) {
    const loops::Start& start = group[number];
    const loops::Temp one = copied.empty() ? start.total : lowering.new_temp();
    each.push_back(loops::stmt(loops::Fold{one, stacks[number], count}));
    if (copied.empty()) continue;
    stmts.push_back(loops::stmt(start));
    each.push_back(merge_total(start.total, one, start));
  }
  stmts.push_back(in_loops(copied, loops::block(std::move(each))));
  return stmts;
}

// The parts of a list whose length is looked up, which is often 0: they stand in a loop of one iteration, or
// of none where nothing is pushed, so that nothing of theirs is computed for an empty list.
void guard_list(const Lowering& lowering, const std::vector<Found>& found, const index::Expr& count,
                std::vector<Ref<Stmt>>& stmts) {
  const std::size_t first = found.front().at, last = found.back().at;
  if (last - first + 1 != found.size() || found.size() == 1) return;
  const auto begin = stmts.begin() + static_cast<std::ptrdiff_t>(first);
  std::vector<Ref<Stmt>> parts(begin, begin + static_cast<std::ptrdiff_t>(found.size()));
  const bool is_list = found_inside(*lowering.kernel.program.body, count).has_value();
  if (!is_list || std::ranges::any_of(parts, [](const Ref<Stmt>& part) { return has_accumulates(*part); }))
    return;
  const index::Symbol name(cat(found.front().part.path.front().axis, "e"));
  *begin =
      loops::stmt(loops::Loop{name, least(1, count), loops::Bind::serial, loops::block(std::move(parts))});
  stmts.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(found.size()));
}

}  // namespace

Lowered lower_canonical(const Lowering& lowering, const Group& group, std::vector<Ref<Stmt>> stmts) {
  auto parts = Parts(lowering, group.front(), stmts).find();
  if (auto* reason = std::get_if<std::string>(&parts)) return std::move(*reason);
  const auto& found = std::get<std::vector<Found>>(parts);
  const Level& first = found.front().part.levels.front();
  std::vector<loops::Temp> outermost;
  for (const loops::Start& start : group)
    outermost.push_back(first.is_stack ? lowering.new_temp() : start.total);
  for (const Found& each : found)
    stmts[each.at] = PartLowering(lowering, group, each.part, outermost).run(stmts[each.at]);
  if (!first.is_stack) return stmts;
  const index::Expr count = ceil_div(found.back().part.end, first.run);
  const std::vector<Ref<Stmt>> stacks =
      starts_of(group, outermost, {}, stack_depth(count, lowering.kernel.facts));
  const std::vector<Ref<Stmt>> folds = folded(lowering, group, found.back().part, outermost, count);
  stmts.insert(stmts.begin() + static_cast<std::ptrdiff_t>(found.back().at) + 1, folds.begin(), folds.end());
  guard_list(lowering, found, count, stmts);
  stmts.insert(stmts.begin() + static_cast<std::ptrdiff_t>(found.front().at), stacks.begin(), stacks.end());
  return stmts;
}

}  // namespace twinloom::steps
