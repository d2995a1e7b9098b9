// Memory that is fetched while a sibling computes:
//   for i { for k { m += x[i*n + k] }; for k1 { s += exp(x[i*n + k1] - m) }; for k2 { y[i*n + k2] = .. / s }
//   }
//   ->  in the loop over k1: prefetch x[(i + 1)*n + k1], prefetch y[i*n + k1] written
// The first sibling of the next turn and the last one of this turn then find what they need near by. Blocks
// of threads walk many rows at once, so that the next one of a multiprocessor is some turns ahead; one thread
// asks for all of it:
//   ->  before the loop over k1: prefetch x[(i + 132)*n] count n if i + 132 < m
#include <algorithm>
#include <set>

#include "core/loops/rewrite.h"
#include "core/schedule/plan.h"

namespace twinloom::schedule {

namespace {

// The offset at which these statements load the buffer, or store to it, where there is one.
std::optional<index::Expr> only_offset(const loops::Sibling& sibling, loops::Buffer buffer, bool stored) {
  std::optional<index::Expr> found;
  bool only = true;
  const auto see = [&](const index::Expr& offset) {
    only = only && (!found || *found == offset);
    found = offset;
  };
  for (const auto& stmt : sibling.inner) {
    const auto* store = std::get_if<loops::Store>(&stmt->node);
    if (stored && store != nullptr && store->buffer == buffer) see(store->offset);
    loops::for_each_value(*stmt, [&](const loops::Value& value) {
      const auto* load = std::get_if<loops::Load>(&value.node);
      if (!stored && load != nullptr && load->buffer == buffer) see(load->offset);
    });
  }
  return only ? found : std::nullopt;
}

// Whether the offset is a number in every turn of the sibling that fetches, and neighbours lie together.
std::string why_not_walked(const Plan& plan, const loops::NestLoop& loop, const index::Expr& offset) {
  std::set<index::Symbol> known = {loop.axis};
  for (const loops::NestLoop& common : plan.shape.common) known.insert(common.axis);
  for (const loops::SizeInfo& size : plan.nest.sizes) known.insert(size.symbol);
  for (const index::Symbol& symbol : index::symbols_of(offset))
    if (!known.contains(symbol)) return cat("its offset depends on ", symbol);
  const index::Expr next = index::substitute(offset, {{loop.axis, index::Expr(loop.axis) + 1}});
  return plan.facts.proves_equal(next, offset + 1) ? "" : "its places are no neighbours";
}

}  // namespace

std::variant<Prefetched, std::string> prefetch(const Plan& plan, const PrefetchPlan& row) {
  if (row.ahead < 1) return cat("prefetch ", row.buffer, ": ", row.ahead, " turns ahead");
  const std::string words = cat("prefetch ", row.buffer, ": ");
  const auto buffer = loops::buffer_named(plan.nest, row.buffer);
  if (!buffer) return words + "there is no such buffer";
  const auto siblings = siblings_of(plan.shape);
  if (row.sibling < 0 || static_cast<std::size_t>(row.sibling) >= siblings.size())
    return cat(words, "there is no sibling ", row.sibling);
  if (plan.grid) return words + "the siblings of a grid split are in different programs";
  if (plan.scan_split) return words + "the parts of a split scan have no rows";
  if (in_lockstep(plan.common)) return words + "rows in lock-step have no next row";
  if (plan.common.order.empty()) return words + "there are no common loops";
  const auto number = static_cast<std::size_t>(row.sibling);
  const bool written = plan.nest.buffers[buffer->index].written;
  const std::vector<loops::NestLoop>& loops = siblings[number]->loops;
  for (std::size_t user = written ? number + 1 : 0; user < siblings.size(); ++user) {
    const auto found = only_offset(*siblings[user], *buffer, written);
    const std::vector<loops::NestLoop>& walked = siblings[user]->loops;
    if (!found || walked.size() != 1 || loops.size() != 1 || walked[0].extent != loops[0].extent) continue;
    index::Expr offset = index::substitute(*found, {{walked[0].axis, index::Expr(loops[0].axis)}});
    if (const std::string reason = why_not_walked(plan, loops[0], offset); !reason.empty())
      return words + reason;
    const AxisPlan& turns = plan.common.axes[plan.common.order.back().axis];
    const std::int64_t ahead = plan.columns ? 0 : row.ahead;  // its turns are not in the order of rows
    if (!written) {
      const index::Expr next = index::substitute(offset, {{turns.axis, index::Expr(turns.axis) + row.ahead}});
      if (next == offset) return words + "the next turn reads the same";
      if (ahead != 0) offset = next;
    }
    if (plan.columns && !has_threads(plan.siblings[number]))
      return words + "beside totals of columns only threads fetch ahead";
    if (!has_threads(plan.siblings[number])) return Prefetched{number, {*buffer, offset, written}};
    if (written) return words + "threads fetch only what is read";
    if (has_threads(plan.common)) return words + "a block walks several rows";
    loops::Prefetch run{*buffer, index::substitute(offset, {{loops[0].axis, 0}}), false, loops[0].extent};
    run.mask.all.push_back({index::Expr(turns.axis) + ahead, turns.extent});
    return Prefetched{number, std::move(run), true, plan.columns ? row.ahead : 0};
  }
  return cat(words, "no ", written ? "later sibling writes" : "sibling reads", " as long a row of it");
}

}  // namespace twinloom::schedule
