// Walks and rewrites of the loop form. What could not be changed comes back as it was, so "did anything
// happen" is a comparison of pointers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "core/loops/loops.h"

namespace twinloom::loops {

// The type of a value; buffers and temps are looked up in the program.
class Types {
 public:
  explicit Types(const Program& program);
  ops::DType of(const Value& value) const;
  ops::DType of(Temp temp, int part) const;
  int parts(Temp temp) const;  // 0 where it is not defined
  void define(Temp temp, int part, ops::DType dtype) { temps_[{temp, part}] = dtype; }
  void define(const Stmt& stmt);  // the temps that the statement itself defines

 private:
  void define_alike(Temp temp, Temp model);
  const Program* program_;
  std::map<std::pair<Temp, int>, ops::DType> temps_;
};

// Bottom-up: `change` sees each value with its inputs already rewritten and returns the one to use.
using ChangeValue = std::function<Ref<Value>(const Ref<Value>&)>;
Ref<Value> rewrite(const Ref<Value>& value, const ChangeValue& change);
Ref<Stmt> rewrite_values(const Ref<Stmt>& stmt, const ChangeValue& change);
// Bottom-up over statements; a null result removes the statement from its block.
using ChangeStmt = std::function<Ref<Stmt>(const Ref<Stmt>&)>;
Ref<Stmt> rewrite_stmts(const Ref<Stmt>& stmt, const ChangeStmt& change);

// In every expression and condition of the statement. Axes that are bound inside are not renamed.
Ref<Value> substitute(const Ref<Value>& value, const index::Substitution& substitution);
Ref<Stmt> substitute(const Ref<Stmt>& stmt, const index::Substitution& substitution);
// Renames what is bound and used: axes, Index symbols, temps, buffers.
struct Renaming {
  std::map<index::Symbol, index::Symbol> symbols;
  std::map<Temp, Temp> temps;
  std::map<Buffer, Buffer> buffers;
};
Ref<Stmt> rename(const Ref<Stmt>& stmt, const Renaming& renaming);

// Each once, outermost first.
void for_each_stmt(const Stmt& stmt, const std::function<void(const Stmt&)>& visit);
void for_each_value(const Stmt& stmt, const std::function<void(const Value&)>& visit);
void for_each_value(const Value& value, const std::function<void(const Value&)>& visit);
// The statements of a block, or the one statement; blocks in it are opened.
std::vector<Ref<Stmt>> stmts_of(const Ref<Stmt>& stmt);
// Whether something inside stores to the buffer, loads from it, looks up an index.
bool stores_to(const Stmt& stmt, Buffer buffer);
bool loads_from(const Stmt& stmt, Buffer buffer);
bool loads_from(const Value& value, Buffer buffer);
bool looks_up_indices(const Stmt& stmt);
// The load that a value is computed from, the first of several; null where there is none.
const Load* first_load(const Value& value);
// a < b of lt(count(a), count(b)); nothing of other values.
std::optional<index::Less> compared_counts(const Value& value);

std::set<index::Symbol> symbols_of(const Value& value);  // of its offsets, masks and counts
std::set<index::Symbol> symbols_of(const Stmt& stmt);    // of all of its expressions
void for_each_temp(const Stmt& stmt, const std::function<void(Temp)>& visit);  // with repetition
std::optional<Buffer> buffer_named(const Program& program, std::string_view name);
Temp next_temp(const Program& program);                  // above every Temp in use
bool equal(const Value& a, const Value& b);
bool equal(const Stmt& a, const Stmt& b);
std::uint64_t hash(const Value& value);

}  // namespace twinloom::loops
