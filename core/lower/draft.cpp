// See draft.h.
#include "core/lower/draft.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/loops/rewrite.h"
#include "core/lower/share.h"
#include "core/lower/symbols.h"
#include "core/lower/transform.h"

namespace twinloom::lower {

using namespace loops;

namespace {

BufferInfo info_of(const Value& value, bool written) {
  return {.name = value.name, .dtype = value.dtype, .count = value.count, .written = written, .local = false};
}

std::vector<SizeInfo> sizes_of(const Stmt& body, const std::vector<BufferInfo>& buffers,
                               const index::Facts& facts) {
  std::set<index::Symbol> symbols = free_symbols(body);
  for (const BufferInfo& buffer : buffers) symbols.merge(index::symbols_of(buffer.count));
  std::vector<SizeInfo> sizes;
  for (const index::Symbol& symbol : symbols) {
    const auto known = facts.symbols().find(symbol);
    sizes.push_back(
        {.symbol = symbol,
         .range = facts.range(symbol),
         .divisor = known == facts.symbols().end() ? 1 : std::max<std::int64_t>(1, known->second.divisor)});
  }
  return sizes;
}

// What a statement binds gets a name of its own.
void rename_bound(const Stmt& body, Names& names, Renaming& renaming) {
  const auto fresh_symbol = [&](const index::Symbol& symbol) {
    renaming.symbols[symbol] = names.symbol("a");
  };
  const auto fresh_temp = [&](Temp temp) { renaming.temps[temp] = names.temp(); };
  for_each_stmt(body, [&](const Stmt& stmt) {
    if (const auto* loop = std::get_if<Loop>(&stmt.node)) fresh_symbol(loop->axis);
    if (const auto* index = std::get_if<Index>(&stmt.node)) fresh_symbol(index->symbol);
    if (const auto* let = std::get_if<Let>(&stmt.node)) fresh_temp(let->temp);
    if (const auto* start = std::get_if<Start>(&stmt.node)) fresh_temp(start->total);
    if (const auto* scan = std::get_if<Scan>(&stmt.node)) fresh_temp(scan->result);
    if (const auto* call = std::get_if<Call>(&stmt.node)) {
      for (const Slot& slot : call->slots) {
        for (const Axis& axis : slot.at) fresh_symbol(axis);
        fresh_temp(slot.element);
      }
    }
  });
}

}  // namespace

Touched touched_by(const Nest& nest) { return touched_by(*put_together(nest)); }

Touched touched_by(const Stmt& body) {
  Touched touched;
  for_each_stmt(body, [&](const Stmt& stmt) {
    if (const auto* store = std::get_if<Store>(&stmt.node)) {
      touched.stored.insert(ValueId{store->buffer.index});
      if (store->update != Update::replace) touched.updated.insert(ValueId{store->buffer.index});
    }
    if (const auto* call = std::get_if<Call>(&stmt.node))
      for (const Buffer buffer : call->operands) touched.stored.insert(ValueId{buffer.index});
  });
  for_each_value(body, [&](const loops::Value& value) {
    if (const auto* load = std::get_if<Load>(&value.node)) touched.loaded.insert(ValueId{load->buffer.index});
  });
  return touched;
}

Unit finish(const Draft& draft, const Lowered& lowered) {
  return packed(share(draft.nest, lowered.facts), draft.nodes, lowered);
}

Unit packed(const Nest& nest, std::vector<graph::NodeId> nodes, const Lowered& lowered) {
  return packed(put_together(nest), {}, std::move(nodes), lowered);
}

Unit packed(const Ref<Stmt>& body, const std::vector<BufferInfo>& arrays, std::vector<graph::NodeId> nodes,
            const Lowered& lowered) {
  const Touched touched = touched_by(*body);
  Unit unit;
  unit.nodes = std::move(nodes);
  std::ranges::sort(unit.nodes);
  unit.nodes.erase(std::ranges::unique(unit.nodes).begin(), unit.nodes.end());
  std::set<ValueId> used = touched.loaded;
  used.insert(touched.stored.begin(), touched.stored.end());
  const auto values = static_cast<std::uint32_t>(lowered.values.size());
  std::erase_if(used, [&](ValueId id) { return id.index >= values; });
  unit.arguments.assign(used.begin(), used.end());
  std::ranges::stable_sort(unit.arguments, {}, [&](ValueId id) {
    const Storage storage = lowered[id].storage;
    return storage == Storage::parameter   ? 0
           : storage == Storage::constant  ? 1
           : storage == Storage::temporary ? 2
                                           : 3;
  });
  Renaming renaming;
  for (std::uint32_t k = 0; k < unit.arguments.size(); ++k) {
    const ValueId id = unit.arguments[k];
    renaming.buffers[Buffer{id.index}] = Buffer{k};
    unit.nest.buffers.push_back(info_of(lowered[id], touched.stored.contains(id)));
  }
  for (std::uint32_t k = 0; k < arrays.size(); ++k) {
    renaming.buffers[Buffer{values + k}] = Buffer{static_cast<std::uint32_t>(unit.nest.buffers.size())};
    unit.nest.buffers.push_back(arrays[k]);
  }
  unit.updates.assign(touched.updated.begin(), touched.updated.end());
  unit.nest.name = "nest";
  unit.nest.sizes = sizes_of(*body, unit.nest.buffers, lowered.facts);
  unit.nest.body = rename(body, renaming);
  return unit;
}

Ref<Stmt> opened(const Unit& unit, std::uint32_t arrays, Names& names) {
  Renaming renaming;
  for (std::uint32_t k = 0; k < unit.nest.buffers.size(); ++k)
    renaming.buffers[Buffer{k}] = Buffer{k < unit.arguments.size() ? unit.arguments[k].index : arrays++};
  rename_bound(*unit.nest.body, names, renaming);
  return rename(unit.nest.body, renaming);
}

Draft open(const Unit& unit, Names& names) {
  // Only buffers, axes and temps change, so the shape of the nest stays.
  const Nest nest = take_apart({unit.nest.name, {}, {}, opened(unit, 0, names)});
  return {is_call(nest) ? nest : without_lets(nest), unit.nodes};
}

std::set<index::Symbol> taken_symbols(const Lowered& lowered) {
  std::set<index::Symbol> taken = {index::Symbol("seed"), index::Symbol("offset")};
  for (const auto& [symbol, about] : lowered.facts.symbols()) taken.insert(symbol);
  for (const Value& value : lowered.values) {
    for (const index::Expr& size : value.shape) taken.merge(index::symbols_of(size));
    for (const index::Expr& stride : value.strides) taken.merge(index::symbols_of(stride));
  }
  for (const Unit& unit : lowered.units)
    for (const SizeInfo& size : unit.nest.sizes) taken.insert(size.symbol);
  return taken;
}

void name_kernels(Lowered& lowered) {
  constexpr std::size_t most_words = 4;
  for (std::size_t number = 0; number < lowered.units.size(); ++number) {
    Program& nest = lowered.units[number].nest;
    std::vector<std::string> words;
    const auto add = [&](std::string_view word) {
      if (std::ranges::find(words, word) == words.end()) words.emplace_back(word);
    };
    if (nest.library) add("library");
    for_each_stmt(*nest.body, [&](const Stmt& stmt) {
      if (const auto* start = std::get_if<Start>(&stmt.node)) add(ops::name(start->monoid));
      if (std::holds_alternative<Scan>(stmt.node)) add("scan");
      if (const auto* store = std::get_if<Store>(&stmt.node); store && store->update != Update::replace)
        add("scatter");
      if (const auto* call = std::get_if<Call>(&stmt.node))
        add(call->routine == Routine::stable_sort ? "sort" : "sums_by_key");
    });
    for_each_value(*nest.body, [&](const loops::Value& value) {
      if (const auto* apply = std::get_if<Apply>(&value.node)) add(ops::name(apply->op));
    });
    if (words.empty()) words.emplace_back("copy");
    if (words.size() > most_words) words.resize(most_words);
    nest.name = cat("k", number, "_", join(words, "_", [](const std::string& word) { return word; }));
  }
}

}  // namespace twinloom::lower
