// See forward.h.
#include "core/fuse/forward.h"

#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "core/fuse/items.h"
#include "core/index/simplify.h"
#include "core/lower/reader.h"
#include "core/lower/realize.h"
#include "core/lower/transform.h"
#include "core/ops/cost.h"

namespace twinloom::fuse {

using namespace loops;

namespace {

// In place of a load. What is loaded again a cache has.
double work_of(const Ref<Value>& value, const lower::Costs& costs) {
  double work = 0, loads = 0;
  lower::for_each_distinct({value}, [&](const Value& part) {
    if (const auto* apply = std::get_if<Apply>(&part.node)) work += ops::cost(apply->op);
    if (std::holds_alternative<Load>(part.node)) ++loads;
  });
  return work + std::max(loads - 1, 0.0) * costs.cached;
}

// The temps that statements of the sibling define for each of its turns.
std::set<Temp> inner_temps(const Item& item) {
  std::set<Temp> temps;
  for (const Ref<Stmt>& stmt : statements_in(item))
    if (const auto* scan = std::get_if<Scan>(&stmt->node)) temps.insert(scan->result);
  return temps;
}

bool reads_any(const Ref<Value>& value, const std::set<Temp>& temps) {
  bool found = false;
  lower::for_each_distinct({value}, [&](const Value& part) {
    const auto* read = std::get_if<Read>(&part.node);
    found = found || (read != nullptr && temps.contains(read->temp));
  });
  return found;
}

class Forwarder {
 public:
  Forwarder(const Nest& writer, const Nest& reader, const std::set<Buffer>& buffers, const Handover& handover,
            lower::Names& names)
      : writer_(writer),
        reader_(reader),
        handover_(handover),
        names_(names),
        elementwise_(is_elementwise(writer)) {
    for (const Stored& stored : stores_of(writer)) {
      if (!buffers.contains(stored.store->buffer)) continue;
      if (!stored_.emplace(stored.store->buffer, stored).second) in_parts_.insert(stored.store->buffer);
    }
  }

  Forwarded run() {
    result_.nest.common = reader_.common;
    for (std::size_t k = 0; k < reader_.items.size(); ++k) {
      here_ = k;
      walk_item(reader_.items[k]);
    }
    return std::move(result_);
  }

 private:
  void walk_item(const Item& item) {
    const auto* sibling = std::get_if<Sibling>(&item);
    lower::Transformer move{lower::Change{.symbols = {},
                                          .reads = {},
                                          .mask = {},
                                          .load = [this](const Load& load) { return value_of(load); },
                                          .facts = nullptr}};
    loops_ = sibling == nullptr ? std::vector<NestLoop>{} : sibling->loops;
    counted_.clear();
    std::vector<Ref<Stmt>> stmts;
    for (const Ref<Stmt>& stmt : statements_in(item)) {
      Ref<Stmt> moved = move(stmt);
      stmts.insert(stmts.end(), indexes_.begin(), indexes_.end());
      indexes_.clear();
      stmts.push_back(std::move(moved));
    }
    if (sibling != nullptr) {
      result_.nest.items.emplace_back(Sibling{sibling->loops, std::move(stmts)});
    } else {
      for (Ref<Stmt>& stmt : stmts) result_.nest.items.emplace_back(std::move(stmt));
    }
  }

  Ref<Value> refuse(std::string words) {
    if (result_.refused.empty()) result_.refused = std::move(words);
    return nullptr;
  }

