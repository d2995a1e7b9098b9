// A scan cut over blocks. What depends on the elements before a chunk of the canonical order is its carry
// alone, and a carry is the one before it with a total, so three programs do what one did, in the same
// association:
//   program 1:  for part block { for chunk { totals[chunk] = the total of its elements } }
//   program 2:  for chunk { carries[chunk] = carry; merge carry (totals[chunk]) }
//   program 3:  for part block { for chunk { start from carries[chunk]; everything of its elements } }
// Where the threads of a block scan a row they also load totals side by side, the next ones while the first
// thread combines these, and store its carries:
//   program 2:  next = totals[m]
//               for group { for m thread { staged[m] = next; next = totals of the next group } sync
//                           for m < 1 { for k { t = staged[k]; staged[k] = carry; merge carry (t) } } sync
//                           for m thread { carries[..] = staged[m] } }
// Of a scan in free order each thread combines a run of neighbouring totals before and after that:
//   program 2:  for m thread { for a { merge x (totals[m, a]) } }
//               prefix before, all = x across m
//               for m thread { carry = before; for a { carries[m, a] = carry; merge carry (totals[m, a]) } }
// The a of all threads lie side by side in memory.
// Else each thread has rows of its own, and loads several totals before it combines them.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/build.h"

namespace twinloom::schedule {

using index::Expr;
using loops::Bind;

namespace {

// Totals that the thread which combines them has on their way together.
constexpr std::int64_t CHAINED_TOGETHER = 32;

void store_values(const Buffers& buffers, const Expr& at, const std::vector<Ref<loops::Value>>& values,
                  std::vector<Ref<Stmt>>& stmts, const index::Condition& mask = {}) {
  for (std::size_t part = 0; part < buffers.size(); ++part)
    stmts.push_back(loops::stmt(loops::Store{buffers[part], at, mask, values[part], loops::Update::replace}));
}

}  // namespace

std::string why_unlawful(const Plan& plan, const ScanSplit& split) {
  const std::string words = cat("split_scan ", split.axis, ": ");
  if (plan.siblings.size() != 1 || plan.siblings.front().reach != Reach::scan)
    return words + "there is not one scan and nothing beside it";
  const AxisPlan& axis = plan.siblings.front().axes.front();
  if (axis.axis.name() != split.axis) return words + "it is not the axis of the scan";
  if (lane_scan_pieces(axis)) return words + "threads have neighbours, not chunks";
  if (plan.columns) return words + "rows beside totals of columns are cut into parts already";
  if (split.chunks < 1) return words + "a part has at least one chunk";
  if (!is_side_by_side(split.carries))
    return words + cat("the totals that are loaded together are a power of two up to ", MOST_THREADS);
  const std::int64_t elements = split.chunks * loops::SCAN_CHUNK;
  if (axis.pieces.front().step < loops::SCAN_CHUNK) return words + "a row of one chunk has no parts";
  if (is_wide(axis.pieces.front().bind))
    return words + cat("the last part may have fewer iterations of ", axis.pieces.front().symbol,
                       ", which cannot be unrolled then");
  if (elements % axis.pieces.front().step != 0)
    return words +
           cat("a part of ", elements, " elements is no multiple of the steps of ", axis.pieces.front().step);
  for (const loops::Item& item : plan.shape.items) {
    const auto* stmt = std::get_if<Ref<Stmt>>(&item);
    if (stmt != nullptr && !is_harmless(**stmt))
      return words + "a store beside the scan would be done by each part";
  }
  if (const auto symbol = unknown_in(plan.nest, axis.extent))
    return words + cat("how many parts there are depends on ", *symbol);
  if (!scans_stand_alone(*siblings_of(plan.shape).front())) return words + "a scan reads another's result";
  return "";
}

ScanParts::ScanParts(const Plan& plan, const std::map<Temp, loops::Start>& starts, Names& names)
    : plan_(plan), names_(names) {
  chunks_ = ceil_div(plan.siblings.front().axes.front().extent, loops::SCAN_CHUNK);
  rows_ = rows_of(plan.common);
  by_threads_ = has_threads(plan.siblings.front()) && plan.scan_split->carries > 1;
  in_runs_ =
      by_threads_ && std::ranges::all_of(siblings_of(plan.shape).front()->inner, [&](const Ref<Stmt>& inner) {
        const auto* scan = std::get_if<loops::Scan>(&inner->node);
        return scan == nullptr || starts.at(scan->total).free;
      });
  if (in_runs_) run_ = ceil_div(chunks_, plan.scan_split->carries);
  const Expr count = (in_runs_ ? run_ * plan.scan_split->carries : chunks_) * rows_;
  for (const Ref<Stmt>& inner : siblings_of(plan.shape).front()->inner) {
    const auto* scan = std::get_if<loops::Scan>(&inner->node);
    if (scan == nullptr) continue;
    const loops::Start& start = starts.at(scan->total);
    partials_.push_back({*scan, start, tuple_buffers(names, start, "partial_totals", count, false),
                         tuple_buffers(names, start, "partial_carries", count, false)});
  }
}

const ScanParts::Partial& ScanParts::partial_of(const loops::Scan& scan) const {
  return *std::ranges::find(partials_, scan.result,
                            [](const Partial& partial) { return partial.scan.result; });
}

Expr ScanParts::count() const { return ceil_div(chunks_, plan_.scan_split->chunks); }

Scope ScanParts::scope_of(const Expr& at) const {
  Scope scope = plan_.siblings.front();
  AxisPlan& axis = scope.axes.front();
  const std::int64_t elements = plan_.scan_split->chunks * loops::SCAN_CHUNK;
  axis.base = at * elements;
  axis.extent = least(elements, axis.extent - axis.base);
  return scope;
}

// Neighbours are what neighbouring threads take.
Expr ScanParts::place(const Expr& chunk, const Surroundings& around) const {
  if (in_runs_) return place_in_run(floor_div(chunk, run_), floor_mod(chunk, run_), around);
  const Expr row = row_of(plan_.common, around);
  return has_threads(plan_.siblings.front()) ? row * chunks_ + chunk : chunk * rows_ + row;
}

Expr ScanParts::place_in_run(const Expr& member, const Expr& at, const Surroundings& around) const {
  return (row_of(plan_.common, around) * run_ + at) * plan_.scan_split->carries + member;
}

index::Condition ScanParts::inside(const Expr& chunk, const Surroundings& around) const {
  index::Condition mask = ends_of_all(around);
  mask.all.push_back({chunk, chunks_});
  return mask;
}

Ref<Stmt> ScanParts::store(const loops::Scan& scan, Temp total, const Expr& first, const Surroundings& around,
                           const index::Condition& mask) const {
  const Expr chunk = floor_div(first, loops::SCAN_CHUNK);
  std::vector<Ref<Stmt>> stmts;
  store_all(partial_of(scan).totals, place(chunk, around), mask && inside(chunk, around), total, stmts);
  return loops::block(std::move(stmts));
}

Ref<Stmt> ScanParts::start_from_carry(const loops::Scan& scan, Temp carry, const Expr& first,
                                      const Surroundings& around) const {
  const Expr chunk = floor_div(first, loops::SCAN_CHUNK);
  const index::Condition mask = inside(chunk, around);
  const Partial& partial = partial_of(scan);
  return loops::block({loops::stmt(start_like(partial.start, carry, {})),
                       loops::stmt(loops::Merge{
                           carry, load_all(names_, partial.carries, place(chunk, around), mask), mask})});
}

Ref<Stmt> ScanParts::carry(const Surroundings& around) {
  if (in_runs_) return carry_in_runs(around);
  return by_threads_ ? carry_by_threads(around) : carry_alone(around);
}

Ref<Stmt> ScanParts::carry_in_runs(const Surroundings& around) {
  const std::int64_t threads = plan_.scan_split->carries;
  const index::Symbol member = names_.symbol("member"), at = names_.symbol("at");
  const Expr place = place_in_run(member, at, around);
  const index::Condition mask = inside(run_ * Expr(member) + Expr(at), around);
  std::vector<Ref<Stmt>> stmts, merges, prefixes, begin, results;
  for (const Partial& partial : partials_) {
    const Temp total = names_.temp(), before = names_.temp(), all = names_.temp(), carry = names_.temp();
    loops::Start start = start_like(partial.start, total, {member});
    start.free = true;
    stmts.push_back(loops::stmt(std::move(start)));
    const auto values = load_all(names_, partial.totals, place, mask);
    merges.push_back(loops::stmt(loops::Merge{total, values, mask}));
    prefixes.push_back(loops::stmt(loops::Prefix{before, all, total, member}));
    begin.push_back(loops::stmt(start_like(partial.start, carry, {})));
    begin.push_back(merge_total(carry, before, partial.start));
    store_all(partial.carries, place, mask, carry, results);
    results.push_back(loops::stmt(loops::Merge{carry, values, mask}));
  }
  const auto for_each = [&](std::vector<Ref<Stmt>> inner) {
    return loops::stmt(loops::Loop{at, run_, Bind::serial, loops::block(std::move(inner))});
  };
  const auto by_threads = [&](Ref<Stmt> inner) {
    return loops::stmt(loops::Loop{member, threads, Bind::thread, std::move(inner)});
  };
  stmts.push_back(by_threads(for_each(std::move(merges))));
  std::ranges::move(prefixes, std::back_inserter(stmts));
  begin.push_back(for_each(std::move(results)));
  stmts.push_back(by_threads(loops::block(std::move(begin))));
  return loops::block(std::move(stmts));
}

// In the registers of each thread: `next`, its total of the group that is combined next, and `held`, the
// first thread's carry. In scratch: the totals of a group, in whose place that thread puts their carries.
Ref<Stmt> ScanParts::carry_by_threads(const Surroundings& around) {
  const std::int64_t threads = plan_.scan_split->carries;
  const index::Symbol group = names_.symbol("group"), member = names_.symbol("member");
  const auto by_threads = [&](std::vector<Ref<Stmt>> inner) {
    return loops::stmt(loops::Loop{member, threads, Bind::thread, loops::block(std::move(inner))});
  };
  const Expr own = member, chunk = Expr(group) * threads + own;
  std::vector<Ref<Stmt>> stmts, begin, stage, chains, results;
  std::vector<loops::Scratch> arrays;
  for (const Partial& partial : partials_) {
    const Buffers next = tuple_buffers(names_, partial.start, "next", 1, true),
                  held = tuple_buffers(names_, partial.start, "held", 1, true),
                  staged = tuple_buffers(names_, partial.start, "staged", threads, true);
    const Temp nothing = names_.temp();
    stmts.push_back(loops::stmt(start_like(partial.start, nothing, {})));
    store_all(held, 0, {}, nothing, begin);
    store_values(next, 0, load_all(names_, partial.totals, place(own, around), inside(own, around)), begin);
    store_values(staged, own, load_all(names_, next, 0), stage);
    const Expr later = chunk + threads;
    store_values(next, 0, load_all(names_, partial.totals, place(later, around), inside(later, around)),
                 stage);
    chains.push_back(chain(partial, held, staged, own));
    store_values(partial.carries, place(chunk, around), load_all(names_, staged, own), results,
                 inside(chunk, around));
    for (const auto& [buffers, count, where] : {std::tuple(next, std::int64_t{1}, loops::Place::registers),
                                                {held, 1, loops::Place::registers},
                                                {staged, threads, loops::Place::scratch}})
      for (const loops::Buffer buffer : buffers) arrays.push_back({buffer, count, where, nullptr});
  }
  const Ref<Stmt> sync = loops::stmt(loops::Sync{});
  stmts.push_back(by_threads(std::move(begin)));
  Ref<Stmt> of_group = loops::block({by_threads(std::move(stage)), sync, by_threads(std::move(chains)), sync,
                                     by_threads(std::move(results))});
  stmts.push_back(
      loops::stmt(loops::Loop{group, ceil_div(chunks_, threads), Bind::serial, std::move(of_group)}));
  Ref<Stmt> body = loops::block(std::move(stmts));
  for (loops::Scratch& array : arrays) {
    array.body = std::move(body);
    body = loops::stmt(std::move(array));
  }
  return body;
}

// The first thread's: staged[k] = carry; carry = what was there combined with it.
Ref<Stmt> ScanParts::chain(const Partial& partial, const Buffers& held, const Buffers& staged,
                           const Expr& member) const {
  const std::int64_t threads = plan_.scan_split->carries, together = std::min(threads, CHAINED_TOGETHER);
  const index::Symbol far = names_.symbol("far"), near = names_.symbol("near");
  const Expr at = Expr(far) * together + Expr(near), turns = (1 - least(member, 1)) * (threads / together);
  const Temp carry = names_.temp();
  std::vector<Ref<Stmt>> stmts = {loops::stmt(start_like(partial.start, carry, {})),
                                  loops::stmt(loops::Merge{carry, load_all(names_, held, 0), {}})};
  std::vector<Ref<Stmt>> inner;
  advance(staged, staged, at, {}, carry, inner);
  const Ref<Stmt> some =
      loops::stmt(loops::Loop{near, together, Bind::unroll, loops::block(std::move(inner))});
  stmts.push_back(loops::stmt(loops::Loop{far, turns, Bind::serial, some}));
  store_all(held, 0, {}, carry, stmts);
  return loops::block(std::move(stmts));
}

// t = totals[at]; carries[at] = carry; carry = carry combined with t.
void ScanParts::advance(const Buffers& totals, const Buffers& carries, const Expr& at,
                        const index::Condition& mask, Temp carry, std::vector<Ref<Stmt>>& stmts) const {
  std::vector<Ref<loops::Value>> values;
  for (const Ref<loops::Value>& value : load_all(names_, totals, at, mask)) {
    const Temp total = names_.temp();
    stmts.push_back(loops::stmt(loops::Let{total, value}));
    values.push_back(loops::read(total));
  }
  store_all(carries, at, mask, carry, stmts);
  stmts.push_back(loops::stmt(loops::Merge{carry, std::move(values), mask}));
}

Ref<Stmt> ScanParts::carry_alone(const Surroundings& around) {
  const std::int64_t together = plan_.scan_split->carries;
  const index::Symbol group = names_.symbol("group"), member = names_.symbol("member");
  const Expr chunk = together == 1 ? Expr(group) : Expr(group) * together + Expr(member);
  const Expr at = place(chunk, around);
  const index::Condition mask = together == 1 ? ends_of_all(around) : inside(chunk, around);
  std::vector<Ref<Stmt>> stmts, inner;
  for (const Partial& partial : partials_) {
    const Temp carry = names_.temp();
    stmts.push_back(loops::stmt(start_like(partial.start, carry, {})));
    advance(partial.totals, partial.carries, at, mask, carry, inner);
  }
  Ref<Stmt> body = loops::block(std::move(inner));
  if (together > 1) body = loops::stmt(loops::Loop{member, together, Bind::unroll, std::move(body)});
  stmts.push_back(
      loops::stmt(loops::Loop{group, ceil_div(chunks_, together), Bind::serial, std::move(body)}));
  return loops::block(std::move(stmts));
}

}  // namespace twinloom::schedule
