// See reuse.h. Two values are the same when they are equal with every Let put in its place, the counters of
// both siblings' loops called the same, and the symbols of equal Index statements too.
#include "core/schedule/reuse.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/loops/rewrite.h"
#include "core/ops/cost.h"
#include "core/schedule/accesses.h"
#include "core/schedule/constants.h"
#include "core/schedule/plan.h"
#include "core/steps/fresh.h"

namespace twinloom::schedule {

using loops::Ref;
using loops::Stmt;
using loops::Temp;
using loops::Value;

namespace {

const index::Symbol& place() {
  static const index::Symbol symbol("reused.place");
  return symbol;
}

// `found` are the symbols of places that are looked up, where memory answers late and each element is alone.
int work_of_value(const Ref<Value>& value, const std::set<index::Symbol>& found) {
  int work = work_of({loops::stmt(loops::Let{Temp{0}, value})});
  loops::for_each_value(*value, [&](const Value& part) {
    const auto* load = std::get_if<loops::Load>(&part.node);
    const bool is_found = load != nullptr && std::ranges::any_of(found, [&](const index::Symbol& symbol) {
                            return index::mentions(load->offset, symbol);
                          });
    if (is_found) work += LOOKED_UP_WORK;
  });
  return work;
}

bool walks(const Value& value) { return loops::symbols_of(value).contains(place()); }

// Whether a vector loads neighbours of a type that it computes with.
bool is_plain(const loops::Load& load, ops::DType dtype) {
  const auto stride = index::constant_scale_in(load.offset, place());
  return dtype != ops::DType::b8 && stride && (*stride == 0 || *stride == 1);
}

// Of that work, what is no plain load, with conversions and offsets that are numbers.
int computed_of(int work, const Ref<Value>& value, const loops::Types& types) {
  constexpr int NOT_PLAIN = 2;
  loops::for_each_value(*value, [&](const Value& part) {
    if (std::holds_alternative<loops::Count>(part.node) && walks(part)) ++work;
    if (const auto* load = std::get_if<loops::Load>(&part.node))
      work += (is_plain(*load, types.of(part)) ? 0 : NOT_PLAIN) - 1;
    if (const auto* convert = std::get_if<loops::Convert>(&part.node))
      work += ops::conversion_cost(types.of(*convert->input), convert->to);
  });
  return work;
}

// The Index statements of several siblings: a symbol for all that are equal but for theirs.
class Lookups {
 public:
  // In the terms of all siblings.
  index::Symbol symbol_of(loops::Index lookup) {
    for (const Ref<Stmt>& known : known_) {
      lookup.symbol = std::get<loops::Index>(known->node).symbol;
      if (loops::equal(*known, *loops::stmt(lookup))) return lookup.symbol;
    }
    lookup.symbol = index::Symbol(cat("reused.found", known_.size()));
    known_.push_back(loops::stmt(lookup));
    symbols_.insert(lookup.symbol);
    return lookup.symbol;
  }
  const std::set<index::Symbol>& symbols() const { return symbols_; }

 private:
  std::vector<Ref<Stmt>> known_;
  std::set<index::Symbol> symbols_;
};

// A sibling of one loop, and what its values are without Lets.
class Body {
 public:
  Body(const loops::Sibling& sibling, const index::Facts& facts, Lookups& lookups) : sibling_(sibling) {
    common_.emplace(sibling_.loops.front().axis, index::Expr(place()));
    for (const Ref<Stmt>& stmt : sibling.inner) {
      usable_ = usable_ && !std::holds_alternative<loops::Scan>(stmt->node);
      if (!usable_) break;
      if (const auto* let = std::get_if<loops::Let>(&stmt->node))
        lets_.emplace(let->temp, expand(let->value));
      if (const auto* index = std::get_if<loops::Index>(&stmt->node)) add(*index, lookups);
    }
    usable_ = usable_ && sibling.loops.size() == 1 && most_of(facts, sibling.loops.front().extent);
  }

  bool is_usable() const { return usable_ && nodes_ <= MOST_KEPT_NODES; }
  const index::Expr& extent() const { return sibling_.loops.front().extent; }