  // Null where the load stays.
  Ref<Value> value_of(const Load& load) {
    const auto found = stored_.find(load.buffer);
    if (found == stored_.end()) return nullptr;
    if (in_parts_.contains(load.buffer)) return refuse("the writer stores the buffer in parts");
    const Stored& stored = found->second;
    const auto* sibling = std::get_if<Sibling>(&writer_.items[stored.item]);
    std::vector<NestLoop> axes = writer_.common;
    if (sibling != nullptr) axes.insert(axes.end(), sibling->loops.begin(), sibling->loops.end());
    const bool is_scanned =
        sibling != nullptr && reads_any(stored.store->value, inner_temps(writer_.items[stored.item]));
    // The loads of what is moved get the mask of this one, so their places need not be right outside of it.
    auto places = is_scanned || load.mask.all.empty()
                      ? invert(stored.store->offset, axes, load.offset, *handover_.facts)
                      : invert(stored.store->offset, axes, load.offset, inside(load.mask));
    if (!places) return refuse("the writer does not fill the buffer without gaps");
    if (!elementwise_ && !in_same_turn(*places)) return refuse("a turn reads what another turn writes");
    if (!stored.store->mask.all.empty()) return refuse("the store is masked");
    if (is_scanned) {
      if (!join(stored, *sibling, *places)) return refuse("an element of a scan is read in another order");
      return masked(move(stored, *places, {}, false), load);
    }
    // A row's own value is there already.
    if (elementwise_ || sibling != nullptr) count(stored, load);
    return masked(move(stored, *places, load.mask, elementwise_ || sibling != nullptr), load);
  }

  // What is known where the mask holds, of the symbols that it bounds by numbers.
  index::Facts inside(const index::Condition& mask) const {
    index::Facts facts = *handover_.facts;
    for (const index::Less& less : mask.all) {
      const index::Expr room = less.b - less.a;
      for (const index::Symbol& symbol : index::symbols_of(room)) {
        const auto linear = index::linear_in(room, symbol);
        const auto rest = linear ? index::constant_of(linear->rest) : std::nullopt;
        if (rest && linear->scale == index::Expr(1)) facts.assume(symbol, {1 - *rest, std::nullopt});
        if (rest && linear->scale == index::Expr(-1)) facts.assume(symbol, {std::nullopt, *rest - 1});
      }
    }
    return facts;
  }

  bool in_same_turn(const index::Substitution& places) const {
    if (!handover_.same_turn) return false;
    return std::ranges::all_of(writer_.common, [&](const NestLoop& loop) {
      return handover_.facts->proves_equal(places.at(loop.axis), index::Expr(loop.axis));
    });
  }

  // A scan's result exists only in the turn that made it.
  bool join(const Stored& stored, const Sibling& sibling, const index::Substitution& places) {
    const auto* reader = std::get_if<Sibling>(&reader_.items[here_]);
    if (reader == nullptr || reader->loops.size() != sibling.loops.size()) return false;
    Forwarded::Join join{stored.item, here_, {}};
    for (const NestLoop& loop : sibling.loops) {
      const auto axis = index::symbol_of(places.at(loop.axis));
      if (!axis) return false;
      const bool walked = std::ranges::any_of(reader->loops, [&](const NestLoop& other) {
        return other.axis == *axis && other.extent == loop.extent;
      });
      if (!walked) return false;
      join.writer_by_reader[*axis] = loop.axis;
    }
    if (join.writer_by_reader.size() != reader->loops.size()) return false;
    result_.joins.push_back(std::move(join));
    return true;
  }

  // What is computed again: once in each turn of the place that reads it.
  void count(const Stored& stored, const Load& load) {
    if (!counted_.insert(cat(load.buffer.index, "@", load.offset)).second) return;
    // What does not change along the sibling's loops is computed in front of them.
    const std::set<index::Symbol> symbols = index::symbols_of(load.offset);
    const bool walks =
        std::ranges::any_of(loops_, [&](const NestLoop& loop) { return symbols.contains(loop.axis); });
    const auto typical = static_cast<double>(handover_.limits->typical_size);
    result_.evaluations += typical_turns(reader_.common, typical) *
                           (walks ? typical_turns(loops_, typical) : 1) * share_of(load.mask);
    double work = work_of(stored.store->value, handover_.limits->costs);
    for_each_lookup(stored, [&](const Ref<Stmt>& stmt) {
      work += work_of(std::get<Index>(stmt->node).value, handover_.limits->costs);
    });
    result_.work = std::max(result_.work, work);
  }

  // The Index statements that the stored value may need.
  void for_each_lookup(const Stored& stored, const std::function<void(const Ref<Stmt>& stmt)>& visit) const {
    const auto look = [&](const Ref<Stmt>& stmt) {
      if (std::holds_alternative<Index>(stmt->node)) visit(stmt);
    };
    if (elementwise_) {
      for (const Item& item : writer_.items) look(std::get<Ref<Stmt>>(item));
    } else {
      for (const Ref<Stmt>& stmt : statements_in(writer_.items[stored.item])) look(stmt);
    }
  }

