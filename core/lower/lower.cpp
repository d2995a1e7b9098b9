// See lower.h. One walk over the graph from front to back: a node with memory becomes a value of the table
// and its drafts, which are finished as they come.
#include "core/lower/lower.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "core/graph/sharing.h"
#include "core/index/simplify.h"
#include "core/lower/families.h"
#include "core/lower/realize.h"

namespace twinloom::lower {

using graph::NodeId;

namespace {

// One past the highest element that the strides reach, where they point forwards.
index::Expr reach(const graph::Shape& shape, const std::vector<index::Expr>& strides) {
  if (strides == index::contiguous_strides(shape)) return index::product(shape);
  index::Expr last = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto step = index::constant_of(strides[d]);
    if (!step || *step > 0) last = last + (shape[d] - 1) * strides[d];
  }
  return last + 1;
}

std::string_view prefix(Storage storage) {
  switch (storage) {
    case Storage::parameter:
      return "in";
    case Storage::constant:
      return "const";
    case Storage::result:
      return "out";
    case Storage::temporary:
      return "temp";
  }
  return "";
}

class Lowerer {
 public:
  Lowerer(const graph::Graph& graph, const Layouts& layouts, const Routines& routines, const Costs& costs,
          bool row_major_results)
      : graph_(graph),
        layouts_(layouts),
        row_major_results_(row_major_results),
        live_(graph::live_nodes(graph)),
        realized_(choose_realized(graph, costs, limits_for(routines))),
        results_(results_by_node(graph)),
        seen_row_major_(seen_row_major(graph)),
        lowering_{graph,
                  graph::users_of(graph),
                  {{}, {}, graph.facts()},
                  std::vector<std::optional<ValueId>>(graph.nodes().size()),
                  Names(taken()),
                  routines,
                  costs} {}

