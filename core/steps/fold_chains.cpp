// Additions into one accumulator that follow each other, in chains of at most 512, each with an accumulator
// of its own:
//   for k < n { merge s (x) }
//     ->  for kf < ceil(n/512) { start p; for k < min(512, n - 512*kf) { merge p (x) }; merge s (p) }
// and the same of the outer loop where that one is longer.
#include <algorithm>
#include <bit>

#include "core/steps/accumulators.h"
#include "core/steps/lower.h"

namespace twinloom::steps {

namespace {

using loops::Bind;

// Where signs are random, n terms in chains of c, these in chains of c and so on are off by 0.35 u rms
// sqrt(n c l) in the mean, with l = log2 n / log2 c levels. At c = 512 that is a third of what free sums
// promise, 8 u rms sqrt(n log2 n).
constexpr std::int64_t MOST_CHAIN = 512;
// Of a loop whose extent nobody knows. So many additions that wait for each other take a second.
constexpr std::int64_t MOST_TERMS = MOST_CHAIN * MOST_CHAIN * MOST_CHAIN;

class Folding {
 public:
  Folding(const Lowering& lowering, const Group& group, const Chains& chains)
      : lowering_(lowering), group_(group), chains_(chains) {}

  Ref<Stmt> run(Ref<Stmt> stmt) const {
    std::int64_t chain = 1;
    for (auto loop = chains_.path.rbegin(); loop != chains_.path.rend(); ++loop) {
      if (has_copies(loop->axis)) continue;
      const std::vector<loops::Loop> inside(loop.base(), chains_.path.end());
      const auto most = lowering_.kernel.facts.range(loop->extent).high;
      std::int64_t extent = std::clamp<std::int64_t>(most.value_or(MOST_TERMS), 1, MOST_TERMS);
      loops::Axis axis = loop->axis;
      while (chain * extent > MOST_CHAIN) {
        const bool is_split = loop->bind == Bind::serial && 2 * chain <= MOST_CHAIN;
        const auto room = static_cast<std::uint64_t>(MOST_CHAIN / chain);
        const std::int64_t iterations = is_split ? static_cast<std::int64_t>(std::bit_floor(room)) : 1;
        const loops::Axis outer = is_split ? lowering_.new_symbol(cat(axis, "f")) : axis;
        stmt = loops::rewrite_stmts(stmt, [&](const Ref<Stmt>& inner) {
          const auto* found = std::get_if<loops::Loop>(&inner->node);
          const bool folds = found != nullptr && found->axis == axis && merges(*found->body);
          return folds ? fold(*found, {outer, iterations}, inside) : inner;
        });
        chain = 1;
        axis = outer;
        if (!is_split) break;
        extent = (extent + iterations - 1) / iterations;
      }
      chain *= extent;
    }
    return stmt;
  }

 private:
  // The loop around, and how many iterations an accumulator is for.
  struct Cut {
    loops::Axis outer;
    std::int64_t iterations;
  };

  bool has_copies(const loops::Axis& axis) const {
    return std::ranges::find(chains_.copies, axis) != chains_.copies.end() || is_copied(group_.front(), axis);
  }
  bool merges(const Stmt& body) const {
    bool found = false;
    loops::for_each_stmt(body, [&](const Stmt& stmt) {
      const auto* merge = std::get_if<loops::Merge>(&stmt.node);
      found |= merge != nullptr && std::ranges::find(chains_.into, merge->total) != chains_.into.end();
    });
    return found;
  }

  // `inside`: the loops of the path inside this one.
  Ref<Stmt> fold(const loops::Loop& loop, const Cut& cut, const std::vector<loops::Loop>& inside) const {
    std::vector<loops::Loop> copied = inside;
    std::erase_if(copied, [&](const loops::Loop& each) { return !has_copies(each.axis); });
    std::vector<loops::Axis> copies;
    for (const loops::Loop& each : copied) copies.push_back(each.axis);
    loops::Renaming own;
    std::vector<Ref<Stmt>> stmts, merged;
    for (std::size_t number = 0; number < group_.size(); ++number) {
      const loops::Temp temp = lowering_.new_temp();
      own.temps[chains_.into[number]] = temp;
      loops::Start start = start_like(group_[number], temp, copies);
      start.free = start.folded = true;
      stmts.push_back(loops::stmt(std::move(start)));
      merged.push_back(merge_total(chains_.into[number], temp, group_[number]));
    }
    const Ref<Stmt> body = loops::rename(loop.body, own);
    if (cut.iterations == 1) {
      stmts.push_back(body);
    } else {
      const index::Expr first = index::Expr(cut.outer) * cut.iterations;
      stmts.push_back(
          loops::stmt(loops::Loop{loop.axis, least(cut.iterations, loop.extent - first), loop.bind,
                                  loops::substitute(body, {{loop.axis, first + loop.axis}})}));
    }
    stmts.push_back(in_loops(copied, loops::block(std::move(merged))));
    return loops::stmt(loops::Loop{cut.outer, ceil_div(loop.extent, cut.iterations), loop.bind,
                                   loops::block(std::move(stmts))});
  }

  const Lowering& lowering_;
  const Group& group_;
  const Chains& chains_;
};

}  // namespace

Ref<Stmt> fold_chains(const Lowering& lowering, const Group& group, const Chains& chains, Ref<Stmt> stmt) {
  return Folding(lowering, group, chains).run(std::move(stmt));
}

}  // namespace twinloom::steps
