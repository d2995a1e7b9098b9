// Turns the names of a schedule into numbers, and says what does not fit: unknown or missing pieces,
// factors, binds. What the statements ask of the order is law.cpp's.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/loops/rewrite.h"
#include "core/schedule/forms.h"
#include "core/schedule/plan.h"
#include "core/steps/contraction.h"

namespace twinloom::schedule {

using loops::Bind;

bool at_most(const index::Facts& facts, const index::Expr& extent, std::int64_t most) {
  const auto high = facts.range(extent).high;
  return high && *high <= most;
}

std::optional<std::int64_t> most_of(const index::Facts& facts, const index::Expr& extent) {
  constexpr std::int64_t LONGEST = 1 << 20;  // more threads, registers or elements of a row no machine has
  const auto high = facts.range(extent).high;
  return high && *high <= LONGEST ? high : index::constant_of(extent);
}

std::optional<std::int64_t> turns_of(const AxisPlan& axis, const Piece& piece) {
  if (piece.turns != 0) return piece.turns;
  if (axis.tail == Tail::mask) return most_turns_of(axis, piece);
  const auto extent = index::constant_of(axis.extent);
  return extent ? std::optional(ceil_div(*extent, piece.step)) : std::nullopt;
}

std::optional<std::int64_t> most_turns_of(const AxisPlan& axis, const Piece& piece) {
  if (piece.turns != 0) return piece.turns;
  return axis.most ? std::optional(ceil_div(*axis.most, piece.step)) : std::nullopt;
}

std::vector<const loops::Sibling*> siblings_of(const loops::Nest& shape) {
  std::vector<const loops::Sibling*> result;
  for (const loops::Item& item : shape.items) {
    if (const auto* sibling = std::get_if<loops::Sibling>(&item)) result.push_back(sibling);
  }
  return result;
}

namespace {

// What has one value in all turns of an axis. Totals are taken to have another one in each.
class Steady {
 public:
  Steady(const loops::Nest& shape, const index::Symbol& axis) : varying_{axis} {
    for (const loops::Item& item : shape.items)
      if (const auto* stmt = std::get_if<loops::Ref<loops::Stmt>>(&item)) pass(**stmt);
  }
  const std::set<index::Symbol>& indices() const { return indices_; }
  bool has(const index::Expr& expr) const { return holds(index::symbols_of(expr)); }

 private:
  void pass(const loops::Stmt& stmt) {
    if (const auto* let = std::get_if<loops::Let>(&stmt.node); let != nullptr && has(*let->value))
      lets_.insert(let->temp);
    if (const auto* index = std::get_if<loops::Index>(&stmt.node)) {
      const bool steady = has(*index->value) && holds(index::symbols_of(index->mask));
      (steady ? indices_ : varying_).insert(index->symbol);
    }
  }
  bool has(const loops::Value& value) const {
    bool steady = holds(loops::symbols_of(value));
    loops::for_each_value(value, [&](const loops::Value& inner) {
      const auto* read = std::get_if<loops::Read>(&inner.node);
      steady = steady && (read == nullptr || lets_.contains(read->temp));
    });
    return steady;
  }
  bool holds(const std::set<index::Symbol>& symbols) const {
    return std::ranges::none_of(symbols,
                                [&](const index::Symbol& symbol) { return varying_.contains(symbol); });
  }

