// See seams.h.
#include "core/schedule/seams.h"

#include <algorithm>

#include "core/base/integers.h"
#include "core/index/simplify.h"
#include "core/schedule/tidy.h"

namespace twinloom::schedule {

using index::Expr;
using index::Less;
using loops::Loop;
using loops::Value;

namespace {

constexpr std::int64_t MOST_VALUES = 256;  // of a body: it is written once for each piece
constexpr int MOST_PIECES = 4;

// The two sides of a comparison of counts.
std::optional<Less> compared(const Value& value) {
  const auto* apply = std::get_if<loops::Apply>(&value.node);
  if (apply == nullptr || apply->op != ops::Pointwise::lt) return std::nullopt;
  const auto* a = std::get_if<loops::Count>(&apply->inputs[0]->node);
  const auto* b = std::get_if<loops::Count>(&apply->inputs[1]->node);
  if (a == nullptr || b == nullptr) return std::nullopt;
  return Less{a->expr, b->expr};
}

// The first turn in which it is not what it was in turn 0; nothing where more than the counter decides.
std::optional<std::int64_t> seam_of(const Less& less, index::Symbol counter) {
  const auto gap = index::linear_in(less.b - less.a, counter);
  const auto scale = gap ? index::constant_of(gap->scale) : std::nullopt;
  const auto rest = gap ? index::constant_of(gap->rest) : std::nullopt;
  if (!scale || !rest || *scale == 0) return std::nullopt;
  return *scale < 0 ? ceil_div(*rest, -*scale) : floor_div(-*rest, *scale) + 1;
}

// Inside the loop; nothing where no condition changes, or the body is long.
std::optional<std::int64_t> first_seam(const Loop& loop, std::int64_t turns) {
  std::optional<std::int64_t> first;
  std::int64_t values = 0;
  const auto see = [&](const Less& less) {
    const auto seam = seam_of(less, loop.axis);
    if (seam && *seam > 0 && *seam < turns && (!first || *seam < *first)) first = seam;
  };
  loops::for_each_value(*loop.body, [&](const Value& value) {
    ++values;
    if (const auto* load = std::get_if<loops::Load>(&value.node)) std::ranges::for_each(load->mask.all, see);
    if (const auto less = compared(value)) see(*less);
  });
  return values <= MOST_VALUES ? first : std::nullopt;
}

bool never_holds(const index::Condition& condition, const index::Facts& facts) {
  return std::ranges::any_of(condition.all,
                             [&](const Less& less) { return facts.proves_less(less.b - 1, less.a); });
}

// What the facts decide of conditions, decided.
Ref<Value> decided(const Ref<Value>& value, const index::Facts& facts) {
  if (const auto* load = std::get_if<loops::Load>(&value->node))
    return never_holds(load->mask, facts) ? loops::literal(load->otherwise.value, load->otherwise.dtype)
                                          : value;
  if (const auto less = compared(*value)) {
    if (facts.proves_less(less->a, less->b)) return loops::literal(ops::Number(1), ops::DType::b8);
    if (facts.proves_less(less->b - 1, less->a)) return loops::literal(ops::Number(0), ops::DType::b8);
  }
  const auto* apply = std::get_if<loops::Apply>(&value->node);
  if (apply == nullptr || apply->op != ops::Pointwise::where) return value;
  const auto* truth = std::get_if<loops::Literal>(&apply->inputs[0]->node);
  if (truth == nullptr) return value;
  return apply->inputs[truth->value.integer() != 0 ? 1 : 2];
}

class Cutter {
 public:
  Cutter(const Ref<Stmt>& whole, const index::Facts& facts, Names& names) : facts_(facts), names_(names) {
    loops::for_each_stmt(*whole, [&](const Stmt& stmt) {
      if (const auto* loop = std::get_if<Loop>(&stmt.node)) {
        if (!seen_.insert(loop->axis).second) shared_.insert(loop->axis);
        facts_.assume_below(loop->axis, loop->extent);
      }
      if (const auto* start = std::get_if<loops::Start>(&stmt.node))
        shared_.insert(start->copies.begin(), start->copies.end());
    });
  }

  Ref<Stmt> operator()(const Ref<Stmt>& stmt) {
    const auto* loop = std::get_if<Loop>(&stmt->node);
    if (loop == nullptr || loop->bind != loops::Bind::serial || has_shared(*stmt)) return stmt;
    std::vector<Ref<Stmt>> pieces;
    Ref<Stmt> rest = stmt;
    while (static_cast<int>(pieces.size()) + 1 < MOST_PIECES) {
      const auto& left = std::get<Loop>(rest->node);
      const auto turns = index::constant_of(left.extent);
      const auto seam = turns ? first_seam(left, *turns) : std::nullopt;
      if (!seam) break;
      pieces.push_back(piece(left.axis, *seam, left.body));
      const index::Symbol counter = names_.symbol(left.axis.name());
      const Ref<Stmt> body =
          loops::substitute(names_.freshen(left.body), {{left.axis, Expr(counter) + *seam}});
      rest = piece(counter, *turns - *seam, body);
    }
    if (pieces.empty()) return stmt;
    pieces.push_back(std::move(rest));
    return loops::block(std::move(pieces));
  }

 private:
  // Whether it is, or has inside, a loop that others speak of: a copy of it would have another counter.
  bool has_shared(const Stmt& stmt) const {
    bool found = false;
    loops::for_each_stmt(stmt, [&](const Stmt& inner) {
      const auto* loop = std::get_if<Loop>(&inner.node);
      found = found || (loop != nullptr && shared_.contains(loop->axis));
    });
    return found;
  }

  Ref<Stmt> piece(index::Symbol counter, const Expr& turns, const Ref<Stmt>& body) const {
    index::Facts facts = facts_;
    facts.assume_below(counter, turns);
    const Ref<Stmt> shorter = loops::rewrite_values(
        tidy(body, facts), [&](const Ref<Value>& value) { return decided(value, facts); });
    return loops::stmt(Loop{counter, turns, loops::Bind::serial, shorter});
  }

  index::Facts facts_;
  Names& names_;
  std::set<index::Symbol> seen_, shared_;
};

}  // namespace

Ref<Stmt> cut_at_seams(const Ref<Stmt>& stmt, const index::Facts& facts, Names& names) {
  Cutter cutter(stmt, facts, names);
  return loops::rewrite_stmts(stmt, std::ref(cutter));
}

}  // namespace twinloom::schedule
