// Rewriting: one walk over the table of fields, which changes what it is told to. See rewrite.h.
#include "core/loops/rewrite.h"

#include "core/loops/fields.h"

namespace twinloom::loops {

namespace {

// What to do with each sort of field; a missing function leaves the field alone.
struct Changes {
  std::function<Ref<Value>(const Ref<Value>&)> value;
  std::function<Ref<Stmt>(const Ref<Stmt>&)> stmt;
  std::function<index::Expr(const index::Expr&)> expr;
  std::function<index::Condition(const index::Condition&)> condition;
  std::function<index::Symbol(const index::Symbol&)> symbol;
  std::function<Temp(const Temp&)> temp;
  std::function<Buffer(const Buffer&)> buffer;
};

// Changes the fields of one node in place and remembers whether any of them came out different.
class Changer {
 public:
  explicit Changer(const Changes& changes) : changes_(changes) {}
  bool changed() const { return changed_; }

  void operator()(Ref<Value>& field) { replace(field, changes_.value); }
  void operator()(Ref<Stmt>& field) { replace(field, changes_.stmt); }
  void operator()(index::Expr& field) { replace(field, changes_.expr); }
  void operator()(index::Condition& field) { replace(field, changes_.condition); }
  void operator()(index::Symbol& field) { replace(field, changes_.symbol); }
  void operator()(Temp& field) { replace(field, changes_.temp); }
  void operator()(Buffer& field) { replace(field, changes_.buffer); }
  void operator()(Slot& slot) { for_each_field(slot, *this); }
  template <class Item>
  void operator()(std::vector<Item>& items) {
    for (Item& item : items) (*this)(item);
  }
  // What no rewrite changes.
  void operator()(Literal&) {}
  void operator()(ops::Number&) {}
  template <class Plain>
  requires std::is_enum_v<Plain> || std::is_arithmetic_v<Plain>
  void operator()(Plain&) {}

 private:
  template <class Field, class Change>
  void replace(Field& field, const Change& change) {
    if (!change) return;
    Field after = change(field);
    if (after == field) return;
    field = std::move(after);
    changed_ = true;
  }

  const Changes& changes_;
  bool changed_ = false;
};

// Whether a node has a field that may be changed.
class Looker {
 public:
  explicit Looker(const Changes& changes) : changes_(changes) {}
  bool found() const { return found_; }

  void operator()(const Ref<Value>&) { found_ |= changes_.value != nullptr; }
  void operator()(const Ref<Stmt>&) { found_ |= changes_.stmt != nullptr; }
  void operator()(const index::Expr&) { found_ |= changes_.expr != nullptr; }
  void operator()(const index::Condition& field) {
    found_ |= changes_.condition != nullptr && !field.all.empty();
  }
  void operator()(const index::Symbol&) { found_ |= changes_.symbol != nullptr; }
  void operator()(const Temp&) { found_ |= changes_.temp != nullptr; }
  void operator()(const Buffer&) { found_ |= changes_.buffer != nullptr; }
  void operator()(const Slot& slot) { for_each_field(slot, *this); }
  template <class Item>
  void operator()(const std::vector<Item>& items) {
    if (!items.empty()) (*this)(items.front());
  }
  template <class Other>
  void operator()(const Other&) {}

 private:
  const Changes& changes_;
  bool found_ = false;
};

template <class Form>
Ref<Form> change_fields(const Ref<Form>& form, const Changes& changes) {
  return std::visit(
      [&](const auto& before) {
        Looker looker(changes);
        for_each_field(before, looker);
        if (!looker.found()) return form;
        auto node = before;
        Changer changer(changes);
        for_each_field(node, changer);
        return changer.changed() ? std::make_shared<const Form>(Form{std::move(node)}) : form;
      },
      form->node);
}

// In all that is inside; values too, unless the changes say what becomes of one.
template <class Form>
Ref<Form> change_everywhere(const Ref<Form>& form, Changes changes) {
  changes.stmt = [&](const Ref<Stmt>& inner) { return change_fields(inner, changes); };
  if (!changes.value)
    changes.value = [&](const Ref<Value>& inner) { return change_fields(inner, changes); };
  return change_fields(form, changes);
}

Changes substituting(const index::Substitution& substitution) {
  Changes changes;
  changes.expr = [&](const index::Expr& expr) { return index::substitute(expr, substitution); };
  changes.condition = [&](const index::Condition& condition) {
    return index::substitute(condition, substitution);
  };
  return changes;
}

template <class Name>
std::function<Name(const Name&)> renamed(const std::map<Name, Name>& names) {
  return [&names](const Name& name) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  };
}

// A statement without the statements that were removed from it.
Ref<Stmt> without_removed(const Ref<Stmt>& stmt) {
  const auto* old = std::get_if<Block>(&stmt->node);
  if (old == nullptr) return stmt;
  std::vector<Ref<Stmt>> kept;
  for (const Ref<Stmt>& inner : old->stmts) {
    if (inner != nullptr) kept.push_back(inner);
  }
  return block(std::move(kept));
}

}  // namespace

Ref<Value> rewrite(const Ref<Value>& value, const ChangeValue& change) {
  Changes changes;
  changes.value = [&](const Ref<Value>& input) { return rewrite(input, change); };
  return change(change_fields(value, changes));
}

Ref<Stmt> rewrite_values(const Ref<Stmt>& stmt, const ChangeValue& change) {
  Changes changes;
  changes.value = [&](const Ref<Value>& value) { return rewrite(value, change); };
  return change_everywhere(stmt, std::move(changes));
}

Ref<Stmt> rewrite_stmts(const Ref<Stmt>& stmt, const ChangeStmt& change) {
  const bool in_block = std::holds_alternative<Block>(stmt->node);
  Changes changes;
  changes.stmt = [&](const Ref<Stmt>& inner) {
    const Ref<Stmt> after = rewrite_stmts(inner, change);
    // A loop or another statement with a body keeps an empty one.
    return after == nullptr && !in_block ? block({}) : after;
  };
  const Ref<Stmt> after = change_fields(stmt, changes);
  return change(after == stmt ? stmt : without_removed(after));
}

Ref<Value> substitute(const Ref<Value>& value, const index::Substitution& substitution) {
  if (substitution.empty()) return value;
  return change_everywhere(value, substituting(substitution));
}

Ref<Stmt> substitute(const Ref<Stmt>& stmt, const index::Substitution& substitution) {
  if (substitution.empty()) return stmt;
  return change_everywhere(stmt, substituting(substitution));
}

Ref<Stmt> rename(const Ref<Stmt>& stmt, const Renaming& renaming) {
  index::Substitution substitution;
  for (const auto& [from, to] : renaming.symbols) substitution.emplace(from, index::Expr(to));
  Changes changes = substituting(substitution);
  changes.symbol = renamed(renaming.symbols);
  changes.temp = renamed(renaming.temps);
  changes.buffer = renamed(renaming.buffers);
  return change_everywhere(stmt, std::move(changes));
}

}  // namespace twinloom::loops
