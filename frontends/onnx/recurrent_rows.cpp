// RNN, GRU and LSTM: the steps of a sequence one after the other, whose number must be known.
#include <algorithm>
#include <array>

#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::widened;
using index::Expr;

constexpr std::int64_t most_steps = 1 << 10;

// An activation function with its two numbers, of which ONNX gives each a default.
struct Activation {
  std::string_view name;
  Tensor (*compute)(const Tensor& x, double alpha, double beta);
  bool takes_alpha = false, takes_beta = false;
  double alpha = 0, beta = 0;
};
using T = const Tensor&;
constexpr std::array activations = {
    Activation{"Affine", [](T x, double a, double b) { return x * a + b; }, true, true, 1, 0},
    Activation{"Elu", [](T x, double a, double) { return graph::elu(x, a); }, true, false, 1, 0},
    Activation{
        "HardSigmoid",
        [](T x, double a, double b) { return graph::clamp(x * a + b, ops::Number(0.0), ops::Number(1.0)); },
        true, true, 0.2, 0.5},
    Activation{"LeakyRelu", [](T x, double a, double) { return graph::leaky_relu(x, a); }, true, false, 0.01,
               0},
    Activation{"Relu", [](T x, double, double) { return graph::relu(x); }},
    Activation{"ScaledTanh", [](T x, double a, double b) { return graph::tanh(x * b) * a; }, true, true, 1,
               1},
    Activation{"Sigmoid", [](T x, double, double) { return graph::sigmoid(x); }},
    Activation{"Softplus", [](T x, double, double) { return graph::softplus(x); }},
    Activation{"Softsign", [](T x, double, double) { return x / (graph::abs(x) + 1.0); }},
    Activation{"Tanh", [](T x, double, double) { return graph::tanh(x); }},
    Activation{"ThresholdedRelu", [](T x, double a, double) { return graph::where(graph::gt(x, a), x, 0.0); },
               true, false, 1, 0},
};

// The activations of all directions, `each` of a direction, after `otherwise` where the node names none.
// Numbers belong to those that take them, in order.
std::vector<Activation> activations_of(const Call& call, std::size_t directions,
                                       const std::vector<std::string>& otherwise) {
  std::vector<std::string> names = call.texts("activations");
  if (names.empty())
    for (std::size_t d = 0; d < directions; ++d)
      names.insert(names.end(), otherwise.begin(), otherwise.end());
  if (names.size() != directions * otherwise.size())
    call.fail("needs ", directions * otherwise.size(), " activations, given ", names.size());
  const auto alphas = call.reals("activation_alpha").value_or(std::vector<double>()),
             betas = call.reals("activation_beta").value_or(std::vector<double>());
  std::size_t next_alpha = 0, next_beta = 0;
  std::vector<Activation> result;
  for (const std::string& name : names) {
    const auto* found = std::ranges::find(activations, std::string_view(name), &Activation::name);
    if (found == activations.end()) call.fail("there is no activation '", escaped(name), "'");
    result.push_back(*found);
    if (found->takes_alpha && next_alpha < alphas.size()) result.back().alpha = alphas[next_alpha++];
    if (found->takes_beta && next_beta < betas.size()) result.back().beta = betas[next_beta++];
  }
  return result;
}

// One direction of a node. Gates lie one after the other along the last axis.
struct Direction {
  const Call& call;
  Tensor inputs;               // [steps, batch, gates * hidden], the product with the weights and its bias
  Tensor recurrence;           // [hidden, gates * hidden]
  std::optional<Tensor> bias;  // of the recurrence, [gates * hidden]
  std::optional<Tensor> peepholes;  // [3 * hidden]
  std::vector<Activation> functions;
  std::int64_t hidden;
  double clip;

  Tensor part(const Tensor& x, std::int64_t gate) const {
    return graph::slice_exact(x, -1, gate * hidden, hidden);
  }
  Tensor activated(std::size_t function, const Tensor& x) const {
    const Tensor inside = clip > 0 ? graph::clamp(x, ops::Number(-clip), ops::Number(clip)) : x;
    return functions[function].compute(inside, functions[function].alpha, functions[function].beta);
  }
  Tensor recurrent(const Tensor& h, std::int64_t first, std::int64_t gates) const {
    const Tensor weights = graph::slice_exact(recurrence, -1, first * hidden, gates * hidden);
    const Tensor product = graph::matmul(h, weights);
    return bias ? product + graph::slice_exact(*bias, -1, first * hidden, gates * hidden) : product;
  }
};

