// Accumulators in any order. Iterations of vector, unrolled and thread loops have a copy each, which are
// combined behind the loops:
//   start s; for k.0 < m { for k.1 < 8 vector { s += x } }
//     ->  start s copies (k.1); for k.0 < m { for k.1 < 8 vector { merge s (x) } }; combine s across k.1
//     halves
// Where several parts are walked, such as a remainder, those behind the first have copies of their own, which
// are combined where the part ends. Their vectors are merged lane by lane where they are as long as the first
// part's, so that lanes are combined once:
//     ->  start s copies (k.1); start t copies (k.1); ..; for k.1 < 8 vector { merge t (x) if .. }
//     for k.1 < 8 vector { merge s (t) }; combine s across k.1 halves
// Of a free sum, products are not rounded before they are added. What is folded has no long chains:
// fold_chains.cpp.
#include <algorithm>

#include "core/base/integers.h"
#include "core/steps/accumulators.h"
#include "core/steps/lower.h"

namespace twinloom::steps {

namespace {

using loops::Bind;

class AnyOrder {
 public:
  AnyOrder(const Lowering& lowering, const Group& group) : lowering_(lowering), group_(group) {
    for (const loops::Start& start : group) totals_.push_back(start.total);
    rest_ = totals_;
  }

  Lowered run(std::vector<Ref<Stmt>> stmts) {
    std::vector<Accumulated> parts;
    std::size_t first = stmts.size(), last = 0;
    for (std::size_t at = 0; at < stmts.size(); ++at) {
      const std::vector<Accumulated> inside = all_accumulated_in(*stmts[at], group_.front().total);
      if (inside.empty()) continue;
      first = std::min(first, at), last = at;
      parts.insert(parts.end(), inside.begin(), inside.end());
    }
    const std::vector<loops::Axis> copies = copies_along(parts.front().loops);
    const bool has_rest = parts.size() > 1 && !copies.empty();
    if (has_rest) rest_ = new_temps(), shared_ = shared_vector(parts);
    std::vector<Ref<Stmt>> before = starts_of(group_, totals_, copies), after;
    if (has_rest) append(before, starts_of(group_, rest_, shared_));
    for (std::size_t at = first; at <= last; ++at) stmts[at] = lower(stmts[at]);
    append(after, combined(totals_, but_shared(copies)));
    if (has_rest) append(after, {merged_into(totals_, rest_, parts.front().loops)});
    append(after, combined(totals_, shared_));
    stmts.insert(stmts.begin() + static_cast<std::ptrdiff_t>(last) + 1, after.begin(), after.end());
    stmts.insert(stmts.begin() + static_cast<std::ptrdiff_t>(first), before.begin(), before.end());
    if (!reason_.empty()) return reason_;
    return stmts;
  }

 private:
  static void append(std::vector<Ref<Stmt>>& stmts, const std::vector<Ref<Stmt>>& more) {
    stmts.insert(stmts.end(), more.begin(), more.end());
  }
  std::vector<loops::Temp> new_temps() const {
    std::vector<loops::Temp> temps;
    while (temps.size() < group_.size()) temps.push_back(lowering_.new_temp());
    return temps;
  }

  // In the order in which they are combined: those of one thread, then those of the nearest threads. Loops
  // that are written out and have no power of two of iterations are walked one after the other.
  std::vector<loops::Axis> copies_along(const std::vector<loops::Loop>& path) {
    std::vector<loops::Axis> axes, threads;
    for (const loops::Loop& loop : path) {
      if (loop.bind == Bind::serial || is_copied(group_.front(), loop.axis)) continue;
      if (loop.bind == Bind::block && reason_.empty())
        reason_ = cat("the loop over ", loop.axis, " is a block loop, and blocks do not share t",
                      group_.front().total.index);
      const bool is_even = is_power_of_two(index::constant_of(loop.extent).value_or(0));
      if (!is_even && loop.bind == Bind::unroll) continue;
      if (!is_even && reason_.empty())
        reason_ = cat("copies along ", loop.axis, ", whose extent ", loop.extent, " is no power of two");
      (loop.bind == Bind::thread ? threads : axes).push_back(loop.axis);
    }
    axes.insert(axes.end(), threads.rbegin(), threads.rend());
    return axes;
  }

  // The vector loop of the first part, where each other part has one as long; threads pass one value on.
  std::vector<loops::Axis> shared_vector(const std::vector<Accumulated>& parts) const {
    std::vector<loops::Loop> vectors;
    for (const Accumulated& part : parts)
      for (const loops::Loop& loop : part.loops) {
        if (loop.bind == Bind::thread || is_copied(group_.front(), loop.axis)) return {};
        if (loop.bind == Bind::vector) vectors.push_back(loop);
      }
    const bool are_alike =
        vectors.size() == parts.size() && std::ranges::all_of(vectors, [&](const loops::Loop& loop) {
          return loop.extent == vectors.front().extent;
        });
    return are_alike ? std::vector{vectors.front().axis} : std::vector<loops::Axis>();
  }

  bool is_shared(const loops::Axis& axis) const { return std::ranges::find(shared_, axis) != shared_.end(); }

  std::vector<loops::Axis> but_shared(std::vector<loops::Axis> axes) const {
    std::erase_if(axes, [&](const loops::Axis& axis) { return is_shared(axis); });
    return axes;
  }

