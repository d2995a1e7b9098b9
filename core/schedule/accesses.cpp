// See accesses.h.
#include "core/schedule/accesses.h"

#include <algorithm>
#include <set>

#include "core/index/simplify.h"
#include "core/loops/rewrite.h"
#include "core/ops/cost.h"
#include "core/schedule/constants.h"

namespace twinloom::schedule {

namespace {

void add_accesses(const loops::Program& nest, const loops::Stmt& stmt, int sibling,
                  const std::set<index::Symbol>& found, std::vector<Access>& result) {
  const auto add = [&](loops::Buffer buffer, const index::Expr& offset, bool store) {
    const loops::BufferInfo& info = nest.buffers[buffer.index];
    const bool is_found = std::ranges::any_of(
        found, [&](const index::Symbol& symbol) { return index::mentions(offset, symbol); });
    result.push_back({buffer, offset, ops::size_of(info.dtype), ops::size_of(ops::compute_type(info.dtype)),
                      store, info.local, sibling, is_found, std::holds_alternative<loops::Index>(stmt.node)});
  };
  loops::for_each_value(stmt, [&](const loops::Value& value) {
    if (const auto* load = std::get_if<loops::Load>(&value.node)) add(load->buffer, load->offset, false);
  });
  if (const auto* store = std::get_if<loops::Store>(&stmt.node)) add(store->buffer, store->offset, true);
}

}  // namespace

std::vector<Access> accesses_of(const loops::Program& nest, const loops::Nest& shape) {
  std::vector<Access> result;
  int number = 0;
  for (const loops::Item& item : shape.items) {
    if (const auto* stmt = std::get_if<loops::Ref<loops::Stmt>>(&item)) {
      add_accesses(nest, **stmt, -1, {}, result);
      continue;
    }
    const auto& inner = std::get<loops::Sibling>(item).inner;
    std::set<index::Symbol> found;
    for (const auto& stmt : inner)
      if (const auto* index = std::get_if<loops::Index>(&stmt->node)) found.insert(index->symbol);
    for (const auto& stmt : inner) add_accesses(nest, *stmt, number, found, result);
    ++number;
  }
  return result;
}

std::optional<std::int64_t> stride_along(const Access& access, const index::Symbol& axis) {
  return index::constant_scale_in(access.offset, axis);
}

std::optional<Runs> runs_along(const index::Expr& offset, const index::Symbol& axis, std::int64_t iterations,
                               const index::Facts& known) {
  if (const auto linear = index::linear_in(offset, axis)) return Runs{linear->scale, linear->rest, known};
  index::Facts facts = known;
  const index::Symbol run("run.number"), place("run.place");
  facts.assume(run, {0, std::nullopt});
  facts.assume(place, {0, iterations - 1});
  const index::Expr at = index::Expr(run) * iterations + index::Expr(place);
  const index::Expr inside = index::simplify(index::substitute(offset, {{axis, at}}), facts);
  const auto linear = index::linear_in(inside, place);
  return linear ? std::optional(Runs{linear->scale, linear->rest, std::move(facts)}) : std::nullopt;
}

std::int64_t step_along(const index::Expr& offset, const index::Symbol& axis, std::int64_t iterations,
                        const index::Facts& known) {
  const auto runs = runs_along(offset, axis, iterations, known);
  return runs ? index::constant_of(runs->stride).value_or(0) : 0;
}

bool is_near(std::int64_t step, std::int64_t bytes) {
  return step == 1 || (step > 1 && step * bytes <= MOST_STEP_OF_TILE);
}

std::vector<loops::Ref<loops::Stmt>> own_stmts(const loops::Nest& shape) {
  std::vector<loops::Ref<loops::Stmt>> stmts;
  for (const loops::Item& item : shape.items)
    if (const auto* stmt = std::get_if<loops::Ref<loops::Stmt>>(&item)) stmts.push_back(*stmt);
  return stmts;
}

namespace {

bool loads_same(const loops::Load& one, const loops::Load& other) {
  return one.offset == other.offset && one.mask == other.mask &&
         (one.mask.all.empty() || one.otherwise.value == other.otherwise.value);
}

}  // namespace

std::optional<loops::Load> only_load(const std::vector<loops::Ref<loops::Stmt>>& stmts,
                                     loops::Buffer buffer) {
  std::optional<loops::Load> found;
  bool only = true;
  for (const auto& stmt : stmts) {
    loops::for_each_value(*stmt, [&](const loops::Value& value) {
      const auto* load = std::get_if<loops::Load>(&value.node);
      if (load == nullptr || load->buffer != buffer) return;
      only = only && (!found || loads_same(*found, *load));
      found = *load;
    });
  }
  return only ? found : std::nullopt;
}

std::optional<loops::Load> only_unmasked_load(const std::vector<loops::Ref<loops::Stmt>>& stmts,
                                              loops::Buffer buffer) {
  auto load = only_load(stmts, buffer);
  return load && load->mask.all.empty() ? std::move(load) : std::nullopt;
}

int work_of(const std::vector<loops::Ref<loops::Stmt>>& stmts) {
  int work = 0;
  for (const auto& stmt : stmts) {
    loops::for_each_value(*stmt, [&](const loops::Value& value) {
      if (const auto* apply = std::get_if<loops::Apply>(&value.node)) work += ops::cost(apply->op);
      if (std::holds_alternative<loops::Load>(value.node)) ++work;
    });
  }
  return work;
}

}  // namespace twinloom::schedule
