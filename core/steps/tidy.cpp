// See tidy.h. An axis is bound once, so facts of all loops never contradict each other.
#include "core/steps/tidy.h"

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

// The expressions of one statement, not of those inside it.
class Tidier {
 public:
  explicit Tidier(const index::Simplifier& simplify) : simplify_(simplify) {}

  Ref<Stmt> operator()(const Ref<Stmt>& stmt) const {
    return std::visit([&](auto node) { return finish(std::move(node), stmt); }, stmt->node);
  }

 private:
  void tidy(index::Expr& expr) const { expr = simplify_(expr); }
  void tidy(index::Condition& condition) const { condition = simplify_(condition); }
  void tidy(Ref<Value>& value) const { value = tidy_value(value, simplify_); }
  void tidy(std::vector<Ref<Value>>& values) const {
    for (Ref<Value>& value : values) tidy(value);
  }
  template <class... Fields>
  void tidy_all(Fields&... fields) const {
    (tidy(fields), ...);
  }

  Ref<Stmt> finish(loops::Loop node, const Ref<Stmt>&) const {
    tidy(node.extent);
    return loops::stmt(std::move(node));
  }
  Ref<Stmt> finish(loops::Let node, const Ref<Stmt>&) const {
    tidy(node.value);
    return loops::stmt(std::move(node));
  }
  Ref<Stmt> finish(loops::Index node, const Ref<Stmt>&) const {
    tidy_all(node.value, node.bound, node.mask);
    return loops::stmt(std::move(node));
  }
  Ref<Stmt> finish(loops::Store node, const Ref<Stmt>&) const {
    tidy_all(node.offset, node.mask, node.value);
    return loops::stmt(std::move(node));
  }
  Ref<Stmt> finish(loops::Accumulate node, const Ref<Stmt>&) const {
    tidy_all(node.values, node.place, node.mask);
    return loops::stmt(std::move(node));
  }
  Ref<Stmt> finish(loops::Scan node, const Ref<Stmt>&) const {
    tidy_all(node.values, node.place);
    return loops::stmt(std::move(node));
  }
  Ref<Stmt> finish(loops::Merge node, const Ref<Stmt>&) const {
    tidy_all(node.values, node.mask);
    return loops::stmt(std::move(node));
  }
  Ref<Stmt> finish(loops::Push node, const Ref<Stmt>&) const {
    tidy_all(node.number, node.mask);
    return loops::stmt(std::move(node));
  }
  Ref<Stmt> finish(loops::Fold node, const Ref<Stmt>&) const {
    tidy(node.count);
    return loops::stmt(std::move(node));
  }
  Ref<Stmt> finish(loops::Scratch node, const Ref<Stmt>&) const {
    tidy(node.count);
    return loops::stmt(std::move(node));
  }
  Ref<Stmt> finish(loops::Prefetch node, const Ref<Stmt>&) const {
    tidy_all(node.offset, node.count, node.mask);
    return loops::stmt(std::move(node));
  }
  Ref<Stmt> finish(loops::LastBlock node, const Ref<Stmt>&) const {
    tidy(node.offset);
    return loops::stmt(std::move(node));
  }
  // What has no expression of its own.
  Ref<Stmt> finish(const loops::Block&, const Ref<Stmt>& stmt) const { return stmt; }
  Ref<Stmt> finish(const loops::Start&, const Ref<Stmt>& stmt) const { return stmt; }
  Ref<Stmt> finish(const loops::Combine&, const Ref<Stmt>& stmt) const { return stmt; }
  Ref<Stmt> finish(const loops::Prefix&, const Ref<Stmt>& stmt) const { return stmt; }
  Ref<Stmt> finish(const loops::Sync&, const Ref<Stmt>& stmt) const { return stmt; }
  Ref<Stmt> finish(const loops::Call&, const Ref<Stmt>& stmt) const { return stmt; }

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
  return loops::rewrite_stmts(stmt, std::ref(tidier));
}

}  // namespace twinloom::steps
