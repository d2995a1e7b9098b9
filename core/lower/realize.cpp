// See realize.h. How often each value would be computed is counted from the results backwards.
#include "core/lower/realize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/graph/rebuild.h"
#include "core/lower/joined_sums.h"
#include "core/lower/reader.h"
#include "core/ops/cost.h"

namespace twinloom::lower {

using namespace graph;

namespace {

int work_of_node(const Node& node) {
  constexpr int SIMPLE = 1;
  if (const auto* pointwise = std::get_if<Pointwise>(&node.node))
    return ops::cost(ops::computed_for(pointwise->op, node.dtype));
  if (const auto* random = std::get_if<Random>(&node.node)) return ops::cost(drawn_by(*random));
  return std::holds_alternative<View>(node.node) ? 0 : SIMPLE;
}

// What has memory whatever the cost, and why; empty for the others.
std::string must_reason(const Node& node) {
  if (std::holds_alternative<Reduce>(node.node)) return "a reduction";
  if (std::holds_alternative<Scan>(node.node)) return "a scan";
  if (std::holds_alternative<Sort>(node.node)) return "a sort";
  if (std::holds_alternative<Realize>(node.node)) return "a fusion barrier";
  if (std::holds_alternative<Scatter>(node.node)) return "a scatter";
  return {};
}

bool is_memory(const Node& node) {
  const auto* constant = std::get_if<Constant>(&node.node);
  return std::holds_alternative<Input>(node.node) ||
         (constant != nullptr && std::holds_alternative<Content>(constant->value));
}

bool may_have_memory(const Node& node) {
  return !is_memory(node) && !std::holds_alternative<Constant>(node.node) &&
         !std::holds_alternative<Size>(node.node) && !std::holds_alternative<Iota>(node.node) &&
         !std::holds_alternative<View>(node.node);
}

// The elements of input `k` that computing all of the node asks for.
double space_of(const Graph& graph, const Node& node, std::size_t k, double typical, bool in_parts) {
  if (std::holds_alternative<Reduce>(node.node)) return typical_count(graph[node.inputs[0]].shape, typical);
  if (std::holds_alternative<Scatter>(node.node) && k > 0)
    return typical_count(graph[node.inputs[1]].shape, typical);
  if (in_parts) return typical_count(graph[node.inputs[k]].shape, typical);
  return typical_count(node.shape, typical);
}

class Choice {
 public:
  Choice(const Graph& graph, const Costs& costs, const RealizeLimits& limits)
      : graph_(graph), costs_(costs), limits_(limits) {}

  Realized run() {
    const std::size_t count = graph_.nodes().size();
    chosen_ = {std::vector<bool>(count, false), std::vector<bool>(count, false),
               std::vector<bool>(count, false), std::vector<std::string>(count)};
    if (limits_.library_products > 0) chosen_.separate = joined_sums(graph_, limits_.library_products);
    reads_.resize(count);
    marks_.resize(count, 0);
    widened_.resize(count, false);
    for (const Node& node : graph_.nodes())
      counts_.push_back(typical_count(node.shape, limits_.typical_size));
    const std::vector<bool> live = live_nodes(graph_);
    for (std::size_t i = 0; i < count; ++i) {
      if (!live[i]) continue;
      choose(i, must_reason(graph_.nodes()[i]));
      if (chosen_.separate[i]) choose(i, "an integer of 8 bits beside another sum of products");
      if (limits_.library_products > 0) choose_factors(graph_.nodes()[i]);
    }
    for (const Result& result : graph_.results()) {
      if (is_stored(result.kind)) choose(result.value.index, "a result");
      if (result.kind == Ownership::view) choose(result.base.index, "what results are views of");
    }
    // From front to back, so that a chain is cut where it has become long, and what follows starts anew.
    for (std::size_t i = 0; i < count; ++i)
      if (live[i]) cut(i);
    for (std::size_t i = count; i-- > 0;) {
      if (!live[i]) continue;
      weigh(i);
      spread(i);
    }
    return std::move(chosen_);
  }

 private:
  void choose(std::size_t node, std::string reason) {
    if (reason.empty() || chosen_.values[node]) return;
    chosen_.values[node] = true;
    chosen_.reasons[node] = std::move(reason);
  }

