// Walks neighbouring axes as one:
//   for i < m { for j < n { y[i*n + j] = x[i*n + j] } }    ->    for r < m*n { y[r] = x[r] }
// Every use of i becomes floor_div(r, n) and of j floor_mod(r, n), which simplifies away where the axes
// are neighbours in memory too. Where it does not the indices stay as they are: dearer, but right.
#include <algorithm>

#include "core/index/simplify.h"
#include "core/loops/rewrite.h"
#include "core/schedule/plan.h"
#include "core/steps/tidy.h"

namespace twinloom::schedule {

namespace {

std::vector<loops::NestLoop>* loops_of(loops::Nest& nest, int sibling) {
  if (sibling == -1) return &nest.common;
  int number = 0;
  for (loops::Item& item : nest.items) {
    auto* found = std::get_if<loops::Sibling>(&item);
    if (found != nullptr && number++ == sibling) return &found->loops;
  }
  return nullptr;
}

// Where the named axes stand as neighbours, or nothing.
std::optional<std::size_t> place_of(const std::vector<loops::NestLoop>& scope, const Collapse& plan) {
  for (std::size_t at = 0; at + plan.axes.size() <= scope.size(); ++at) {
    const auto same = [](const loops::NestLoop& loop, const std::string& name) {
      return loop.axis.name() == name;
    };
    if (std::equal(plan.axes.begin(), plan.axes.end(), scope.begin() + static_cast<std::ptrdiff_t>(at),
                   [&](const std::string& name, const loops::NestLoop& loop) { return same(loop, name); })) {
      return at;
    }
  }
  return std::nullopt;
}

// Each axis by the counter of all of them: floor_mod(floor_div(r, turns of those inside), extent).
index::Substitution by_one(std::span<const loops::NestLoop> axes, const index::Symbol& one) {
  index::Substitution result;
  index::Expr inside = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (index::constant_of(inside) == 0) {  // no turn at all, so any place will do
      result.emplace(axes[i].axis, index::Expr(0));
      continue;
    }
    const index::Expr from_here = floor_div(index::Expr(one), inside);
    const bool empty = index::constant_of(axes[i].extent) == 0;
    result.emplace(axes[i].axis, i == 0 || empty ? from_here : floor_mod(from_here, axes[i].extent));
    inside = inside * axes[i].extent;
  }
  return result;
}

bool is_used(const loops::Program& nest, const index::Symbol& symbol) {
  bool used = std::any_of(nest.sizes.begin(), nest.sizes.end(),
                          [&](const loops::SizeInfo& size) { return size.symbol == symbol; });
  loops::for_each_stmt(*nest.body, [&](const loops::Stmt& stmt) {
    if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) used |= loop->axis == symbol;
    if (const auto* index = std::get_if<loops::Index>(&stmt.node)) used |= index->symbol == symbol;
  });
  return used;
}

std::variant<loops::Program, std::string> collapse_one(loops::Program nest, const Collapse& plan) {
  loops::Nest shape = loops::take_apart(nest);
  std::vector<loops::NestLoop>* scope = loops_of(shape, plan.sibling);
  if (scope == nullptr) return cat("collapse: there is no sibling ", plan.sibling);
  if (plan.axes.size() < 2) return cat("collapse as ", plan.name, ": fewer than two axes");
  const auto at = place_of(*scope, plan);
  if (!at) {
    return cat("collapse as ", plan.name, ": ", join(plan.axes, ", ", [](const auto& axis) { return axis; }),
               " are not neighbouring axes of ", plan.sibling < 0 ? "the common loops" : "that sibling");
  }
  const index::Symbol one(plan.name);
  if (is_used(nest, one)) return cat("collapse: the name ", plan.name, " is taken");
  const auto first = scope->begin() + static_cast<std::ptrdiff_t>(*at);
  const auto last = first + static_cast<std::ptrdiff_t>(plan.axes.size());
  const index::Substitution substitution = by_one(std::span(first, last), one);
  index::Expr extent = 1;
  for (auto loop = first; loop != last; ++loop) extent = extent * loop->extent;
  *scope->erase(first, last - 1) = {one, extent};
  nest.body = loops::substitute(loops::put_together(shape), substitution);
  const index::Facts facts = loops::facts_of(nest);
  nest.body = steps::tidy(nest.body, index::Simplifier(facts));
  return nest;
}

}  // namespace

std::variant<loops::Program, std::string> collapse(const loops::Program& nest,
                                                   const std::vector<Collapse>& collapses) {
  loops::Program result = nest;
  for (const Collapse& plan : collapses) {
    auto next = collapse_one(std::move(result), plan);
    if (auto* reason = std::get_if<std::string>(&next)) return std::move(*reason);
    result = std::get<loops::Program>(std::move(next));
  }
  return result;
}

}  // namespace twinloom::schedule
