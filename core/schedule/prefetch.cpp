// Memory that is fetched while a sibling computes:
//   for i { for k { m += x[i*n + k] }; for k1 { s += exp(x[i*n + k1] - m) }; for k2 { y[i*n + k2] = .. / s }
//   }
//   ->  in the loop over k1: prefetch x[(i + 1)*n + k1], prefetch y[i*n + k1] written
// The first sibling of the next turn and the last one of this turn then find what they need near by. Blocks
// of threads walk many rows at once, so that the next one of a multiprocessor is some turns ahead; one thread
// asks for all of it:
//   ->  before the loop over k1: prefetch x[(i + 132)*n] count n if i + 132 < m
// Where a loop looks up its places in a list, what a later element of the list asks for is fetched:
//   for r { index x = list[r + low]; t += v[x*n + i] }
//   ->  for r { index x1 = list[r + 16 + low] if r + 16 + low < m; prefetch v[x1*n + i]; index x = .. }
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

// The index of these statements that the offset mentions, where it is one and the only one.
const loops::Index* index_of(const loops::Sibling& sibling, const index::Expr& offset) {
  const loops::Index* found = nullptr;
  for (const auto& stmt : sibling.inner) {
    const auto* index = std::get_if<loops::Index>(&stmt->node);
    if (index == nullptr || !index::mentions(offset, index->symbol)) continue;
    if (found != nullptr) return nullptr;
    found = index;
  }
  return found;
}

// The same index of a later element of the list that it is loaded from: of none past the end, and any that
// the list has, though it be no place. Nothing where it is no such list, walked element by element.
std::optional<loops::Index> later(const Plan& plan, const loops::Sibling& sibling, loops::Index index,
                                  std::int64_t ahead) {
  const auto* load = std::get_if<loops::Load>(&index.value->node);
  if (load == nullptr) return std::nullopt;
  const index::Symbol axis = sibling.loops.back().axis;
  for (const auto& stmt : sibling.inner)
    if (const auto* other = std::get_if<loops::Index>(&stmt->node))
      if (index::mentions(load->offset, other->symbol)) return std::nullopt;
  loops::Load next = *load;
  next.offset = index::substitute(load->offset, {{axis, index::Expr(axis) + ahead}});
  if (!plan.facts.proves_equal(next.offset, load->offset + ahead)) return std::nullopt;
  const loops::BufferInfo& list = plan.nest.buffers[load->buffer.index];
  next.mask.all.push_back({next.offset, list.count});
  next.otherwise = {ops::Number(0), list.dtype};
  const auto limit = [&](ops::Pointwise op, loops::Ref<loops::Value> value, loops::Ref<loops::Value> bound) {
    return loops::apply(op, {std::move(value), loops::convert(list.dtype, std::move(bound))});
  };
  index.value = limit(ops::Pointwise::maximum,
                      limit(ops::Pointwise::minimum, std::make_shared<const loops::Value>(loops::Value{next}),
                            loops::count(index.bound - 1)),
                      loops::count(0));
  return index;
}

// What a later element of a list asks for.
std::variant<Prefetched, std::string> looked_up(const Plan& plan, const PrefetchPlan& row,
                                                loops::Buffer buffer, const index::Expr& offset) {
  const auto number = static_cast<std::size_t>(row.sibling);
  const loops::Sibling& sibling = *siblings_of(plan.shape)[number];
  const loops::Index* index = index_of(sibling, offset);
  const auto next = index == nullptr ? std::nullopt : later(plan, sibling, *index, row.ahead);
  if (!next) return cat("prefetch ", row.buffer, ": its places are not looked up in one list");
  if (has_threads(plan.siblings[number]) || has_threads(plan.common))
    return cat("prefetch ", row.buffer, ": threads look up places side by side");
  return Prefetched{number, {buffer, offset}, false, 0, next};
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
  const auto number = static_cast<std::size_t>(row.sibling);
  if (const auto found = only_offset(*siblings[number], *buffer, false);
      found && index_of(*siblings[number], *found) != nullptr)
    return looked_up(plan, row, *buffer, *found);
  if (in_lockstep(plan.common)) return words + "rows in lock-step have no next row";
  if (plan.common.order.empty()) return words + "there are no common loops";
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
