// See arrays.h.
#include "core/fuse/arrays.h"

#include <algorithm>
#include <map>

#include "core/loops/parts.h"
#include "core/loops/rewrite.h"

namespace twinloom::fuse {

using namespace loops;

namespace {

// A loop of a part that walks its elements one by one.
struct Walk {
  std::size_t part = 0, at = 0;  // of the statement
  Loop loop;
  std::vector<Ref<Stmt>> inner;
};

const index::Symbol& place() {
  static const index::Symbol symbol("array.place");
  return symbol;
}

// The value where its loop's counter has one name for all loops.
Ref<Value> at_place(const Ref<Value>& value, const Axis& axis) {
  return substitute(value, {{axis, index::Expr(place())}});
}

class InPlace {
 public:
  explicit InPlace(const Program& nest) : nest_(nest), parts_(parts_of(nest)), next_(next_temp(nest)) {}

  Program run() {
    for (const Scratch& array : parts_.arrays)
      while (keep_value(array.buffer)) {
      }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Scratch& from : parts_.arrays)
        for (const Scratch& to : parts_.arrays)
          if (!changed && from.buffer != to.buffer && may_take_place(from, to)) {
            merge(Buffer(from.buffer), Buffer(to.buffer));
            changed = true;
          }
    }
    return finished();
  }

 private:
  // The last part that touches the array, and there the statements behind the last that stores it.
  std::vector<Walk> last_loads(Buffer array, bool& are_walks) const {
    std::vector<Walk> walks;
    for (std::size_t part = 0; part < parts_.parts.size(); ++part)
      for (std::size_t at = 0; at < parts_.parts[part].size(); ++at) {
        const Ref<Stmt>& stmt = parts_.parts[part][at];
        const bool loads = loads_from(*stmt, array), stores = stores_to(*stmt, array);
        if (stores) walks.clear(), are_walks = true;
        if (!loads || stores) continue;
        const auto walk = walk_of(part, at);
        are_walks &= walk.has_value();
        if (walk) walks.push_back(*walk);
      }
    return walks;
  }

  std::optional<Walk> walk_of(std::size_t part, std::size_t at) const {
    const auto* loop = std::get_if<Loop>(&parts_.parts[part][at]->node);
    if (loop == nullptr) return std::nullopt;
    Walk walk{part, at, *loop, without_lets(stmts_of(Ref<Stmt>(loop->body)))};
    const bool simple = std::ranges::all_of(walk.inner, [](const Ref<Stmt>& stmt) {
      return std::holds_alternative<Store>(stmt->node) || std::holds_alternative<Accumulate>(stmt->node);
    });
    return simple ? std::optional(std::move(walk)) : std::nullopt;
  }

  // What a value is computed from stands in it.
  static std::vector<Ref<Stmt>> without_lets(const std::vector<Ref<Stmt>>& stmts) {
    std::map<Temp, Ref<Value>> lets;
    std::vector<Ref<Stmt>> result;
    for (const Ref<Stmt>& stmt : stmts) {
      const Ref<Stmt> written = rewrite_values(stmt, [&](const Ref<Value>& value) {
        const auto* read = std::get_if<Read>(&value->node);
        const auto let = read == nullptr ? lets.end() : lets.find(read->temp);
        return let == lets.end() ? value : let->second;
      });
      if (const auto* let = std::get_if<Let>(&written->node))
        lets[let->temp] = let->value;
      else
        result.push_back(written);
    }
    return result;
  }

  // Whether all loads of the array in these loops are of the loop's own element, which each walks alike.
  static bool walk_alike(const std::vector<Walk>& walks, Buffer array) {
    bool alike = true;
    for (const Walk& walk : walks) {
      alike &= walk.part == walks.front().part && walk.loop.extent == walks.front().loop.extent;
      for (const Ref<Stmt>& stmt : walk.inner)
        for_each_value(*stmt, [&](const Value& value) {
          const auto* load = std::get_if<Load>(&value.node);
          if (load != nullptr && load->buffer == array)
            alike &= load->offset == index::Expr(walk.loop.axis) && load->mask.all.empty();
        });
    }
    return alike;
  }

  // Stores in the first of the loops what all of them compute from the array.
  bool keep_value(Buffer array) {
    bool are_walks = true;
    const std::vector<Walk> walks = last_loads(array, are_walks);
    if (walks.size() < 2 || !are_walks || !walk_alike(walks, array)) return false;
    const Ref<Value> value = shared_value(walks, array);
    if (value == nullptr) return false;
    for (const Walk& walk : walks) {
      const bool first = walk.at == walks.front().at;
      const Ref<Value> by = first ? read(next_) : load_of(array, walk.loop.axis);
      std::vector<Ref<Stmt>> inner;
      if (first) {
        inner.push_back(stmt(Let{next_, substitute(value, {{place(), index::Expr(walk.loop.axis)}})}));
        inner.push_back(stmt(Store{array, walk.loop.axis, {}, read(next_), Update::replace}));
      }
      for (const Ref<Stmt>& old : walk.inner) inner.push_back(replaced(old, walk.loop.axis, value, by));
      replace(walk, std::move(inner));
    }
    ++next_.index;
    return true;
  }

