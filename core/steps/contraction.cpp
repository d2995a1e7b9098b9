// See contraction.h.
#include "core/steps/contraction.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/steps/tree.h"

namespace twinloom::steps {

namespace {

// The loops around each local array: one for each of their iterations.
using Arrays = std::map<loops::Buffer, std::set<index::Symbol>>;

std::set<index::Symbol> axes_of(const loops::Value& factor, const std::vector<index::Symbol>& axes,
                                const Arrays& arrays) {
  std::set<index::Symbol> mentioned = loops::symbols_of(factor);
  loops::for_each_value(factor, [&](const loops::Value& value) {
    const auto* load = std::get_if<loops::Load>(&value.node);
    const auto array = load == nullptr ? arrays.end() : arrays.find(load->buffer);
    if (array != arrays.end()) mentioned.insert(array->second.begin(), array->second.end());
  });
  std::set<index::Symbol> found;
  for (const index::Symbol& axis : axes)
    if (mentioned.contains(axis)) found.insert(axis);
  return found;
}

bool has_other_than(const std::set<index::Symbol>& one, const std::set<index::Symbol>& other) {
  return std::ranges::any_of(one, [&](const index::Symbol& axis) { return !other.contains(axis); });
}

bool is_contraction_of(const loops::Accumulate& step, const std::vector<index::Symbol>& kept,
                       const std::vector<index::Symbol>& summed, const Arrays& arrays) {
  const auto* product = std::get_if<loops::Apply>(&step.values.front()->node);
  if (product == nullptr || product->op != ops::Pointwise::mul) return false;
  const auto left = axes_of(*product->inputs[0], kept, arrays),
             right = axes_of(*product->inputs[1], kept, arrays);
  const bool both = std::ranges::all_of(product->inputs, [&](const auto& factor) {
    return axes_of(*factor, summed, {}).size() == summed.size();
  });
  return both && has_other_than(left, right) && has_other_than(right, left);
}

// `depth`: so many of the loops around are those of the result.
bool is_contraction_in(const loops::Accumulate& step, const std::vector<loops::Loop>& around,
                       std::size_t depth, const Arrays& arrays) {
  std::vector<index::Symbol> kept, summed;
  for (std::size_t at = 0; at < around.size(); ++at) (at < depth ? kept : summed).push_back(around[at].axis);
  return is_contraction_of(step, kept, summed, arrays);
}

std::set<loops::Temp> contractions_in(const Stmt& body) {
  std::map<loops::Temp, std::size_t> depths;  // of Starts: the loops around
  std::set<loops::Temp> found;
  Arrays arrays;
  for_each_in_loops(body, [&](const Stmt& stmt, const std::vector<loops::Loop>& around) {
    if (const auto* array = std::get_if<loops::Scratch>(&stmt.node))
      for (const loops::Loop& loop : around) arrays[array->buffer].insert(loop.axis);
    if (const auto* start = std::get_if<loops::Start>(&stmt.node)) {
      if (start->monoid == ops::Monoid::sum && start->copies.empty() &&
          (start->element == ops::DType::f32 || start->element == ops::DType::f64))
        depths[start->total] = around.size();
    } else if (const auto* step = std::get_if<loops::Accumulate>(&stmt.node)) {
      const auto depth = depths.find(step->total);
      if (depth != depths.end() && is_contraction_in(*step, around, depth->second, arrays))
        found.insert(step->total);
    }
  });
  return found;
}

// Whether each sum may be made in any order, and whether those are then folded.
template <class Which>
loops::Program with_free(const loops::Program& nest, bool folded, Which which) {
  loops::Program result = nest;
  result.body = loops::rewrite_stmts(nest.body, [&](const Ref<Stmt>& stmt) {
    const auto* start = std::get_if<loops::Start>(&stmt->node);
    if (start == nullptr) return stmt;
    loops::Start changed = *start;
    changed.free = which(*start);
    changed.folded = changed.free && folded;
    if (changed.free == start->free && changed.folded == start->folded) return stmt;
    return loops::stmt(std::move(changed));
  });
  return result;
}

bool is_rounded(const loops::Start& start) {
  return ops::order(start.monoid, start.element) == ops::Order::canonical;
}

}  // namespace

bool is_contraction(const loops::Accumulate& step, const std::vector<index::Symbol>& kept,
                    const std::vector<index::Symbol>& summed) {
  return is_contraction_of(step, kept, summed, {});
}

bool has_contraction(const loops::Program& nest) { return !contractions_in(*nest.body).empty(); }

loops::Program with_free_contractions(const loops::Program& nest) {
  const std::set<loops::Temp> contractions = contractions_in(*nest.body);
  return with_free(nest, false, [&](const loops::Start& start) {
    return start.free || contractions.contains(start.total);
  });
}

loops::Program with_free_sums(const loops::Program& nest) {
  return with_free(nest, true, [](const loops::Start& start) {
    return start.free || (is_rounded(start) && start.copies.empty());
  });
}

loops::Program without_free_sums(const loops::Program& nest) {
  const std::set<loops::Temp> contractions = contractions_in(*nest.body);
  return with_free(nest, false,
                   [&](const loops::Start& start) { return contractions.contains(start.total); });
}

}  // namespace twinloom::steps
