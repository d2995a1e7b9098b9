// See ways_cases.h. In statements `aten.` stands for torch.ops.aten., and R, C and H for the sizes R, C and
// C/2 wherever they are words of their own.
#include "perf/ways_cases.h"

#include <algorithm>
#include <cctype>

#include "core/base/text.h"

namespace twinloom::perf {

namespace {

constexpr std::string_view MATRIX = "x: \"f32[R, C]\"";
constexpr std::string_view NORM = "x: \"f32[R, C]\", w: \"f32[C]\", b: \"f32[C]\"";
constexpr std::string_view RMS = "x: \"f32[R, C]\", w: \"f32[C]\"";
constexpr std::string_view RMS_16 = "x: \"bf16[R, C]\", w: \"bf16[C]\"";
constexpr std::string_view SCORES = "x: \"f32[R, C]\", t: \"i64[R]\"";
constexpr std::string_view ROTARY = "x: \"f32[R, C]\", c: \"f32[R, C]\", s: \"f32[R, C]\"";
constexpr std::string_view ROTARY_HALVES = "x: \"f32[R, C]\", c: \"f32[R, H]\", s: \"f32[R, H]\"";

}  // namespace

// Long because it is a table: a row a way.
const std::vector<Way>& all_ways() {
  static const std::vector<Way> ways = {
      {"softmax", "native", 'a', MATRIX, "y = aten._softmax.default(x, -1, False)"},
      {"softmax", "by hand", 'a', MATRIX, R"(m = aten.amax.default(x, [-1], True)
d = aten.sub.Tensor(x, m)
e = aten.exp.default(d)
s = aten.sum.dim_IntList(e, [-1], True)
y = aten.div.Tensor(e, s))"},
      {"softmax", "times 1/sum", 'b', MATRIX, R"(m = aten.amax.default(x, [-1], True)
e = aten.exp.default(aten.sub.Tensor(x, m))
s = aten.reciprocal.default(aten.sum.dim_IntList(e, [-1], True))
y = aten.mul.Tensor(e, s))"},
      {"softmax", "exp(x - logsumexp)", 'c', MATRIX, R"(l = aten.logsumexp.default(x, [-1], True)
y = aten.exp.default(aten.sub.Tensor(x, l)))"},
      {"softmax", "exp(log_softmax)", 'd', MATRIX, R"(l = aten._log_softmax.default(x, -1, False)
y = aten.exp.default(l))"},
      {"softmax", "without max", 'e', MATRIX, R"(e = aten.exp.default(x)
y = aten.div.Tensor(e, aten.sum.dim_IntList(e, [-1], True)))"},

      {"log_softmax", "native", 'a', MATRIX, "y = aten._log_softmax.default(x, -1, False)"},
      {"log_softmax", "by hand", 'a', MATRIX, R"(m = aten.amax.default(x, [-1], True)
d = aten.sub.Tensor(x, m)
s = aten.sum.dim_IntList(aten.exp.default(d), [-1], True)
y = aten.sub.Tensor(d, aten.log.default(s)))"},
      {"log_softmax", "x - logsumexp", 'b', MATRIX, R"(l = aten.logsumexp.default(x, [-1], True)
y = aten.sub.Tensor(x, l))"},
      {"log_softmax", "log(softmax)", 'c', MATRIX, R"(p = aten._softmax.default(x, -1, False)
y = aten.log.default(p))"},

      {"layer_norm", "native", 'a', NORM, R"(n = aten.native_layer_norm.default(x, [C], w, b, 1e-05)
y = n[0])"},
      {"layer_norm", "var_mean", 'a', NORM,
       R"(v = aten.var_mean.correction(x, [1], correction = 0, keepdim = True)
r = aten.rsqrt.default(aten.add.Tensor(v[0], 1e-05))
z = aten.mul.Tensor(aten.sub.Tensor(x, v[1]), r)
y = aten.add.Tensor(aten.mul.Tensor(z, w), b))"},
      {"layer_norm", "mean and pow", 'a', NORM, R"(m = aten.mean.dim(x, [-1], True)
d = aten.sub.Tensor(x, m)
v = aten.mean.dim(aten.pow.Tensor_Scalar(d, 2), [-1], True)
r = aten.rsqrt.default(aten.add.Tensor(v, 1e-05))
y = aten.add.Tensor(aten.mul.Tensor(aten.mul.Tensor(d, r), w), b))"},
      {"layer_norm", "d computed twice", 'a', NORM,
       R"(v = aten.mean.dim(aten.square.default(aten.sub.Tensor(x, aten.mean.dim(x, [-1], True))), [-1], True)
r = aten.rsqrt.default(aten.add.Tensor(v, 1e-05))
d = aten.sub.Tensor(x, aten.mean.dim(x, [-1], True))
y = aten.add.Tensor(aten.mul.Tensor(aten.mul.Tensor(d, r), w), b))"},
      {"layer_norm", "pow(v, -0.5)", 'a', NORM,
       R"(v = aten.var_mean.correction(x, [1], correction = 0, keepdim = True)
r = aten.pow.Tensor_Scalar(aten.add.Tensor(v[0], 1e-05), -0.5)
z = aten.mul.Tensor(aten.sub.Tensor(x, v[1]), r)
y = aten.add.Tensor(aten.mul.Tensor(z, w), b))"},
      {"layer_norm", "sqrt and division", 'b', NORM, R"(m = aten.mean.dim(x, [-1], True)
d = aten.sub.Tensor(x, m)
v = aten.mean.dim(aten.mul.Tensor(d, d), [-1], True)
r = aten.sqrt.default(aten.add.Tensor(v, 1e-05))
y = aten.add.Tensor(aten.mul.Tensor(aten.div.Tensor(d, r), w), b))"},
      {"layer_norm", "expanded by hand", 'a', NORM,
       R"(v = aten.var_mean.correction(x, [1], correction = 0, keepdim = True)
r = aten.rsqrt.default(aten.add.Tensor(v[0], 1e-05))
z = aten.mul.Tensor(aten.sub.Tensor(x, aten.expand.default(v[1], [R, C])), aten.expand.default(r, [R, C]))
y = aten.add.Tensor(aten.mul.Tensor(z, aten.expand.default(aten.unsqueeze.default(w, 0), [R, C])), b))"},

      {"rms_norm", "native", 'a', RMS, "y = aten.rms_norm.default(x, [C], w, 1e-06)"},
      {"rms_norm", "pow", 'a', RMS, R"(v = aten.mean.dim(aten.pow.Tensor_Scalar(x, 2), [-1], True)
r = aten.rsqrt.default(aten.add.Tensor(v, 1e-06))
y = aten.mul.Tensor(aten.mul.Tensor(x, r), w))"},
      {"rms_norm", "square", 'a', RMS, R"(v = aten.mean.dim(aten.square.default(x), [-1], True)
r = aten.rsqrt.default(aten.add.Tensor(v, 1e-06))
y = aten.mul.Tensor(w, aten.mul.Tensor(x, r)))"},
      {"rms_norm", "mul", 'a', RMS, R"(v = aten.mean.dim(aten.mul.Tensor(x, x), [-1], True)
r = aten.rsqrt.default(aten.add.Tensor(v, 1e-06))
y = aten.mul.Tensor(aten.mul.Tensor(x, r), w))"},
      {"rms_norm", "sum and division", 'a', RMS,
       R"(v = aten.div.Tensor(aten.sum.dim_IntList(aten.pow.Tensor_Scalar(x, 2), [-1], True), C)
r = aten.pow.Tensor_Scalar(aten.add.Tensor(v, 1e-06), -0.5)
y = aten.mul.Tensor(aten.mul.Tensor(x, r), w))"},
      {"rms_norm", "sqrt and division", 'b', RMS,
       R"(v = aten.mean.dim(aten.pow.Tensor_Scalar(x, 2), [-1], True)
r = aten.sqrt.default(aten.add.Tensor(v, 1e-06))
y = aten.mul.Tensor(aten.div.Tensor(x, r), w))"},

      {"rms_norm_bf16", "weight after cast", 'a', RMS_16,
       R"(f = prims.convert_element_type.default(x, torch.float32)
v = aten.mean.dim(aten.pow.Tensor_Scalar(f, 2), [-1], True)
r = aten.rsqrt.default(aten.add.Tensor(v, 1e-06))
h = prims.convert_element_type.default(aten.mul.Tensor(f, r), torch.bfloat16)
y = aten.mul.Tensor(w, h))"},
      {"rms_norm_bf16", "after cast, mul", 'a', RMS_16,
       R"(f = prims.convert_element_type.default(x, torch.float32)
v = aten.mean.dim(aten.mul.Tensor(f, f), [-1], True)
r = aten.rsqrt.default(aten.add.Tensor(v, 1e-06))
h = prims.convert_element_type.default(aten.mul.Tensor(f, r), torch.bfloat16)
y = aten.mul.Tensor(w, h))"},
      {"rms_norm_bf16", "weight before cast", 'b', RMS_16,
       R"(f = prims.convert_element_type.default(x, torch.float32)
v = aten.mean.dim(aten.pow.Tensor_Scalar(f, 2), [-1], True)
r = aten.rsqrt.default(aten.add.Tensor(v, 1e-06))
g = prims.convert_element_type.default(w, torch.float32)
y = prims.convert_element_type.default(aten.mul.Tensor(aten.mul.Tensor(f, r), g), torch.bfloat16))"},
      {"rms_norm_bf16", "native", 'b', RMS_16, "y = aten.rms_norm.default(x, [C], w, 1e-06)"},

      {"gelu_erf", "native", 'a', MATRIX, "y = aten.gelu.default(x)"},
      {"gelu_erf", "x/2 * (1 + erf)", 'b', MATRIX, R"(h = aten.mul.Tensor(x, 0.5)
e = aten.erf.default(aten.mul.Tensor(x, 0.7071067811865476))
y = aten.mul.Tensor(h, aten.add.Tensor(e, 1)))"},
      {"gelu_erf", "x * (1 + erf) / 2", 'c', MATRIX,
       R"(e = aten.erf.default(aten.div.Tensor(x, 1.4142135623730951))
y = aten.mul.Tensor(aten.mul.Tensor(x, aten.add.Tensor(e, 1)), 0.5))"},

      {"gelu_tanh", "native", 'a', MATRIX, "y = aten.gelu.default(x, approximate = 'tanh')"},
      {"gelu_tanh", "pow(x, 3)", 'b', MATRIX, R"(p = aten.mul.Tensor(aten.pow.Tensor_Scalar(x, 3.0), 0.044715)
u = aten.mul.Tensor(aten.add.Tensor(x, p), 0.7978845608028654)
t = aten.add.Tensor(aten.tanh.default(u), 1.0)
y = aten.mul.Tensor(aten.mul.Tensor(x, 0.5), t))"},
      {"gelu_tanh", "x * x * x", 'b', MATRIX,
       R"(p = aten.mul.Tensor(aten.mul.Tensor(aten.mul.Tensor(x, x), x), 0.044715)
u = aten.mul.Tensor(aten.add.Tensor(x, p), 0.7978845608028654)
t = aten.add.Tensor(aten.tanh.default(u), 1.0)
y = aten.mul.Tensor(aten.mul.Tensor(x, 0.5), t))"},

      {"silu", "native", 'a', MATRIX, "y = aten.silu.default(x)"},
      {"silu", "x * sigmoid(x)", 'b', MATRIX, "y = aten.mul.Tensor(x, aten.sigmoid.default(x))"},
      {"silu", "x / (1 + exp(-x))", 'c', MATRIX,
       R"(e = aten.add.Tensor(aten.exp.default(aten.neg.default(x)), 1)
y = aten.div.Tensor(x, e))"},

      {"mean", "native", 'a', MATRIX, "y = aten.mean.dim(x, [-1])"},
      {"mean", "sum and division", 'a', MATRIX, "y = aten.div.Tensor(aten.sum.dim_IntList(x, [-1]), C)"},
      {"mean", "kept, then squeezed", 'a', MATRIX, "y = aten.squeeze.dim(aten.mean.dim(x, [-1], True), -1)"},

      {"l2_norm", "vector_norm", 'a', MATRIX, R"(n = aten.linalg_vector_norm.default(x, 2, [-1], True)
y = aten.div.Tensor(x, n))"},
      {"l2_norm", "pow, sum, sqrt", 'a', MATRIX,
       R"(n = aten.sqrt.default(aten.sum.dim_IntList(aten.pow.Tensor_Scalar(x, 2), [-1], True))
y = aten.div.Tensor(x, n))"},
      {"l2_norm", "pow(sum, 0.5), expanded", 'a', MATRIX,
       R"(n = aten.pow.Tensor_Scalar(aten.sum.dim_IntList(aten.mul.Tensor(x, x), [-1], True), 0.5)
y = aten.div.Tensor(x, aten.expand.default(n, [R, C])))"},
      {"l2_norm", "as normalize", 'b', MATRIX, R"(n = aten.linalg_vector_norm.default(x, 2.0, [1], True)
y = aten.div.Tensor(x, aten.expand.default(aten.clamp_min.default(n, 1e-12), [R, C])))"},
      {"l2_norm", "times rsqrt", 'c', MATRIX,
       R"(r = aten.rsqrt.default(aten.sum.dim_IntList(aten.square.default(x), [-1], True))
y = aten.mul.Tensor(x, r))"},

      {"cross_entropy", "log_softmax, gather", 'a', SCORES, R"(l = aten._log_softmax.default(x, 1, False)
g = aten.gather.default(l, 1, aten.unsqueeze.default(t, 1))
y = aten.neg.default(aten.mean.default(g)))"},
      {"cross_entropy", "by hand, gather", 'a', SCORES, R"(m = aten.amax.default(x, [1], True)
d = aten.sub.Tensor(x, m)
l = aten.sub.Tensor(d, aten.log.default(aten.sum.dim_IntList(aten.exp.default(d), [1], True)))
g = aten.gather.default(l, 1, aten.unsqueeze.default(t, 1))
y = aten.neg.default(aten.mean.default(g)))"},
      {"cross_entropy", "neg, gather, sum / R", 'a', SCORES, R"(l = aten._log_softmax.default(x, 1, False)
g = aten.neg.default(aten.gather.default(l, 1, aten.unsqueeze.default(t, 1)))
y = aten.div.Tensor(aten.sum.default(g), R))"},
      {"cross_entropy", "logsumexp - score", 'b', SCORES, R"(l = aten.logsumexp.default(x, [1])
g = aten.squeeze.dim(aten.gather.default(x, 1, aten.unsqueeze.default(t, 1)), 1)
y = aten.mean.default(aten.sub.Tensor(l, g)))"},
      {"cross_entropy", "one hot", 'c', SCORES, R"(l = aten._log_softmax.default(x, 1, False)
i = aten.eq.Tensor(aten.arange.default(C), aten.unsqueeze.default(t, 1))
g = aten.where.self(i, l, 0.0)
y = aten.neg.default(aten.div.Tensor(aten.sum.default(g), R)))"},

      {"rotary", "cat", 'a', ROTARY, R"(p = aten.slice.Tensor(x, 1, 0, H)
q = aten.slice.Tensor(x, 1, H, 9223372036854775807)
k = aten.cat.default([aten.neg.default(q), p], -1)
y = aten.add.Tensor(aten.mul.Tensor(x, c), aten.mul.Tensor(k, s)))"},
      {"rotary", "cat of chunks", 'a', ROTARY, R"(h = aten.split.Tensor(x, H, -1)
k = aten.cat.default([aten.neg.default(h[1]), h[0]], -1)
y = aten.add.Tensor(aten.mul.Tensor(x, c), aten.mul.Tensor(k, s)))"},
      {"rotary", "roll and sign", 'a', ROTARY, R"(i = aten.arange.default(C)
n = aten.where.self(aten.lt.Scalar(i, H), aten.neg.default(aten.roll.default(x, [H], [1])), aten.roll.default(x, [H], [1]))
y = aten.add.Tensor(aten.mul.Tensor(x, c), aten.mul.Tensor(n, s)))"},
      {"rotary_halves", "cat of tables", 'a', ROTARY_HALVES, R"(d = aten.cat.default([c, c], -1)
u = aten.cat.default([s, s], -1)
h = aten.split.Tensor(x, H, -1)
k = aten.cat.default([aten.neg.default(h[1]), h[0]], -1)
y = aten.add.Tensor(aten.mul.Tensor(x, d), aten.mul.Tensor(k, u)))"},
      {"rotary_halves", "formula of halves", 'a', ROTARY_HALVES, R"(p = aten.slice.Tensor(x, 1, 0, H)
q = aten.slice.Tensor(x, 1, H, 9223372036854775807)
i = aten.sub.Tensor(aten.mul.Tensor(p, c), aten.mul.Tensor(q, s))
j = aten.add.Tensor(aten.mul.Tensor(q, c), aten.mul.Tensor(p, s))
y = aten.cat.default([i, j], -1))"},
  };
  return ways;
}

std::string text_of(const Way& way, const MatrixSizes& sizes) {
  const std::string body =
      cat("def forward(self, ", way.parameters, "):\n", way.statements, "\nreturn (", way.result, ",)\n");
  std::string text = "class GraphModule(torch.nn.Module):\n  ";
  const auto is_word = [&](std::size_t at) {
    return at < body.size() && (std::isalnum(static_cast<unsigned char>(body[at])) != 0 || body[at] == '_');
  };
  for (std::size_t at = 0; at < body.size();) {
    std::size_t end = at + 1;
    while (is_word(at) && is_word(end)) ++end;
    const std::string word = body.substr(at, end - at);
    if (word == "R" || word == "C" || word == "H")
      text += cat(word == "R" ? sizes.rows : word == "C" ? sizes.columns : sizes.columns / 2);
    else if (word == "aten" || word == "prims")
      text += cat("torch.ops.", word);
    else
      text += word == "\n" && end < body.size() ? "\n    " : word;
    at = end;
  }
  return text;
}

}  // namespace twinloom::perf
