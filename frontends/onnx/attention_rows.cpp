// Attention over all keys, with its masks; and rotary embeddings.
//   scores = (q * scale) k^T;  weights = softmax(masked scores);  y = weights v
// What is computed of 16-bit floats is f32, and rounded where it leaves the operator.
#include <array>
#include <cmath>
#include <limits>

#include "core/graph/attention.h"
#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "frontends/onnx/heads.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using graph::widened;
using index::Expr;
using ops::DType;

constexpr double lowest = -std::numeric_limits<double>::infinity();

// [batch, heads, length, size] each; those of keys and values may be fewer heads.
struct Operands {
  Tensor queries, keys, values;
};

// Tensors of 3 axes hold the heads one behind the other.
Operands operands_of(const Call& call) {
  Operands given{call.tensor(0), call.tensor(1), call.tensor(2)};
  const int rank = given.queries.rank();
  if ((rank != 3 && rank != 4) || given.keys.rank() != rank || given.values.rank() != rank)
    call.fail("needs queries, keys and values of 3 or 4 axes each, given ", rank, ", ", given.keys.rank(),
              " and ", given.values.rank());
  const std::int64_t query_heads = call.integer("q_num_heads", 0), heads = call.integer("kv_num_heads", 0);
  if (rank == 4) return given;
  return {split_heads(call, given.queries, query_heads), split_heads(call, given.keys, heads),
          split_heads(call, given.values, heads)};
}

// What earlier calls have left comes before the new keys and values.
Tensor after_past(const Call& call, std::size_t past, const Tensor& x) {
  const auto before = call.optional(past);
  return before ? graph::concat({*before, x}, 2) : x;
}

double scale_of(const Call& call, const Tensor& queries) {
  if (call.has_attribute("scale")) {
    const double scale = call.real("scale", 1);
    if (!(scale >= 0)) call.fail("attribute 'scale' must not be negative, it is ", scale);
    return scale;
  }
  const auto size = index::constant_of(queries.size(-1));
  if (!size || *size < 1) call.unsupported("a symbolic size of heads without attribute 'scale'");
  return 1 / std::sqrt(static_cast<double>(*size));
}

// [batch, heads, queries, keys]. Keys, which may be many, are left as they are.
Tensor scores_of(const Call& call, const Operands& operands) {
  return graph::grouped_product(widened(operands.queries) * scale_of(call, operands.queries),
                                graph::transpose(widened(operands.keys), 2, 3));
}

// softmax of the scores, in another type if the node says so; a query without any key gives 0.
Tensor weights_of(const Call& call, const Tensor& scores, DType given, bool may_be_empty) {
  const DType asked = call.dtype("softmax_precision", given);
  const Tensor x = asked == given ? scores : graph::cast(scores, asked);
  return graph::cast(may_be_empty ? graph::safe_softmax(x, -1) : graph::softmax(x, -1), scores.dtype());
}

// The positions of queries among the keys, and of the keys, to be broadcast to the scores.
struct Positions {
  Tensor queries, keys;
};
Positions positions_of(const Call& call, const Tensor& scores) {
  graph::Builder& builder = call.builder();
  const Tensor query = builder.iota({scores.size(2), 1}, 0), key = builder.iota({1, scores.size(3)}, 1);
  if (call.has(4)) return {query + builder.size(call.tensor(4).size(2)), key};
  if (!call.has(6)) return {query, key};
  const Tensor lengths = graph::reshape(graph::cast(call.tensor(6), DType::i64), {-1, 1, 1, 1});
  return {query + (lengths - builder.size(scores.size(2))), key};
}

std::int64_t window_side(const Call& call, std::string_view attribute) {
  const std::int64_t side = call.integer(attribute, -1);
  if (side < -1) call.fail("attribute '", attribute, "' must be -1 or more, it is ", side);
  return side;
}

