// Losses, and the optimisers of ai.onnx.preview.training.
#include <array>

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::widened;
using ops::DType;

// -weight[target] * scores[target], which is nothing where the target is ignored; their mean is one over the
// weights. scores: [batch, classes, ...], target: [batch, ...].
Tensor likelihood_loss(const Call& call, const Tensor& scores, const Tensor& target,
                       const std::optional<Tensor>& weight) {
  if (scores.rank() < 2 || target.rank() != scores.rank() - 1)
    call.fail("needs scores of one axis more than the target, given ", scores.rank(), " and ", target.rank());
  const bool ignores = call.has_attribute("ignore_index");
  const Tensor kept = ignores ? graph::ne(target, call.integer("ignore_index", 0))
                              : call.builder().constant(true, DType::b8, target.shape());
  const Tensor place = ignores ? graph::where(kept, target, 0) : target;
  const Tensor picked = graph::squeeze(graph::take_along(scores, 1, graph::unsqueeze(place, 1)), {1});
  const Tensor ones = call.builder().constant(1, scores.dtype(), target.shape());
  const Tensor weights = graph::where(kept, weight ? graph::take(widened(*weight), 0, place) : ones, 0.0);
  const Tensor loss = graph::where(kept, -picked * weights, 0.0);
  const std::string reduction = call.text("reduction", "mean");
  if (reduction == "none") return loss;
  if (reduction == "sum") return graph::sum(loss);
  if (reduction == "mean") return graph::sum(loss) / graph::sum(weights);
  call.fail("attribute 'reduction' must be none, sum or mean, it is '", escaped(reduction), "'");
}

Values negative_log_likelihood(const Call& call) {
  const Tensor scores = call.tensor(0);
  return {graph::cast(likelihood_loss(call, widened(scores), call.tensor(1), call.optional(2)),
                      scores.dtype(), true)};
}
Values softmax_cross_entropy(const Call& call) {
  const Tensor x = call.tensor(0);
  if (x.rank() < 2) call.fail("needs scores of 2 axes or more, given ", x.rank());
  const Tensor scores = graph::log_softmax(widened(x), 1);
  return {graph::cast(likelihood_loss(call, scores, call.tensor(1), call.optional(2)), x.dtype(), true),
          graph::cast(scores, x.dtype(), true)};
}

// Rate and count come first, then `kinds` lists of tensors of one length: parameters, gradients, states.
struct Training {
  Tensor rate, count;
  std::vector<Values> lists;  // by kind
};
Training training(const Call& call, std::size_t kinds) {
  const Values inputs = call.tensors();
  if (inputs.size() < 2 + kinds || (inputs.size() - 2) % kinds != 0)
    call.fail("needs a rate, a count and ", kinds, " lists of tensors, given ", inputs.size(), " inputs");
  const std::size_t each = (inputs.size() - 2) / kinds;
  Training result{inputs[0], inputs[1], {}};
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const auto first = inputs.begin() + static_cast<std::ptrdiff_t>(2 + kind * each);
    result.lists.emplace_back(first, first + static_cast<std::ptrdiff_t>(each));
  }
  return result;
}
// The new values by kind, each kind's after the other's.
Values in_order(const std::vector<Values>& kinds) {
  Values result;
  for (const Values& kind : kinds) result.insert(result.end(), kind.begin(), kind.end());
  return result;
}

Values adagrad(const Call& call) {
  const auto [rate, count, lists] = training(call, 3);
  const double decay = call.real("decay_factor", 0), norm = call.real("norm_coefficient", 0),
               epsilon = call.real("epsilon", 1e-6);
  const Tensor slowed = rate / (graph::cast(count, rate.dtype()) * decay + 1.0);
  std::vector<Values> made(2);
  for (std::size_t k = 0; k < lists[0].size(); ++k) {
    const Tensor gradient = lists[0][k] * norm + lists[1][k];
    const Tensor squares = lists[2][k] + gradient * gradient;
    made[0].push_back(lists[0][k] - slowed * gradient / (graph::sqrt(squares) + epsilon));
    made[1].push_back(squares);
  }
  return in_order(made);
}

Values adam(const Call& call) {
  const auto [rate, count, lists] = training(call, 4);
  const double alpha = call.real("alpha", 0.9), beta = call.real("beta", 0.999),
               epsilon = call.real("epsilon", 1e-6), norm = call.real("norm_coefficient", 0),
               after = call.real("norm_coefficient_post", 0);
  const Tensor steps = graph::cast(count, rate.dtype());
  graph::Builder& builder = call.builder();
  const auto power = [&](double base) { return graph::pow(builder.constant(base, rate.dtype()), steps); };
  const Tensor corrected = rate * graph::sqrt(1.0 - power(beta)) / (1.0 - power(alpha));
  const Tensor used = graph::where(graph::gt(count, 0), corrected, rate);
  std::vector<Values> made(3);
  for (std::size_t k = 0; k < lists[0].size(); ++k) {
    const Tensor gradient = lists[0][k] * norm + lists[1][k];
    const Tensor first = lists[2][k] * alpha + gradient * (1 - alpha);
    const Tensor second = lists[3][k] * beta + gradient * gradient * (1 - beta);
    made[0].push_back((lists[0][k] - used * first / (graph::sqrt(second) + epsilon)) * (1 - after));
    made[1].push_back(first);
    made[2].push_back(second);
  }
  return in_order(made);
}

Values momentum(const Call& call) {
  const auto [rate, count, lists] = training(call, 3);
  const std::string mode = call.text("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    call.fail("attribute 'mode' must be standard or nesterov, it is '", escaped(mode), "'");
  const double alpha = call.real("alpha", 0), beta = call.real("beta", 0),
               norm = call.real("norm_coefficient", 0);
  const Tensor adjusted = graph::where(graph::gt(count, 0), call.builder().constant(beta, rate.dtype()),
                                       call.builder().constant(1.0, rate.dtype()));
  std::vector<Values> made(2);
  for (std::size_t k = 0; k < lists[0].size(); ++k) {
    const Tensor gradient = lists[0][k] * norm + lists[1][k];
    const Tensor velocity = lists[2][k] * alpha + adjusted * gradient;
    const Tensor step = mode == "nesterov" ? gradient + velocity * alpha : velocity;
    made[0].push_back(lists[0][k] - rate * step);
    made[1].push_back(velocity);
  }
  return in_order(made);
}

constexpr std::array rows = {
    Row{"NegativeLogLikelihoodLoss", negative_log_likelihood},
    Row{"SoftmaxCrossEntropyLoss", softmax_cross_entropy},
    Row{"ai.onnx.preview.training.Adagrad", adagrad},
    Row{"ai.onnx.preview.training.Adam", adam},
    Row{"ai.onnx.preview.training.Momentum", momentum},
};

}  // namespace

std::span<const Row> loss_rows() { return rows; }

}  // namespace twinloom::onnx