  // A value that becomes too large stays as it is.
  Ref<Value> expand(const Ref<Value>& value) {
    std::size_t nodes = 0;
    const auto expanded = loops::rewrite(value, [&](const Ref<Value>& old) {
      ++nodes_;
      if (++nodes > MOST_KEPT_NODES) return old;
      const auto* read = std::get_if<loops::Read>(&old->node);
      const auto let = read != nullptr ? lets_.find(read->temp) : lets_.end();
      return let != lets_.end() ? let->second : old;
    });
    return loops::substitute(expanded, common_);
  }

  // The symbols of its Index statements, by those of all siblings.
  const std::map<index::Symbol, index::Symbol>& found() const { return found_; }

  // Of every statement but the Lets, which their readers stand for.
  std::vector<Ref<Value>> roots() {
    std::vector<Ref<Value>> result;
    for (const Ref<Stmt>& stmt : sibling_.inner) {
      if (const auto* store = std::get_if<loops::Store>(&stmt->node)) result.push_back(expand(store->value));
      if (const auto* total = std::get_if<loops::Accumulate>(&stmt->node))
        for (const Ref<Value>& value : total->values) result.push_back(expand(value));
    }
    return result;
  }

 private:
  void add(const loops::Index& index, Lookups& lookups) {
    loops::Index lookup = index;
    lookup.value = expand(index.value);
    lookup.bound = index::substitute(index.bound, common_);
    lookup.mask = index::substitute(index.mask, common_);
    const index::Symbol shared = lookups.symbol_of(std::move(lookup));
    found_.emplace(shared, index.symbol);
    common_.emplace(index.symbol, index::Expr(shared));
  }

  const loops::Sibling& sibling_;
  index::Substitution common_;  // of its symbols by those of all siblings
  std::map<index::Symbol, index::Symbol> found_;
  std::map<Temp, Ref<Value>> lets_;
  std::size_t nodes_ = 0;
  bool usable_ = true;
};

bool is_among(const std::vector<Ref<Value>>& values, const Value& value) {
  return std::ranges::any_of(values, [&](const Ref<Value>& one) { return loops::equal(*one, value); });
}

// The value and everything that it is computed from, each once.
void add_parts(const Ref<Value>& value, std::vector<Ref<Value>>& parts) {
  loops::rewrite(value, [&](const Ref<Value>& part) {
    if (!is_among(parts, *part) && std::holds_alternative<loops::Apply>(part->node) && walks(*part))
      parts.push_back(part);
    return part;
  });
}

struct Shared {
  std::size_t first = 0;  // the sibling that computes it first
  Ref<Value> value;
  Lookups lookups;  // that name what it looks up
};

// The dearest value that a sibling computes after another one has.
std::optional<Shared> most_expensive(const std::vector<const loops::Sibling*>& siblings,
                                     const index::Facts& facts) {
  std::vector<std::pair<Body, std::vector<Ref<Value>>>> before;
  Lookups lookups;
  std::optional<Shared> best;
  int most = LEAST_KEPT_WORK - 1;
  for (const loops::Sibling* sibling : siblings) {
    before.emplace_back(Body(*sibling, facts, lookups), std::vector<Ref<Value>>());
    auto& [body, parts] = before.back();
    if (body.is_usable())
      for (const Ref<Value>& root : body.roots()) add_parts(root, parts);
    if (!body.is_usable()) parts.clear();
    for (const Ref<Value>& part : parts) {
      const int work = work_of_value(part, lookups.symbols());
      for (std::size_t first = 0; first + 1 < before.size() && work > most; ++first) {
        const auto& [other, known] = before[first];
        if (!is_among(known, *part) || !(other.extent() == body.extent())) continue;
        best = Shared{first, part, {}};
        most = work;
      }
    }
  }
  if (best) best->lookups = std::move(lookups);
  return best;
}

class Keeper {
 public:
  Keeper(const loops::Program& nest, Shared shared)
      : nest_(nest),
        shape_(loops::take_apart(nest)),
        facts_(loops::facts_of(nest)),
        shared_(std::move(shared)),
        temp_(loops::next_temp(nest)) {}

