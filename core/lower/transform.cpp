// See transform.h.
#include "core/lower/transform.h"

#include <unordered_set>

#include "core/base/error.h"
#include "core/index/simplify.h"

namespace twinloom::lower {

using namespace loops;

index::Expr Transformer::changed(const index::Expr& expr) const {
  const index::Expr result = index::substitute(expr, change_.symbols);
  return change_.facts == nullptr ? result : index::simplify(result, *change_.facts);
}

index::Condition Transformer::changed(const index::Condition& mask) const {
  const index::Condition result = index::substitute(mask, change_.symbols);
  return change_.facts == nullptr ? result : index::simplify(result, *change_.facts);
}

Ref<Value> Transformer::operator()(const Ref<Value>& value) {
  if (const auto found = known_.find(value.get()); found != known_.end()) return found->second;
  Ref<Value> result = changed(value);
  known_.emplace(value.get(), result);
  kept_.push_back(value);
  return result;
}

Ref<Value> Transformer::changed(const Ref<Value>& value) {
  return match(
      *value, [&](const Literal&) { return value; },
      [&](const Count& count) { return loops::count(changed(count.expr)); },
      [&](const Read& read) {
        const auto found = change_.reads.find(read.temp);
        if (found == change_.reads.end()) return value;
        CHECK(read.part == 0, "part ", read.part, " of a single value is read");
        return found->second;
      },
      [&](const Load& load) {
        Load moved{load.buffer, changed(load.offset), change_.mask && changed(load.mask), load.otherwise};
        if (change_.load) {
          if (Ref<Value> other = change_.load(moved)) return other;
        }
        return std::make_shared<const Value>(Value{std::move(moved)});
      },
      [&](const Apply& apply) {
        std::vector<Ref<Value>> inputs;
        for (const Ref<Value>& input : apply.inputs) inputs.push_back((*this)(input));
        return loops::apply(apply.op, std::move(inputs));
      },
      [&](const Convert& convert) {
        return std::make_shared<const Value>(Value{Convert{convert.to, (*this)(convert.input)}});
      });
}

Ref<Stmt> Transformer::operator()(const Ref<Stmt>& from) {
  const auto each = [&](const std::vector<Ref<Value>>& values) {
    std::vector<Ref<Value>> result;
    for (const Ref<Value>& value : values) result.push_back((*this)(value));
    return result;
  };
  if (const auto* index = std::get_if<Index>(&from->node)) {
    Index copy = *index;
    copy.value = (*this)(index->value);
    copy.bound = changed(index->bound);
    copy.mask = change_.mask && changed(index->mask);
    return stmt(std::move(copy));
  }
  if (const auto* store = std::get_if<Store>(&from->node)) {
    return stmt(Store{store->buffer, changed(store->offset), changed(store->mask), (*this)(store->value),
                      store->update});
  }
  if (const auto* let = std::get_if<Let>(&from->node)) return stmt(Let{let->temp, (*this)(let->value)});
  if (const auto* total = std::get_if<Accumulate>(&from->node))
    return stmt(Accumulate{total->total, each(total->values), changed(total->place)});
  if (const auto* scan = std::get_if<Scan>(&from->node))
    return stmt(Scan{scan->result, scan->total, each(scan->values), changed(scan->place), scan->exclusive});
  CHECK(std::holds_alternative<Start>(from->node), "a statement that is not of a nest is rewritten");
  return from;
}

std::vector<Ref<Value>> values_of(const Stmt& stmt) {
  if (const auto* index = std::get_if<Index>(&stmt.node)) return {index->value};
  if (const auto* store = std::get_if<Store>(&stmt.node)) return {store->value};
  if (const auto* let = std::get_if<Let>(&stmt.node)) return {let->value};
  if (const auto* total = std::get_if<Accumulate>(&stmt.node)) return total->values;
  if (const auto* scan = std::get_if<Scan>(&stmt.node)) return scan->values;
  return {};
}

void for_each_distinct(const std::vector<Ref<Value>>& values,
                       const std::function<void(const Value&)>& visit) {
  std::unordered_set<const Value*> seen;
  std::vector<const Value*> open;
  for (const Ref<Value>& value : values) open.push_back(value.get());
  while (!open.empty()) {
    const Value* value = open.back();
    open.pop_back();
    if (!seen.insert(value).second) continue;
    visit(*value);
    if (const auto* apply = std::get_if<Apply>(&value->node))
      for (const Ref<Value>& input : apply->inputs) open.push_back(input.get());
    if (const auto* convert = std::get_if<Convert>(&value->node)) open.push_back(convert->input.get());
  }
}

Nest without_lets(const Nest& nest) {
  Transformer write_out{Change{}};
  const auto keep = [&](const Ref<Stmt>& from, auto&& add) {
    if (const auto* let = std::get_if<Let>(&from->node)) {
      write_out.change().reads[let->temp] = write_out(let->value);
    } else {
      add(write_out(from));
    }
  };
  const auto all_of = [&](const std::vector<Ref<Stmt>>& stmts) {
    std::vector<Ref<Stmt>> written;
    for (const Ref<Stmt>& from : stmts)
      keep(from, [&](Ref<Stmt> stmt) { written.push_back(std::move(stmt)); });
    return written;
  };
  Nest result{nest.common, {}};
  for (const Item& item : nest.items) {
    if (const auto* sibling = std::get_if<Sibling>(&item))
      result.items.emplace_back(Sibling{sibling->loops, all_of(sibling->inner)});
    else
      keep(std::get<Ref<Stmt>>(item), [&](Ref<Stmt> stmt) { result.items.emplace_back(std::move(stmt)); });
  }
  if (nest.columns)
    result.columns = Columns{nest.columns->totals, nest.columns->loop, all_of(nest.columns->inner)};
  return result;
}

}  // namespace twinloom::lower