  // A library reads any order of memory, 16 bits as f32, and integers of 8 bits less their zero point.
  bool is_seen_through(const Node& node) const {
    if (std::holds_alternative<View>(node.node)) return true;
    if (is_of_integers(node)) {
      const bool is_less = is_of(node, ops::Pointwise::sub) && is_one_element(node.inputs[1]);
      return is_less || (std::holds_alternative<Cast>(node.node) && is_8_bit(graph_[node.inputs[0]].dtype));
    }
    return std::holds_alternative<Cast>(node.node) && node.dtype == ops::DType::f32 &&
           ops::is_16_bit_float(graph_[node.inputs[0]].dtype);
  }
  static bool is_8_bit(ops::DType dtype) { return ops::is_integer(dtype) && ops::bits_of(dtype) == 8; }
  bool is_one_element(NodeId id) const {
    while (std::holds_alternative<View>(graph_[id].node)) id = graph_[id].inputs[0];
    return number_of(graph_[id]) || counts_[id.index] == 1;
  }
  bool is_of_integers(const Node& node) const {
    return node.dtype == ops::DType::i32 && limits_.library_takes(ops::DType::i8);
  }

  // Of sums of products that a library may compute.
  void choose_factors(const Node& sum) {
    const auto summed = graph::summed_products(graph_, sum);
    if (!summed) return;
    const Node& product = graph_[*summed];
    const double products = counts_[summed->index];
    if (products < limits_.library_products) return;
    std::vector<std::size_t> factors;
    for (NodeId factor : product.inputs) {
      while (is_seen_through(graph_[factor])) factor = graph_[factor].inputs[0];
      if (products < 2 * counts_[factor.index]) return;
      factors.push_back(factor.index);
    }
    for (const std::size_t factor : factors)
      if (may_be_chosen(factor)) choose(factor, "a factor of products that a library may sum up");
    for (const NodeId factor : product.inputs) mark_widened(factor);
  }

  // What a library reads as it is needs no memory for its f32.
  void mark_widened(NodeId factor) {
    for (; is_seen_through(graph_[factor]); factor = graph_[factor].inputs[0])
      widened_[factor.index] =
          is_of_integers(graph_[factor]) || (std::holds_alternative<Cast>(graph_[factor].node) &&
                                             limits_.library_takes(graph_[graph_[factor].inputs[0]].dtype));
  }

  // The work of computing one element from memory, memory included, each node once. What has fewer elements,
  // such as a value a row, is fetched or computed once for many.
  double work_of_element(std::size_t node) {
    const double elements = counts_[node];
    double work = 0;
    ++walk_;
    std::vector<std::size_t> open{node};
    while (!open.empty()) {
      const std::size_t next = open.back();
      open.pop_back();
      if (std::exchange(marks_[next], walk_) == walk_) continue;
      ++chosen_.visited;
      const double share = std::min(1.0, counts_[next] / std::max(elements, 1.0));
      if (next != node && (chosen_.values[next] || is_memory(graph_.nodes()[next]))) {
        work += limits_.usual.memory * share;
        continue;
      }
      work += work_of_node(graph_.nodes()[next]) * share;
      for (const NodeId input : graph_.nodes()[next].inputs) open.push_back(input.index);
    }
    return work;
  }

  bool may_be_chosen(std::size_t node) const {
    return !chosen_.values[node] && !widened_[node] && may_have_memory(graph_.nodes()[node]);
  }

  void cut(std::size_t node) {
    if (may_be_chosen(node) && work_of_element(node) > limits_.largest)
      choose(node, "more work than one kernel should hold");
  }

  void weigh(std::size_t node) {
    const bool chooses = may_be_chosen(node);
    double reads = 0;
    for (const auto& [reader, count] : reads_[node]) reads += count;
    const bool has_few = is_concat(node) && !has_many_parts(node) && !chooses && !costs_.splits_parts;
    if (has_many_parts(node) || has_few) return weigh_parts(node, chooses ? reads : counts_[node], chooses);
    if (!chooses || widens(node)) return;
    const double count = counts_[node];
    if (reads <= count) return;
    const double again = (reads - count) * work_of_element(node);
    if (again > (reads + count) * limits_.usual.memory + limits_.usual.launch)
      choose(node, "read again more often than computing it again would cost");
  }

