// See reuse.h. Two values are the same when they are equal with every Let put in its place and the counters
// of both siblings' loops called the same.
#include "core/schedule/reuse.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/loops/rewrite.h"
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

int work_of_value(const Ref<Value>& value) { return work_of({loops::stmt(loops::Let{Temp{0}, value})}); }

bool walks(const Value& value) {
  bool found = false;
  loops::for_each_value(value, [&](const Value& part) {
    const auto* load = std::get_if<loops::Load>(&part.node);
    found = found || (load != nullptr && index::mentions(load->offset, place()));
  });
  return found;
}

// A sibling of one loop, and what its values are without Lets.
class Body {
 public:
  Body(const loops::Sibling& sibling, const index::Facts& facts) : sibling_(sibling) {
    for (const Ref<Stmt>& stmt : sibling.inner) {
      usable_ = usable_ && !std::holds_alternative<loops::Index>(stmt->node) &&
                !std::holds_alternative<loops::Scan>(stmt->node);
      if (const auto* let = std::get_if<loops::Let>(&stmt->node); let != nullptr && usable_)
        lets_.emplace(let->temp, expand(let->value));
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
    return loops::substitute(expanded, {{sibling_.loops.front().axis, index::Expr(place())}});
  }

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
  const loops::Sibling& sibling_;
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
};

// The dearest value that a sibling computes after another one has.
std::optional<Shared> most_expensive(const std::vector<const loops::Sibling*>& siblings,
                                     const index::Facts& facts) {
  std::vector<std::pair<Body, std::vector<Ref<Value>>>> before;
  std::optional<Shared> best;
  int most = LEAST_KEPT_WORK - 1;
  for (const loops::Sibling* sibling : siblings) {
    before.emplace_back(Body(*sibling, facts), std::vector<Ref<Value>>());
    auto& [body, parts] = before.back();
    if (body.is_usable())
      for (const Ref<Value>& root : body.roots()) add_parts(root, parts);
    if (!body.is_usable()) parts.clear();
    for (const Ref<Value>& part : parts) {
      const int work = work_of_value(part);
      for (std::size_t first = 0; first + 1 < before.size() && work > most; ++first) {
        const auto& [other, known] = before[first];
        if (!is_among(known, *part) || !(other.extent() == body.extent())) continue;
        best = Shared{first, part};
        most = work;
      }
    }
  }
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
    Kept kept{nest_, loops::Buffer{static_cast<std::uint32_t>(nest_.buffers.size())}, 0,
              work_of_value(shared_.value)};
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
  std::vector<Ref<Stmt>> replaced(const loops::Sibling& sibling, const Ref<Value>& by, Ref<Value>& form,
                                  std::size_t& first) const {
    Body body(sibling, facts_);
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
    Ref<Value> form;
    std::size_t first = 0;
    sibling.inner = replaced(sibling, loops::read(temp_), form, first);
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

  void use(loops::Sibling& sibling, loops::Buffer array) const {
    if (!Body(sibling, facts_).is_usable() || sibling.loops.front().extent != extent()) return;
    Ref<Value> form;
    std::size_t first = 0;
    const auto zero = loops::Literal{ops::cast(ops::Number(0), dtype_), dtype_};
    sibling.inner = replaced(sibling, loops::load(array, sibling.loops.front().axis, {}, zero), form, first);
    sibling.inner = without_unread(std::move(sibling.inner));
  }

  index::Expr extent() const { return siblings_of(shape_)[shared_.first]->loops.front().extent; }

  const loops::Program& nest_;
  loops::Nest shape_;
  index::Facts facts_;
  Shared shared_;
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
