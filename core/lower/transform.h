// Rewriting values that are graphs, not trees: each shared value is visited once, so chains of Lets that
// have been written out stay as small as they were.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/loops/nest.h"

namespace twinloom::lower {

struct Change {
  index::Substitution symbols;                            // in offsets, masks and counts
  std::map<loops::Temp, loops::Ref<loops::Value>> reads;  // what a Read of part 0 of the temp becomes
  index::Condition mask;                                  // in addition, of every Load and Index
  // What a Load becomes, after the above; null: it stays.
  std::function<loops::Ref<loops::Value>(const loops::Load&)> load;
  const index::Facts* facts = nullptr;  // where given, expressions are simplified with them
};

class Transformer {
 public:
  explicit Transformer(Change change) : change_(std::move(change)) {}
  loops::Ref<loops::Value> operator()(const loops::Ref<loops::Value>& value);
  // Every kind that stands in a nest. Names that a statement binds stay.
  loops::Ref<loops::Stmt> operator()(const loops::Ref<loops::Stmt>& stmt);
  Change& change() { return change_; }

 private:
  loops::Ref<loops::Value> changed(const loops::Ref<loops::Value>& value);
  index::Expr changed(const index::Expr& expr) const;
  index::Condition changed(const index::Condition& mask) const;
  Change change_;
  std::unordered_map<const loops::Value*, loops::Ref<loops::Value>> known_;
  std::vector<loops::Ref<loops::Value>> kept_;
};

// The values that the statement holds, in order.
std::vector<loops::Ref<loops::Value>> values_of(const loops::Stmt& stmt);
// Every distinct value beneath these, each once.
void for_each_distinct(const std::vector<loops::Ref<loops::Value>>& values,
                       const std::function<void(const loops::Value&)>& visit);
// The nest with every Let written out where it is read.
loops::Nest without_lets(const loops::Nest& nest);

}  // namespace twinloom::lower
