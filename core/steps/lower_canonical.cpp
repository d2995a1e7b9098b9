// The levels of reduction_order.h as statements:
//   start t; for k.0 { for k.1 < 4 { for k.2 < 256 vector { t += x at 1024*k.0 + 256*k.1 + k.2 } } }
//     ->  start stack
//         for k.0 { start unit copies (k.2); for k.1 { for k.2 vector { merge unit (x) } }
//                   combine unit across k.2 halves; push unit onto stack at k.0 }
//         fold t = stack
// Of a single unit that is not empty the accumulator itself has the copies. An accumulator that has copies in
// the nest has them on all levels that stand around the loops over these; they are handed on in loops of
// their own.
#include "core/steps/lower_canonical.h"

#include <algorithm>

#include "core/index/simplify.h"
#include "core/loops/canonical.h"
#include "core/steps/accumulators.h"
#include "core/steps/reduction_order.h"

namespace twinloom::steps {

namespace {

class PartLowering {
 public:
  // `outermost`: what its first level is reached by; a stack that all parts share, or the accumulator itself.
  PartLowering(const Kernel& kernel, const loops::Start& start, const Part& part, loops::Temp outermost,
               const NewTemp& new_temp, const MaskOf& mask_of)
      : kernel_(kernel), start_(start), part_(part), new_temp_(new_temp), mask_of_(mask_of) {
    temps_.push_back(outermost);
    while (temps_.size() < part.levels.size()) temps_.push_back(new_temp());
  }

  Ref<Stmt> run(const Ref<Stmt>& stmt) { return walk(stmt, 0); }

 private:
  // The statement, which holds the Accumulate, `depth` loops of the path inwards.
  Ref<Stmt> walk(const Ref<Stmt>& stmt, std::size_t depth) {
    if (const auto* block = std::get_if<loops::Block>(&stmt->node)) {
      std::vector<Ref<Stmt>> stmts = block->stmts;
      for (Ref<Stmt>& inner : stmts)
        if (accumulated_in(*inner, start_.total)) inner = walk(inner, depth);
      return loops::block(std::move(stmts));
    }
    if (const auto* array = std::get_if<loops::Scratch>(&stmt->node)) {
      loops::Scratch changed = *array;
      changed.body = walk(array->body, depth);
      return loops::stmt(std::move(changed));
    }
    if (const auto* loop = std::get_if<loops::Loop>(&stmt->node)) {
      loops::Loop changed = *loop;
      changed.body = walk(loop->body, depth + 1);
      return around(depth, loops::stmt(std::move(changed)));
    }
    const auto& step = std::get<loops::Accumulate>(stmt->node);
    return around(depth,
                  loops::stmt(loops::Merge{temps_.back(), step.values, mask_of_(step, reduced()), false}));
  }

  std::vector<loops::Loop> reduced() const {
    std::vector<loops::Loop> loops = part_.path;
    std::erase_if(loops, [&](const loops::Loop& loop) { return is_copied(loop); });
    return loops;
  }
  bool is_copied(const loops::Loop& loop) const {
    return std::ranges::find(start_.copies, loop.axis) != start_.copies.end();
  }
  // The loops over copies of the nest that stand inside the level.
  std::vector<loops::Loop> copied_in(const Level& level) const {
    std::vector<loops::Loop> loops(part_.path.begin() + static_cast<std::ptrdiff_t>(level.at),
                                   part_.path.end());
    std::erase_if(loops, [&](const loops::Loop& loop) { return !is_copied(loop); });
    return loops;
  }

  // What is started before the loops at this depth and closed behind them.
  Ref<Stmt> around(std::size_t depth, Ref<Stmt> loops) {
    for (std::size_t number = part_.levels.size(); number-- > 0;)
      if (part_.levels[number].at == depth) loops = close(number, std::move(loops));
    return loops;
  }

  Ref<Stmt> close(std::size_t number, Ref<Stmt> inside) {
    const Level& level = part_.levels[number];
    if (number == 0 && level.is_stack) return inside;  // started and folded beside the Start
    std::vector<loops::Axis> copies;
    for (const loops::Loop& loop : copied_in(level)) copies.push_back(loop.axis);
    for (const Closing& closing : level.closings) copies.push_back(closing.axis);
    const int depth = level.is_stack ? stack_depth(count_of(level), kernel_.facts) : 0;
    std::vector<Ref<Stmt>> stmts = {loops::stmt(start_like(start_, temps_[number], std::move(copies), depth)),
                                    std::move(inside)};
    for (const Closing& closing : level.closings)
      stmts.push_back(loops::stmt(loops::Combine{temps_[number], closing.axis, closing.pairing}));
    if (number > 0) stmts.push_back(in_loops(copied_in(level), hand_on(number)));
    return loops::block(std::move(stmts));
  }

  // Of a stack in a loop of parallel runs.
  index::Expr count_of(const Level& level) const {
    if (!part_.masked) return level.runs;
    return least(level.runs, greatest(0, ceil_div(part_.end - level.outside, level.run)));
  }

