// What siblings with accumulators share, and accumulators in any order (those in the canonical order:
// totals_canonical.cpp): lanes of vectors and unrolled loops, combined at the end; a masked remainder has
// lanes of its own, which are merged afterwards.
//   start m copies k.1; for k.0 { for k.1 vector { merge m } }; combine m across k.1
#include "core/schedule/totals.h"

#include <algorithm>

namespace twinloom::schedule {

using loops::Axis;

std::vector<Axis> lanes_of(const Scope& scope, std::size_t first, std::size_t last) {
  std::vector<Piece> pieces;
  for (std::size_t at = first; at < last; ++at) {
    if (scope.piece(scope.order[at]).copied) pieces.push_back(scope.piece(scope.order[at]));
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.step > b.step; });
  std::vector<Axis> result;
  for (const Piece& piece : pieces) result.push_back(piece.symbol);
  return result;
}

void combine_all(std::vector<Ref<Stmt>>& stmts, const std::vector<Temp>& totals,
                 const std::vector<Axis>& lanes) {
  for (const Axis& lane : lanes)
    for (const Temp total : totals)
      stmts.push_back(loops::stmt(loops::Combine{total, lane, loops::Pairing::halves}));
}

std::vector<SiblingTotal> totals_of(const SiblingSource& source) {
  std::vector<SiblingTotal> result;
  for (const Ref<Stmt>& inner : source.sibling.inner) {
    const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
    if (accumulate == nullptr) continue;
    const loops::Start& start = source.starts.at(accumulate->total);
    const auto same = [&](const SiblingTotal& known) { return known.start.total == start.total; };
    if (std::none_of(result.begin(), result.end(), same))
      result.push_back({start, start.total, start.total, start.total, {}});
  }
  return result;
}

Ref<Stmt> merge_inner(const SiblingSource& source, const Surroundings& around,
                      const std::function<Temp(Temp)>& target) {
  std::vector<Ref<Stmt>> result;
  for (const Ref<Stmt>& inner : source.sibling.inner) {
    const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
    if (accumulate == nullptr) {
      result.push_back(settle(inner, around));
      continue;
    }
    result.push_back(loops::stmt(loops::Merge{target(accumulate->total), settle(accumulate->values, around),
                                              ends_of(around, source.scope)}));
  }
  return loops::block(std::move(result));
}

Ref<Stmt> build_stores(const SiblingSource& source, const Surroundings& around, Names& names) {
  const auto innermost = [&](const Surroundings& here) {
    std::vector<Ref<Stmt>> stmts;
    for (const Ref<Stmt>& inner : source.sibling.inner) stmts.push_back(settle(inner, here));
    return loops::block(std::move(stmts));
  };
  return Walk(source.scope, around, names).run(innermost, {});
}

namespace {

// Copies along unrolled and vector loops are of one thread, those along threads are dearer to combine the
// farther these are apart.
std::vector<Axis> nearest_first(const Scope& scope) {
  std::vector<Axis> lanes = lanes_of(scope, 0, scope.order.size());
  const auto of_thread = [&](const Axis& lane) {
    return std::ranges::none_of(scope.order, [&](const Turn& turn) {
      return scope.piece(turn).symbol == lane && scope.piece(turn).bind == loops::Bind::thread;
    });
  };
  const auto threads = std::stable_partition(lanes.begin(), lanes.end(), of_thread);
  std::reverse(threads, lanes.end());
  return lanes;
}

class AnyOrder {
 public:
  AnyOrder(const SiblingSource& source, const Surroundings& around, Names& names)
      : source_(source), walk_(source.scope, around, names), totals_(totals_of(source)) {
    lanes_ = nearest_first(source.scope);
    for (std::size_t at = 0; at < source.scope.order.size(); ++at) {
      const Turn& turn = source.scope.order[at];
      if (source.scope.axes[turn.axis].cut == static_cast<int>(turn.piece)) cut_at_ = at;
    }
    if (lanes_.empty()) cut_at_.reset();
    for (const SiblingTotal& total : totals_) {
      rest_[total.start.total] = names.temp();
      tail_[total.start.total] = names.temp();
    }
  }

  Ref<Stmt> build() {
    const auto innermost = [&](const Surroundings& here) {
      return merge_inner(source_, here, [&](Temp total) { return total; });
    };
    const auto wrap = [&](std::size_t at, const State& state, Ref<Stmt> loops) {
      if (cut_at_ && state.in_tail && at == *cut_at_ + 1) return close_tail(std::move(loops));
      return at == 0 ? close(std::move(loops)) : loops;
    };
    return walk_.run(innermost, wrap);
  }

 private:
  // The remainder: the same statements, with the total under another name.
  Ref<Stmt> close_tail(Ref<Stmt> loops) {
    std::vector<Ref<Stmt>> before, after, merges;
    loops::Renaming renaming;
    std::vector<Temp> tails;
    for (const SiblingTotal& total : totals_) {
      const Temp tail = tails.emplace_back(tail_.at(total.start.total));
      renaming.temps.emplace(total.start.total, tail);
      before.push_back(loops::stmt(start_like(total.start, tail, lanes_)));
      merges.push_back(merge_total(rest_.at(total.start.total), tail, total.start));
    }
    combine_all(after, tails, lanes_);
    after.insert(after.end(), merges.begin(), merges.end());
    before.push_back(loops::rename(loops, renaming));
    before.insert(before.end(), after.begin(), after.end());
    has_rest_ = true;
    return loops::block(std::move(before));
  }

  Ref<Stmt> close(Ref<Stmt> loops) {
    std::vector<Ref<Stmt>> before, after;
    std::vector<Temp> totals;
    for (const SiblingTotal& total : totals_) totals.push_back(total.start.total);
    combine_all(after, totals, lanes_);
    for (const SiblingTotal& total : totals_) {
      before.push_back(loops::stmt(start_like(total.start, total.start.total, lanes_)));
      if (!has_rest_) continue;
      const Temp rest = rest_.at(total.start.total);
      before.push_back(loops::stmt(start_like(total.start, rest, {})));
      after.push_back(merge_total(total.start.total, rest, total.start));
    }
    before.push_back(std::move(loops));
    before.insert(before.end(), after.begin(), after.end());
    return loops::block(std::move(before));
  }

  const SiblingSource& source_;
  Walk walk_;
  std::vector<SiblingTotal> totals_;
  std::vector<Axis> lanes_;
  std::optional<std::size_t> cut_at_;
  bool has_rest_ = false;
  std::map<Temp, Temp> rest_, tail_;
};

}  // namespace

Ref<Stmt> build_any(const SiblingSource& source, const Surroundings& around, Names& names) {
  return AnyOrder(source, around, names).build();
}

}  // namespace twinloom::schedule
