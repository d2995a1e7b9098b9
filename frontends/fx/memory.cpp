// See memory.h.
#include "frontends/fx/memory.h"

#include <algorithm>
#include <ranges>

#include "core/base/error.h"
#include "frontends/fx/complex.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;

constexpr std::size_t MOST_VIEWS = 64;  // of views, which are taken anew after a write

Arguments with_first(Context& context, const Arguments& call, const Item& first) {
  Items positional = call.positional();
  auto keywords = call.keywords();
  (positional.empty() ? keywords.front().second : positional.front()) = first;
  return {context, call.target(), std::move(positional), std::move(keywords)};
}

// A view of the base that shows this.
Item seen(Item item, const Item& base, int view) {
  item.location = {base.location.memory, view, base.location.version};
  item.copy = base.copy;
  item.gaps = base.gaps;
  item.storage = base.storage;
  if (const auto* tensor = base.get<Tensor>(); tensor != nullptr && !item.storage) item.storage = *tensor;
  return item;
}

// `f` of the item, or of each where it is a list.
template <class Function>
Item for_each(Item item, Function f) {
  auto* items = std::get_if<Items>(&item.value);
  if (items == nullptr) return f(std::move(item), -1);
  for (int k = 0; std::cmp_less(k, items->size()); ++k) {
    Item& each = (*items)[static_cast<std::size_t>(k)];
    each = f(std::move(each), k);
  }
  return item;
}

}  // namespace

Memory::Call::Call(const Row& of, const Arguments& given, const Item& base)
    : row(of),
      context{
          given.builder(), given.context().line, given.context().printed, given.context().elements, {}, {}},
      arguments(with_first(context, given, base)) {}

int Memory::add_memory() {
  const int number = static_cast<int>(held_.size());
  held_.push_back({.kin = number});
  return number;
}

Item Memory::parameter(Item item, int slot, const Layout& layout) {
  item.location.memory = add_memory();
  held(item).parameter = slot;
  held(item).layout = layout;
  return laid_out(std::move(item), layout);
}

Item Memory::made(Item item) {
  return for_each(std::move(item), [&](Item each, int) {
    each.location = {};
    each.copy = 0;
    if (each.get<Tensor>() != nullptr) each.copy = each.location.memory = add_memory();
    return each;
  });
}

Item Memory::lying(const Row& row, const Arguments& call, Item item) {
  const Item* base = call.first();
  if (base == nullptr || row.lies == Lies::apart) return made(std::move(item));
  switch (row.lies) {
    case Lies::whole:
      return *base;
    case Lies::view_or_copy:
    case Lies::whole_or_copy:
      return beside(row, item, *base);
    case Lies::apart:
    case Lies::view:
    case Lies::memory:
      return viewed(row, call, std::move(item), *base);
  }
  return item;
}

// In memory of its own, which may be that of the base.
Item Memory::beside(const Row& row, const Item& item, const Item& base) {
  const Item shared = seen(item, base, -1);
  if (base.location.memory == 0) return shared;
  Item apart = made(item);
  std::vector<int>& kin = kin_[held(apart).kin = held(base).kin];
  if (kin.empty()) kin.push_back(base.location.memory);
  kin.push_back(apart.location.memory);
  held(apart).layout.gaps = true;  // once it is written: where in memory it begins is not known either
  if (row.lies == Lies::whole_or_copy) return apart;
  Item either = shared;
  either.location = apart.location;
  return either;
}

Item Memory::viewed(const Row& row, const Arguments& call, Item item, const Item& base) {
  if (base.location.memory == 0) {
    return for_each(std::move(item), [&](Item each, int) { return seen(std::move(each), base, -1); });
  }
  const Item from = row.lies == Lies::memory ? root_of(base) : base;
  const auto shared = std::make_shared<const Call>(row, call, from);
  return for_each(std::move(item),
                  [&](Item each, int part) { return view_of(shared, part, std::move(each), from); });
}

Item Memory::view_of(const std::shared_ptr<const Call>& call, int part, Item item, const Item& base) {
  const int number = static_cast<int>(views_.size());
  const int first = base.location.view < 0 ? number : view(base.location.view).first;
  views_.push_back({call, part, first, base, seen(std::move(item), base, number)});
  return views_.back().item;
}

Item Memory::root_of(const Item& item) {
  return item.location.view < 0 ? item : current(view(view(item.location.view).first).base);
}

template <class Condition>
std::vector<int> Memory::chain(const Item& item, Condition goes_on) {
  std::vector<int> views;
  for (int at = item.location.view; at >= 0 && goes_on(view(at)); at = view(at).base.location.view) {
    if (views.size() == MOST_VIEWS)
      throw Error(cat("views of memory that is written to are chained more than ", MOST_VIEWS, " deep"));
    views.push_back(at);
  }
  return views;
}