  // The share of the iterations of the reader's loops in which the mask may hold, as far as it bounds one of
  // them by numbers: loops are split there.
  double share_of(const index::Condition& mask) const {
    if (mask.all.empty()) return 1;
    const index::Facts facts = inside(mask);
    double share = 1;
    for (const std::vector<NestLoop>* loops : {&reader_.common, &std::as_const(loops_)}) {
      for (const NestLoop& loop : *loops) {
        const auto extent = index::constant_of(loop.extent);
        if (!extent || *extent < 1) continue;
        const index::Range range = facts.range(index::Expr(loop.axis));
        const std::int64_t low = std::max<std::int64_t>(range.low.value_or(0), 0),
                           high = std::min(range.high.value_or(*extent - 1), *extent - 1);
        share *=
            static_cast<double>(std::max<std::int64_t>(high - low + 1, 0)) / static_cast<double>(*extent);
      }
    }
    return share;
  }

  // The stored value at the given place. Index statements that it needs come along where the reader cannot
  // see the writer's.
  Ref<Value> move(const Stored& stored, const index::Substitution& places, const index::Condition& mask,
                  bool with_indexes) {
    lower::Change change{.symbols = places, .reads = {}, .mask = mask, .load = {}, .facts = handover_.facts};
    lower::Transformer moving{std::move(change)};
    if (with_indexes) {
      for_each_lookup(stored, [&](const Ref<Stmt>& stmt) {
        const index::Symbol own = std::get<Index>(stmt->node).symbol, fresh = names_.symbol("found");
        const Ref<Stmt> moved = moving(stmt);
        Index copy = std::get<Index>(moved->node);
        copy.symbol = fresh;
        moving.change().symbols[own] = index::Expr(fresh);
        indexes_.push_back(loops::stmt(std::move(copy)));
      });
    }
    return moving(stored.store->value);
  }

  static Ref<Value> masked(const Ref<Value>& value, const Load& load) {
    if (load.mask.all.empty()) return value;
    const auto otherwise = literal(load.otherwise.value, load.otherwise.dtype);
    return lower::select(lower::truth(load.mask), value, otherwise, load.otherwise.dtype);
  }

  const Nest& writer_;
  const Nest& reader_;
  const Handover& handover_;
  lower::Names& names_;
  bool elementwise_;
  std::map<Buffer, Stored> stored_;
  std::set<Buffer> in_parts_;  // several stores fill the buffer together
  Forwarded result_;
  std::vector<Ref<Stmt>> indexes_;
  std::set<std::string> counted_;
  std::size_t here_ = 0;
  std::vector<NestLoop> loops_;  // of the sibling that is walked
};

}  // namespace

bool is_elementwise(const Nest& nest) {
  return std::ranges::all_of(nest.items, [](const Item& item) {
    const auto* stmt = std::get_if<Ref<Stmt>>(&item);
    return stmt != nullptr && !std::holds_alternative<Start>((*stmt)->node);
  });
}

double typical_turns(const std::vector<NestLoop>& loops, double typical) {
  graph::Shape extents;
  for (const NestLoop& loop : loops) extents.push_back(loop.extent);
  return lower::typical_count(extents, typical);
}

std::vector<Stored> stores_of(const Nest& nest) {
  std::vector<Stored> stores;
  for (std::size_t k = 0; k < nest.items.size(); ++k) {
    for (const Ref<Stmt>& stmt : statements_in(nest.items[k]))
      if (const auto* store = std::get_if<Store>(&stmt->node)) stores.push_back({k, store});
  }
  return stores;
}

std::vector<Load> loads_of(const Stmt& stmt) {
  std::vector<Load> loads;
  lower::for_each_distinct(lower::values_of(stmt), [&](const Value& value) {
    if (const auto* load = std::get_if<Load>(&value.node)) loads.push_back(*load);
  });
  return loads;
}

Forwarded forward(const Nest& writer, const Nest& reader, const std::set<Buffer>& buffers,
                  const Handover& handover, lower::Names& names) {
  return Forwarder(writer, reader, buffers, handover, names).run();
}

}  // namespace twinloom::fuse
