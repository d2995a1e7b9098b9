// Attention as torch.export prints it, as PyTorch's kernels for CPUs and GPUs have it, and their backward.
// What a kernel returns of its random numbers is 0, for without dropout it draws none.
#include "core/graph/attention.h"

#include <array>
#include <limits>

#include "core/graph/views.h"
#include "frontends/fx/operators.h"

namespace twinloom::fx {

namespace {

using graph::AttentionInputs;
using graph::Tensor;
using index::Expr;
using ops::DType;

// Where an operator has its arguments; queries, keys and values follow each other.
struct Positions {
  std::size_t query = 0, mask = BY_KEYWORD, dropout = BY_KEYWORD, is_causal = BY_KEYWORD;
  std::size_t debug_mask = BY_KEYWORD, result = BY_KEYWORD,
              logsumexp = BY_KEYWORD;  // a backward operator takes the latter
};
constexpr Positions composite{.mask = 3, .dropout = 4, .is_causal = 5};
constexpr Positions efficient{.mask = 3, .dropout = 5, .is_causal = 6};
constexpr Positions flash{.dropout = 3, .is_causal = 4, .debug_mask = 5};
constexpr Positions on_cpu{.dropout = 3, .is_causal = 4};
constexpr Positions cudnn{.mask = 3, .dropout = 5, .is_causal = 6, .debug_mask = 7};
constexpr Positions overrideable{.mask = 3, .dropout = 4, .is_causal = 5, .debug_mask = 6};
constexpr Positions of_efficient{
    .query = 1, .mask = 4, .dropout = 9, .is_causal = 11, .result = 5, .logsumexp = 6};
constexpr Positions of_flash{.query = 1, .dropout = 10, .is_causal = 11, .result = 4, .logsumexp = 5};
constexpr Positions of_on_cpu{.query = 1, .dropout = 6, .is_causal = 7, .result = 4, .logsumexp = 5};
constexpr Positions of_cudnn{
    .query = 1, .mask = 8, .dropout = 13, .is_causal = 14, .result = 4, .logsumexp = 5};
constexpr Positions of_overrideable{
    .query = 1, .mask = 4, .dropout = 12, .is_causal = 13, .result = 6, .logsumexp = 7};

void check_types(const Arguments& arguments, const AttentionInputs& inputs) {
  const DType type = inputs.queries.dtype(), keys = inputs.keys.dtype(), values = inputs.values.dtype();
  if (!ops::is_floating(type) || keys != type || values != type)
    arguments.fail(cat("needs queries, keys and values of one floating type, given ", ops::name(type), ", ",
                       ops::name(keys), " and ", ops::name(values)));
  if (!inputs.mask) return;
  const DType mask = inputs.mask->dtype();
  if (mask != DType::b8 && mask != DType::f32 && mask != type)
    arguments.fail(cat("needs a mask of b8, f32 or the type of the queries, ", ops::name(type), ", given ",
                       ops::name(mask)));
}

void check_sizes(const Arguments& arguments, const AttentionInputs& inputs) {
  const auto same = [&](const Expr& a, const Expr& b, std::string_view words) {
    arguments.builder().graph().require_equal(
        a, b, cat(arguments.target(), ": ", words, ", given ", a, " and ", b));
  };
  same(inputs.queries.size(-1), inputs.keys.size(-1), "heads of queries and of keys must have one size");
  same(inputs.keys.size(-2), inputs.values.size(-2), "there must be as many keys as values");
}

void check_draws_nothing(const Arguments& arguments, const Positions& positions) {
  if (const double dropout = arguments.real(positions.dropout, "dropout_p", 0); dropout != 0)
    arguments.fail(cat("'dropout_p' must be 0, it is ", dropout,
                       "; which elements PyTorch drops at random cannot be reproduced"));
  if (arguments.boolean(positions.debug_mask, "return_debug_mask", false))
    arguments.fail(
        "'return_debug_mask' must be False; what kernels of PyTorch return for tests is not known");
}

AttentionInputs inputs_of(const Arguments& arguments, const Positions& positions) {
  check_draws_nothing(arguments, positions);
  AttentionInputs inputs{arguments.tensor(positions.query, "query"),
                         arguments.tensor(positions.query + 1, "key"),
                         arguments.tensor(positions.query + 2, "value")};
  inputs.mask = arguments.maybe_tensor(positions.mask, "attn_mask");
  if (!inputs.mask) inputs.mask = arguments.maybe_tensor(positions.mask, "attn_bias");
  inputs.is_causal = arguments.boolean(positions.is_causal, "is_causal", false);
  if (arguments.find(BY_KEYWORD, "scale") != nullptr) inputs.scale = arguments.real(BY_KEYWORD, "scale");
  return inputs;
}

// Of the composite operators: any axes before the last two, which broadcast.
AttentionInputs inputs_of_composite(const Arguments& arguments) {
  AttentionInputs inputs = inputs_of(arguments, composite);
  inputs.is_grouped = arguments.boolean(BY_KEYWORD, "enable_gqa", false);
  const int least = inputs.is_grouped ? 3 : 2;
  for (const Tensor& tensor : {inputs.queries, inputs.keys, inputs.values})
    if (tensor.rank() < least)
      arguments.fail(
          cat("needs queries, keys and values of at least ", least, " axes, given one of ", tensor.rank()));
  if (inputs.mask && inputs.is_causal) arguments.fail("takes 'attn_mask' or 'is_causal', not both");
  check_sizes(arguments, inputs);
  return inputs;
}

// Of PyTorch's kernels: [batch, heads, length, size], with as many or fewer heads of keys and values.
AttentionInputs inputs_of_kernel(const Arguments& arguments, const Positions& positions) {
  AttentionInputs inputs = inputs_of(arguments, positions);
  inputs.is_grouped = true;
  const Tensor &queries = inputs.queries, &keys = inputs.keys, &values = inputs.values;
  if (queries.rank() != 4 || keys.rank() != 4 || values.rank() != 4)
    arguments.fail(cat("needs queries, keys and values of 4 axes, given ", queries.rank(), ", ", keys.rank(),
                       " and ", values.rank()));
  check_types(arguments, inputs);
  check_sizes(arguments, inputs);
  for (const Tensor& tensor : {keys, values})
    arguments.builder().graph().require_equal(tensor.size(0), queries.size(0),
                                              cat(arguments.target(), ": batches of ", queries.size(0),
                                                  " and ", tensor.size(0), " do not fit together"));
  return inputs;
}

Item attention(const Arguments& arguments) {
  const AttentionInputs inputs = inputs_of_composite(arguments);
  check_types(arguments, inputs);
  return {graph::attention(inputs).value};
}

// Adds a mask of any type: of truths the numbers 0 and 1.
Item attention_with_weights(const Arguments& arguments) {
  AttentionInputs inputs = inputs_of_composite(arguments);
  if (arguments.find(6, "dropout_mask") != nullptr) arguments.fail("'dropout_mask' is not supported");
  const DType type = inputs.queries.dtype();
  if (inputs.mask) inputs.mask = graph::cast(*inputs.mask, ops::compute_type(type));
  check_types(arguments, inputs);
  const graph::Attention result = graph::attention(inputs);
  return {Items{{result.value}, {graph::cast(result.weights, type, true)}}};
}

// In f32; PyTorch's CPU says so of f64 too and gives f64.
Item sums(const Tensor& logsumexp) {
  Item item{logsumexp};
  item.typed_by_text = true;
  return item;
}

// [batch, heads, length], filled up with infinities to a multiple of 32; without elements if nobody asks for
// it.
Item padded_sums(const Tensor& logsumexp, bool is_wanted) {
  constexpr std::int64_t multiple = 32;
  graph::Builder& builder = logsumexp.builder();
  if (!is_wanted)
    return sums(builder.constant(0, logsumexp.dtype(), {logsumexp.size(0), logsumexp.size(1), 0}));
  const Expr length = logsumexp.size(2),
             all = index::floor_div(length + (multiple - 1), Expr(multiple)) * multiple;
  return sums(
      graph::pad(logsumexp, {{0, 0}, {0, 0}, {0, all - length}}, std::numeric_limits<double>::infinity()));
}

Item zeros(const Arguments& arguments, DType type, graph::Shape shape = {}) {
  return {arguments.builder().constant(0, type, std::move(shape))};
}

Item efficient_attention(const Arguments& arguments) {
  const graph::Attention result = graph::attention(inputs_of_kernel(arguments, efficient));
  const Item sums = padded_sums(result.logsumexp, arguments.boolean(4, "compute_log_sumexp", false));
  return {Items{{result.value}, sums, zeros(arguments, DType::i64), zeros(arguments, DType::i64)}};
}

// What kernels give behind result and sums: the ends of sequences of several lengths, which are none, how
// long the longest are, and what they return of their random numbers.
Items for_kernels(const AttentionInputs& inputs) {
  return {{}, {}, {inputs.queries.size(2)}, {inputs.keys.size(2)}};
}

Item flash_attention(const Arguments& arguments) {
  if (arguments.target().ends_with(".quantized")) arguments.fail("tensors of 8-bit floats are not supported");
  const AttentionInputs inputs = inputs_of_kernel(arguments, flash);
  const graph::Attention result = graph::attention(inputs);
  Items items{{result.value}, sums(result.logsumexp)};
  for (const Item& item : for_kernels(inputs)) items.push_back(item);
  for (const Item& item : {zeros(arguments, DType::u64, {2}), zeros(arguments, DType::u64),
                           zeros(arguments, inputs.queries.dtype(), {0})})
    items.push_back(item);
  return {std::move(items)};
}

Item flash_attention_on_cpu(const Arguments& arguments) {
  const graph::Attention result = graph::attention(inputs_of_kernel(arguments, on_cpu));
  return {Items{{result.value}, sums(result.logsumexp)}};
}

// cuDNN's sums have a last axis of 1.
template <const Positions& positions>
Item kernel_attention(const Arguments& arguments) {
  const AttentionInputs inputs = inputs_of_kernel(arguments, positions);
  const graph::Attention result = graph::attention(inputs);
  const bool is_cudnn = &positions == &cudnn;
  Items items{{result.value}, sums(is_cudnn ? graph::unsqueeze(result.logsumexp, -1) : result.logsumexp)};
  for (const Item& item : for_kernels(inputs)) items.push_back(item);
  for (const Item& item : {zeros(arguments, DType::i64), zeros(arguments, DType::i64), Item{}})
    items.push_back(item);
  return {std::move(items)};
}

// [batch, heads, length] of what a kernel kept: without a last axis of 1, and without what fills it up.
Tensor saved_logsumexp(const Arguments& arguments, const Positions& positions,
                       const AttentionInputs& inputs) {
  Tensor saved = arguments.tensor(positions.logsumexp, "logsumexp");
  if (saved.rank() == 4) saved = graph::select(saved, 3, 0);
  if (saved.rank() != 3) arguments.fail(cat("needs 'logsumexp' of 3 axes, given one of ", saved.rank()));
  const Expr length = inputs.queries.size(2);
  return saved.size(2) == length ? saved : graph::slice_exact(saved, 2, 0, length);
}

void check_like(const Arguments& arguments, const Tensor& tensor, const graph::Shape& shape,
                std::string_view name) {
  const std::string words = cat(arguments.target(), ": '", name, "' has not the shape of the result");
  if (tensor.rank() != 4)
    arguments.fail(cat("'", name, "' has ", tensor.rank(), " axes, not the 4 of the result"));
  for (int axis = 0; axis < 4; ++axis)
    arguments.builder().graph().require_equal(tensor.size(axis), shape[static_cast<std::size_t>(axis)],
                                              words);
}

graph::AttentionGradients gradients_of(const Arguments& arguments, const Positions& positions) {
  const AttentionInputs inputs = inputs_of_kernel(arguments, positions);
  const Tensor gradient = arguments.tensor(0, "grad_out"), result = arguments.tensor(positions.result, "out");
  graph::Shape shape = inputs.queries.shape();
  shape.back() = inputs.values.size(3);
  check_like(arguments, gradient, shape, "grad_out");
  check_like(arguments, result, shape, "out");
  return graph::attention_backward(inputs, gradient, result, saved_logsumexp(arguments, positions, inputs));
}

template <const Positions& positions>
Item attention_backward(const Arguments& arguments) {
  const graph::AttentionGradients gradients = gradients_of(arguments, positions);
  return {Items{{gradients.queries}, {gradients.keys}, {gradients.values}}};
}

// That of the mask where it is asked for; the others always.
template <const Positions& positions, std::size_t wanted>
Item attention_backward_with_mask(const Arguments& arguments) {
  const graph::AttentionGradients gradients = gradients_of(arguments, positions);
  const std::vector<bool> mask = arguments.booleans(wanted, "grad_input_mask");
  if (mask.size() != 4) arguments.fail(cat("'grad_input_mask' must hold 4, it holds ", mask.size()));
  return {Items{{gradients.queries},
                {gradients.keys},
                {gradients.values},
                mask[3] && gradients.mask ? Item{*gradients.mask} : Item{}}};
}

constexpr std::array rows = {
    Row{"scaled_dot_product_attention", attention},
    Row{"_scaled_dot_product_attention_math", attention_with_weights},
    Row{"_scaled_dot_product_efficient_attention", efficient_attention},
    Row{"_scaled_dot_product_flash_attention", flash_attention},
    Row{"_scaled_dot_product_flash_attention_for_cpu", flash_attention_on_cpu},
    Row{"_scaled_dot_product_cudnn_attention", kernel_attention<cudnn>},
    Row{"_scaled_dot_product_fused_attention_overrideable", kernel_attention<overrideable>},
    Row{"_scaled_dot_product_efficient_attention_backward", attention_backward_with_mask<of_efficient, 10>},
    Row{"_scaled_dot_product_flash_attention_backward", attention_backward<of_flash>},
    Row{"_scaled_dot_product_flash_attention_for_cpu_backward", attention_backward<of_on_cpu>},
    Row{"_scaled_dot_product_cudnn_attention_backward", attention_backward<of_cudnn>},
    Row{"_scaled_dot_product_fused_attention_overrideable_backward",
        attention_backward_with_mask<of_overrideable, 5>},
};

}  // namespace

std::span<const Row> attention_rows() { return rows; }

}  // namespace twinloom::fx