  // What is cast has memory in its place: half of the bytes, and a shift converts them again.
  bool widens(std::size_t node) const {
    const Node& cast = graph_.nodes()[node];
    return std::holds_alternative<Cast>(cast.node) && cast.dtype == ops::DType::f32 &&
           ops::is_16_bit_float(graph_[cast.inputs[0]].dtype);
  }

  bool is_concat(std::size_t node) const { return std::holds_alternative<Concat>(graph_.nodes()[node].node); }
  bool has_many_parts(std::size_t node) const {
    return is_concat(node) && static_cast<int>(graph_.nodes()[node].inputs.size()) > limits_.few_parts;
  }

  // Computed by readers of so many elements, or where it must have memory by the nest that writes it, an
  // element chooses among all parts. Part by part each is computed once, in as many kernels as are needed.
  void weigh_parts(std::size_t node, double reads, bool chooses) {
    const Node& concat = graph_.nodes()[node];
    double all = 0, each = 0, kernels = 0;
    for (const NodeId input : concat.inputs) {
      const bool is_loaded = chosen_.values[input.index] || is_memory(graph_.nodes()[input.index]);
      const double work = costs_.part + (is_loaded ? 0 : work_of_element(input.index));
      all += work, each += work * counts_[input.index];
    }
    for (std::size_t k = 0; k < concat.inputs.size(); k += parts_together(graph_, concat, k, costs_, limits_))
      ++kernels;
    const double handed_on = chooses ? (reads + counts_[node]) * costs_.memory : 0;
    // What few parts cost is hidden behind what they move.
    const double moved = has_many_parts(node) ? 0 : 2 * counts_[node] * costs_.memory;
    const double apart = std::max(each, moved) + handed_on + (kernels - (chooses ? 0 : 1)) * costs_.launch;
    const bool is_more = std::max(reads * all, moved) > apart;
    if (!is_more && static_cast<int>(concat.inputs.size()) <= limits_.most_parts) return;
    chosen_.in_parts[node] = true;
    choose(node, "a concatenation of many parts");
  }

  // Tells the inputs how often they are read, and by which value with memory.
  void spread(std::size_t i) {
    const Node& node = graph_.nodes()[i];
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      std::map<std::size_t, double>& reads = reads_[node.inputs[k].index];
      if (chosen_.values[i]) {
        add(reads, i, space_of(graph_, node, k, limits_.typical_size, chosen_.in_parts[i]), node);
      } else {
        for (const auto& [reader, count] : reads_[i]) add(reads, reader, count, node);
      }
    }
  }

  // Pointwise users in one kernel read the same element once; others read other elements.
  static void add(std::map<std::size_t, double>& reads, std::size_t reader, double count, const Node& user) {
    const bool same_element =
        std::holds_alternative<Pointwise>(user.node) || std::holds_alternative<Cast>(user.node);
    double& known = reads[reader];
    known = same_element ? std::max(known, count) : known + count;
  }

  const Graph& graph_;
  const Costs& costs_;
  const RealizeLimits& limits_;
  Realized chosen_;
  std::vector<double> counts_;        // elements, by node
  std::vector<std::uint64_t> marks_;  // by node: the last walk that met it
  std::uint64_t walk_ = 0;
  std::vector<bool> widened_;                         // by node
  std::vector<std::map<std::size_t, double>> reads_;  // by node: the readers with memory
};

}  // namespace

std::size_t parts_together(const Graph& graph, const Node& concat, std::size_t first, const Costs& costs,
                           const RealizeLimits& limits) {
  const auto shape_of = [&](std::size_t k) -> const Shape& { return graph[concat.inputs[k]].shape; };
  const double both = 2 * costs.memory * typical_count(shape_of(first), limits.typical_size);
  std::size_t count = 1;
  while (both < costs.launch && first + count < concat.inputs.size() &&
         shape_of(first + count) == shape_of(first))
    ++count;
  return count;
}

double typical_count(const Shape& shape, double typical) {
  double count = 1;
  for (const index::Expr& size : shape) {
    index::Values values;
    for (const index::Symbol& symbol : index::symbols_of(size)) values[symbol] = std::llround(typical);
    count *= static_cast<double>(std::max<std::int64_t>(0, index::evaluate(size, values)));
  }
  return count;
}

Realized choose_realized(const Graph& graph, const Costs& costs, const RealizeLimits& limits) {
  return Choice(graph, costs, limits).run();
}

}  // namespace twinloom::lower
