// See contraction.h.
#include "core/steps/contraction.h"

#include <algorithm>
#include <set>

#include "core/loops/rewrite.h"

namespace twinloom::steps {

namespace {

using loops::Ref;
using loops::Stmt;

std::set<index::Symbol> axes_of(const loops::Value& factor, const std::vector<index::Symbol>& axes) {
  const std::set<index::Symbol> mentioned = loops::symbols_of(factor);
  std::set<index::Symbol> found;
  for (const index::Symbol& axis : axes)
    if (mentioned.contains(axis)) found.insert(axis);
  return found;
}

bool has_other_than(const std::set<index::Symbol>& one, const std::set<index::Symbol>& other) {
  return std::ranges::any_of(one, [&](const index::Symbol& axis) { return !other.contains(axis); });
}

class Contractions {
 public:
  explicit Contractions(const Stmt& body) { visit(body); }
  bool contains(loops::Temp total) const { return found_.contains(total); }

 private:
  void visit(const Stmt& stmt) {
    if (const auto* block = std::get_if<loops::Block>(&stmt.node)) {
      for (const Ref<Stmt>& inner : block->stmts) visit(*inner);
    } else if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) {
      around_.push_back(loop->axis);
      visit(*loop->body);
      around_.pop_back();
    } else if (const auto* start = std::get_if<loops::Start>(&stmt.node)) {
      if (start->monoid == ops::Monoid::sum && start->copies.empty() &&
          (start->element == ops::DType::f32 || start->element == ops::DType::f64))
        depths_[start->total] = around_.size();
    } else if (const auto* step = std::get_if<loops::Accumulate>(&stmt.node)) {
      if (depths_.contains(step->total) && is_contraction(*step)) found_.insert(step->total);
    }
  }

  // Both factors depend on all that is summed over, and each on an axis of the result that the other lacks.
  bool is_contraction(const loops::Accumulate& step) const {
    const auto* product = std::get_if<loops::Apply>(&step.values.front()->node);
    if (product == nullptr || product->op != ops::Pointwise::mul) return false;
    const auto depth = static_cast<std::ptrdiff_t>(depths_.at(step.total));
    const std::vector<index::Symbol> kept(around_.begin(), around_.begin() + depth);
    const std::vector<index::Symbol> summed(around_.begin() + depth, around_.end());
    const auto left = axes_of(*product->inputs[0], kept), right = axes_of(*product->inputs[1], kept);
    const bool both = std::ranges::all_of(product->inputs, [&](const auto& factor) {
      return axes_of(*factor, summed).size() == summed.size();
    });
    return both && has_other_than(left, right) && has_other_than(right, left);
  }

  std::vector<index::Symbol> around_;
  std::map<loops::Temp, std::size_t> depths_;  // of Starts: the loops around
  std::set<loops::Temp> found_;
};

}  // namespace

loops::Program with_free_contractions(const loops::Program& nest) {
  const Contractions contractions(*nest.body);
  loops::Program result = nest;
  result.body = loops::rewrite_stmts(nest.body, [&](const Ref<Stmt>& stmt) {
    const auto* start = std::get_if<loops::Start>(&stmt->node);
    if (start == nullptr || !contractions.contains(start->total)) return stmt;
    loops::Start free = *start;
    free.free = true;
    return loops::stmt(std::move(free));
  });
  return result;
}

}  // namespace twinloom::steps