  Ref<Stmt> with_shared_vector(const Ref<Stmt>& stmt) const {
    loops::Renaming renaming;
    const std::vector<loops::Loop> path = accumulated_in(*stmt, group_.front().total)->loops;
    for (const loops::Loop& loop : path)
      if (loop.bind == Bind::vector && !shared_.empty()) renaming.symbols.emplace(loop.axis, shared_.front());
    return renaming.symbols.empty() ? stmt : loops::rename(stmt, renaming);
  }

  static std::vector<Ref<Stmt>> combined(const std::vector<loops::Temp>& temps,
                                         const std::vector<loops::Axis>& copies) {
    std::vector<Ref<Stmt>> stmts;
    for (const loops::Axis& axis : copies)
      for (const loops::Temp temp : temps)
        stmts.push_back(loops::stmt(loops::Combine{temp, axis, loops::Pairing::halves}));
    return stmts;
  }

  // Of accumulators that have copies in the kernel, or in a shared vector, each of them.
  Ref<Stmt> merged_into(const std::vector<loops::Temp>& into, const std::vector<loops::Temp>& from,
                        std::vector<loops::Loop> path) const {
    std::erase_if(path, [&](const loops::Loop& loop) {
      return !is_copied(group_.front(), loop.axis) && !is_shared(loop.axis);
    });
    std::vector<Ref<Stmt>> merges;
    for (std::size_t number = 0; number < group_.size(); ++number)
      merges.push_back(merge_total(into[number], from[number], group_[number]));
    return in_loops(path, loops::block(std::move(merges)));
  }

  // Parts are numbered as they stand.
  Ref<Stmt> lower(const Ref<Stmt>& stmt) {
    const std::size_t parts = all_accumulated_in(*stmt, group_.front().total).size();
    if (parts == 0) return stmt;
    if (parts == 1 && std::exchange(is_first_, false)) return merging(stmt, totals_);
    if (parts == 1) return later_part(with_shared_vector(stmt));
    return inside(stmt, [&](const Ref<Stmt>& inner) { return lower(inner); });
  }

  // Nothing is started where a loop whose iterations do not differ, as of one or none, has none.
  Ref<Stmt> later_part(const Ref<Stmt>& stmt) {
    const std::vector<loops::Loop> path = accumulated_in(*stmt, group_.front().total)->loops;
    const std::vector<loops::Axis> copies = copies_along(path);
    if (but_shared(copies).empty()) return merging(stmt, rest_);
    const auto* loop = std::get_if<loops::Loop>(&stmt->node);
    if (loop != nullptr && loop->bind == Bind::serial &&
        loops::substitute(loop->body, {{loop->axis, 0}}) == loop->body)
      return inside(stmt, [&](const Ref<Stmt>& inner) { return later_part(inner); });
    const std::vector<loops::Temp> own = new_temps();
    std::vector<Ref<Stmt>> stmts = starts_of(group_, own, copies);
    stmts.push_back(merging(stmt, own));
    append(stmts, combined(own, but_shared(copies)));
    stmts.push_back(merged_into(rest_, own, path));
    return loops::block(std::move(stmts));
  }

  static Ref<Stmt> inside(const Ref<Stmt>& stmt, const std::function<Ref<Stmt>(const Ref<Stmt>&)>& change) {
    if (const auto* block = std::get_if<loops::Block>(&stmt->node)) {
      std::vector<Ref<Stmt>> stmts;
      for (const Ref<Stmt>& inner : block->stmts) stmts.push_back(change(inner));
      return loops::block(std::move(stmts));
    }
    if (const auto* array = std::get_if<loops::Scratch>(&stmt->node))
      return loops::stmt(loops::Scratch{array->buffer, array->count, array->place, change(array->body)});
    const auto& loop = std::get<loops::Loop>(stmt->node);
    return loops::stmt(loops::Loop{loop.axis, loop.extent, loop.bind, change(loop.body)});
  }

  Ref<Stmt> merging(const Ref<Stmt>& body, const std::vector<loops::Temp>& into) {
    const std::vector<loops::Loop> path = accumulated_in(*body, group_.front().total)->loops;
    std::vector<loops::Loop> reduced = path;
    std::erase_if(reduced, [&](const loops::Loop& loop) { return is_copied(group_.front(), loop.axis); });
    const Ref<Stmt> merged = loops::rewrite_stmts(body, [&](const Ref<Stmt>& stmt) -> Ref<Stmt> {
      const auto* step = std::get_if<loops::Accumulate>(&stmt->node);
      const auto number = step == nullptr ? std::nullopt : number_in(group_, step->total);
      if (!number) return stmt;
      loops::Merge merge{into[*number], step->values, lowering_.mask_of(*step, reduced), false};
      const auto* product = std::get_if<loops::Apply>(&step->values.front()->node);
      const bool is_free_sum = group_[*number].free && group_[*number].monoid == ops::Monoid::sum;
      if (is_free_sum && product != nullptr && product->op == ops::Pointwise::mul) {
        merge.values = product->inputs;
        merge.product = true;
      }
      return loops::stmt(std::move(merge));
    });
    if (!group_.front().folded) return merged;
    return fold_chains(lowering_, group_, {into, path, copies_along(path)}, merged);
  }

  const Lowering& lowering_;
  const Group& group_;
  std::vector<loops::Temp> totals_, rest_;  // what the first part merges into, and the others
  std::vector<loops::Axis> shared_;         // one or none: a vector loop whose lanes they are merged along
  bool is_first_ = true;
  std::string reason_;
};

}  // namespace

Lowered lower_any_order(const Lowering& lowering, const Group& group, std::vector<Ref<Stmt>> stmts) {
  return AnyOrder(lowering, group).run(std::move(stmts));
}

}  // namespace twinloom::steps