  Lowered run() {
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      if (live_[i]) give_memory(NodeId{i});
      if (lowering_.memory[i]) with_memory_[graph_.nodes()[i].inputs].push_back(NodeId{i});
    }
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i)
      if (live_[i] && lowering_.memory[i]) lower(NodeId{i});
    copy_results();
    name_kernels(lowering_.lowered);
    return std::move(lowering_.lowered);
  }

 private:
  std::set<index::Symbol> taken() const {
    std::set<index::Symbol> symbols = graph::size_symbols(graph_);
    symbols.insert({index::Symbol("seed"), index::Symbol("offset")});
    for (const auto& [parameter, strides] : layouts_)
      for (const index::Expr& stride : strides) symbols.merge(index::symbols_of(stride));
    return symbols;
  }

  // What lies in memory of the caller's and holds a node, by node: an own result each, or -1 where only views
  // of it are results.
  static std::map<NodeId, std::vector<int>> results_by_node(const graph::Graph& graph) {
    std::map<NodeId, std::vector<int>> results;
    for (std::size_t k = 0; k < graph.results().size(); ++k) {
      const graph::Result& result = graph.results()[k];
      if (is_stored(result.kind)) results[result.value].push_back(static_cast<int>(k));
    }
    for (const graph::Result& result : graph.results())
      if (result.kind == graph::Ownership::view) results.try_emplace(result.base, std::vector{-1});
    return results;
  }

  std::vector<int> results_of(NodeId id) const {
    const auto found = results_.find(id);
    return found == results_.end() ? std::vector<int>() : found->second;
  }

  static RealizeLimits limits_for(const Routines& routines) {
    RealizeLimits limits;
    if (routines.has_library_call) limits.library_products = routines.least_products;
    limits.library_takes = routines.library_takes;
    return limits;
  }

  // Nodes whose memory a result looks at as if it were row-major.
  static std::set<NodeId> seen_row_major(const graph::Graph& graph) {
    std::set<NodeId> seen;
    for (const graph::Result& result : graph.results()) {
      if (result.kind == graph::Ownership::view &&
          graph::strided(graph, result.value, result.base) != graph::Strided::always)
        seen.insert(result.base);
    }
    return seen;
  }

  // Every buffer is known before the first nest is written; strides of results may still change.
  void give_memory(NodeId id) {
    const graph::Node& node = graph_[id];
    if (const auto* input = std::get_if<graph::Input>(&node.node)) {
      const auto layout = layouts_.find(input->slot);
      lowering_.memory[id.index] =
          add(Storage::parameter, id,
              layout == layouts_.end() ? index::contiguous_strides(node.shape) : layout->second);
      lowering_.lowered.values.back().parameter = input->slot;
      return;
    }
    const auto* constant = std::get_if<graph::Constant>(&node.node);
    if (constant != nullptr && std::holds_alternative<graph::Content>(constant->value)) {
      lowering_.memory[id.index] = add(Storage::constant, id, index::contiguous_strides(node.shape));
      lowering_.lowered.values.back().content = std::get<graph::Content>(constant->value);
      return;
    }
    if (!realized_.values[id.index]) return;
    const std::vector<int> results = results_of(id);
    lowering_.memory[id.index] = results.empty()
                                     ? add(Storage::temporary, id, index::contiguous_strides(node.shape))
                                     : add_result(id, results.front());
  }

  ValueId add_result(NodeId id, int result) {
    const ValueId added = add(Storage::result, id, index::contiguous_strides(graph_[id].shape));
    lowering_.lowered.values.back().result = result;
    lowering_.lowered.values.back().row_major = row_major_results_ || seen_row_major_.contains(id);
    return added;
  }

  ValueId add(Storage storage, NodeId id, std::vector<index::Expr> strides) {
    const ValueId added =
        add_value(lowering_, storage, id, graph_[id].shape, graph_[id].dtype, std::move(strides));
    lowering_.lowered.values[added.index].barrier |= realized_.separate[id.index];
    return added;
  }

  void keep(const Draft& draft) { lowering_.lowered.units.push_back(finish(draft, lowering_.lowered)); }
  void keep(const std::vector<Draft>& drafts) {
    for (const Draft& draft : drafts) keep(draft);
  }

  void lower(NodeId id) {
    const ValueId into = *lowering_.memory[id.index];
    const auto elements = [&] { keep(lower_elements(lowering_, id, into)); };
    match(
        graph_[id], [](const graph::Input&) {},
        [&](const graph::Constant& constant) {
          if (std::holds_alternative<ops::Number>(constant.value)) elements();
        },
        [&](const graph::Reduce&) { lower_components(id); },
        [&](const graph::Scan&) { lower_components(id); },
        [&](const graph::Sort&) { keep(lower_sort(lowering_, id, into)); },
        [&](const graph::Scatter&) { keep(lower_scatter(lowering_, id)); },
        [&](const graph::Concat&) {
          if (!realized_.in_parts[id.index]) return elements();
          keep(lower_parts(lowering_, id, into));
        },
        [&](const graph::Size&) { elements(); }, [&](const graph::Pointwise&) { elements(); },
        [&](const graph::Cast&) { elements(); }, [&](const graph::View&) { elements(); },
        [&](const graph::Iota&) { elements(); }, [&](const graph::Random&) { elements(); },
        [&](const graph::Gather&) { elements(); }, [&](const graph::Realize&) { elements(); });
  }

  // Nodes that are components of one total are lowered with the first of them.
  void lower_components(NodeId id) {
    const std::vector<NodeId> all = components_of(id);
    if (all.front() != id) return;
    if (std::holds_alternative<graph::Reduce>(graph_[id].node)) {
      keep(lower_reduce(lowering_, all));
    } else {
      keep(lower_scan(lowering_, all));
    }
  }

  // Of nodes with the same inputs.
  static bool is_component_of_same(const graph::Node& a, const graph::Node& b) {
    if (const auto* left = std::get_if<graph::Reduce>(&a.node)) {
      const auto* right = std::get_if<graph::Reduce>(&b.node);
      return right != nullptr && left->monoid == right->monoid && left->axes == right->axes;
    }
    const auto* left = std::get_if<graph::Scan>(&a.node);
    const auto* right = std::get_if<graph::Scan>(&b.node);
    return left != nullptr && right != nullptr && left->monoid == right->monoid &&
           left->axis == right->axis && left->exclusive == right->exclusive &&
           left->backwards == right->backwards;
  }

  std::vector<NodeId> components_of(NodeId id) const {
    std::vector<NodeId> all;
    for (const NodeId other : with_memory_.at(graph_[id].inputs))
      if (is_component_of_same(graph_[id], graph_[other])) all.push_back(other);
    return all;
  }

  // Results that are a parameter, a constant or another result as it stands, but in memory of their own.
  void copy_results() {
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      if (!lowering_.memory[i]) continue;
      const bool holds_first = lowering_.lowered[*lowering_.memory[i]].storage == Storage::result;
      const std::vector<int> results = results_of(NodeId{i});
      for (std::size_t k = holds_first ? 1 : 0; k < results.size(); ++k)
        keep(lower_copy(lowering_, NodeId{i}, add_result(NodeId{i}, results[k])));
    }
  }

  const graph::Graph& graph_;
  const Layouts& layouts_;
  bool row_major_results_;
  std::vector<bool> live_;
  Realized realized_;
  std::map<NodeId, std::vector<int>> results_;
  std::set<NodeId> seen_row_major_;
  std::map<std::vector<NodeId>, std::vector<NodeId>> with_memory_;  // nodes that have it, by their inputs
  Lowering lowering_;
};

}  // namespace

ValueId add_value(Lowering& lowering, Storage storage, NodeId node, const graph::Shape& shape,
                  ops::DType dtype, std::vector<index::Expr> strides) {
  std::vector<Value>& values = lowering.lowered.values;
  Value value;
  value.storage = storage;
  value.name = cat(prefix(storage), values.size());
  value.node = node;
  value.barrier = std::holds_alternative<graph::Realize>(lowering.graph[node].node);
  value.dtype = dtype;
  value.shape = shape;
  value.count = index::simplify(reach(shape, strides), lowering.lowered.facts);
  value.strides = std::move(strides);
  values.push_back(std::move(value));
  return ValueId{static_cast<std::uint32_t>(values.size() - 1)};
}

Lowered lower(const graph::Graph& graph, const Layouts& layouts, const Routines& routines, const Costs& costs,
              bool row_major_results) {
  Lowered lowered = Lowerer(graph, layouts, routines, costs, row_major_results).run();
  verify(lowered);
  return lowered;
}

}  // namespace twinloom::lower
