// See share.h. Three walks: number the values and find where each belongs, count their uses, write the
// statements again.
#include "core/lower/share.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/index/simplify.h"
#include "core/loops/rewrite.h"
#include "core/lower/intern.h"
#include "core/lower/symbols.h"

namespace twinloom::lower {

using namespace loops;

namespace {

constexpr int outside = -1;  // the place of what stands among the items; else the number of a sibling

// One statement that is kept, with the values that it uses in the order in which it holds them.
struct Step {
  int from = outside;   // where it was
  int place = outside;  // where it goes: the same, or outside
  Ref<Stmt> stmt;
  std::vector<int> values;
};

class Sharing {
 public:
  Sharing(const Nest& nest, const index::Facts& sizes)
      : sizes_(sizes),
        facts_(facts_of(nest, sizes)),
        interner_([this](const index::Expr& expr) { return tidy(expr); },
                  [this](const index::Condition& mask) { return tidy(mask); }),
        nest_(nest) {}

  Nest run() {
    read_steps();
    uses_.resize(levels_.size(), 0);
    forced_.resize(levels_.size(), false);
    for (const Step& step : steps_)
      for (const int value : step.values) use(value, step.place);
    return write();
  }

 private:
  static std::size_t at(int value) { return static_cast<std::size_t>(value); }

  index::Expr tidy(const index::Expr& expr) {
    return index::simplify(index::substitute(expr, merged_), facts_);
  }
  index::Condition tidy(const index::Condition& mask) {
    return index::simplify(index::substitute(mask, merged_), facts_);
  }

  // The first walk.
  void read_steps();
  void take_in(const Ref<Stmt>& stmt, int place);
  void read_index(const Index& index, int place);
  index::Condition has_turns(const Sibling& sibling) const;
  void add_step(int place, Ref<Stmt> stmt, const std::vector<Ref<Value>>& values);
  int place_of(const std::set<index::Symbol>& symbols) const;
  int place_of(const Value& value) const;
  int number(const Ref<Value>& value);

  // The second.
  void use(int value, int from);
  // The third.
  Nest write();
  Ref<Value> emit(int value, std::vector<Ref<Stmt>>& inner);
  Ref<Value> rebuild(int value, std::vector<Ref<Stmt>>& inner);
  Ref<Stmt> emit(const Step& step, std::vector<Ref<Stmt>>& inner);
  Temp define(Temp temp) { return temps_[temp] = Temp{next_temp_++}; }