// Which keys a query sees by their positions; nothing where it is all of them.
std::optional<Tensor> seen_by_position(const Call& call, const Tensor& scores) {
  const auto [query, key] = positions_of(call, scores);
  std::optional<Tensor> seen;
  const auto restrict_to = [&](const Tensor& condition) {
    seen = seen ? graph::logical_and(*seen, condition) : condition;
  };
  if (call.truth("is_causal", false)) restrict_to(graph::le(key, query));
  if (const std::int64_t left = window_side(call, "left_window_size"); left >= 0)
    restrict_to(graph::le(query - key, left));
  if (const std::int64_t right = window_side(call, "right_window_size"); right >= 0)
    restrict_to(graph::le(key - query, right));
  if (call.has(6))
    restrict_to(graph::lt(key, graph::reshape(graph::cast(call.tensor(6), DType::i64), {-1, 1, 1, 1})));
  return seen;
}

// A mask that is shorter than the keys says nothing of the last ones, which are not seen.
Tensor mask_of(const Call& call, const Tensor& scores) {
  const Tensor mask = call.tensor(3);
  if (mask.rank() < 1 || mask.rank() > 4)
    call.fail("needs a mask of 1 to 4 axes, given one of ", mask.rank());
  if (mask.size(-1) == scores.size(3)) return mask;
  std::vector<graph::Padding> padding(static_cast<std::size_t>(mask.rank()), graph::Padding{0, 0});
  padding.back().after = scores.size(3) - mask.size(-1);
  return graph::pad(mask, padding, mask.dtype() == DType::b8 ? ops::Number(false) : ops::Number(lowest));
}

Tensor masked(const Call& call, Tensor scores) {
  if (call.has(3)) {
    const Tensor mask = mask_of(call, scores);
    const bool is_truth = mask.dtype() == DType::b8;
    const Tensor seen = is_truth ? mask : graph::ne(widened(mask), lowest);
    if (!is_truth) scores = scores + graph::cast(mask, scores.dtype());
    scores = graph::where(seen, scores, lowest);
  }
  if (const auto seen = seen_by_position(call, scores)) scores = graph::where(*seen, scores, lowest);
  return scores;
}

Tensor capped(const Call& call, const Tensor& scores) {
  const double cap = call.real("softcap", 0);
  return cap > 0 ? graph::tanh(scores / cap) * cap : scores;
}

void check_caches(const Call& call) {
  if (call.has(4) != call.has(5)) call.fail("needs past keys and past values, or neither");
  if (call.has(4) && call.has(6)) call.fail("takes past keys or the lengths of a cache, not both");
}

Values attention(const Call& call) {
  check_caches(call);
  Operands operands = operands_of(call);
  operands.keys = after_past(call, 4, operands.keys);
  operands.values = after_past(call, 5, operands.values);
  const DType dtype = operands.queries.dtype();
  const Tensor products = scores_of(call, operands), soft = capped(call, products),
               scores = masked(call, soft);
  const bool may_be_empty = call.has(3) || call.has(6) || call.integer("left_window_size", -1) >= 0 ||
                            call.integer("right_window_size", -1) >= 0;
  const Tensor weights = weights_of(call, scores, dtype, may_be_empty);
  const Tensor result = graph::grouped_product(weights, graph::cast(operands.values, weights.dtype()));
  const std::int64_t mode = call.integer("qk_matmul_output_mode", 0);
  const std::array stages = {products, soft, scores, weights};
  if (mode < 0 || mode > 3) call.fail("attribute 'qk_matmul_output_mode' must lie in 0 to 3, it is ", mode);
  const bool has_heads = call.tensor(0).rank() == 4;
  return {graph::cast(has_heads ? result : join_heads(result), dtype, true), operands.keys, operands.values,
          graph::cast(stages[static_cast<std::size_t>(mode)], dtype, true)};
}

// The scores and the weights after the graphs that the node brings along.
Tensor modified(const Call& call, std::string_view attribute, const Tensor& x) {
  if (!call.has_attribute(attribute)) return x;
  const AnyValues results = call.run(attribute, {x});
  if (results.size() != 1) call.fail("the graph '", attribute, "' has ", results.size(), " outputs");
  const Tensor result = call.tensor_in(results[0], cat("the output of '", attribute, "'"));
  if (result.dtype() != x.dtype() || result.rank() != x.rank())
    call.fail("the graph '", attribute, "' must keep type and shape");
  return result;
}