  std::set<index::Symbol> varying_, indices_;
  std::set<loops::Temp> lets_;
};

}  // namespace

std::set<index::Symbol> steady_indices(const loops::Nest& shape, const index::Symbol& axis) {
  return Steady(shape, axis).indices();
}

bool extents_vary(const loops::Nest& shape, const loops::Sibling& sibling, const index::Symbol& axis) {
  const auto is_constant = [](const loops::NestLoop& loop) {
    return index::constant_of(loop.extent).has_value();
  };
  if (std::ranges::all_of(sibling.loops, is_constant)) return false;
  const Steady steady(shape, axis);
  return !std::ranges::all_of(sibling.loops,
                              [&](const loops::NestLoop& loop) { return steady.has(loop.extent); });
}

bool is_call(const loops::Program& nest) { return loops::routine_of(nest) != nullptr; }

bool in_lockstep(const Scope& common) {
  return std::ranges::any_of(common.axes, [](const AxisPlan& axis) { return axis.has(Bind::vector); });
}

const loops::Start& start_of(const loops::Nest& shape, loops::Temp total) {
  for (const loops::Item& item : shape.items) {
    const auto* stmt = std::get_if<loops::Ref<loops::Stmt>>(&item);
    const auto* start = stmt == nullptr ? nullptr : std::get_if<loops::Start>(&(*stmt)->node);
    if (start != nullptr && start->total == total) return *start;
  }
  throw Bug(cat("total ", total.index, " is started nowhere"));
}

namespace {

// Lists walk a contraction as its canonical order does: what they do not, the tiles of choose_product.cpp do.
bool is_in_any_order(const loops::Nest& shape, const loops::Sibling& sibling,
                     const loops::Accumulate& accumulate) {
  const loops::Start& start = start_of(shape, accumulate.total);
  if (!start.free) return ops::order(start.monoid, start.element) == ops::Order::any;
  std::vector<index::Symbol> kept, summed;
  for (const loops::NestLoop& loop : shape.common) kept.push_back(loop.axis);
  for (const loops::NestLoop& loop : sibling.loops) summed.push_back(loop.axis);
  return !steps::is_contraction(accumulate, kept, summed);
}

}  // namespace

Reach reach_of(const loops::Nest& shape, const loops::Sibling& sibling) {
  Reach reach = Reach::none;
  for (const auto& inner : sibling.inner) {
    if (std::holds_alternative<loops::Scan>(inner->node)) return Reach::scan;
    const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
    if (accumulate == nullptr || reach == Reach::canonical) continue;
    if (loops::is_of_columns(shape, accumulate->total)) continue;
    reach = is_in_any_order(shape, sibling, *accumulate) ? Reach::any : Reach::canonical;
  }
  return reach;
}

namespace {

std::string name_of(int sibling) { return sibling < 0 ? "the common loops" : cat("sibling ", sibling); }

class Resolver {
 public:
  Resolver(const Schedule& schedule, Plan& plan) : schedule_(schedule), plan_(plan) {}

  std::string run() {
    start_scope(plan_.common, plan_.shape.common);
    for (const loops::Sibling* sibling : siblings_of(plan_.shape)) {
      plan_.siblings.emplace_back();
      start_scope(plan_.siblings.back(), sibling->loops);
      plan_.siblings.back().reach = reach_of(plan_.shape, *sibling);
    }
    for (const auto step : {&Resolver::split_axes, &Resolver::order_loops, &Resolver::find_missing}) {
      if (std::string reason = (this->*step)(); !reason.empty()) return reason;
    }
    return "";
  }

 private:
  void start_scope(Scope& scope, const std::vector<loops::NestLoop>& loops) const {
    for (const loops::NestLoop& loop : loops) {
      scope.axes.push_back({loop.axis, loop.extent, most_of(plan_.facts, loop.extent), Tail::exact, {}, -1});
      scope.axes.back().pieces.push_back({index::Symbol(cat(loop.axis, ".0"))});
    }
  }

  Scope* scope_of(int sibling) {
    if (sibling == -1) return &plan_.common;
    if (sibling < 0 || static_cast<std::size_t>(sibling) >= plan_.siblings.size()) return nullptr;
    return &plan_.siblings[static_cast<std::size_t>(sibling)];
  }

  std::string split_axes() {
    for (const SplitPlan& split : schedule_.splits) {
      Scope* scope = scope_of(split.sibling);
      if (scope == nullptr) return cat("split ", split.axis, ": there is no sibling ", split.sibling);
      const auto axis = std::ranges::find(scope->axes, std::string_view(split.axis),
                                          [](const AxisPlan& known) { return known.axis.name(); });
      if (axis == scope->axes.end()) {
        return cat("split ", split.axis, ": ", name_of(split.sibling), " have no such axis");
      }
      if (axis->pieces.size() > 1 || axis->tail != Tail::exact)
        return cat("axis ", split.axis, " is split twice");
      if (std::string reason = cut_by(split, *axis); !reason.empty()) return reason;
    }
    return "";
  }