  const index::Facts& sizes_;
  index::Facts facts_;
  index::Substitution merged_;  // Index symbols by the equal one that is kept
  Interner interner_;
  const Nest& nest_;
  std::vector<Step> steps_;
  std::map<index::Symbol, int> symbol_places_;
  std::vector<index::Condition> turns_;  // of each sibling so far
  std::map<Temp, int> temp_places_;
  std::map<std::string, index::Symbol> indexes_;  // by what they say and where they stand
  std::vector<int> levels_, uses_;
  std::vector<bool> forced_;
  std::map<int, Temp> named_;  // values that a Let has named
  std::map<Temp, Temp> temps_;
  std::uint32_t next_temp_ = 0;
  std::vector<Item> items_;
};

void Sharing::read_steps() {
  int number = 0;
  for (const Item& item : nest_.items) {
    if (const auto* stmt = std::get_if<Ref<Stmt>>(&item)) {
      take_in(*stmt, outside);
      continue;
    }
    const Sibling& sibling = std::get<Sibling>(item);
    for (const NestLoop& loop : sibling.loops) symbol_places_[loop.axis] = number;
    turns_.push_back(has_turns(sibling));
    for (const Ref<Stmt>& stmt : sibling.inner) take_in(stmt, number);
    ++number;
  }
}

// That the loops of the sibling have turns, as far as sizes do not say so.
index::Condition Sharing::has_turns(const Sibling& sibling) const {
  index::Condition condition;
  for (const NestLoop& loop : sibling.loops)
    if (!sizes_.proves_less(0, loop.extent)) condition.all.push_back({0, loop.extent});
  return condition;
}

void Sharing::add_step(int place, Ref<Stmt> stmt, const std::vector<Ref<Value>>& values) {
  Step step{place, place, std::move(stmt), {}};
  for (const Ref<Value>& value : values) step.values.push_back(number(value));
  steps_.push_back(std::move(step));
}

void Sharing::take_in(const Ref<Stmt>& stmt, int place) {
  const auto wrong = [](const char* kind) { CHECK(false, "a ", kind, " stands in a nest"); };
  match(
      *stmt, [&](const Let& let) { interner_.name(let.temp, number(let.value)); },
      [&](const Index& index) { read_index(index, place); },
      [&](const Store& store) { add_step(place, stmt, {store.value}); },
      [&](const Start&) { add_step(place, stmt, {}); },
      [&](const Accumulate& accumulate) { add_step(place, stmt, accumulate.values); },
      [&](const Scan& scan) {
        temp_places_[scan.result] = place;
        add_step(place, stmt, scan.values);
      },
      [&](const Block&) { wrong("Block"); }, [&](const Loop&) { wrong("Loop"); },
      [&](const Merge&) { wrong("Merge"); }, [&](const Combine&) { wrong("Combine"); },
      [&](const Push&) { wrong("Push"); }, [&](const Fold&) { wrong("Fold"); },
      [&](const Prefix&) { wrong("Prefix"); }, [&](const Scratch&) { wrong("Scratch"); },
      [&](const Prefetch&) { wrong("Prefetch"); }, [&](const Sync&) { wrong("Sync"); },
      [&](const LastBlock&) { wrong("LastBlock"); }, [&](const Call&) { wrong("Call"); });
}

// An Index moves out as far as its value and mask allow, where it still asks nothing unless the sibling has
// turns; one that says the same as an earlier one that it can see is that one.
void Sharing::read_index(const Index& index, int place) {
  const int value = number(index.value);
  index::Condition mask = tidy(index.mask);
  const index::Expr bound = tidy(index.bound);
  const int deepest =
      std::max({levels_[at(value)], place_of(index::symbols_of(mask)), place_of(index::symbols_of(bound))});
  const int home = deepest == outside ? outside : place;
  if (home != place) mask = tidy(mask && turns_[at(place)]);
  const auto key = [&](int where) {
    return cat(where, "|", value, "|", bound, "|", mask, "|", index.negative_wraps ? 1 : 0);
  };
  for (const int where : {outside, home}) {
    if (const auto known = indexes_.find(key(where)); known != indexes_.end()) {
      merged_[index.symbol] = index::Expr(known->second);
      return;
    }
  }
  indexes_.emplace(key(home), index.symbol);
  symbol_places_[index.symbol] = home;
  steps_.push_back({place,
                    home,
                    stmt(Index{index.symbol, index.value, bound, mask, index.negative_wraps, index.node}),
                    {value}});
}

int Sharing::place_of(const std::set<index::Symbol>& symbols) const {
  int place = outside;
  for (const index::Symbol& symbol : symbols) {
    if (const auto found = symbol_places_.find(symbol); found != symbol_places_.end())
      place = std::max(place, found->second);
  }
  return place;
}

int Sharing::place_of(const Value& value) const {
  return match(
      value, [](const Literal&) { return outside; },
      [&](const Count& count) { return place_of(index::symbols_of(count.expr)); },
      [&](const Read& read) {
        const auto found = temp_places_.find(read.temp);
        return found == temp_places_.end() ? outside : found->second;
      },
      [&](const Load& load) {
        return std::max(place_of(index::symbols_of(load.offset)), place_of(index::symbols_of(load.mask)));
      },
      [](const Apply&) { return outside; }, [](const Convert&) { return outside; });
}

// The value's number. The levels of it and of its inputs are known from here on.
int Sharing::number(const Ref<Value>& value) {
  const int result = interner_.intern(value);
  while (static_cast<int>(levels_.size()) < interner_.count()) {
    const Interner::Known& known = interner_[static_cast<int>(levels_.size())];
    int level = place_of(*known.value);
    for (const int input : known.inputs) level = std::max(level, levels_[at(input)]);
    levels_.push_back(level);
  }
  return result;
}

void Sharing::use(int value, int from) {
  const bool narrow = is_narrow(*interner_[value].value);
  const bool plain = is_plain(*interner_[value].value);
  const int level = levels_[at(value)];
  // What cannot be named is written again at each use, so its inputs are used that often.
  if (narrow) {
    for (const int input : interner_[value].inputs) use(input, from);
    return;
  }
  if (level == outside && from != outside && !plain) forced_[at(value)] = true;
  if (++uses_[at(value)] > 1) return;
  for (const int input : interner_[value].inputs) use(input, level);
}

Ref<Value> Sharing::rebuild(int value, std::vector<Ref<Stmt>>& inner) {
  const Interner::Known& known = interner_[value];
  std::vector<Ref<Value>> inputs;
  for (const int input : known.inputs) inputs.push_back(emit(input, inner));
  return match(
      *known.value, [&](const Literal&) { return known.value; }, [&](const Count&) { return known.value; },
      [&](const Read& from) {
        const auto renamed = temps_.find(from.temp);
        CHECK(renamed != temps_.end(), "t", from.temp.index, " is read before it is defined");
        return loops::read(renamed->second, from.part);
      },
      [&](const Load&) { return known.value; },
      [&](const Apply& apply) { return loops::apply(apply.op, inputs); },
      [&](const Convert& convert) {
        return std::make_shared<const Value>(Value{Convert{convert.to, inputs.front()}});
      });
}

// The value where it is used, with the Lets that it needs put before: among the items when it does not
// depend on the sibling that is being written, else in the sibling.
Ref<Value> Sharing::emit(int value, std::vector<Ref<Stmt>>& inner) {
  if (const auto named = named_.find(value); named != named_.end()) return loops::read(named->second);
  const Ref<Value> rebuilt = rebuild(value, inner);
  const bool nameable = !is_plain(*interner_[value].value) && !is_narrow(*interner_[value].value);
  if (!nameable || (uses_[at(value)] < 2 && !forced_[at(value)])) return rebuilt;
  const Temp temp{next_temp_++};
  const Ref<Stmt> let = stmt(Let{temp, rebuilt});
  if (levels_[at(value)] == outside) {
    items_.emplace_back(let);
  } else {
    inner.push_back(let);
  }
  named_[value] = temp;
  return loops::read(temp);
}

Ref<Stmt> Sharing::emit(const Step& step, std::vector<Ref<Stmt>>& inner) {
  std::vector<Ref<Value>> values;
  for (const int value : step.values) values.push_back(emit(value, inner));
  if (const auto* index = std::get_if<Index>(&step.stmt->node)) {
    Index copy = *index;
    copy.value = values.front();
    return stmt(std::move(copy));
  }
  if (const auto* store = std::get_if<Store>(&step.stmt->node))
    return stmt(Store{store->buffer, tidy(store->offset), tidy(store->mask), values.front(), store->update});
  if (const auto* start = std::get_if<Start>(&step.stmt->node)) {
    Start copy = *start;
    copy.total = define(start->total);
    return stmt(std::move(copy));
  }
  if (const auto* accumulate = std::get_if<Accumulate>(&step.stmt->node))
    return stmt(Accumulate{temps_.at(accumulate->total), values, tidy(accumulate->place)});
  const Scan& scan = std::get<Scan>(step.stmt->node);
  const Temp total = temps_.at(scan.total);
  return stmt(Scan{define(scan.result), total, values, tidy(scan.place), scan.exclusive});
}

Nest Sharing::write() {
  std::vector<Sibling> siblings;
  for (const Item& item : nest_.items) {
    if (const auto* sibling = std::get_if<Sibling>(&item)) siblings.push_back({sibling->loops, {}});
  }
  // A sibling is put among the items when the next statement that is not its own comes.
  int open = outside;
  const auto close = [&] {
    if (open != outside && !siblings[at(open)].inner.empty()) items_.emplace_back(siblings[at(open)]);
    open = outside;
  };
  for (const Step& step : steps_) {
    if (step.from != open) {
      close();
      open = step.from;
    }
    if (step.place == outside) {
      std::vector<Ref<Stmt>> none;
      Ref<Stmt> written = emit(step, none);
      items_.emplace_back(std::move(written));
    } else {
      std::vector<Ref<Stmt>>& inner = siblings[at(open)].inner;
      Ref<Stmt> written = emit(step, inner);
      inner.push_back(std::move(written));
    }
  }
  close();
  Nest result{nest_.common, std::move(items_)};
  for (NestLoop& loop : result.common) loop.extent = tidy(loop.extent);
  for (Item& item : result.items) {
    if (auto* sibling = std::get_if<Sibling>(&item))
      for (NestLoop& loop : sibling->loops) loop.extent = tidy(loop.extent);
  }
  return result;
}

}  // namespace

bool is_call(const Nest& nest) {
  if (nest.items.size() != 1) return false;
  const auto* only = std::get_if<Ref<Stmt>>(&nest.items.front());
  return only != nullptr && std::holds_alternative<Call>((*only)->node);
}

void assume_axis(index::Facts& facts, Axis axis, const index::Expr& extent) {
  facts.assume_below(axis, extent);
}

index::Facts facts_of(const Nest& nest, const index::Facts& sizes) {
  index::Facts facts = sizes;
  for_each_stmt(*put_together(nest), [&](const Stmt& stmt) {
    if (const auto* loop = std::get_if<Loop>(&stmt.node)) assume_axis(facts, loop->axis, loop->extent);
    if (const auto* index = std::get_if<Index>(&stmt.node)) assume_axis(facts, index->symbol, index->bound);
  });
  return facts;
}

Nest share(const Nest& nest, const index::Facts& sizes) {
  if (is_call(nest)) return nest;
  return with_short_names(Sharing(nest, sizes).run());
}

}  // namespace twinloom::lower
