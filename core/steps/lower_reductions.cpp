// Every Accumulate becomes a Merge. Of an accumulator in any order, iterations of vector, unrolled and thread
// loops have a copy each, which are combined behind the loops:
//   start s; for k.0 < m { for k.1 < 8 vector { s += x } }
//     ->  start s copies (k.1); for k.0 < m { for k.1 < 8 vector { merge s (x) } }; combine s across k.1
//     halves
// Of a free sum, products are not rounded before they are added. Of an accumulator in the canonical order:
// lower_canonical.cpp.
#include <algorithm>

#include "core/base/integers.h"
#include "core/steps/lower_canonical.h"
#include "core/steps/threads.h"

namespace twinloom::steps {

namespace {

class Lowering {
 public:
  explicit Lowering(const Kernel& kernel)
      : kernel_(kernel), next_temp_(loops::next_temp(kernel.program).index) {
    loops::for_each_stmt(*kernel.program.body, [&](const Stmt& stmt) {
      const auto* store = std::get_if<loops::Store>(&stmt.node);
      if (store == nullptr || kernel.program.buffers[store->buffer.index].local) return;
      stores_.push_back(*store);
    });
  }

  Result run() {
    Kernel result = kernel_;
    result.program.body = lower(kernel_.program.body);
    if (reason_.empty()) reason_ = why_bad_threads(result.program);
    if (!reason_.empty()) return reason_;
    return result;
  }

 private:
  void refuse(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
  }

  Ref<Stmt> lower(const Ref<Stmt>& body) {
    return loops::rewrite_stmts(body, [&](const Ref<Stmt>& stmt) -> Ref<Stmt> {
      if (const auto* block = std::get_if<loops::Block>(&stmt->node)) return close(*block);
      return stmt;
    });
  }

  // The accumulators that are started in the block.
  Ref<Stmt> close(const loops::Block& block) {
    std::vector<Ref<Stmt>> stmts = block.stmts;
    for (const Ref<Stmt>& stmt : block.stmts) {
      const auto* start = std::get_if<loops::Start>(&stmt->node);
      if (start == nullptr) continue;
      const auto at = static_cast<std::size_t>(std::ranges::find(stmts, stmt) - stmts.begin());
      reach(*start, at, stmts);
    }
    return loops::block(std::move(stmts));
  }

  void reach(const loops::Start& start, std::size_t at, std::vector<Ref<Stmt>>& stmts) {
    if (start.free || ops::order(start.monoid, start.element) == ops::Order::any)
      reach_in_any_order(start, at, stmts);
    else
      reach_in_canonical_order(start, at, stmts);
  }

  void reach_in_canonical_order(const loops::Start& start, std::size_t at, std::vector<Ref<Stmt>>& stmts) {
    const std::vector<Ref<Stmt>> behind(stmts.begin() + static_cast<std::ptrdiff_t>(at) + 1, stmts.end());
    auto lowered = lower_canonical(
        kernel_, start, behind, [&] { return loops::Temp{next_temp_++}; },
        [&](const loops::Accumulate& step, const std::vector<loops::Loop>& reduced) {
          return mask_of(step, reduced);
        });
    if (auto* reason = std::get_if<std::string>(&lowered)) return refuse(std::move(*reason));
    const auto& now = std::get<std::vector<Ref<Stmt>>>(lowered);
    stmts.resize(at);
    stmts.insert(stmts.end(), now.begin(), now.end());
  }

  void reach_in_any_order(loops::Start start, std::size_t at, std::vector<Ref<Stmt>>& stmts) {
    for (std::size_t later = at + 1; later < stmts.size(); ++later) {
      const auto found = accumulated_in(*stmts[later], start.total);
      if (!found) continue;
      std::vector<loops::Loop> reduced;
      for (const loops::Loop& loop : found->loops)
        if (std::ranges::find(start.copies, loop.axis) == start.copies.end()) reduced.push_back(loop);
      stmts[later] = merged(stmts[later], start, reduced);
      std::vector<Ref<Stmt>> combines;
      for (const loops::Loop& loop : reduced) {
        if (loop.bind == loops::Bind::serial || loop.bind == loops::Bind::block) continue;
        if (!is_power_of_two(index::constant_of(loop.extent).value_or(0)))
          refuse(cat("copies along ", loop.axis, ", whose extent ", loop.extent, " is no power of two"));
        start.copies.push_back(loop.axis);
        combines.push_back(loops::stmt(loops::Combine{start.total, loop.axis, loops::Pairing::halves}));
      }
      stmts[at] = loops::stmt(start);
      stmts.insert(stmts.begin() + static_cast<std::ptrdiff_t>(later) + 1, combines.begin(), combines.end());
      return;
    }
  }

  Ref<Stmt> merged(const Ref<Stmt>& body, const loops::Start& start,
                   const std::vector<loops::Loop>& reduced) const {
    return loops::rewrite_stmts(body, [&](const Ref<Stmt>& stmt) -> Ref<Stmt> {
      const auto* step = std::get_if<loops::Accumulate>(&stmt->node);
      if (step == nullptr || step->total != start.total) return stmt;
      loops::Merge merge{start.total, step->values, mask_of(*step, reduced), false};
      const auto* product = std::get_if<loops::Apply>(&step->values.front()->node);
      if (start.free && product != nullptr && product->op == ops::Pointwise::mul) {
        merge.values = product->inputs;
        merge.product = true;
      }
      return loops::stmt(std::move(merge));
    });
  }

  // What a copy past the end of an axis that stays would be told matters to nobody where nobody stores it.
  index::Condition mask_of(const loops::Accumulate& step, const std::vector<loops::Loop>& reduced) const {
    index::Condition mask;
    for (const index::Less& less : step.mask.all) {
      const index::Condition alone{{less}};
      const bool of_reduced = std::ranges::any_of(
          reduced, [&](const loops::Loop& loop) { return index::symbols_of(alone).contains(loop.axis); });
      const bool is_stored = !std::ranges::all_of(stores_, [&](const loops::Store& store) {
        return std::ranges::find(store.mask.all, less) != store.mask.all.end();
      });
      if (of_reduced || is_stored) mask.all.push_back(less);
    }
    return mask;
  }

  const Kernel& kernel_;
  std::vector<loops::Store> stores_;  // to buffers of the caller
  std::uint32_t next_temp_;
  std::string reason_;
};

}  // namespace

Result lower_reductions(const Kernel& kernel) { return Lowering(kernel).run(); }

}  // namespace twinloom::steps
