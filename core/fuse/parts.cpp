// See parts.h.
#include "core/fuse/parts.h"

#include <algorithm>

#include "core/fuse/align.h"
#include "core/fuse/arrays.h"
#include "core/fuse/columns.h"
#include "core/fuse/forward.h"
#include "core/fuse/items.h"
#include "core/index/simplify.h"
#include "core/loops/parts.h"
#include "core/loops/rewrite.h"
#include "core/lower/names.h"
#include "core/lower/share.h"

namespace twinloom::fuse {

using namespace loops;
using lower::ValueId;

namespace {

// A unit whose buffers are values, with names of its own.
struct Opened {
  Side side;                           // of parts without items: only their common loops
  std::vector<BufferInfo> infos = {};  // of arrays
  std::vector<Scratch> arrays = {};
  std::vector<Ref<Stmt>> stmts = {};  // of parts, within the common loops
  bool has_parts = false;
};

// Of one buffer.
struct Touches {
  std::vector<index::Expr> stored, loaded;
  bool masked = false;  // stored in part
};

void add_touches(const Stmt& stmt, Buffer buffer, Touches& touches) {
  for_each_stmt(stmt, [&](const Stmt& inner) {
    const auto* store = std::get_if<Store>(&inner.node);
    if (store == nullptr || store->buffer != buffer) return;
    touches.stored.push_back(store->offset);
    touches.masked |= !store->mask.all.empty() || store->update != Update::replace;
  });
  for_each_value(stmt, [&](const Value& value) {
    const auto* load = std::get_if<Load>(&value.node);
    if (load != nullptr && load->buffer == buffer) touches.loaded.push_back(load->offset);
  });
}

class Joiner {
 public:
  Joiner(const Around& around, std::size_t first, std::size_t second, lower::Names& names)
      : around_(around), numbers_{first, second}, names_(names) {}

  Combined run() {
    if (std::string words = why_not_these(); !words.empty()) return refuse(std::move(words));
    for (const std::size_t number : numbers_) opened_.push_back(open(number));
    if (!find_common_loops()) return refuse("no loops walk what is handed on alike");
    for (Opened& opened : opened_) put_in_common_loops(opened);
    for (const Buffer buffer : flows_)
      if (std::string words = hand_on(buffer); !words.empty()) return refuse(std::move(words));
    lower::Unit unit = joined();
    const int values = body_of(unit.nest).values;
    if (values > around_.limits.values)
      return refuse(cat("the parts have ", values, " operators, a kernel at most ", around_.limits.values));
    if (std::string words = why_slower(unit.nest); !words.empty()) return refuse(std::move(words));
    return {std::move(unit), Reason::no_gain, {}};
  }

 private:
  static Combined refuse(std::string words) { return {std::nullopt, Reason::no_gain, std::move(words)}; }

  const lower::Unit& unit(std::size_t side) const { return around_.lowered.units[numbers_[side]]; }

  std::string why_not_these() {
    bool any = false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      const Program& nest = unit(side).nest;
      if (routine_of(nest) != nullptr) return "a sort is a kernel of its own";
      if (!has_parts(nest) && has_columns(unit(side))) return "totals of columns are a kernel of their own";
      for_each_stmt(*nest.body, [&](const Stmt& stmt) {
        any |= std::holds_alternative<Index>(stmt.node) || std::holds_alternative<Scan>(stmt.node);
      });
    }
    if (any) return "parts look up no indices and have no scans";
    const auto& is_contraction = around_.limits.is_contraction;
    if (is_contraction && !is_contraction(unit(0).nest) && !is_contraction(unit(1).nest))
      return "neither is a contraction";
    if (has_parts(unit(0).nest) && has_parts(unit(1).nest)) return "both consist of parts";
    return find_flows();
  }

