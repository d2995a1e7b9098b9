// What is wrong with attention is said in words: as PyTorch refuses it, and what it drops at random.
#include <gtest/gtest.h>

#include <span>

#include "tests/frontends/texts.h"

namespace twinloom::tests {
namespace {

constexpr std::string_view operands =
    "q: \"f32[1, 2, 3, 2]\", k: \"f32[1, 2, 4, 2]\", v: \"f32[1, 2, 4, 3]\"";
constexpr std::string_view kernel =
    "q: \"f32[1, 2, 3, 2]\", k: \"f32[1, 2, 4, 2]\", v: \"f32[1, 2, 4, 2]\", n: \"f32[1, 2, 3, 4]\"";

struct Refused {
  std::string_view parameters, call, words;
};

void expect_refused(std::span<const Refused> rows) {
  for (const Refused& row : rows) {
    const std::string target = cat("torch.ops.aten.", row.call.substr(0, row.call.find('(')));
    EXPECT_EQ(error_of(module_text(row.parameters, cat("y = torch.ops.aten.", row.call), "(None,)")),
              cat("FX graph line 3: ", target, ": ", row.words))
        << row.call;
  }
}

TEST(FxAttention, ThatDrawsNumbersIsAnError) {
  const std::string_view dropped =
      "'dropout_p' must be 0, it is 0.1; which elements PyTorch drops at random cannot be reproduced";
  const Refused rows[] = {
      {operands, "scaled_dot_product_attention.default(q, k, v, None, 0.1)", dropped},
      {operands, "_scaled_dot_product_attention_math.default(q, k, v, None, 0.1)", dropped},
      {operands, "_scaled_dot_product_efficient_attention.default(q, k, v, None, True, 0.1)", dropped},
      {operands, "_scaled_dot_product_flash_attention.default(q, k, v, 0.1)", dropped},
      {operands, "_scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.1)", dropped},
      {operands, "_scaled_dot_product_cudnn_attention.default(q, k, v, None, True, 0.1)", dropped},
      {operands, "_scaled_dot_product_fused_attention_overrideable.default(q, k, v, None, 0.1)", dropped},
      {kernel,
       "_scaled_dot_product_flash_attention_backward.default(q, q, k, v, q, n, None, None, 3, 4, 0.1, True, "
       "None, None)",
       dropped},
      {operands, "_scaled_dot_product_flash_attention.default(q, k, v, 0.0, False, True)",
       "'return_debug_mask' must be False; what kernels of PyTorch return for tests is not known"},
      {operands, "_scaled_dot_product_flash_attention.quantized(q, k, v, None, None, None)",
       "tensors of 8-bit floats are not supported"},
  };
  expect_refused(rows);
}

TEST(FxAttention, OfTensorsThatDoNotFitIsAnError) {
  const Refused rows[] = {
      {"q: \"f32[3, 2]\", k: \"f32[2]\"", "scaled_dot_product_attention.default(q, k, k)",
       "needs queries, keys and values of at least 2 axes, given one of 1"},
      {"q: \"f32[3, 2]\"", "scaled_dot_product_attention.default(q, q, q, enable_gqa = True)",
       "needs queries, keys and values of at least 3 axes, given one of 2"},
      {"q: \"f32[2, 3, 2]\"", "_scaled_dot_product_flash_attention.default(q, q, q)",
       "needs queries, keys and values of 4 axes, given 3, 3 and 3"},
      {"q: \"f32[3, 2]\", k: \"f16[3, 2]\"", "scaled_dot_product_attention.default(q, k, q)",
       "needs queries, keys and values of one floating type, given f32, f16 and f32"},
      {"q: \"i64[3, 2]\"", "scaled_dot_product_attention.default(q, q, q)",
       "needs queries, keys and values of one floating type, given i64, i64 and i64"},
      {"q: \"f32[3, 2]\", k: \"f32[4, 3]\"", "scaled_dot_product_attention.default(q, k, k)",
       "heads of queries and of keys must have one size, given 2 and 3"},
      {"q: \"f32[3, 2]\", k: \"f32[4, 2]\"", "scaled_dot_product_attention.default(q, k, q)",
       "there must be as many keys as values, given 4 and 3"},
      {"q: \"f32[2, 1, 3, 2]\", k: \"f32[3, 1, 3, 2]\"",
       "_scaled_dot_product_flash_attention.default(q, k, k)", "batches of 2 and 3 do not fit together"},
      {kernel, "_scaled_dot_product_flash_attention_for_cpu_backward.default(k, q, k, v, q, n, 0.0, False)",
       "'grad_out' has not the shape of the result"},
      {kernel, "_scaled_dot_product_flash_attention_for_cpu_backward.default(q, q, k, v, k, n, 0.0, False)",
       "'out' has not the shape of the result"},
  };
  expect_refused(rows);
}

TEST(FxAttention, WithMasksThatDoNotFitIsAnError) {
  const Refused rows[] = {
      {operands, "scaled_dot_product_attention.default(q, k, v, q, 0.0, True)",
       "takes 'attn_mask' or 'is_causal', not both"},
      {"q: \"f32[3, 2]\", m: \"i32[3, 3]\"", "scaled_dot_product_attention.default(q, q, q, m)",
       "needs a mask of b8, f32 or the type of the queries, f32, given i32"},
      {"q: \"f32[3, 2]\", m: \"f16[3, 3]\"", "scaled_dot_product_attention.default(q, q, q, m)",
       "needs a mask of b8, f32 or the type of the queries, f32, given f16"},
  };
  expect_refused(rows);
  const std::string_view call = "y = torch.ops.aten.scaled_dot_product_attention.default(q, q, q, m)";
  EXPECT_EQ(error_of(module_text("q: \"f32[3, 2]\", m: \"f32[3, 5]\"", call, "(y,)")),
            "FX graph line 3: axis -1 of the mask must be 1 or 3, it is 5");
  EXPECT_EQ(error_of(module_text("q: \"f32[3, 2]\", m: \"f32[2, 3, 3]\"", call, "(y,)")),
            "FX graph line 3: attention 'y': the mask has 3 axes, the scores have 2");
  EXPECT_EQ(
      error_of(module_text(
          "q: \"f32[1, 3, 2, 2]\", k: \"f32[1, 2, 2, 2]\"",
          "y = torch.ops.aten.scaled_dot_product_attention.default(q, k, k, enable_gqa = True)", "(y,)")),
      "FX graph line 3: the heads of queries must be a multiple of those of keys and values, given 3 and 2");
}

}  // namespace
}  // namespace twinloom::tests
