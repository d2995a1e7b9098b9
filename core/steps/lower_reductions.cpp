// Every Accumulate becomes a Merge. Of an accumulator in any order, iterations of vector, unrolled and thread
// loops have a copy each, which are combined behind the loops:
//   start s; for k.0 < m { for k.1 < 8 vector { s += x } }
//     ->  start s copies (k.1); for k.0 < m { for k.1 < 8 vector { merge s (x) } }; combine s across k.1
//     halves
// Of a free sum, products are not rounded before they are added. Of an accumulator in the canonical order:
// lower_canonical.cpp.
#include <algorithm>

#include "core/base/integers.h"
#include "core/steps/accumulators.h"
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
    std::vector<std::size_t> parts;
    for (std::size_t later = at + 1; later < stmts.size(); ++later) {
      const std::size_t inside = all_accumulated_in(*stmts[later], start.total).size();
      if (inside > 0) parts.push_back(later);
      if (inside > 1) refuse(cat("two parts of t", start.total.index, " stand in one loop"));
    }
    if (parts.size() == 1) {
      const std::vector<Ref<Stmt>> closed = in_any_order(start, stmts[parts[0]], start.total);
      stmts[at] = closed[0];
      stmts[parts[0]] = loops::block({closed.begin() + 1, closed.end()});
      return;
    }
    // Each has copies of its own, and is merged behind its loops.
    for (const std::size_t part : parts) {
      const loops::Temp own{next_temp_++};
      const std::vector<loops::Loop> around = accumulated_in(*stmts[part], start.total)->loops;
      std::vector<Ref<Stmt>> closed = in_any_order(start, stmts[part], own);
      closed.push_back(in_loops(copied(start, around), merge_total(start.total, own, start)));
      stmts[part] = loops::block(std::move(closed));
    }
  }

  static std::vector<loops::Loop> copied(const loops::Start& start, std::vector<loops::Loop> loops) {
    std::erase_if(loops, [&](const loops::Loop& loop) {
      return std::ranges::find(start.copies, loop.axis) == start.copies.end();
    });
    return loops;
  }

  // The start of `own`, the loops that merge into it, and what combines its copies.
  std::vector<Ref<Stmt>> in_any_order(loops::Start start, const Ref<Stmt>& loops, loops::Temp own) {
    std::vector<loops::Loop> reduced = accumulated_in(*loops, start.total)->loops;
    std::erase_if(reduced, [&](const loops::Loop& loop) {
      return std::ranges::find(start.copies, loop.axis) != start.copies.end();
    });
    std::vector<Ref<Stmt>> stmts = {nullptr, merged(loops, start, own, reduced)};
    start.total = own;
    for (const loops::Loop& loop : reduced) {
      if (loop.bind == loops::Bind::block)
        refuse(cat("the loop over ", loop.axis, " is a block loop, and blocks do not share t", own.index));
      if (loop.bind == loops::Bind::serial) continue;
      if (!is_power_of_two(index::constant_of(loop.extent).value_or(0)))
        refuse(cat("copies along ", loop.axis, ", whose extent ", loop.extent, " is no power of two"));
      start.copies.push_back(loop.axis);
      stmts.push_back(loops::stmt(loops::Combine{own, loop.axis, loops::Pairing::halves}));
    }
    stmts.front() = loops::stmt(std::move(start));
    return stmts;
  }

  Ref<Stmt> merged(const Ref<Stmt>& body, const loops::Start& start, loops::Temp into,
                   const std::vector<loops::Loop>& reduced) const {
    return loops::rewrite_stmts(body, [&](const Ref<Stmt>& stmt) -> Ref<Stmt> {
      const auto* step = std::get_if<loops::Accumulate>(&stmt->node);
      if (step == nullptr || step->total != start.total) return stmt;
      loops::Merge merge{into, step->values, mask_of(*step, reduced), false};
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
