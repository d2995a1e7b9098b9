// Loops of one path in another order. Where a loop that an accumulator sums over comes to stand outside of
// one that its Start stands in, the accumulator gets a copy for each iteration of the latter, and what reads
// it a loop of its own over them:
//   reorder k, i   for i < 4 { start s; for k < n { s += x[i, k] }; y[i] = s }
//              ->  start s copies (i); for k < n { for i < 4 { s += x[i, k] } }; for i < 4 { y[i] = s }
#include <algorithm>

#include "core/steps/rows.h"
#include "core/steps/tree.h"

namespace twinloom::steps {

namespace {

// The statements beside the next loop of the path in the body of one of its loops.
struct Beside {
  std::size_t depth = 0;  // of the path: the loop in whose body they stand
  std::vector<Ref<Stmt>> before, after;
};

const loops::Loop* as_loop(const Ref<Stmt>& stmt) { return std::get_if<loops::Loop>(&stmt->node); }

class Reordering {
 public:
  Reordering(const Kernel& kernel, const std::vector<std::string>& wanted) : kernel_(kernel) {
    for (const std::string& name : wanted) {
      const std::vector<loops::Loop> path = path_to(*kernel.program.body, name);
      if (path.empty()) reason_ = cat("there is not one loop over ", name);
      if (path.size() > path_.size()) path_ = path;
    }
    if (!reason_.empty()) return;
    std::vector<std::size_t> places;
    for (const std::string& name : wanted) {
      const auto at = std::ranges::find_if(path_, [&](const auto& loop) { return loop.axis.name() == name; });
      if (at == path_.end())
        reason_ = cat("the loop over ", name, " does not stand around the others or in them");
      places.push_back(static_cast<std::size_t>(at - path_.begin()));
    }
    if (!reason_.empty()) return;
    order_in(places);
  }

  Result run() {
    if (reason_.empty()) look_beside();
    if (reason_.empty()) check_body();
    if (reason_.empty()) check_extents();
    if (!reason_.empty()) return reason_;
    Kernel result = kernel_;
    result.program.body = replace_loops(kernel_.program.body, path_[first_].axis,
                                        [&](const loops::Loop&) { return rebuilt(); });
    return result;
  }

 private:
  // order_[n]: which loop of the path stands at its n-th place now.
  void order_in(const std::vector<std::size_t>& places) {
    for (std::size_t n = 0; n < path_.size(); ++n) order_.push_back(n);
    std::vector<std::size_t> sorted = places;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) reason_ = "a loop is named twice";
    for (std::size_t n = 0; n < places.size(); ++n) order_[sorted[n]] = places[n];
    while (first_ + 1 < path_.size() && order_[first_] == first_) ++first_;
  }

  void look_beside() {
    for (std::size_t depth = first_; depth + 1 < path_.size(); ++depth) {
      Beside found{depth, {}, {}};
      bool passed = false;
      for (const Ref<Stmt>& stmt : stmts_of(path_[depth].body)) {
        const loops::Loop* loop = as_loop(stmt);
        const bool next = loop != nullptr && loop->axis == path_[depth + 1].axis;
        if (!next) (passed ? found.after : found.before).push_back(stmt);
        passed |= next;
      }
      if (!passed) reason_ = cat("the loop over ", path_[depth + 1].axis, " stands in an array's scope");
      if (found.before.empty() && found.after.empty()) continue;
      if (beside_) reason_ = "statements stand beside the loops at two depths";
      beside_ = std::move(found);
    }
    if (!reason_.empty() || !beside_) return;
    for (const Ref<Stmt>& stmt : beside_->before)
      if (!std::holds_alternative<loops::Start>(stmt->node))
        reason_ = cat("a statement stands before the loop over ", path_[beside_->depth + 1].axis);
    for (const Ref<Stmt>& stmt : beside_->after)
      loops::for_each_stmt(*stmt, [&](const Stmt& inner) {
        if (const auto* step = std::get_if<loops::Accumulate>(&inner.node);
            step != nullptr && starts(step->total))
          reason_ = cat("another part of t", step->total.index, " stands behind the loop over ",
                        path_[beside_->depth + 1].axis);
      });
    split_at_ = first_;
    while (split_at_ < order_.size() && order_[split_at_] <= beside_->depth) ++split_at_;
    for (std::size_t n = split_at_; n < order_.size(); ++n)
      if (order_[n] <= beside_->depth) expanded_.push_back(path_[order_[n]]);
    for (const loops::Loop& loop : expanded_)
      if (!index::constant_of(loop.extent))
        reason_ = cat("accumulators would have copies along ", loop.axis, ", whose extent ", loop.extent,
                      " is not constant");
  }

  bool starts(loops::Temp total) const {
    return std::ranges::any_of(beside_->before, [&](const Ref<Stmt>& stmt) {
      const auto* start = std::get_if<loops::Start>(&stmt->node);
      return start != nullptr && start->total == total;
    });
  }

  void check_body() {
    loops::for_each_stmt(*path_[first_].body, [&](const Stmt& stmt) {
      if (std::holds_alternative<loops::Scan>(stmt.node)) reason_ = "a scan is walked in order";
      if (std::holds_alternative<loops::Index>(stmt.node))
        reason_ = "the failure that an index reports is that of the first iteration";
      if (std::holds_alternative<loops::Scratch>(stmt.node)) reason_ = "the loops stand around an array";
    });
  }

  void check_extents() {
    for (std::size_t n = first_; n < order_.size(); ++n)
      for (std::size_t later = n; later < order_.size(); ++later)
        if (index::mentions(path_[order_[n]].extent, path_[order_[later]].axis))
          reason_ = cat("the extent of ", path_[order_[n]].axis, " depends on ", path_[order_[later]].axis,
                        ", which would stand inside");
  }

  Ref<Stmt> rebuilt() const {
    std::vector<loops::Loop> outer, inner;
    const std::size_t from = beside_ ? split_at_ : order_.size();
    for (std::size_t n = first_; n < order_.size(); ++n)
      (n < from ? outer : inner).push_back(path_[order_[n]]);
    const Ref<Stmt>& innermost = path_.back().body;
    if (!beside_) return in_loops(outer, innermost);
    std::vector<Ref<Stmt>> stmts;
    for (const Ref<Stmt>& stmt : beside_->before) {
      loops::Start start = std::get<loops::Start>(stmt->node);
      for (const loops::Loop& loop : expanded_) start.copies.push_back(loop.axis);
      stmts.push_back(loops::stmt(std::move(start)));
    }
    stmts.push_back(in_loops(inner, innermost));
    if (!beside_->after.empty()) stmts.push_back(in_loops(expanded_, loops::block(beside_->after)));
    return in_loops(outer, loops::block(std::move(stmts)));
  }

  const Kernel& kernel_;
  std::vector<loops::Loop> path_;
  std::vector<std::size_t> order_;
  std::size_t first_ = 0;     // place from which the order changes
  std::size_t split_at_ = 0;  // first place of a loop inside what stands beside
  std::optional<Beside> beside_;
  std::vector<loops::Loop> expanded_;  // that accumulators get copies along
  std::string reason_;
};

}  // namespace

Result apply_reorder(const Kernel& kernel, const Reorder& reorder) {
  if (reorder.loops.size() < 2) return std::string("there is nothing to reorder");
  return Reordering(kernel, reorder.loops).run();
}

}  // namespace twinloom::steps