// What a step leaves behind: the output, and the cell of an LSTM.
struct State {
  Tensor h;
  std::optional<Tensor> c;
};

State rnn_step(const Direction& d, const Tensor& x, const State& before) {
  return {d.activated(0, x + d.recurrent(before.h, 0, 1)), {}};
}

// Gates: update, reset, hidden.
State gru_step(const Direction& d, const Tensor& x, const State& before) {
  const Tensor both = d.recurrent(before.h, 0, 2);
  const Tensor update = d.activated(0, d.part(x, 0) + d.part(both, 0));
  const Tensor reset = d.activated(0, d.part(x, 1) + d.part(both, 1));
  const bool linear = d.call.truth("linear_before_reset", false);
  const Tensor hidden = linear ? reset * d.recurrent(before.h, 2, 1) : d.recurrent(reset * before.h, 2, 1);
  const Tensor candidate = d.activated(1, d.part(x, 2) + hidden);
  return {(1.0 - update) * candidate + update * before.h, {}};
}

// Gates: input, output, forget, cell. Peepholes: input, output, forget.
State lstm_step(const Direction& d, const Tensor& x, const State& before) {
  const Tensor sums = x + d.recurrent(before.h, 0, 4), old = *before.c;
  const auto peeped = [&](const Tensor& sum, std::int64_t gate, const Tensor& cell) {
    return d.peepholes ? sum + d.part(*d.peepholes, gate) * cell : sum;
  };
  const Tensor input = d.activated(0, peeped(d.part(sums, 0), 0, old));
  const Tensor forget =
      d.call.truth("input_forget", false) ? 1.0 - input : d.activated(0, peeped(d.part(sums, 2), 2, old));
  const Tensor cell = forget * old + input * d.activated(1, d.part(sums, 3));
  const Tensor output = d.activated(0, peeped(d.part(sums, 1), 1, cell));
  // The cell is not clipped.
  const Activation& last = d.functions[2];
  return {output * last.compute(cell, last.alpha, last.beta), cell};
}

struct Kind {
  std::int64_t gates;
  State (*step)(const Direction&, const Tensor&, const State&);
  std::vector<std::string> functions;
  bool has_cell;
};

// All outputs by step, [steps, batch, hidden], and the last state. Steps behind the end of a sequence leave
// the state as it is and have the output 0.
struct Sequence {
  Tensor outputs;
  State last;
};
Sequence run(const Direction& direction, const Kind& kind, State state, bool backwards) {
  const std::int64_t steps = *index::constant_of(direction.inputs.size(0));
  std::vector<Tensor> outputs(static_cast<std::size_t>(steps));
  const auto lengths = direction.call.optional(4);
  for (std::int64_t k = 0; k < steps; ++k) {
    const std::int64_t step = backwards ? steps - 1 - k : k;
    State after = kind.step(direction, graph::select(direction.inputs, 0, step), state);
    Tensor& output = outputs[static_cast<std::size_t>(step)];
    output = after.h;
    if (lengths) {
      const Tensor goes_on = graph::unsqueeze(graph::gt(*lengths, step), 1);
      output = graph::where(goes_on, after.h, 0.0);
      after.h = graph::where(goes_on, after.h, state.h);
      if (after.c) after.c = graph::where(goes_on, *after.c, *state.c);
    }
    state = after;
  }
  return {graph::stack(outputs, 0), state};
}