  static std::string cut_by(const SplitPlan& split, AxisPlan& axis) {
    axis.tail = split.tail;
    axis.shorts = split.shorts;
    axis.pieces.clear();
    std::int64_t larger = 0;
    std::vector<std::int64_t> steps = split.factors;
    steps.push_back(1);
    for (const std::int64_t step : steps) {
      if (step < 1 || (larger != 0 && (step >= larger || larger % step != 0))) {
        return cat("split ", split.axis,
                   ": the factors must fall, each a multiple of the next, the last above 1");
      }
      Piece piece;
      piece.symbol = index::Symbol(cat(split.axis, ".", axis.pieces.size()));
      piece.step = step;
      piece.turns = larger == 0 ? 0 : larger / step;
      axis.pieces.push_back(piece);
      larger = step;
    }
    return "";
  }

  std::string order_loops() {
    int current = -1;
    for (const LoopPlan& loop : schedule_.loops) {
      Scope* scope = scope_of(loop.sibling);
      if (scope == nullptr) return cat("loop ", loop.piece, ": there is no sibling ", loop.sibling);
      if (loop.sibling < current)
        return cat("loop ", loop.piece, ": the loops of a sibling must stand together, in order");
      current = loop.sibling;
      const auto turn = find_piece(*scope, loop.piece);
      if (!turn) return cat("loop ", loop.piece, ": ", name_of(loop.sibling), " have no such piece");
      if (std::ranges::find(scope->order, *turn) != scope->order.end())
        return cat("loop ", loop.piece, " is given twice");
      scope->order.push_back(*turn);
      scope->axes[turn->axis].pieces[turn->piece].bind = loop.bind;
    }
    return "";
  }

  static std::optional<Turn> find_piece(const Scope& scope, const std::string& name) {
    for (std::size_t axis = 0; axis < scope.axes.size(); ++axis) {
      for (std::size_t piece = 0; piece < scope.axes[axis].pieces.size(); ++piece) {
        if (scope.axes[axis].pieces[piece].symbol.name() == name) return Turn{axis, piece};
      }
    }
    return std::nullopt;
  }

  std::string find_missing() {
    for (int sibling = -1; sibling < static_cast<int>(plan_.siblings.size()); ++sibling) {
      const Scope& scope = *scope_of(sibling);
      for (std::size_t axis = 0; axis < scope.axes.size(); ++axis) {
        for (std::size_t piece = 0; piece < scope.axes[axis].pieces.size(); ++piece) {
          if (std::ranges::find(scope.order, Turn{axis, piece}) == scope.order.end())
            return cat("piece ", scope.axes[axis].pieces[piece].symbol, " of ", name_of(sibling),
                       " has no loop");
        }
      }
    }
    return "";
  }

