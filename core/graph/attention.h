// Attention: each query takes a weighted mean of the values, by how well it matches their keys.
//   scores = (queries keys^T) * scale;  weights = safe_softmax(masked scores);  result = weights values
// What is computed of f16 and bf16 is f32, weights too, and each result is rounded once.
#pragma once

#include "core/graph/builder.h"

namespace twinloom::graph {

// e / s of softmax; a row of -inf alone, or of nothing, gives 0.
Tensor safe_softmax(const Tensor& x, int axis);

// The matrices of each head: [..., heads, n, k] by [..., fewer heads, k, m], without repeating the second.
// Each head of the second belongs to as many of the first, one behind the other.
Tensor grouped_product(const Tensor& a, const Tensor& b);

struct AttentionInputs {
  Tensor queries;       // [..., heads, length, size]
  Tensor keys, values;  // [..., heads, other length, size]; values may have another size
  // Broadcast to the scores: truths of what is seen, or numbers that are added.
  std::optional<Tensor> mask = {};
  bool is_causal = false;            // query i sees the keys 0 to i
  std::optional<double> scale = {};  // nothing: 1 / sqrt(size of a head)
  bool is_grouped =
      false;  // keys and values may have fewer heads, as in grouped_product; else they broadcast
};

struct Attention {
  Tensor value;
  // In the compute type. [..., heads, length, other length], and without the last axis log(sum(exp(scores))),
  // which is 0 for a query that sees no key.
  Tensor weights, logsumexp;
};
Attention attention(const AttentionInputs& inputs);

// Of all that has four axes and no broadcast batches; `logsumexp`: [..., heads, length]. The one of the mask
// is there where the mask is of numbers.
struct AttentionGradients {
  Tensor queries, keys, values;
  std::optional<Tensor> mask;
};
AttentionGradients attention_backward(const AttentionInputs& inputs, const Tensor& gradient,
                                      const Tensor& result, const Tensor& logsumexp);

}  // namespace twinloom::graph