  std::string find_flows() {
    for (std::size_t k = 0; k < unit(0).arguments.size(); ++k) {
      const ValueId id = unit(0).arguments[k];
      const auto found = std::ranges::find(unit(1).arguments, id);
      if (!unit(0).nest.buffers[k].written || found == unit(1).arguments.end()) continue;
      const lower::Value& value = around_.lowered[id];
      if (value.storage != lower::Storage::temporary || value.barrier ||
          around_.readers[id.index].size() != 1 || around_.writers[id.index].size() != 1)
        return cat("others need ", value.name, " too");
      flows_.push_back(Buffer{id.index});
    }
    return flows_.empty() ? "the first hands nothing on" : "";
  }

  Opened open(std::size_t number) {
    const lower::Unit& unit = around_.lowered.units[number];
    if (!loops::has_parts(unit.nest)) {
      Opened opened{{lower::open(unit, names_), {}}};
      opened.side.facts = lower::facts_of(opened.side.draft.nest, around_.lowered.facts);
      refine(opened.side, names_);
      return opened;
    }
    const auto values = static_cast<std::uint32_t>(around_.lowered.values.size());
    const Parts parts = parts_of({unit.nest.name, {}, {}, lower::opened(unit, values, names_)});
    Opened result{{{{parts.common, {}, {}}, unit.nodes}, {}}};
    result.side.facts = lower::facts_of(result.side.draft.nest, around_.lowered.facts);
    result.infos.assign(unit.nest.buffers.begin() + std::ssize(unit.arguments), unit.nest.buffers.end());
    result.arrays = parts.arrays;
    for (const auto& part : parts.parts) result.stmts.insert(result.stmts.end(), part.begin(), part.end());
    result.has_parts = true;
    return result;
  }

  static Touches touches_of(const Opened& opened, Buffer buffer) {
    Touches touches;
    for (const Ref<Stmt>& stmt : opened.stmts) add_touches(*stmt, buffer, touches);
    if (!opened.has_parts) add_touches(*loops::put_together(opened.side.draft.nest), buffer, touches);
    return touches;
  }

  // Axes of equal step in what is stored and what is loaded; parts keep those that they have.
  bool find_common_loops() {
    const Touches first = touches_of(opened_[0], flows_.front()),
                  second = touches_of(opened_[1], flows_.front());
    if (first.stored.empty() || second.loaded.empty()) return false;
    Side &a = opened_[0].side, &b = opened_[1].side;
    const std::size_t before[] = {a.draft.nest.common.size(), b.draft.nest.common.size()};
    Reach stored{first.stored.front(), a.draft.nest.common},
        loaded{second.loaded.front(), b.draft.nest.common};
    const Alignment alignment = align(a, stored, b, loaded, names_);
    const bool of_second = opened_[1].has_parts;
    for (const NestLoop& loop : (of_second ? b : a).draft.nest.common) {
      const auto& matched = of_second ? alignment.first_by_second : alignment.second_by_first;
      const auto same = matched.find(loop.axis);
      if (same == matched.end()) continue;
      common_.push_back(of_second ? NestLoop{same->second, loop.extent} : loop);
      second_by_common_.push_back(of_second ? loop.axis : same->second);
    }
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
      if (opened_[side].has_parts && common_.size() != before[side]) return false;
    return !common_.empty();
  }

  // The unit's statements within the common loops.
  void put_in_common_loops(Opened& opened) {
    const bool is_second = &opened == &opened_[1];
    Renaming renaming;
    if (opened.has_parts) {
      for (std::size_t k = 0; k < common_.size(); ++k)
        if (is_second) renaming.symbols[second_by_common_[k]] = common_[k].axis;
      for (Ref<Stmt>& stmt : opened.stmts) stmt = rename(stmt, renaming);
      return;
    }
    Nest nest = opened.side.draft.nest;
    std::vector<NestLoop> order;
    for (std::size_t k = 0; k < common_.size(); ++k)
      order.push_back({is_second ? second_by_common_[k] : common_[k].axis, common_[k].extent});
    for (const NestLoop& loop : nest.common)
      if (std::ranges::find(order, loop.axis, &NestLoop::axis) == order.end()) order.push_back(loop);
    nest.common = std::move(order);
    nest = lower::share(nest, around_.lowered.facts);
    Ref<Stmt> body = loops::put_together(nest);
    for (std::size_t k = 0; k < nest.common.size(); ++k)
      renaming.symbols[nest.common[k].axis] = k < common_.size() ? common_[k].axis : names_.symbol("a");
    name_what_is_bound(*body, renaming);
    body = rename(body, renaming);
    for (std::size_t k = 0; k < common_.size(); ++k) body = std::get<Loop>(block({body})->node).body;
    opened.stmts = {body};
  }