  const Schedule& schedule_;
  Plan& plan_;
};

// Which piece has its last turn masked: see Tail::remainder.
int cut_of(const Scope& scope, std::size_t axis) {
  const AxisPlan& plan = scope.axes[axis];
  int cut = -1;
  if (scope.reach == Reach::canonical) {
    const Piece& outermost = plan.pieces.front();
    return outermost.step >= loops::UNIT && outermost.bind != Bind::thread ? 0 : -1;
  }
  for (const Turn& turn : scope.order) {
    const Bind bind = scope.piece(turn).bind;
    if (turn.axis != axis) continue;
    if (is_wide(bind)) break;
    if (bind == Bind::serial) cut = std::max(cut, static_cast<int>(turn.piece));
  }
  return cut;
}

// Lanes of totals: everything below the chain in the canonical order, and units that threads walk; else the
// wide pieces. An
// unroll piece whose turns are no power of two is walked like a serial one.
void mark_copies(Scope& scope) {
  for (AxisPlan& axis : scope.axes) {
    for (Piece& piece : axis.pieces) {
      if (scope.reach == Reach::canonical)
        piece.copied = piece.step < loops::LANES || (piece.step == loops::UNIT && piece.bind == Bind::thread);
      if (scope.reach != Reach::any || !is_wide(piece.bind)) continue;
      const auto turns = turns_of(axis, piece);
      const bool rounded = piece.turns == 0 && axis.tail == Tail::mask;
      piece.copied = turns && (rounded || is_power_of_two(*turns));
    }
  }
}

std::string why_not_kept(const Plan& plan) {
  if (plan.kept.empty()) return "";
  if (plan.grid) return "values: the siblings of a grid split are in different programs";
  if (in_lockstep(plan.common)) return "values: rows in lock-step have no arrays of their own";
  const bool threads = std::ranges::any_of(plan.siblings, has_threads);
  for (const loops::Scratch& array : plan.kept) {
    const std::vector<std::size_t> users = users_of(plan.shape, array.buffer);
    if (array.place != loops::Place::registers && (!threads || array.place != loops::Place::scratch))
      return "values: only registers hold them for one thread, or scratch where a block has threads";
    if (std::string reason = threads ? why_not_by_threads(plan, users) : ""; !reason.empty())
      return cat("values: ", reason);
  }
  return "";
}

std::string add_streams(const Schedule& schedule, Plan& plan) {
  for (const std::string& name : schedule.streams) {
    const auto buffer = loops::buffer_named(plan.nest, name);
    if (!buffer || !plan.nest.buffers[buffer->index].written)
      return cat("stream ", name, ": no such buffer is written");
    if (loops::loads_from(*plan.nest.body, *buffer)) return cat("stream ", name, ": the nest reads it");
    plan.streamed.push_back(*buffer);
  }
  return "";
}

// Parts of reductions and scans, staged rows, what is fetched ahead, and how stores are done.
std::string add_extras(const Schedule& schedule, Plan& plan) {
  if (schedule.grid) {
    if (std::string reason = why_unlawful(plan, *schedule.grid); !reason.empty()) return reason;
    plan.grid = schedule.grid;
  }
  if (std::string reason = why_bad_columns(plan); !reason.empty()) return reason;
  if (schedule.scan_split) {
    if (std::string reason = why_unlawful(plan, *schedule.scan_split); !reason.empty()) return reason;
    plan.scan_split = schedule.scan_split;
  }
  if (std::string reason = why_bad_waits(plan); !reason.empty()) return reason;
  if (std::string reason = plan.outermost_fastest ? why_not_outermost_fastest(plan) : ""; !reason.empty())
    return cat("outermost_fastest: ", reason);
  if (std::string reason = why_not_kept(plan); !reason.empty()) return reason;
  plan.panel = schedule.panel;
  if (std::string reason = plan.panel ? why_no_panel(plan) : ""; !reason.empty()) return reason;
  plan.transposed_rows = schedule.transposed_rows;
  if (std::string reason = plan.transposed_rows ? why_not_transposed(plan) : ""; !reason.empty())
    return reason;
  for (const TempPlan& temp : schedule.temps) {
    auto staged = stage(plan, temp);
    if (auto* reason = std::get_if<std::string>(&staged)) return std::move(*reason);
    plan.staged.push_back(std::get<Staged>(staged));
  }
  if (std::string reason = why_bad_cluster(plan); !reason.empty()) return reason;
  for (const PrefetchPlan& row : schedule.prefetches) {
    auto prefetched = prefetch(plan, row);
    if (auto* reason = std::get_if<std::string>(&prefetched)) return std::move(*reason);
    plan.prefetched.push_back(std::move(std::get<Prefetched>(prefetched)));
  }
  return add_streams(schedule, plan);
}

}  // namespace

std::variant<Plan, std::string> resolve(const Forms& forms, const Schedule& schedule) {
  auto made = forms.form(schedule.steps, schedule.kept_values);
  if (auto* reason = std::get_if<std::string>(&made)) return std::move(*reason);
  const Form& form = *std::get<const Form*>(made);
  Plan plan;
  plan.nest = form.nest;
  for (const KeptArray& kept : form.kept)
    plan.kept.push_back({kept.buffer, kept.count, schedule.kept_place, nullptr});
  plan.shape = form.shape;
  plan.facts = form.facts;
  plan.columns = schedule.columns;
  plan.outermost_fastest = schedule.outermost_fastest;
  if (std::string reason = Resolver(schedule, plan).run(); !reason.empty()) return reason;
  const auto finish = [](Scope& scope) {
    for (std::size_t axis = 0; axis < scope.axes.size(); ++axis) {
      if (scope.axes[axis].tail == Tail::remainder) scope.axes[axis].cut = cut_of(scope, axis);
    }
    mark_copies(scope);
  };
  finish(plan.common);
  for (Scope& sibling : plan.siblings) finish(sibling);
  if (std::string reason = why_unlawful(plan); !reason.empty()) return reason;
  if (std::string reason = add_extras(schedule, plan); !reason.empty()) return reason;
  return plan;
}

}  // namespace twinloom::schedule
