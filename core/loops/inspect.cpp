// Looking without changing: visits, types, comparison and hash of the loop form. See rewrite.h.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/loops/fields.h"
#include "core/loops/rewrite.h"

namespace twinloom::loops {

namespace {

// Calls `visit` with each field of type Field, through vectors and slots.
template <class Field, class Visit>
struct Fields {
  Visit visit;
  void operator()(const Field& field) const { visit(field); }
  void operator()(const Slot& slot) const { for_each_field(slot, *this); }
  template <class Item>
  void operator()(const std::vector<Item>& items) const {
    for (const Item& item : items) (*this)(item);
  }
  template <class Other>
  requires(!std::same_as<Other, Field> && !std::same_as<Other, Slot>) void operator()(const Other&) const {}
};

template <class Field, class Form, class Visit>
void for_each_of(const Form& form, Visit visit) {
  const Fields<Field, Visit> fields{visit};
  std::visit([&](const auto& node) { for_each_field(node, fields); }, form.node);
}

// Blocks are compared as they would be walked, so how they are nested plays no part.
bool same(const Ref<Stmt>& a, const Ref<Stmt>& b) { return a == b || equal(*block({a}), *block({b})); }
bool same(const Ref<Value>& a, const Ref<Value>& b) { return a == b || equal(*a, *b); }
template <class Plain>
bool same(const Plain& a, const Plain& b) {
  return a == b;
}
template <class Node>
bool same_fields(const Node& a, const Node& b);
bool same(const Literal& a, const Literal& b) { return same_fields(a, b); }
bool same(const Slot& a, const Slot& b) { return same_fields(a, b); }
template <class Item>
bool same(const std::vector<Item>& a, const std::vector<Item>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Item& x, const Item& y) { return same(x, y); });
}

template <class Node>
bool same_fields(const Node& a, const Node& b) {
  return std::apply([&](auto... member) { return (same(a.*member, b.*member) && ...); }, members<Node>);
}

template <class Form>
bool same_form(const Form& a, const Form& b) {
  return std::visit(
      [](const auto& x, const auto& y) {
        if constexpr (std::same_as<decltype(x), decltype(y)>) return same_fields(x, y);
        return false;
      },
      a.node, b.node);
}

// The fields of a value, mixed into one number.
struct Hasher {
  std::uint64_t seed;
  void add(std::uint64_t number) { seed = mix_hash(seed, number); }
  void operator()(const ops::Number& number) { add(number.hash()); }
  void operator()(const index::Expr& expr) { add(expr.hash()); }
  void operator()(const Temp& temp) { add(temp.index); }
  void operator()(const Buffer& buffer) { add(buffer.index); }
  void operator()(const Literal& literal) { for_each_field(literal, *this); }
  void operator()(const Ref<Value>& value) { add(hash(*value)); }
  void operator()(const index::Condition& condition) {
    for (const index::Less& less : condition.all) {
      (*this)(less.a);
      (*this)(less.b);
    }
  }
  void operator()(const std::vector<Ref<Value>>& values) {
    for (const Ref<Value>& value : values) (*this)(value);
  }
  template <class Plain>
  requires std::is_enum_v<Plain> || std::is_arithmetic_v<Plain>
  void operator()(const Plain& plain) { add(static_cast<std::uint64_t>(plain)); }
};

std::vector<ops::DType> types_of(const Types& types, const std::vector<Ref<Value>>& values) {
  std::vector<ops::DType> found;
  for (const Ref<Value>& value : values) found.push_back(types.of(*value));
  return found;
}

}  // namespace

void for_each_stmt(const Stmt& stmt, const std::function<void(const Stmt&)>& visit) {
  visit(stmt);
  for_each_of<Ref<Stmt>>(stmt, [&](const Ref<Stmt>& inner) { for_each_stmt(*inner, visit); });
}

void for_each_value(const Value& value, const std::function<void(const Value&)>& visit) {
  visit(value);
  for_each_of<Ref<Value>>(value, [&](const Ref<Value>& input) { for_each_value(*input, visit); });
}

const Load* first_load(const Value& value) {
  const Load* first = nullptr;
  for_each_value(value, [&](const Value& inner) {
    if (first == nullptr) first = std::get_if<Load>(&inner.node);
  });
  return first;
}

std::optional<index::Less> compared_counts(const Value& value) {
  const auto* apply = std::get_if<Apply>(&value.node);
  if (apply == nullptr || apply->op != ops::Pointwise::lt) return std::nullopt;
  const auto* a = std::get_if<Count>(&apply->inputs[0]->node);
  const auto* b = std::get_if<Count>(&apply->inputs[1]->node);
  if (a == nullptr || b == nullptr) return std::nullopt;
  return index::Less{a->expr, b->expr};
}

void for_each_value(const Stmt& stmt, const std::function<void(const Value&)>& visit) {
  for_each_stmt(stmt, [&](const Stmt& inner) {
    for_each_of<Ref<Value>>(inner, [&](const Ref<Value>& value) { for_each_value(*value, visit); });
  });
}

std::vector<Ref<Stmt>> stmts_of(const Ref<Stmt>& stmt) {
  const Ref<Stmt> flat = block({stmt});
  if (const auto* many = std::get_if<Block>(&flat->node)) return many->stmts;
  return {flat};
}

bool stores_to(const Stmt& stmt, Buffer buffer) {
  bool found = false;
  for_each_stmt(stmt, [&](const Stmt& inner) {
    const auto* store = std::get_if<Store>(&inner.node);
    found |= store != nullptr && store->buffer == buffer;
  });
  return found;
}

