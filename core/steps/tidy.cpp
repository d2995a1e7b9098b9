// See tidy.h. An axis is bound once, so facts of all loops never contradict each other.
#include "core/steps/tidy.h"

#include "core/loops/fields.h"
#include "core/loops/rewrite.h"

namespace twinloom::steps {

using loops::Ref;
using loops::Stmt;
using loops::Value;

namespace {

// lt of two counts, as short as the mask of a load that says the same.
Ref<Value> tidy_compared(const index::Less& less, const index::Simplifier& simplify) {
  const index::Condition shorter = simplify(index::Condition{{less}});
  if (shorter.all.empty()) return loops::literal(ops::Number(1), ops::DType::b8);
  if (index::never_holds(shorter)) return loops::literal(ops::Number(0), ops::DType::b8);
  return loops::apply(ops::Pointwise::lt,
                      {loops::count(shorter.all.front().a), loops::count(shorter.all.front().b)});
}

Ref<Value> tidy_load(const loops::Load& load, const index::Simplifier& simplify) {
  const index::Condition mask = simplify(load.mask);
  if (index::never_holds(mask)) return loops::literal(load.otherwise.value, load.otherwise.dtype);
  return loops::load(load.buffer, simplify(load.offset), mask, load.otherwise);
}

// The branch that a literal condition takes.
Ref<Value> tidy_apply(const Ref<Value>& value) {
  const auto& apply = std::get<loops::Apply>(value->node);
  if (apply.op != ops::Pointwise::where) return value;
  const auto* condition = std::get_if<loops::Literal>(&apply.inputs[0]->node);
  if (condition == nullptr) return value;
  return apply.inputs[condition->value.integer() != 0 ? 1 : 2];
}

Ref<Value> tidy_value(const Ref<Value>& value, const index::Simplifier& simplify) {
  return loops::rewrite(value, [&](const Ref<Value>& inner) -> Ref<Value> {
    if (const auto* number = std::get_if<loops::Count>(&inner->node))
      return loops::count(simplify(number->expr));
    if (const auto* load = std::get_if<loops::Load>(&inner->node)) return tidy_load(*load, simplify);
    if (const auto less = loops::compared_counts(*inner)) return tidy_compared(*less, simplify);
    return std::holds_alternative<loops::Apply>(inner->node) ? tidy_apply(inner) : inner;
  });
}

// The fields of one statement, not of those inside it.
class Tidier {
 public:
  explicit Tidier(const index::Simplifier& simplify) : simplify_(simplify) {}

  // A block has no fields of its own, and the arguments of a routine are simple already.
  Ref<Stmt> tidied(const Ref<Stmt>& stmt) const {
    if (std::holds_alternative<loops::Block>(stmt->node) || std::holds_alternative<loops::Call>(stmt->node))
      return stmt;
    return std::visit(
        [&](auto node) {
          loops::for_each_field(node, *this);
          return loops::stmt(std::move(node));
        },
        stmt->node);
  }

  void operator()(index::Expr& expr) const { expr = simplify_(expr); }
  void operator()(index::Condition& condition) const { condition = simplify_(condition); }
  void operator()(Ref<Value>& value) const { value = tidy_value(value, simplify_); }
  void operator()(std::vector<Ref<Value>>& values) const {
    for (Ref<Value>& value : values) (*this)(value);
  }
  template <class Other>
  void operator()(Other&) const {}

 private:
  const index::Simplifier& simplify_;
};

}  // namespace

index::Facts facts_inside(const Stmt& stmt, index::Facts facts) {
  loops::for_each_stmt(stmt, [&](const Stmt& inner) {
    if (const auto* loop = std::get_if<loops::Loop>(&inner.node))
      facts.assume_below(loop->axis, index::simplify(loop->extent, facts));
  });
  return facts;
}

Ref<Stmt> tidy(const Ref<Stmt>& stmt, const index::Simplifier& simplify) {
  const Tidier tidier(simplify);
  return loops::rewrite_stmts(stmt, [&](const Ref<Stmt>& inner) { return tidier.tidied(inner); });
}

}  // namespace twinloom::steps