  void name_what_is_bound(const Stmt& body, Renaming& renaming) {
    for_each_stmt(body, [&](const Stmt& stmt) {
      if (const auto* loop = std::get_if<Loop>(&stmt.node);
          loop != nullptr && !renaming.symbols.contains(loop->axis))
        renaming.symbols[loop->axis] = names_.symbol("a");
      if (const auto* let = std::get_if<Let>(&stmt.node)) renaming.temps[let->temp] = names_.temp();
      if (const auto* start = std::get_if<Start>(&stmt.node)) renaming.temps[start->total] = names_.temp();
    });
  }

  index::Facts facts() const {
    index::Facts facts = around_.lowered.facts;
    for (const NestLoop& loop : common_) lower::assume_axis(facts, loop.axis, loop.extent);
    for (const Opened& opened : opened_)
      for (const Ref<Stmt>& stmt : opened.stmts)
        for_each_stmt(*stmt, [&](const Stmt& inner) {
          if (const auto* loop = std::get_if<Loop>(&inner.node))
            lower::assume_axis(facts, loop->axis, loop->extent);
        });
    return facts;
  }

  // The buffer becomes an array of an iteration of the common loops, or why what an iteration reads may be
  // another's: an element's place must tell the iteration.
  std::string hand_on(Buffer buffer) {
    Touches touches;
    for (const Opened& opened : opened_)
      for (const Ref<Stmt>& stmt : opened.stmts) add_touches(*stmt, buffer, touches);
    const std::string& name = around_.lowered[ValueId{buffer.index}].name;
    if (touches.masked) return cat(name, " is stored in part");
    std::vector<std::int64_t> steps;
    std::int64_t count = 0;
    const index::Facts known = facts();
    std::vector<index::Expr> offsets = touches.stored;
    offsets.insert(offsets.end(), touches.loaded.begin(), touches.loaded.end());
    for (const index::Expr& offset : offsets) {
      const auto place = place_of(index::simplify(offset, known));
      if (!place || (!steps.empty() && steps != place->steps))
        return cat("the place in ", name, " does not tell the iteration of the common loops");
      steps = place->steps;
      const index::Range range = known.range(index::simplify(place->inside, known));
      if (!range.low || *range.low < 0 || !range.high)
        return cat("no bound is known of what is handed on in ", name);
      count = std::max(count, *range.high + 1);
    }
    if (!tell_iterations(steps, count)) return cat("iterations of the common loops share elements of ", name);
    replace(buffer, count);
    return "";
  }

  struct PlaceInside {
    std::vector<std::int64_t> steps;  // of the common loops
    index::Expr inside;
  };
  std::optional<PlaceInside> place_of(const index::Expr& offset) const {
    PlaceInside place{{}, offset};
    for (const NestLoop& loop : common_) {
      const auto linear = index::linear_in(place.inside, loop.axis);
      const auto step = linear ? index::constant_of(linear->scale) : std::nullopt;
      if (!step) return std::nullopt;
      place.steps.push_back(*step);
      place.inside = linear->rest;
    }
    return place;
  }

  // Whether places are digits: those of the loops, then one below `count`.
  bool tell_iterations(const std::vector<std::int64_t>& steps, std::int64_t count) const {
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < steps.size(); ++k) order.push_back(k);
    std::ranges::sort(order, {}, [&](std::size_t k) { return steps[k]; });
    std::int64_t below = count;
    for (std::size_t n = 0; n < order.size(); ++n) {
      const auto extent = index::constant_of(common_[order[n]].extent);
      if (extent == 1) continue;
      if (steps[order[n]] < below) return false;
      if (!extent && n + 1 < order.size()) return false;
      below = steps[order[n]] * extent.value_or(1);
    }
    return true;
  }