bool loads_from(const Value& value, Buffer buffer) {
  bool found = false;
  for_each_value(value, [&](const Value& inner) {
    const auto* load = std::get_if<Load>(&inner.node);
    found |= load != nullptr && load->buffer == buffer;
  });
  return found;
}

bool loads_from(const Stmt& stmt, Buffer buffer) {
  bool found = false;
  for_each_stmt(stmt, [&](const Stmt& inner) {
    for_each_of<Ref<Value>>(inner, [&](const Ref<Value>& value) { found |= loads_from(*value, buffer); });
  });
  return found;
}

bool looks_up_indices(const Stmt& stmt) {
  bool found = false;
  for_each_stmt(stmt, [&](const Stmt& inner) { found |= std::holds_alternative<Index>(inner.node); });
  return found;
}

namespace {

template <class Form>
void add_symbols(const Form& form, std::set<index::Symbol>& symbols) {
  for_each_of<index::Expr>(form, [&](const index::Expr& expr) { symbols.merge(index::symbols_of(expr)); });
  for_each_of<index::Condition>(
      form, [&](const index::Condition& condition) { symbols.merge(index::symbols_of(condition)); });
}

}  // namespace

std::set<index::Symbol> symbols_of(const Value& value) {
  std::set<index::Symbol> symbols;
  for_each_value(value, [&](const Value& inner) { add_symbols(inner, symbols); });
  return symbols;
}

std::set<index::Symbol> symbols_of(const Stmt& stmt) {
  std::set<index::Symbol> symbols;
  for_each_stmt(stmt, [&](const Stmt& inner) { add_symbols(inner, symbols); });
  for_each_value(stmt, [&](const Value& value) { add_symbols(value, symbols); });
  return symbols;
}

void for_each_temp(const Stmt& stmt, const std::function<void(Temp)>& visit) {
  for_each_stmt(stmt, [&](const Stmt& inner) { for_each_of<Temp>(inner, visit); });
  for_each_value(stmt, [&](const Value& value) { for_each_of<Temp>(value, visit); });
}

std::optional<Buffer> buffer_named(const Program& program, std::string_view name) {
  const auto found = std::ranges::find(program.buffers, name, &BufferInfo::name);
  if (found == program.buffers.end()) return std::nullopt;
  return Buffer{static_cast<std::uint32_t>(found - program.buffers.begin())};
}

Temp next_temp(const Program& program) {
  Temp next;
  const auto above = [&](const Temp& temp) { next.index = std::max(next.index, temp.index + 1); };
  for_each_temp(*program.body, above);
  return next;
}

bool equal(const Value& a, const Value& b) { return same_form(a, b); }
bool equal(const Stmt& a, const Stmt& b) { return same_form(a, b); }

std::uint64_t hash(const Value& value) {
  Hasher hasher{value.node.index()};
  std::visit([&](const auto& node) { for_each_field(node, hasher); }, value.node);
  return hasher.seed;
}

Types::Types(const Program& program) : program_(&program) {
  for_each_stmt(*program.body, [&](const Stmt& stmt) { define(stmt); });
}

void Types::define(const Stmt& stmt) {
  if (const auto* let = std::get_if<Let>(&stmt.node)) define(let->temp, 0, of(*let->value));
  if (const auto* scan = std::get_if<Scan>(&stmt.node)) define_alike(scan->result, scan->total);
  if (const auto* fold = std::get_if<Fold>(&stmt.node)) define_alike(fold->result, fold->stack);
  if (const auto* start = std::get_if<Start>(&stmt.node)) {
    for (int part = 0; part < ops::parts(start->monoid); ++part)
      define(start->total, part, ops::part_type(start->monoid, start->element, part));
  }
  if (const auto* prefix = std::get_if<Prefix>(&stmt.node)) {
    define_alike(prefix->before, prefix->total);
    define_alike(prefix->all, prefix->total);
  }
  if (const auto* call = std::get_if<Call>(&stmt.node))
    if (const Slot* epilogue = epilogue_of(*call)) define(epilogue->element, 0, ops::DType::i64);
}

void Types::define_alike(Temp temp, Temp model) {
  for (int part = 0; part < parts(model); ++part) define(temp, part, of(model, part));
}

int Types::parts(Temp temp) const {
  int known = 0;
  while (temps_.contains({temp, known})) ++known;
  return known;
}

ops::DType Types::of(Temp temp, int part) const {
  const auto found = temps_.find({temp, part});
  CHECK(found != temps_.end(), "t", temp.index, " is read before it has a part ", part);
  return found->second;
}

ops::DType Types::of(const Value& value) const {
  return match(
      value, [](const Literal& literal) { return literal.dtype; },
      [](const Count&) { return ops::DType::i64; },
      [&](const Read& read) { return of(read.temp, read.part); },
      [&](const Load& load) { return program_->buffers.at(load.buffer.index).dtype; },
      [&](const Apply& apply) {
        const std::vector<ops::DType> inputs = types_of(*this, apply.inputs);
        const auto result = ops::result_type(apply.op, inputs);
        CHECK(result, ops::name(apply.op), " does not take (",
              join(inputs, ", ", [](ops::DType dtype) { return ops::name(dtype); }), ")");
        return *result;
      },
      [](const Convert& convert) { return convert.to; });
}

}  // namespace twinloom::loops
