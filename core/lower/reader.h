// Inside of the room: the value of one element of a graph node, as loop values. A node that has memory is
// loaded, any other is computed on the spot from its inputs, down to memory.
//
// Values are of the node's own type. f16 and bf16 are computed in f32 and rounded to the type after each
// Pointwise, so that every operator rounds once.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/lower/names.h"
#include "core/lower/realize.h"
#include "core/lower/unit.h"

namespace twinloom::lower {

using At = std::vector<index::Expr>;  // one for each dimension

struct SortedPlaces {  // of a Scatter, for others at the same places
  graph::NodeId node;
  ValueId order, starts;
};

// A graph on its way to units.
struct Lowering {
  const graph::Graph& graph;
  std::vector<std::vector<graph::NodeId>> users;  // by node
  Lowered lowered;
  std::vector<std::optional<ValueId>> memory;  // by node
  Names names;
  Routines routines = {};
  Costs costs = {};
  std::vector<SortedPlaces> sorts = {};  // done so far
};

class Reader {
 public:
  explicit Reader(Lowering& lowering) : lowering_(lowering), facts_(lowering.lowered.facts) {}

  // Element `at` of the node. Where `mask` does not hold the value is nobody's, and nothing is touched.
  loops::Ref<loops::Value> element(graph::NodeId id, const At& at, const index::Condition& mask = {});
  // The same, computed although the node has memory.
  loops::Ref<loops::Value> definition(graph::NodeId id, const At& at, const index::Condition& mask = {});

  loops::Ref<loops::Value> load(ValueId value, const At& at, const index::Condition& mask = {});
  index::Expr offset(ValueId value, const At& at) const;

  // Binds a symbol to a value that only the run knows, checked as `index` says; its `symbol` is filled in.
  index::Symbol find(loops::Index index);
  // The Index statements since the last call, in order.
  std::vector<loops::Ref<loops::Stmt>> take_indexes() { return std::move(indexes_); }

  // What has been loaded, in order, and the nodes that have been computed.
  std::span<const loops::Load> loads() const { return loads_; }
  const std::vector<graph::NodeId>& computed() const { return computed_; }

  // Axes must be known here before an element is read at them.
  index::Facts& facts() { return facts_; }

 private:
  struct Key {
    graph::NodeId node;
    At at;
    index::Condition mask;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct HashOfKey {
    std::size_t operator()(const Key& key) const;
  };
  using Inputs = std::vector<graph::NodeId>;
  struct Place {  // of the element that is asked for
    graph::NodeId id;
    const At& at;
    const index::Condition& mask;
  };
  loops::Ref<loops::Value> compute(const graph::Pointwise& pointwise, const Place& place);
  loops::Ref<loops::Value> compute(const graph::Cast& cast, const Place& place);
  loops::Ref<loops::Value> compute(const graph::View& view, const Place& place);
  loops::Ref<loops::Value> compute(const graph::Concat& concat, const Place& place);
  loops::Ref<loops::Value> compute(const graph::Random& random, const Place& place);
  loops::Ref<loops::Value> compute(const graph::Gather& gather, const Place& place);
  std::vector<index::Symbol> find_all(const graph::Shape& bounds, bool negative_wraps, std::size_t first,
                                      const Place& place);
  index::Condition needed(graph::NodeId id, const At& at, const index::Condition& mask) const;
  bool is_nearly_always(const index::Less& less) const;
  index::Condition asked(const loops::Value& value, const At& at, const index::Condition& mask) const;
  index::Expr tidy(const index::Expr& expr) const;
  index::Condition tidy(const index::Condition& mask) const;

  Lowering& lowering_;
  index::Facts facts_;
  std::vector<loops::Ref<loops::Stmt>> indexes_;
  std::set<index::Symbol> found_;  // by all of them so far
  std::vector<loops::Load> loads_;
  std::vector<graph::NodeId> computed_;
  std::unordered_map<Key, loops::Ref<loops::Value>, HashOfKey> known_;
};

// The value in the type that arithmetic of its type is done in, and back.
loops::Ref<loops::Value> widen(const loops::Ref<loops::Value>& value, ops::DType dtype);
loops::Ref<loops::Value> narrow(const loops::Ref<loops::Value>& value, ops::DType dtype);
ops::DType arithmetic_type(ops::DType dtype);
// The row that draws an element.
ops::Pointwise drawn_by(const graph::Random& random);
// A condition as a b8.
loops::Ref<loops::Value> truth(const index::Condition& condition);
// where(condition, yes, no), the two of type `dtype`.
loops::Ref<loops::Value> select(const loops::Ref<loops::Value>& condition,
                                const loops::Ref<loops::Value>& yes, const loops::Ref<loops::Value>& no,
                                ops::DType dtype);

}  // namespace twinloom::lower