// Inputs: X, W, R, B, lengths, h, c, P.
Direction direction_of(const Call& call, const Kind& kind, const Tensor& x, int number,
                       std::vector<Activation> functions) {
  const auto of = [&](std::size_t input) -> std::optional<Tensor> {
    if (!call.has(input)) return std::nullopt;
    return graph::select(widened(call.tensor(input)), 0, number);
  };
  const Tensor recurrence = graph::transpose(*of(2), 0, 1);
  const auto hidden = index::constant_of(recurrence.size(0));
  if (!hidden || *hidden < 1) call.unsupported("a symbolic hidden size");
  if (call.integer("hidden_size", *hidden) != *hidden)
    call.fail("attribute 'hidden_size' is ", call.integer("hidden_size", 0), ", R has ", *hidden, " columns");
  Tensor inputs = graph::matmul(x, graph::transpose(*of(1), 0, 1));
  std::optional<Tensor> bias;
  if (const auto both = of(3)) {
    inputs = inputs + graph::slice_exact(*both, 0, 0, kind.gates * *hidden);
    bias = graph::slice_exact(*both, 0, kind.gates * *hidden, kind.gates * *hidden);
  }
  call.builder().graph().require_equal(recurrence.size(1), kind.gates * *hidden,
                                       cat("R must have ", kind.gates, " gates of ", *hidden, " rows"));
  return {call,
          inputs,
          recurrence,
          bias,
          kind.has_cell ? of(7) : std::nullopt,
          std::move(functions),
          *hidden,
          call.real("clip", 0)};
}

Values recurrent(const Call& call, const Kind& kind) {
  const Tensor given = call.tensor(0);
  if (given.rank() != 3 || call.tensor(1).rank() != 3 || call.tensor(2).rank() != 3)
    call.fail("needs X, W and R of 3 axes");
  const bool batch_first = call.truth("layout", false);
  const Tensor x = batch_first ? graph::transpose(widened(given), 0, 1) : widened(given);
  const auto steps = index::constant_of(x.size(0));
  if (!steps || *steps < 1 || *steps > most_steps)
    call.unsupported("a sequence whose length is symbolic or not in 1 to ", most_steps, ", here ", x.size(0),
                     ",");
  const std::string way = call.text("direction", "forward");
  if (way != "forward" && way != "reverse" && way != "bidirectional")
    call.fail("there is no direction '", escaped(way), "'");
  const std::size_t directions = way == "bidirectional" ? 2 : 1;
  const auto functions = activations_of(call, directions, kind.functions);
  Values outputs, last, cells;
  for (std::size_t d = 0; d < directions; ++d) {
    const auto first = functions.begin() + static_cast<std::ptrdiff_t>(d * kind.functions.size());
    const Direction direction =
        direction_of(call, kind, x, static_cast<int>(d),
                     {first, first + static_cast<std::ptrdiff_t>(kind.functions.size())});
    const auto initial = [&](std::size_t input) {
      if (!call.has(input)) return call.builder().constant(0, x.dtype(), {x.size(1), direction.hidden});
      return graph::select(widened(call.tensor(input)), batch_first ? 1 : 0, static_cast<int>(d));
    };
    State state{initial(5), {}};
    if (kind.has_cell) state.c = initial(6);
    const Sequence sequence = run(direction, kind, state, way == "reverse" || d == 1);
    outputs.push_back(sequence.outputs);
    last.push_back(sequence.last.h);
    if (kind.has_cell) cells.push_back(*sequence.last.c);
  }
  // [steps, directions, batch, hidden] and [directions, batch, hidden], or with the batch first.
  Tensor all = graph::stack(outputs, 1);
  if (batch_first) all = graph::permute(all, {2, 0, 1, 3});
  Values result = {all, graph::stack(last, batch_first ? 1 : 0)};
  if (kind.has_cell) result.push_back(graph::stack(cells, batch_first ? 1 : 0));
  for (Tensor& each : result) each = graph::cast(each, given.dtype(), true);
  return result;
}

Values rnn(const Call& call) { return recurrent(call, {1, rnn_step, {"Tanh"}, false}); }
Values gru(const Call& call) { return recurrent(call, {3, gru_step, {"Sigmoid", "Tanh"}, false}); }
Values lstm(const Call& call) { return recurrent(call, {4, lstm_step, {"Sigmoid", "Tanh", "Tanh"}, true}); }

constexpr std::array rows = {
    Row{"GRU", gru, 7},
    Row{"LSTM", lstm, 7},
    Row{"RNN", rnn, 7},
};

}  // namespace

std::span<const Row> recurrent_rows() { return rows; }

}  // namespace twinloom::onnx
