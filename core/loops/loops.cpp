// The makers of values and statements. See loops.h.
#include "core/loops/loops.h"

#include <utility>

#include "core/base/error.h"

namespace twinloom::loops {

namespace {

template <class Node>
Ref<Value> value(Node node) {
  return std::make_shared<const Value>(Value{std::move(node)});
}

void append_flat(const Ref<Stmt>& stmt, std::vector<Ref<Stmt>>& flat) {
  const auto* block = std::get_if<Block>(&stmt->node);
  if (block == nullptr) {
    flat.push_back(stmt);
    return;
  }
  for (const Ref<Stmt>& inner : block->stmts) append_flat(inner, flat);
}

std::optional<ops::DType> type_of_apply(const Apply& apply) {
  std::vector<ops::DType> inputs;
  for (const Ref<Value>& input : apply.inputs) {
    const auto dtype = type_of(*input);
    if (!dtype) return std::nullopt;
    inputs.push_back(*dtype);
  }
  return ops::result_type(apply.op, inputs);
}

}  // namespace

template <class Node>
Ref<Stmt> stmt(Node node) {
  return std::make_shared<const Stmt>(Stmt{std::move(node)});
}
template Ref<Stmt> stmt(Block);
template Ref<Stmt> stmt(Loop);
template Ref<Stmt> stmt(Let);
template Ref<Stmt> stmt(Index);
template Ref<Stmt> stmt(Store);
template Ref<Stmt> stmt(Start);
template Ref<Stmt> stmt(Accumulate);
template Ref<Stmt> stmt(Scan);
template Ref<Stmt> stmt(Merge);
template Ref<Stmt> stmt(Combine);
template Ref<Stmt> stmt(Push);
template Ref<Stmt> stmt(Fold);
template Ref<Stmt> stmt(Prefix);
template Ref<Stmt> stmt(Scratch);
template Ref<Stmt> stmt(Prefetch);
template Ref<Stmt> stmt(Sync);
template Ref<Stmt> stmt(LastBlock);
template Ref<Stmt> stmt(Call);

Ref<Value> literal(ops::Number number, ops::DType dtype) {
  return value(Literal{ops::cast(number, dtype), dtype});
}
Ref<Value> count(index::Expr expr) { return value(Count{std::move(expr)}); }
Ref<Value> read(Temp temp, int part) { return value(Read{temp, part}); }

Ref<Value> load(Buffer buffer, index::Expr offset, index::Condition mask, Literal otherwise) {
  otherwise.value = ops::cast(otherwise.value, otherwise.dtype);
  return value(Load{buffer, std::move(offset), std::move(mask), otherwise});
}

Ref<Value> apply(ops::Pointwise op, std::vector<Ref<Value>> inputs) {
  CHECK(std::cmp_equal(inputs.size(), ops::arity(op)), ops::name(op), " takes ", ops::arity(op),
        " inputs, not ", inputs.size());
  return value(Apply{op, std::move(inputs)});
}

Ref<Value> convert(ops::DType to, Ref<Value> input) {
  if (type_of(*input) == to) return input;
  return value(Convert{to, std::move(input)});
}

std::optional<ops::DType> type_of(const Value& value) {
  using Found = std::optional<ops::DType>;
  return match(
      value, [](const Literal& literal) -> Found { return literal.dtype; },
      [](const Count&) -> Found { return ops::DType::i64; },
      [](const Read&) -> Found { return std::nullopt; },
      [](const Load& load) -> Found { return load.otherwise.dtype; },
      [](const Apply& apply) -> Found { return type_of_apply(apply); },
      [](const Convert& convert) -> Found { return convert.to; });
}

Ref<Stmt> block(std::vector<Ref<Stmt>> stmts) {
  std::vector<Ref<Stmt>> flat;
  for (const Ref<Stmt>& inner : stmts) append_flat(inner, flat);
  if (flat.size() == 1) return flat.front();
  return stmt(Block{std::move(flat)});
}

}  // namespace twinloom::loops