Values flex_attention(const Call& call) {
  const Operands operands = operands_of(call);
  if (call.tensor(0).rank() != 4) call.fail("needs tensors of 4 axes, given ", call.tensor(0).rank());
  const DType dtype = operands.queries.dtype();
  const DType precision = call.dtype("softmax_precision", dtype == DType::f64 ? dtype : DType::f32);
  const Tensor scores = modified(call, "score_mod", graph::cast(scores_of(call, operands), precision));
  const Tensor weights = modified(call, "prob_mod", graph::softmax(scores, -1));
  const Tensor result =
      graph::grouped_product(widened(weights), graph::cast(operands.values, widened(weights).dtype()));
  return {graph::cast(result, operands.values.dtype(), true)};
}

// Cosines or sines for each position: [batch, length, 1, half].
Tensor angles(const Call& call, std::size_t cache, std::int64_t half) {
  Tensor table = widened(call.tensor(cache));
  if (call.has(3)) table = graph::embedding(table, call.tensor(3));
  if (table.rank() != 3) call.fail("needs an angle for each position of each sequence");
  call.builder().graph().require_equal(
      table.size(2), half, cat("half of what is turned is ", half, ", there are ", table.size(2), " angles"));
  return graph::unsqueeze(table, 2);
}

// Pairs of elements of each head, which are neighbours or lie half a head apart, turned by their angles.
Tensor turned(const Call& call, const Tensor& x, std::int64_t half) {
  const bool neighbours = call.truth("interleaved", false);
  const Tensor first = neighbours ? graph::slice_exact(x, 3, 0, half, 2) : graph::slice_exact(x, 3, 0, half);
  const Tensor second =
      neighbours ? graph::slice_exact(x, 3, 1, half, 2) : graph::slice_exact(x, 3, half, half);
  const Tensor cosine = angles(call, 1, half), sine = angles(call, 2, half);
  const Tensor real = cosine * first - sine * second, imaginary = sine * first + cosine * second;
  if (!neighbours) return graph::concat({real, imaginary}, 3);
  return graph::reshape(graph::stack({real, imaginary}, 4), {x.size(0), x.size(1), x.size(2), 2 * half});
}

Values rotary_embedding(const Call& call) {
  const Tensor given = call.tensor(0);
  const std::int64_t heads = call.integer("num_heads", 0);
  if (given.rank() != 3 && given.rank() != 4)
    call.fail("needs a tensor of 3 or 4 axes, given one of ", given.rank());
  // [batch, length, heads, size]
  const Tensor x = graph::transpose(given.rank() == 4 ? given : split_heads(call, given, heads), 1, 2);
  const auto size = index::constant_of(x.size(3));
  if (!size) call.unsupported("a symbolic size of heads");
  std::int64_t part = call.integer("rotary_embedding_dim", 0);
  if (part == 0) part = *size;
  if (part < 2 || part > *size || part % 2 != 0)
    call.fail("turns ", part, " elements of heads of ", *size, "; it must be an even number of them");
  const Tensor moved = turned(call, graph::slice_exact(widened(x), 3, 0, part), part / 2);
  const Tensor rest = graph::slice_exact(widened(x), 3, part, *size - part);
  const Tensor result = graph::transpose(part == *size ? moved : graph::concat({moved, rest}, 3), 1, 2);
  return {graph::cast(given.rank() == 4 ? result : join_heads(result), given.dtype(), true)};
}

constexpr std::array rows = {
    Row{"Attention", attention, 23},
    Row{"RotaryEmbedding", rotary_embedding, 23},
    Row{"ai.onnx.preview.FlexAttention", flex_attention},
};

}  // namespace

std::span<const Row> attention_rows() { return rows; }

}  // namespace twinloom::onnx