  void replace(Buffer buffer, std::int64_t count) {
    const lower::Value& value = around_.lowered[ValueId{buffer.index}];
    const index::Facts known = facts();
    const auto inside = [&](const index::Expr& offset) {
      return place_of(index::simplify(offset, known))->inside;
    };
    const Buffer array{static_cast<std::uint32_t>(around_.lowered.values.size() + opened_[0].infos.size() +
                                                  opened_[1].infos.size() + infos_.size())};
    infos_.push_back(
        {.name = value.name, .dtype = value.dtype, .count = count, .written = false, .local = true});
    arrays_.push_back({array, count, Place::scratch, nullptr});
    for (Opened& opened : opened_)
      for (Ref<Stmt>& stmt : opened.stmts) stmt = move_accesses(stmt, buffer, array, inside);
  }

  lower::Unit joined() {
    Parts parts{common_, {}, {{}}};
    std::vector<BufferInfo> infos;
    std::vector<graph::NodeId> nodes;
    for (Opened& opened : opened_) {
      parts.arrays.insert(parts.arrays.end(), opened.arrays.begin(), opened.arrays.end());
      infos.insert(infos.end(), opened.infos.begin(), opened.infos.end());
      nodes.insert(nodes.end(), opened.side.draft.nodes.begin(), opened.side.draft.nodes.end());
      for (const Ref<Stmt>& stmt : opened.stmts) parts.parts.front().push_back(stmt);
    }
    parts.arrays.insert(parts.arrays.end(), arrays_.begin(), arrays_.end());
    infos.insert(infos.end(), infos_.begin(), infos_.end());
    lower::Unit unit = lower::packed(with_short_names(parts), infos, nodes, around_.lowered);
    unit.nest = with_values_in_place(unit.nest);
    return unit;
  }

  // Common loops are named i0, i1, .., others r0, r1, .., temps by number in the order of their definition.
  Ref<Stmt> with_short_names(const Parts& parts) const {
    const Ref<Stmt> body = loops::put_together(parts);
    std::set<index::Symbol> taken = lower::taken_symbols(around_.lowered);
    lower::Names i(taken), r(taken), temps({});
    Renaming renaming;
    for (const NestLoop& loop : parts.common) renaming.symbols[loop.axis] = i.symbol("i");
    for_each_stmt(*body, [&](const Stmt& stmt) {
      if (const auto* loop = std::get_if<Loop>(&stmt.node);
          loop != nullptr && !renaming.symbols.contains(loop->axis))
        renaming.symbols[loop->axis] = r.symbol("r");
      if (const auto* let = std::get_if<Let>(&stmt.node)) renaming.temps[let->temp] = temps.temp();
      if (const auto* start = std::get_if<Start>(&stmt.node)) renaming.temps[start->total] = temps.temp();
    });
    return rename(body, renaming);
  }

  std::string why_slower(const Program& nest) const {
    const auto& seconds = around_.limits.seconds_in_parts;
    const double one = seconds(nest), two = seconds(unit(0).nest) + seconds(unit(1).nest);
    if (one <= two) return "";
    return cat("as parts of one kernel they would take ", microseconds(one), ", as two ", microseconds(two),
               " by their estimates");
  }

  const Around& around_;
  const std::size_t numbers_[2];
  lower::Names& names_;
  std::vector<Buffer> flows_;
  std::vector<Opened> opened_;
  std::vector<NestLoop> common_;        // in the names of the first
  std::vector<Axis> second_by_common_;  // those of the second
  std::vector<BufferInfo> infos_;       // of what is handed on
  std::vector<Scratch> arrays_;
};

}  // namespace

Combined in_parts(const Around& around, std::size_t first, std::size_t second, lower::Names& names) {
  return Joiner(around, first, second, names).run();
}

}  // namespace twinloom::fuse