  Kept run() {
    const int work = work_of_value(shared_.value, shared_.lookups.symbols());
    Kept kept{nest_, loops::Buffer{static_cast<std::uint32_t>(nest_.buffers.size())}, 0, work,
              computed_of(work, shared_.value, loops::Types(nest_))};
    std::size_t number = 0;
    for (loops::Item& item : shape_.items) {
      auto* sibling = std::get_if<loops::Sibling>(&item);
      if (sibling == nullptr) continue;
      if (number == shared_.first) keep(*sibling, kept);
      if (number > shared_.first) use(*sibling, kept.array);
      ++number;
    }
    kept.nest.body = loops::put_together(shape_);
    return kept;
  }

 private:
  // Puts `by` in place of the value in every statement; `form` becomes the value as it was written.
  std::vector<Ref<Stmt>> replaced(const loops::Sibling& sibling, Body& body, const Ref<Value>& by,
                                  Ref<Value>& form, std::size_t& first) const {
    std::vector<Ref<Stmt>> result;
    for (const Ref<Stmt>& stmt : sibling.inner) {
      result.push_back(loops::rewrite_values(stmt, [&](const Ref<Value>& old) {
        if (!std::holds_alternative<loops::Apply>(old->node) ||
            !loops::equal(*body.expand(old), *shared_.value))
          return old;
        if (form == nullptr) first = result.size();
        if (form == nullptr) form = old;
        return by;
      }));
    }
    return result;
  }

  void keep(loops::Sibling& sibling, Kept& kept) {
    const loops::NestLoop& loop = sibling.loops.front();
    Body body(sibling, facts_, shared_.lookups);
    found_first_ = body.found();
    Ref<Value> form;
    std::size_t first = 0;
    sibling.inner = replaced(sibling, body, loops::read(temp_), form, first);
    CHECK(form != nullptr, "a shared value is not in its sibling");
    dtype_ = loops::Types(nest_).of(*form);
    kept.count = *most_of(facts_, loop.extent);
    kept.nest.buffers.push_back(
        {steps::fresh_buffer_name(nest_.buffers, "kept"), dtype_, kept.count, true, true});
    const Ref<Stmt> made[] = {
        loops::stmt(loops::Let{temp_, form}),
        loops::stmt(loops::Store{kept.array, loop.axis, {}, loops::read(temp_), loops::Update::replace})};
    sibling.inner.insert(sibling.inner.begin() + static_cast<std::ptrdiff_t>(first), std::begin(made),
                         std::end(made));
    sibling.inner = without_unread(std::move(sibling.inner));
  }

  void use(loops::Sibling& sibling, loops::Buffer array) {
    Body body(sibling, facts_, shared_.lookups);
    if (!body.is_usable() || sibling.loops.front().extent != extent()) return;
    Ref<Value> form;
    std::size_t first = 0;
    const auto zero = loops::Literal{ops::cast(ops::Number(0), dtype_), dtype_};
    sibling.inner =
        replaced(sibling, body, loops::load(array, sibling.loops.front().axis, {}, zero), form, first);
    sibling.inner = without_unread(std::move(sibling.inner));
    for (const auto& [shared, symbol] : body.found())
      if (found_first_.contains(shared)) remove_unused(sibling, symbol);
  }
  // An Index that the first sibling has checked.
  static void remove_unused(loops::Sibling& sibling, const index::Symbol& symbol) {
    const auto defines = [&](const Ref<Stmt>& stmt) {
      const auto* index = std::get_if<loops::Index>(&stmt->node);
      return index != nullptr && index->symbol == symbol;
    };
    const bool is_used = std::ranges::any_of(sibling.inner, [&](const Ref<Stmt>& stmt) {
      return !defines(stmt) && loops::symbols_of(*stmt).contains(symbol);
    });
    if (!is_used) std::erase_if(sibling.inner, defines);
  }

  index::Expr extent() const { return siblings_of(shape_)[shared_.first]->loops.front().extent; }

  const loops::Program& nest_;
  loops::Nest shape_;
  index::Facts facts_;
  Shared shared_;
  std::map<index::Symbol, index::Symbol> found_first_;  // by the first sibling
  Temp temp_;
  ops::DType dtype_ = ops::DType::f32;
};

}  // namespace

std::optional<Kept> keep_value(const loops::Program& nest) {
  const loops::Nest shape = loops::take_apart(nest);
  const auto shared = most_expensive(siblings_of(shape), loops::facts_of(nest));
  if (!shared) return std::nullopt;
  return Keeper(nest, *shared).run();
}

}  // namespace twinloom::schedule