  Ref<Value> load_of(Buffer array, const Axis& axis) const {
    const ops::DType dtype = nest_.buffers[array.index].dtype;
    return load(array, axis, {}, Literal{ops::cast(ops::Number(0), dtype), dtype});
  }

  static Ref<Stmt> replaced(const Ref<Stmt>& old, const Axis& axis, const Ref<Value>& value,
                            const Ref<Value>& by) {
    return rewrite_values(
        old, [&](const Ref<Value>& part) { return equal(*at_place(part, axis), *value) ? by : part; });
  }

  // The largest value of the first loop without which no loop loads the array; null where there is none.
  Ref<Value> shared_value(const std::vector<Walk>& walks, Buffer array) const {
    std::vector<Ref<Value>> candidates;
    for (const Ref<Stmt>& stmt : walks.front().inner)
      rewrite_values(stmt, [&](const Ref<Value>& part) {
        if (std::holds_alternative<Apply>(part->node) && loads_from(*part, array))
          candidates.push_back(at_place(part, walks.front().loop.axis));
        return part;
      });
    const Types types(nest_);
    for (auto value = candidates.rbegin(); value != candidates.rend(); ++value) {
      if (types.of(**value) != nest_.buffers[array.index].dtype) continue;
      const bool enough = std::ranges::all_of(walks, [&](const Walk& walk) {
        return std::ranges::all_of(walk.inner, [&](const Ref<Stmt>& stmt) {
          return !loads_from(*replaced(stmt, walk.loop.axis, *value, read(next_)), array);
        });
      });
      if (enough) return *value;
    }
    return nullptr;
  }

  void replace(const Walk& walk, std::vector<Ref<Stmt>> inner) {
    parts_.parts[walk.part][walk.at] =
        stmt(Loop{walk.loop.axis, walk.loop.extent, walk.loop.bind, block(std::move(inner))});
  }

  // Whether the only statement that stores to one array is the last that loads the other, element by element.
  bool may_take_place(const Scratch& from, const Scratch& to) const {
    if (from.count != to.count ||
        nest_.buffers[from.buffer.index].dtype != nest_.buffers[to.buffer.index].dtype)
      return false;
    std::vector<Walk> stores;
    bool touched = false;  // the other one, behind
    for (std::size_t part = 0; part < parts_.parts.size(); ++part)
      for (std::size_t at = 0; at < parts_.parts[part].size(); ++at) {
        const Stmt& stmt = *parts_.parts[part][at];
        touched |= !stores.empty() && (loads_from(stmt, to.buffer) || stores_to(stmt, to.buffer));
        if (!stores_to(stmt, from.buffer)) continue;
        const auto walk = walk_of(part, at);
        if (!walk || walk->inner.size() != 1) return false;
        stores.push_back(*walk);
      }
    if (stores.size() != 1 || touched) return false;
    const auto* store = std::get_if<Store>(&stores.front().inner.front()->node);
    const index::Expr element(stores.front().loop.axis);
    return store != nullptr && store->buffer == from.buffer && store->offset == element &&
           store->mask.all.empty() && loads_from(*store->value, to.buffer) && walk_alike(stores, to.buffer);
  }

  void merge(Buffer from, Buffer to) {
    const Renaming renaming{.symbols = {}, .temps = {}, .buffers = {{from, to}}};
    for (std::vector<Ref<Stmt>>& part : parts_.parts)
      for (Ref<Stmt>& stmt : part) stmt = rename(stmt, renaming);
    std::erase_if(parts_.arrays, [&](const Scratch& array) { return array.buffer == from; });
  }

  // Without the arrays that are left over.
  Program finished() const {
    Program result = nest_;
    Renaming renaming;
    result.buffers.clear();
    for (std::uint32_t k = 0; k < nest_.buffers.size(); ++k) {
      const bool used =
          !nest_.buffers[k].local ||
          std::ranges::any_of(parts_.arrays, [&](const Scratch& array) { return array.buffer == Buffer{k}; });
      if (!used) continue;
      renaming.buffers[Buffer{k}] = Buffer{static_cast<std::uint32_t>(result.buffers.size())};
      result.buffers.push_back(nest_.buffers[k]);
    }
    result.body = rename(loops::put_together(parts_), renaming);
    return result;
  }

  const Program& nest_;
  Parts parts_;
  Temp next_;
};

}  // namespace

Program with_values_in_place(const Program& nest) { return InPlace(nest).run(); }

}  // namespace twinloom::fuse
