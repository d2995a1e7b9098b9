// See known.h. What positions tell is core/graph's rule; other elements are those of a small graph of their
// own, which the evaluator evaluates.
#include "frontends/onnx/known.h"

#include "core/evaluate/evaluate.h"
#include "core/graph/known_element.h"

namespace twinloom::onnx {

namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

// Elements that a node on the way may have: what decides shapes is small.
constexpr std::int64_t most_evaluated = 1 << 20;
constexpr std::int64_t most_integers = 1 << 14;

std::optional<std::int64_t> known_count(const Node& node) {
  std::int64_t count = 1;
  for (const index::Expr& size : node.shape) {
    const auto known = index::constant_of(size);
    if (!known) return std::nullopt;
    if (*known != 0 && count > most_evaluated / *known) return std::nullopt;
    count *= *known;
  }
  return count;
}

// The positions of the elements, row by row.
std::vector<std::vector<index::Expr>> positions(const graph::Shape& shape, std::int64_t count) {
  std::vector<std::vector<index::Expr>> result;
  for (std::int64_t e = 0; e < count; ++e) {
    std::vector<index::Expr> at(shape.size());
    std::int64_t rest = e;
    for (std::size_t d = shape.size(); d-- > 0;) {
      const std::int64_t size = *index::constant_of(shape[d]);
      at[d] = rest % size;
      rest /= size;
    }
    result.push_back(std::move(at));
  }
  return result;
}

}  // namespace

std::vector<bool> Known::needed_for(NodeId id) const {
  std::vector<bool> needed(static_cast<std::size_t>(id.index) + 1);
  needed.back() = true;
  for (std::size_t n = needed.size(); n-- > 0;) {
    if (!needed[n]) continue;
    for (const NodeId input : graph_.nodes()[n].inputs) needed[static_cast<std::size_t>(input.index)] = true;
  }
  return needed;
}

int Known::parameter_of(NodeId id) const {
  const auto parameters = graph_.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const auto* input = std::get_if<NodeId>(&parameters[p].value);
    if (input != nullptr && *input == id) return static_cast<int>(p);
  }
  return -1;
}

// Null where the caller does not know it.
graph::Content Known::given(int parameter) {
  if (parameter < 0 || !options_.values) return nullptr;
  const auto [found, is_first] = given_.try_emplace(parameter);
  if (!is_first) return found->second;
  const auto position = static_cast<std::size_t>(parameter);
  if (auto array = options_.values(graph_.parameters()[position].name, position))
    found->second = std::make_shared<const graph::Array>(*std::move(array));
  return found->second;
}

std::set<std::string> Known::unknown_inputs(const graph::Tensor& tensor) {
  const std::vector<bool> needed = needed_for(tensor.id());
  std::set<std::string> names;
  for (std::size_t n = 0; n < needed.size(); ++n) {
    const NodeId id{static_cast<decltype(NodeId::index)>(n)};
    const int parameter = needed[n] ? parameter_of(id) : -1;
    if (parameter >= 0 && given(parameter) == nullptr)
      names.insert(graph_.parameters()[static_cast<std::size_t>(parameter)].name);
  }
  return names;
}

std::optional<NodeId> Known::add_to(Graph& part, const Node& node, std::size_t id,
                                    const std::vector<NodeId>& made) {
  if (!known_count(node) || std::holds_alternative<graph::Random>(node.node)) return std::nullopt;
  const auto* size = std::get_if<graph::Size>(&node.node);
  if (size != nullptr && !index::constant_of(size->value)) return std::nullopt;
  if (std::holds_alternative<graph::Input>(node.node)) {
    const int parameter = parameter_of(NodeId{static_cast<decltype(NodeId::index)>(id)});
    const graph::Content array = given(parameter);
    if (array == nullptr || array->dtype != node.dtype ||
        graph::Shape(array->sizes.begin(), array->sizes.end()) != node.shape)
      return std::nullopt;
    used_.emplace(parameter, array);
    return part.add(graph::Constant{array, node.dtype, node.shape}, {});
  }
  std::vector<NodeId> inputs;
  for (const NodeId input : node.inputs) inputs.push_back(made[static_cast<std::size_t>(input.index)]);
  return part.add_proven(node.node, std::move(inputs));
}

std::optional<graph::Array> Known::array(const graph::Tensor& tensor) {
  if (const auto* constant = std::get_if<graph::Constant>(&graph_[tensor.id()].node))
    if (const auto* content = std::get_if<graph::Content>(&constant->value)) return **content;
  const std::vector<bool> needed = needed_for(tensor.id());
  std::vector<NodeId> made(needed.size());
  Graph part;
  for (std::size_t n = 0; n < needed.size(); ++n) {
    if (!needed[n]) continue;
    const auto id = add_to(part, graph_.nodes()[n], n, made);
    if (!id) return std::nullopt;
    made[n] = *id;
  }
  part.output({graph::Ownership::own, made.back(), -1, 0, {}});
  auto values = evaluate::evaluate(part, {}, evaluate::Arithmetic::strict);
  return graph::Array{values[0]->dtype, values[0]->sizes, std::move(values[0]->bytes)};
}

std::optional<std::vector<index::Expr>> Known::integers(const graph::Tensor& tensor) {
  const Node& node = graph_[tensor.id()];
  const auto count = known_count(node);
  if (!count || *count > most_integers || ops::holds_real(node.dtype)) return std::nullopt;
  std::vector<index::Expr> elements;
  const graph::KnownElements known(graph_, graph_.facts());
  for (const auto& at : positions(node.shape, *count)) {
    const auto element = known.element(tensor.id(), at);
    if (!element) break;
    elements.push_back(*element);
  }
  if (std::cmp_equal(elements.size(), *count)) return elements;
  const auto evaluated = array(tensor);
  if (!evaluated) return std::nullopt;
  elements.clear();
  const auto size = static_cast<std::size_t>(ops::size_of(evaluated->dtype));
  const auto bytes = evaluated->bytes.read();
  for (std::size_t e = 0; e < bytes.size(); e += size)
    elements.emplace_back(ops::load_number(evaluated->dtype, bytes.data() + e).integer());
  return elements;
}

}  // namespace twinloom::onnx