  // To the level around.
  Ref<Stmt> hand_on(std::size_t number) {
    const Level& from = part_.levels[number];
    const Level& to = part_.levels[number - 1];
    if (to.is_stack) {
      const index::Expr pushed = number == 1 ? to.inside : to.inside - to.outside;
      return loops::stmt(loops::Push{temps_[number - 1], temps_[number], floor_div(pushed, to.run),
                                     mask_of_push(number - 1)});
    }
    if (!from.is_stack) return merge_total(temps_[number - 1], temps_[number], start_);
    // Nothing is folded where no run begins: the value over nothing is not the identity.
    const loops::Temp folded = new_temp_();
    index::Condition mask;
    if (part_.masked) mask.all.push_back({from.outside, part_.end});
    return loops::block({loops::stmt(loops::Fold{folded, temps_[number], count_of(from)}),
                         merge_total(temps_[number - 1], folded, start_, mask)});
  }

  // No run that begins past the end is pushed.
  index::Condition mask_of_push(std::size_t number) const {
    const Level& level = part_.levels[number];
    const index::Expr begun = ceil_div(part_.end - level.outside, level.run);
    const bool all_begin = number > 0 && !part_.masked ? true : kernel_.facts.proves_equal(level.runs, begun);
    return all_begin ? index::Condition{} : index::Condition{{{level.inside, part_.end}}};
  }

  const Kernel& kernel_;
  const loops::Start& start_;
  const Part& part_;
  const NewTemp& new_temp_;
  const MaskOf& mask_of_;
  std::vector<loops::Temp> temps_;  // of the levels
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

struct Found {
  std::size_t at = 0;  // of the statement that holds the part
  Part part;
};

// The parts in the order of their places.
std::variant<std::vector<Found>, std::string> parts_of(const Kernel& kernel, const loops::Start& start,
                                                       const std::vector<Ref<Stmt>>& stmts) {
  std::vector<std::pair<std::size_t, Accumulated>> steps;
  for (std::size_t at = 0; at < stmts.size(); ++at) {
    const std::vector<Accumulated> inside = all_accumulated_in(*stmts[at], start.total);
    if (inside.size() > 1) return cat("two parts of t", start.total.index, " stand in one loop");
    for (const Accumulated& step : inside) steps.emplace_back(at, step);
  }
  std::vector<Found> found;
  index::Expr first;
  for (const auto& [at, step] : steps) {
    if (!found.empty() && found.back().part.masked)
      return cat("a part of t", start.total.index, " follows one that is masked");
    auto part = reduction_order(kernel, start, step, first, steps.size() == 1);
    if (auto* reason = std::get_if<std::string>(&part)) return std::move(*reason);
    found.push_back({at, std::get<Part>(std::move(part))});
    const Part& last = found.back().part;
    const std::int64_t run = last.levels.front().run;
    if (found.size() > 1 && (found.front().part.levels.front().run != run ||
                             !kernel.facts.proves_equal(floor_mod(last.first, run), 0)))
      return cat("parts of t", start.total.index, " push runs of different lengths");
    first = last.end;
    if (const auto symbol = found_inside(*stmts[at], first))
      return cat("the end of t", start.total.index, " depends on ", *symbol, ", which is looked up inside");
  }
  return found;
}

// accumulator = what the stack holds; of one with copies, each of them.
std::vector<Ref<Stmt>> folded(const loops::Start& start, const Part& part, loops::Temp stack,
                              const index::Expr& count, const NewTemp& new_temp) {
  std::vector<loops::Loop> copied = part.path;
  std::erase_if(copied, [&](const loops::Loop& loop) {
    return std::ranges::find(start.copies, loop.axis) == start.copies.end();
  });
  if (copied.empty()) return {loops::stmt(loops::Fold{start.total, stack, count})};
  const loops::Temp one = new_temp();
  return {loops::stmt(start), in_loops(copied, loops::block({loops::stmt(loops::Fold{one, stack, count}),
                                                             merge_total(start.total, one, start)}))};
}

}  // namespace

std::variant<std::vector<Ref<Stmt>>, std::string> lower_canonical(const Kernel& kernel,
                                                                  const loops::Start& start,
                                                                  const std::vector<Ref<Stmt>>& stmts,
                                                                  const NewTemp& new_temp,
                                                                  const MaskOf& mask_of) {
  auto parts = parts_of(kernel, start, stmts);
  if (auto* reason = std::get_if<std::string>(&parts)) return std::move(*reason);
  const auto& found = std::get<std::vector<Found>>(parts);
  std::vector<Ref<Stmt>> result = stmts;
  if (found.empty()) {
    result.insert(result.begin(), loops::stmt(start));
    return result;
  }
  const Level& first = found.front().part.levels.front();
  const loops::Temp outermost = first.is_stack ? new_temp() : start.total;
  for (const Found& each : found)
    result[each.at] =
        PartLowering(kernel, start, each.part, outermost, new_temp, mask_of).run(stmts[each.at]);
  if (!first.is_stack) return result;
  const index::Expr count = ceil_div(found.back().part.end, first.run);
  const loops::Start stack = start_like(start, outermost, start.copies, stack_depth(count, kernel.facts));
  const std::vector<Ref<Stmt>> fold = folded(start, found.back().part, outermost, count, new_temp);
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(found.back().at) + 1, fold.begin(), fold.end());
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(found.front().at), loops::stmt(stack));
  return result;
}

}  // namespace twinloom::steps
