// See known_element.h.
#include "core/graph/known_element.h"

#include "core/index/simplify.h"

namespace twinloom::graph {

namespace {

// The element of a short list of integers at a known position.
std::optional<index::Expr> held(const Array& array, const std::vector<index::Expr>& at) {
  constexpr std::size_t most = 1 << 16;  // bytes, which may lie in a file
  if (!ops::is_integer(array.dtype) || array.dtype == ops::DType::u64 || array.bytes.size() > most)
    return std::nullopt;
  std::int64_t element = 0;
  for (std::size_t d = 0; d < at.size(); ++d) {
    const auto known = index::constant_of(at[d]);
    if (!known || *known < 0 || *known >= array.sizes[d]) return std::nullopt;
    element = element * array.sizes[d] + *known;
  }
  const auto* bytes = array.bytes.read().data();
  return index::Expr(ops::load_number(array.dtype, bytes + element * ops::size_of(array.dtype)).integer());
}

}  // namespace

std::optional<index::Expr> KnownElements::element(NodeId id, const std::vector<index::Expr>& at,
                                                  int& visits) const {
  if (visits == 0) return std::nullopt;
  --visits;
  const Node& node = graph_[id];
  const auto value = unbounded(node, at, visits);
  return value && fits(*value, node.dtype) ? value : std::nullopt;
}

std::optional<index::Expr> KnownElements::unbounded(const Node& node, const std::vector<index::Expr>& at,
                                                    int& visits) const {
  if (const auto* iota = std::get_if<Iota>(&node.node)) return at[static_cast<std::size_t>(iota->axis)];
  if (const auto* size = std::get_if<Size>(&node.node)) return size->value;
  if (const auto* constant = std::get_if<Constant>(&node.node)) {
    const auto* number = std::get_if<ops::Number>(&constant->value);
    if (number == nullptr) return held(**std::get_if<Content>(&constant->value), at);
    if (!number->is_integer()) return std::nullopt;
    return index::Expr(number->integer());
  }
  if (const auto* concat = std::get_if<Concat>(&node.node)) return part(*concat, node, at, visits);
  if (const auto* gather = std::get_if<Gather>(&node.node)) return looked_up(*gather, node, at, visits);
  if (std::holds_alternative<Cast>(node.node)) {
    if (!ops::is_integer(graph_[node.inputs[0]].dtype)) return std::nullopt;
    return element(node.inputs[0], at, visits);
  }
  if (const auto* view = std::get_if<View>(&node.node)) return through(*view, node.inputs[0], at, visits);
  const auto* pointwise = std::get_if<Pointwise>(&node.node);
  if (pointwise == nullptr || node.inputs.size() != 2) return std::nullopt;
  const auto left = element(node.inputs[0], at, visits);
  const auto right = left ? element(node.inputs[1], at, visits) : std::nullopt;
  return right ? computed(pointwise->op, *left, *right) : std::nullopt;
}

std::optional<index::Expr> KnownElements::through(const View& view, NodeId input,
                                                  const std::vector<index::Expr>& at, int& visits) const {
  if (!view.inside.all.empty()) return std::nullopt;
  index::Substitution here;
  for (std::size_t d = 0; d < view.axes.size(); ++d) here.emplace(view.axes[d], at[d]);
  std::vector<index::Expr> source;
  for (const index::Expr& expr : view.source) source.push_back(index::substitute(expr, here));
  return element(input, source, visits);
}

// Of parts whose sizes are known, the one that holds the position.
std::optional<index::Expr> KnownElements::part(const Concat& concat, const Node& node,
                                               const std::vector<index::Expr>& at, int& visits) const {
  const auto axis = static_cast<std::size_t>(concat.axis);
  const auto known = index::constant_of(at[axis]);
  if (!known || *known < 0) return std::nullopt;
  std::int64_t rest = *known;
  for (const NodeId input : node.inputs) {
    const auto size = index::constant_of(graph_[input].shape[axis]);
    if (!size) return std::nullopt;
    if (rest < *size) {
      std::vector<index::Expr> inside = at;
      inside[axis] = rest;
      return element(input, inside, visits);
    }
    rest -= *size;
  }
  return std::nullopt;
}

// Where the indices are known numbers that lie inside.
std::optional<index::Expr> KnownElements::looked_up(const Gather& gather, const Node& node,
                                                    const std::vector<index::Expr>& at, int& visits) const {
  index::Substitution here;
  for (std::size_t d = 0; d < gather.axes.size(); ++d) here.emplace(gather.axes[d], at[d]);
  for (std::size_t k = 0; k < gather.found.size(); ++k) {
    const auto index = element(node.inputs[1 + k], at, visits);
    if (!index) return std::nullopt;
    const auto number = index::constant_of(*index), bound = index::constant_of(gather.bounds[k]);
    if (!number || !bound) return std::nullopt;
    const std::int64_t wrapped =
        number.value() + (number.value() < 0 && gather.negative_wraps ? bound.value() : 0);
    if (wrapped < 0 || wrapped >= bound.value()) return std::nullopt;
    here.emplace(gather.found[k], wrapped);
  }
  std::vector<index::Expr> source;
  for (const index::Expr& expr : gather.source) source.push_back(index::substitute(expr, here));
  return element(node.inputs[0], source, visits);
}

std::optional<index::Expr> KnownElements::computed(ops::Pointwise op, const index::Expr& left,
                                                   const index::Expr& right) const {
  if (op == ops::Pointwise::add) return left + right;
  if (op == ops::Pointwise::sub) return left - right;
  if (op == ops::Pointwise::mul) return left * right;
  if (op == ops::Pointwise::minimum) return index::least(left, right);
  if (op == ops::Pointwise::maximum) return index::greatest(left, right);
  const auto divisor = index::constant_of(right);
  if (!divisor || *divisor <= 0) return std::nullopt;
  // Towards zero is downwards where nothing is below zero.
  const bool is_positive = facts_.range(left).low.value_or(-1) >= 0;
  if (op == ops::Pointwise::div_trunc &&
      index::simplify(index::floor_mod(left, right), facts_) == index::Expr(0))
    return index::simplify(index::floor_div(left, right), facts_);
  if (op == ops::Pointwise::remainder || (op == ops::Pointwise::fmod && is_positive))
    return index::floor_mod(left, right);
  if (op == ops::Pointwise::div_floor || (op == ops::Pointwise::div_trunc && is_positive))
    return index::floor_div(left, right);
  return std::nullopt;
}

// Positions are far from the ends of 64 bits; a shorter type must be known to hold them.
bool KnownElements::fits(const index::Expr& value, ops::DType dtype) const {
  if (dtype == ops::DType::i64) return true;
  const index::Range range = facts_.range(value);
  const auto stays = [&](const std::optional<std::int64_t>& bound) {
    return bound && ops::cast(ops::Number(*bound), dtype) == ops::Number(*bound);
  };
  return stays(range.low) && stays(range.high);
}

void assume_axes(index::Facts& facts, const std::vector<index::Symbol>& axes, const Shape& sizes) {
  for (std::size_t k = 0; k < axes.size(); ++k) {
    facts.assume(axes[k], {0, {}});
    facts.assume_below(axes[k], sizes[k]);
  }
}

}  // namespace twinloom::graph
