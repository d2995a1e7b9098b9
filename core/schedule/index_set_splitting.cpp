// See index_set_splitting.h.
#include "core/schedule/index_set_splitting.h"

#include <algorithm>

#include "core/base/integers.h"
#include "core/index/simplify.h"
#include "core/schedule/constants.h"
#include "core/steps/tidy.h"

namespace twinloom::schedule {

using index::Expr;
using index::Less;
using loops::Loop;
using loops::Value;

namespace {

// The first iteration in which it is not what it was in iteration 0, where that is inside the loop; nothing
// where more than the axis and sizes decides.
std::optional<Expr> change_of(const Less& less, const Loop& loop, const std::set<index::Symbol>& bound,
                              const index::Facts& facts) {
  const auto gap = index::linear_in(less.b - less.a, loop.axis);
  const auto scale = gap ? index::constant_of(gap->scale) : std::nullopt;
  if (!scale || *scale == 0) return std::nullopt;
  const auto of_sizes = [&](const index::Symbol& symbol) { return !bound.contains(symbol); };
  if (!std::ranges::all_of(index::symbols_of(gap->rest), of_sizes)) return std::nullopt;
  const Expr change =
      index::simplify(*scale < 0 ? ceil_div(gap->rest, -*scale) : floor_div(-gap->rest, *scale) + 1, facts);
  const bool inside = facts.proves_less(0, change) && facts.proves_less(change, loop.extent);
  return inside ? std::optional(change) : std::nullopt;
}

// Of all conditions in the loop; nothing where none changes, or the body is long.
std::optional<Expr> first_change(const Loop& loop, const std::set<index::Symbol>& bound,
                                 const index::Facts& facts) {
  std::optional<Expr> first;
  std::int64_t values = 0;
  const auto visit = [&](const Less& less) {
    const auto change = change_of(less, loop, bound, facts);
    if (change && (!first || facts.proves_less(*change, *first))) first = change;
  };
  loops::for_each_value(*loop.body, [&](const Value& value) {
    ++values;
    if (const auto* load = std::get_if<loops::Load>(&value.node))
      std::ranges::for_each(load->mask.all, visit);
    if (const auto less = loops::compared_counts(value)) visit(*less);
  });
  return values <= MOST_CUT_VALUES ? first : std::nullopt;
}

class Splitter {
 public:
  Splitter(const Ref<Stmt>& whole, const index::Facts& facts, Names& names) : facts_(facts), names_(names) {
    std::set<index::Symbol> seen;
    loops::for_each_stmt(*whole, [&](const Stmt& stmt) {
      if (const auto* loop = std::get_if<Loop>(&stmt.node)) {
        if (!seen.insert(loop->axis).second) shared_.insert(loop->axis);
        bound_.insert(loop->axis);
      }
      if (const auto* start = std::get_if<loops::Start>(&stmt.node))
        shared_.insert(start->copies.begin(), start->copies.end());
      if (const auto* index = std::get_if<loops::Index>(&stmt.node)) bound_.insert(index->symbol);
    });
  }

  Ref<Stmt> operator()(const Ref<Stmt>& stmt) {
    const auto* loop = std::get_if<Loop>(&stmt->node);
    if (loop == nullptr || loop->bind != loops::Bind::serial || has_shared_axis(*stmt)) return stmt;
    std::vector<Ref<Stmt>> parts;
    Ref<Stmt> rest = stmt;
    while (static_cast<int>(parts.size()) + 1 < MOST_CUT_LOOPS) {
      const auto& left = std::get<Loop>(rest->node);
      const auto change = first_change(left, bound_, facts_);
      if (!change) break;
      parts.push_back(part(left.axis, *change, left.body));
      const index::Symbol axis = names_.symbol(left.axis.name());
      bound_.insert(axis);
      const Ref<Stmt> body =
          loops::substitute(names_.freshen(left.body), {{left.axis, Expr(axis) + *change}});
      rest = part(axis, index::simplify(left.extent - *change, facts_), body);
    }
    if (parts.empty()) return stmt;
    parts.push_back(std::move(rest));
    return loops::block(std::move(parts));
  }

 private:
  // Whether the axis of the loop, or of one inside, is named elsewhere: a copy of it would have another name.
  bool has_shared_axis(const Stmt& stmt) const {
    bool found = false;
    loops::for_each_stmt(stmt, [&](const Stmt& inner) {
      const auto* loop = std::get_if<Loop>(&inner.node);
      found = found || (loop != nullptr && shared_.contains(loop->axis));
    });
    return found;
  }

  Ref<Stmt> part(index::Symbol axis, const Expr& extent, const Ref<Stmt>& body) const {
    index::Facts facts = facts_;
    facts.assume_below(axis, extent);
    facts = steps::facts_inside(*body, std::move(facts));
    return loops::stmt(Loop{axis, extent, loops::Bind::serial, steps::tidy(body, index::Simplifier(facts))});
  }

  const index::Facts& facts_;
  Names& names_;
  std::set<index::Symbol> shared_;
  std::set<index::Symbol> bound_;  // by loops and Index statements
};

}  // namespace

Ref<Stmt> split_index_sets(const Ref<Stmt>& stmt, const index::Facts& facts, Names& names) {
  Splitter splitter(stmt, facts, names);
  return loops::rewrite_stmts(stmt, std::ref(splitter));
}

}  // namespace twinloom::schedule