// What the first of the views shows, the last being one of the base.
Item Memory::replayed(const std::vector<int>& views, Item base) {
  for (const int number : views | std::views::reverse) {
    View& at = view(number);
    Context context = at.call->context;
    const Arguments arguments = with_first(context, at.call->arguments, base);
    const Item given = computed(at.call->row, arguments);
    at.base = std::move(base);
    at.item = seen(at.part < 0 ? given : given.get<Items>()->at(static_cast<std::size_t>(at.part)), at.base,
                   number);
    base = at.item;
  }
  return base;
}

Item Memory::current(const Item& item) {
  if (item.get<Items>() != nullptr)
    return for_each(item, [&](const Item& each, int) { return current(each); });
  if (item.location.memory == 0) return item;
  const Held& memory = held(item);
  if (!memory.changed.empty()) throw Error(memory.changed);
  if (item.location.version == memory.version) return item;
  const auto stale = chain(item, [&](const View& at) { return at.item.location.version != memory.version; });
  if (stale.empty()) return item.location.view < 0 ? memory.whole : view(item.location.view).item;
  const int before = view(stale.back()).base.location.view;
  return replayed(stale, before < 0 ? memory.whole : view(before).item);
}

Arguments Memory::current(const Arguments& call) {
  if (!writes_) return call;
  Items positional;
  for (const Item& item : call.positional()) positional.push_back(current(item));
  auto keywords = call.keywords();
  for (auto& [name, item] : keywords) item = current(item);
  return {call.context(), call.target(), std::move(positional), std::move(keywords)};
}

// The base of the view after a write of the value into it.
Item Memory::put(const Arguments& call, int number, const Item& value) {
  const View& at = view(number);
  const Row& row = at.call->row;
  if (row.put == nullptr || value.imaginary || at.base.imaginary)
    call.fail(cat("a tensor that ", row.name, " gave cannot be written to",
                  row.put == nullptr ? "" : " where it is complex"));
  Context context = at.call->context;
  const Arguments made = with_first(context, at.call->arguments, at.base);
  return {row.put({made, *value.get<Tensor>(), at.part})};
}

Item Memory::write(const Arguments& call, const Item& target, const Item& value) {
  if (target.location.memory == 0) call.fail("a constant cannot be written to");
  leave_unknown(call, target);
  Held& memory = held(target);
  std::vector<std::pair<int, Item>> written;
  Item whole{.value = value.value, .imaginary = value.imaginary};
  for (const int number : chain(target, [](const View&) { return true; })) {
    written.emplace_back(number, whole);
    whole = put(call, number, whole);
  }
  writes_ = true;
  whole.location = {target.location.memory, -1, ++memory.version};
  whole.copy = target.location.memory;
  Item base = memory.whole = laid_out(std::move(whole), memory.layout);
  for (auto& [number, item] : written | std::views::reverse) {
    view(number).item = seen(std::move(item), base, number);
    view(number).base = std::exchange(base, view(number).item);
  }
  return base;
}

// Memories that may be the one that is written hold what nobody knows.
void Memory::leave_unknown(const Arguments& call, const Item& written) {
  const auto kin = kin_.find(held(written).kin);
  if (kin == kin_.end()) return;
  for (const int number : kin->second) {
    if (number == written.location.memory) continue;
    Held& other = held_[static_cast<std::size_t>(number)];
    const std::string reason =
        cat("reshape, contiguous and their like give a view or a copy, which the text "
            "does not tell");
    if (other.parameter >= 0) call.fail(cat("may write to a parameter: ", reason));
    other.changed = cat("what is read may have been written by line ", call.context().line, ": ", reason);
  }
}

int Memory::written_parameter(const Item& item) const {
  const bool is_whole = item.get<Tensor>() != nullptr && item.location.memory != 0 && item.location.view < 0;
  return is_whole && held(item).version > 0 ? held(item).parameter : -1;
}

std::map<int, Tensor> Memory::written() const {
  std::map<int, Tensor> values;
  for (const Held& memory : held_) {
    if (memory.parameter < 0 || memory.version == 0) continue;
    const Item& whole = memory.whole;
    values.emplace(memory.parameter, whole.imaginary ? pairs_of(whole) : *whole.get<Tensor>());
  }
  return values;
}

Items Memory::sharing(Items results) {
  std::map<int, int> counts;
  for (const Item& item : results) ++counts[item.location.memory];
  for (Item& item : results) {
    const bool alone = counts.at(item.location.memory) == 1;
    if (alone || item.location.view < 0 || held(item).version == 0 || held(item).parameter >= 0) continue;
    const auto views = chain(item, [](const View&) { return true; });
    item = replayed(views, held(item).whole);
  }
  return results;
}

}  // namespace twinloom::fx
