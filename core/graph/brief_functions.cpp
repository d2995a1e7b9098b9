// Mode `fused`: where a product is rounded to 16 bits right away, and nobody else needs it, a gelu of f32 in
// it, and what is written out as a gelu or its slope, are computed by functions for results of 16 bits:
//   y = f16(0.5 x (1 + erf(x / sqrt 2)))                   ->     y = f16(gelu_erf_brief(x))
//   y = f16(g (0.5 (1 + erf(x / sqrt 2)) + x p(x)))        ->     y = f16(g * gelu_erf_slope_brief(x))
// with p(x) = exp(-x^2 / 2) / sqrt(2 pi), and other factors beside them; by tanh, t = tanh(v(x)) with
// v(x) = sqrt(2 / pi) (x + c x^3):
//   y = f16(0.5 x (1 + t))                                 ->     y = f16(gelu_tanh_brief(x))
//   y = f16(g (0.5 (1 + t) + 0.5 x (1 - t t) v'(x)))       ->     y = f16(g * gelu_tanh_slope_brief(x))
// What is written out loses the digits of a negative result, which these functions keep.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"

namespace twinloom::graph {

namespace {

using std::numbers::inv_sqrtpi;
using std::numbers::sqrt2;

// Factors that are no products, and the numbers among them. A product of more stays a factor: repeated
// squares have too many.
constexpr int MOST_PRODUCTS = 16;
struct Product {
  double number = 1;
  std::vector<NodeId> factors;
};
Product product_of(const Graph& graph, NodeId id) {
  Product product;
  std::vector<NodeId> open{id};
  for (int products = 0; !open.empty();) {
    const NodeId next = open.back();
    const Node& node = graph[next];
    open.pop_back();
    if (const auto number = only_number(graph, next))
      product.number *= number->real();
    else if (node.dtype == ops::DType::f32 && is_of(node, ops::Pointwise::mul) && products++ < MOST_PRODUCTS)
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    else
      product.factors.push_back(next);
  }
  return product;
}

// Numbers were rounded to f32 on their way here.
bool is_about(double number, double wanted) { return std::fabs(number - wanted) <= 1e-6 * std::fabs(wanted); }

// The x of number * x.
std::optional<NodeId> of_scaled(const Graph& graph, NodeId id, double number) {
  const Product product = product_of(graph, id);
  if (product.factors.size() != 1 || !is_about(product.number, number)) return std::nullopt;
  return product.factors[0];
}

// The other operand of a sum with a number.
std::optional<NodeId> added_to(const Graph& graph, NodeId id, double number) {
  const Node& sum = graph[id];
  if (!is_of(sum, ops::Pointwise::add)) return std::nullopt;
  for (const std::size_t k : {0u, 1u}) {
    const auto found = only_number(graph, sum.inputs[k]);
    if (found && found->real() == number) return sum.inputs[1 - k];
  }
  return std::nullopt;
}

bool is_power(const Graph& graph, NodeId id, double number, NodeId x, std::size_t exponent) {
  const Product product = product_of(graph, id);
  return is_about(product.number, number) && product.factors == std::vector(exponent, x);
}

constexpr double CUBIC = 0.044715, ROOT_OF_2_OVER_PI = sqrt2 * inv_sqrtpi;

// The x of v(x).
std::optional<NodeId> of_tanh_gate(const Graph& graph, NodeId id) {
  const auto inner = of_scaled(graph, id, ROOT_OF_2_OVER_PI);
  if (!inner || !is_of(graph[*inner], ops::Pointwise::add)) return std::nullopt;
  const std::vector<NodeId>& both = graph[*inner].inputs;
  for (const std::size_t k : {0u, 1u})
    if (is_power(graph, both[1 - k], CUBIC, both[k], 3)) return both[k];
  return std::nullopt;
}

// What a gelu is made of: 1 + inner, inner of x an erf or a tanh.
struct Gate {
  NodeId inner, x;
  bool is_tanh;
};
std::optional<Gate> gate_of(const Graph& graph, NodeId id) {
  const auto inner = added_to(graph, id, 1);
  if (!inner) return std::nullopt;
  const Node& node = graph[*inner];
  const bool is_tanh = is_of(node, ops::Pointwise::tanh);
  if (!is_tanh && !is_of(node, ops::Pointwise::erf)) return std::nullopt;
  const auto x = is_tanh ? of_tanh_gate(graph, node.inputs[0]) : of_scaled(graph, node.inputs[0], 1 / sqrt2);
  return x ? std::optional(Gate{*inner, *x, is_tanh}) : std::nullopt;
}

// Whether factors, in any order, are these by these questions.
template <class... Asked>
bool are(std::vector<NodeId> factors, const Asked&... asked) {
  if (factors.size() != sizeof...(asked)) return false;
  const auto take = [&](const auto& is_it) {
    const auto found = std::ranges::find_if(factors, is_it);
    if (found == factors.end()) return false;
    factors.erase(found);
    return true;
  };
  return (take(asked) && ...);
}

// Whether it is the gate's slope times x / 2: x exp(-x^2 / 2) / sqrt(2 pi), or 0.5 x (1 - t t) v'(x).
bool is_rest_of_slope(const Graph& graph, NodeId id, const Gate& gate) {
  using enum ops::Pointwise;
  const Product product = product_of(graph, id);
  const auto is_x = [&](NodeId factor) { return factor == gate.x; };
  const auto is_density = [&](NodeId factor) {
    return is_of(graph[factor], exp) && is_power(graph, graph[factor].inputs[0], -0.5, gate.x, 2);
  };
  const auto is_less_square = [&](NodeId factor) {
    const Node& node = graph[factor];
    if (!is_of(node, sub) || !is_power(graph, node.inputs[1], 1, gate.inner, 2)) return false;
    const auto one = only_number(graph, node.inputs[0]);
    return one && one->real() == 1;
  };
  const auto is_bend = [&](NodeId factor) {
    const auto square = added_to(graph, factor, 1);
    return square && is_power(graph, *square, 3 * CUBIC, gate.x, 2);
  };
  if (gate.is_tanh)
    return is_about(product.number, ROOT_OF_2_OVER_PI / 2) &&
           are(product.factors, is_x, is_less_square, is_bend);
  return is_about(product.number, inv_sqrtpi / sqrt2) && are(product.factors, is_x, is_density);
}

// The gate of the slope 0.5 gate + rest.
std::optional<Gate> of_slope(const Graph& graph, NodeId id) {
  const Node& sum = graph[id];
  if (!is_of(sum, ops::Pointwise::add)) return std::nullopt;
  for (const std::size_t k : {0u, 1u}) {
    const auto half = of_scaled(graph, sum.inputs[k], 0.5);
    const auto gate = half ? gate_of(graph, *half) : std::nullopt;
    if (gate && is_rest_of_slope(graph, sum.inputs[1 - k], *gate)) return gate;
  }
  return std::nullopt;
}

// A function of x in the place of one factor, or of two of them.
struct Brief {
  ops::Pointwise op;
  NodeId x;
  Product rest;
};
std::optional<Brief> brief_in(const Graph& graph, const Product& product) {
  using enum ops::Pointwise;
  for (auto factor = product.factors.begin(); factor != product.factors.end(); ++factor) {
    Product rest = product;
    rest.factors.erase(rest.factors.begin() + (factor - product.factors.begin()));
    if (const auto slope = of_slope(graph, *factor))
      return Brief{slope->is_tanh ? gelu_tanh_slope_brief : gelu_erf_slope_brief, slope->x, std::move(rest)};
    const auto* pointwise = std::get_if<Pointwise>(&graph[*factor].node);
    if (pointwise != nullptr && ops::computed_for(pointwise->op, ops::DType::bf16) != pointwise->op)
      return Brief{ops::computed_for(pointwise->op, ops::DType::bf16), graph[*factor].inputs[0],
                   std::move(rest)};
    const auto gate = gate_of(graph, *factor);
    const auto other = gate ? std::ranges::find(rest.factors, gate->x) : rest.factors.end();
    if (other == rest.factors.end()) continue;
    rest.factors.erase(other);
    rest.number *= 2;
    return Brief{gate->is_tanh ? gelu_tanh_brief : gelu_erf_brief, gate->x, std::move(rest)};
  }
  return std::nullopt;
}

bool rounds_to_16_bits(const Graph& graph, NodeId id) {
  const auto* cast = std::get_if<Cast>(&graph[id].node);
  const bool is_narrow = cast != nullptr && (cast->to == ops::DType::f16 || cast->to == ops::DType::bf16);
  return is_narrow && graph[graph[id].inputs[0]].dtype == ops::DType::f32;
}

}  // namespace

Graph brief_functions(const Graph& graph) {
  const std::vector<int> uses = uses_of(graph);
  Rebuild rebuild(graph);
  return rebuild.finish_by([&](NodeId id) -> std::optional<NodeId> {
    if (!rounds_to_16_bits(graph, id)) return std::nullopt;
    const NodeId wide = graph[id].inputs[0];
    if (uses[wide.index] != 1) return std::nullopt;
    const auto brief = brief_in(graph, product_of(graph, wide));
    if (!brief) return std::nullopt;
    NodeId made = rebuild.add(Pointwise{brief->op}, {rebuild[brief->x]}, wide);
    const auto times = [&](NodeId factor) {
      made = rebuild.add(Pointwise{ops::Pointwise::mul}, {made, factor}, wide);
    };
    for (const NodeId factor : brief->rest.factors) times(rebuild[factor]);
    if (brief->rest.number != 1)
      times(rebuild.add(Constant{ops::Number(brief->rest.number), ops::DType::f32, graph[wide].shape}, {},
                        wide));
    return rebuild.add(graph[id].node, {made}, id);
  });
}

}  // namespace twinloom::graph
