// Operators that carry a state from one call to the next: caches, convolutions that go on, and linear
// attention, whose steps are built one after the other.
#include <array>
#include <cmath>

#include "core/graph/attention.h"
#include "core/graph/composites.h"
#include "core/graph/convolution.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/heads.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using graph::widened;
using index::Expr;
using ops::DType;

constexpr std::int64_t most_steps = 1 << 10;

// Each sequence's new elements behind those that its cache holds; around its end where it is circular.
Values tensor_scatter(const Call& call) {
  const Tensor cache = call.tensor(0), update = call.tensor(1);
  const int axis = call.axis(call.integer("axis", -2), cache.rank());
  const std::string mode = call.text("mode", "linear");
  if (mode != "linear" && mode != "circular")
    call.fail("attribute 'mode' must be linear or circular, it is '", escaped(mode), "'");
  if (axis == 0 || update.rank() != cache.rank())
    call.fail("needs an axis behind the batch, of both tensors");
  graph::Builder& builder = call.builder();
  const Shape shape = update.shape();
  Tensor at = builder.iota(shape, axis);
  if (call.has(2)) {
    Shape beside(shape.size(), 1);
    beside[0] = shape[0];
    at = at + graph::reshape(graph::cast(call.tensor(2), DType::i64), beside);
  }
  if (mode == "circular") at = graph::remainder(at, builder.size(cache.size(axis)));
  for (int d = 0; d < cache.rank(); ++d)
    if (d != axis)
      builder.graph().require_equal(cache.size(d), shape[static_cast<std::size_t>(d)],
                                    cat("axis ", d, " of the cache and of what is put there must be equal"));
  return {graph::scatter(cache, axis, at, update)};
}

Values causal_convolution(const Call& call) {
  const Tensor x = call.tensor(0), weights = call.tensor(1);
  if (x.rank() != 3 || weights.rank() != 3)
    call.fail("needs an input and weights of 3 axes, given ", x.rank(), " and ", weights.rank());
  const std::string activation = call.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    call.fail("attribute 'activation' must be none, silu or swish, it is '", escaped(activation), "'");
  const Expr kept = weights.size(2) - 1;
  const Tensor past =
      call.has(3) ? call.tensor(3) : call.builder().constant(0, x.dtype(), {x.size(0), x.size(1), kept});
  const Tensor whole = graph::concat({past, x}, 2);
  const graph::Convolution convolution{call.name(), {{1, 1, 0, x.size(2)}}, x.size(1)};
  Tensor result = graph::convolve(widened(whole), widened(weights), convolution);
  if (call.has(2)) result = result + graph::beside_channels(widened(call.tensor(2)), 3);
  if (activation != "none") result = graph::silu(result);
  return {graph::cast(result, x.dtype(), true), graph::slice_exact(whole, 2, x.size(2), kept)};
}

// What a linear attention is made of, [batch, heads, length, ...] each.
struct Linear {
  Tensor queries, keys, values;
  std::optional<Tensor> decay, rate;
  double scale = 1;
};

Linear linear_of(const Call& call) {
  const std::string rule = call.text("update_rule", "gated_delta");
  const bool decays = rule == "gated" || rule == "gated_delta",
             corrects = rule == "delta" || rule == "gated_delta";
  if (!decays && !corrects && rule != "linear")
    call.fail("attribute 'update_rule' must be linear, gated, delta or gated_delta, it is '", escaped(rule),
              "'");
  if (call.has(4) != decays || call.has(5) != corrects)
    call.fail("update rule '", rule, "' takes ", decays ? "a" : "no", " decay and ", corrects ? "a" : "no",
              " rate");
  for (const std::size_t input : {0U, 1U, 2U, 4U, 5U})
    if (call.has(input) && call.tensor(input).rank() != 3)
      call.fail("needs tensors of 3 axes, input ", input, " has ", call.tensor(input).rank());
  const std::int64_t heads = call.integer("kv_num_heads", 0), query_heads = call.integer("q_num_heads", 0);
  Linear linear{split_heads(call, widened(call.tensor(0)), query_heads),
                split_heads(call, widened(call.tensor(1)), heads),
                split_heads(call, widened(call.tensor(2)), heads),
                {},
                {}};
  // One rate for all heads, or one for each.
  if (decays) linear.decay = graph::exp(split_heads(call, widened(call.tensor(4)), heads));
  if (corrects)
    linear.rate = split_heads(call, widened(call.tensor(5)), call.tensor(5).size(2) == Expr(1) ? 1 : heads);
  const auto size = index::constant_of(linear.queries.size(3));
  linear.scale = call.real("scale", 0);
  if (linear.scale == 0 && !size) call.unsupported("a symbolic size of heads without attribute 'scale'");
  if (linear.scale == 0) linear.scale = 1 / std::sqrt(static_cast<double>(*size));
  return linear;
}

// [batch, heads, keys, values] after one more step.
Tensor next_state(const Linear& linear, Tensor state, std::int64_t step) {
  const auto column = [&](const Tensor& x) { return graph::unsqueeze(graph::select(x, 2, step), -1); };
  const Tensor key = column(linear.keys);
  Tensor value = graph::unsqueeze(graph::select(linear.values, 2, step), 2);
  if (linear.decay) state = state * column(*linear.decay);
  if (linear.rate) value = column(*linear.rate) * (value - graph::sum(state * key, {2}, true));
  return state + key * value;
}

Values linear_attention(const Call& call) {
  call.ignore({"chunk_size"});
  const Linear linear = linear_of(call);
  const auto steps = index::constant_of(linear.keys.size(2));
  if (!steps || *steps < 1 || *steps > most_steps)
    call.unsupported("a sequence whose length is symbolic or not in 1 to ", most_steps, ", here ",
                     linear.keys.size(2), ",");
  const Shape shape = {linear.keys.size(0), linear.keys.size(1), linear.keys.size(3), linear.values.size(3)};
  const DType given = call.has(3) ? call.tensor(3).dtype() : call.tensor(0).dtype();
  Tensor state =
      call.has(3) ? widened(call.tensor(3)) : call.builder().constant(0.0, linear.keys.dtype(), shape);
  Values results;
  for (std::int64_t step = 0; step < *steps; ++step) {
    state = next_state(linear, state, step);
    const Tensor query = graph::slice_exact(linear.queries, 2, step, 1) * linear.scale;
    results.push_back(graph::grouped_product(query, state));
  }
  const Tensor result = join_heads(graph::concat(results, 2));
  return {graph::cast(result, call.tensor(0).dtype(), true), graph::cast(state, given, true)};
}

constexpr std::array rows = {
    Row{"CausalConvWithState", causal_convolution},
    Row{"LinearAttention", linear_attention},
    Row{"TensorScatter", tensor_scatter},
};

}  // namespace

std::span<const Row> state_rows() { return rows; }

}  // namespace twinloom::onnx
