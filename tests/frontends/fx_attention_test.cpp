// Attention beside PyTorch 2.11 on the CPU: all forms that texts hold, their sums and their backward.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/graph/bind.h"
#include "core/graph/passes.h"
#include "tests/evaluate/arrays.h"
#include "tests/frontends/texts.h"

namespace twinloom::tests {
namespace {

using evaluate::Value;
using ops::DType;
constexpr double inf = std::numeric_limits<double>::infinity();

// What a parameter holds, by the first letter of its name: (k * step) % 17 / 8 - 1; of n the last row is
// -inf, and b says what of 3 x 4 is seen.
Value argument_named(char name, DType dtype, const std::vector<std::int64_t>& sizes) {
  const int step = name == 'q' ? 5 : name == 'k' ? 7 : name == 'g' ? 11 : 3;
  const std::vector<double> seen{1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1};
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  std::vector<double> numbers;
  for (std::int64_t k = 0; k < count; ++k) {
    const double number = static_cast<double>(k * step % 17 - 8) / 8;
    const bool is_hidden = name == 'n' && k >= count - sizes.back();
    numbers.push_back(name == 'b' ? seen[static_cast<std::size_t>(k)] : is_hidden ? -inf : number);
  }
  return evaluate::array(dtype, sizes, numbers);
}

struct Result {
  std::string_view type;
  std::vector<double> numbers;
};

std::vector<std::optional<Value>> run(const graph::Graph& graph, const index::Values& sizes = {}) {
  std::vector<evaluate::Argument> arguments;
  for (const graph::Parameter& parameter : graph.parameters()) {
    const graph::Node& node = graph[std::get<graph::NodeId>(parameter.value)];
    arguments.emplace_back(argument_named(parameter.name[0], node.dtype, graph::sizes_of(node.shape, sizes)));
  }
  return evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
}

// Statements that make y, a tensor or several.
void expect_results(std::string_view parameters, std::string_view statements,
                    const std::vector<Result>& expected) {
  std::string results = "(";
  for (std::size_t k = 0; k < expected.size(); ++k)
    results += expected.size() == 1 ? "y," : cat("y[", k, "], ");
  const std::string text = module_text(parameters, statements, results + ")");
  ASSERT_EQ(error_of(text), "nothing was thrown") << text;
  const graph::Graph graph = fx::read(text);
  for (const graph::Graph& form : {graph, graph::drop_implicit_rounding(graph)}) {
    const auto given = run(form);
    ASSERT_EQ(given.size(), expected.size());
    for (std::size_t r = 0; r < expected.size(); ++r) {
      EXPECT_EQ(result_type(form, r), expected[r].type) << statements << ", result " << r;
      if (!given[r]) continue;
      const std::vector<double> numbers = evaluate::numbers_in(*given[r]);
      ASSERT_EQ(numbers.size(), expected[r].numbers.size()) << statements << ", result " << r;
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        const double wanted = expected[r].numbers[k];
        EXPECT_TRUE(numbers[k] == wanted || std::abs(numbers[k] - wanted) < 1e-6)
            << statements << ", element " << k << " of result " << r << ": " << numbers[k] << ", expected "
            << wanted;
      }
    }
  }
}

constexpr std::string_view operands =
    "q: \"f32[1, 2, 3, 2]\", k: \"f32[1, 2, 4, 2]\", v: \"f32[1, 2, 4, 3]\"";
constexpr std::string_view result = "f32[1, 2, 3, 3]";

void expect_attention(std::string_view parameters, std::string_view arguments, const Result& expected) {
  expect_results(parameters,
                 cat("y = torch.ops.aten.scaled_dot_product_attention.default(q, k, v", arguments, ")"),
                 {expected});
}

TEST(FxAttention, IsAMeanOfValuesByTheirKeys) {
  expect_attention(operands, "",
                   {result,
                    {-0.5875351, -0.2125351, 0.1624649, -0.1986366, 0.1763634, 0.5513634, -0.4749854,
                     -0.09998538, 0.2750146, -0.07574718, 0.2992528, -0.4234515, -0.1479115, 0.2270884,
                     -0.4428045, -0.1278446, 0.2471554, -0.3700131}});
  expect_attention(operands, ", scale = 0.25",
                   {result,
                    {-0.447584, -0.07258393, 0.3024161, -0.3155178, 0.05948223, 0.4344822, -0.4081202,
                     -0.0331202, 0.3418798, -0.1067074, 0.2682926, -0.4316579, -0.1331688, 0.2418312,
                     -0.4394433, -0.1247233, 0.2502767, -0.4123255}});
}

TEST(FxAttention, OfAQueryLooksAtNoLaterKey) {
  expect_attention(
      operands, ", None, 0.0, True",
      {result,
       {-1, -0.625, -0.25, -0.415759, -0.040759, 0.334241, -0.7072871, -0.332287, 0.04271298, -0.75, -0.375,
        0, -0.1968213, 0.1781787, -0.4917144, -0.4839354, -0.1089353, -0.08360291}});
  expect_attention(
      "q: \"f32[1, 2, 3, 2]\", k: \"f32[1, 2, 2, 2]\", v: \"f32[1, 2, 2, 3]\"", ", is_causal = True",
      {result,
       {-1, -0.625, -0.25, -0.415759, -0.040759, 0.334241, -0.6447874, -0.2697874, 0.1052126, -0.875, -0.5,
        -0.125, -0.1667449, 0.2082551, 0.5832551, -0.5460796, -0.1710796, 0.2039204}});
}

TEST(FxAttention, TakesMasksOfTruthsAndOfNumbers) {
  expect_attention(cat(operands, ", b: \"b8[3, 4]\""), ", b",
                   {result,
                    {-0.7116547, -0.3366547, 0.03834528, 0, 0, 0, 0.1977642, 0.5727642, 0.9477642, -0.1441534,
                     0.2308466, -0.3359535, 0, 0, 0, 0.4718897, 0.8468897, -0.9031103}});
  expect_attention(cat(operands, ", m: \"f32[2, 1, 4]\""), ", attn_mask = m",
                   {result,
                    {-0.4171751, -0.0421751, 0.3328249, -0.05251141, 0.3224886, 0.6974886, -0.2976375,
                     0.07736255, 0.4523626, -0.01226835, 0.3627316, -0.5554725, -0.07480381, 0.3001962,
                     -0.5671657, -0.06144412, 0.3135559, -0.5021014}});
}

TEST(FxAttention, OfNoKeysIsZero) {
  expect_attention("q: \"f32[1, 2, 3, 2]\", k: \"f32[1, 2, 0, 2]\", v: \"f32[1, 2, 0, 3]\"", "",
                   {result, std::vector<double>(18, 0)});
}

TEST(FxAttention, MayHaveFewerHeadsOfKeys) {
  expect_attention(
      "q: \"f32[1, 4, 3, 2]\", k: \"f32[1, 2, 4, 2]\", v: \"f32[1, 2, 4, 3]\"", ", enable_gqa = True",
      {"f32[1, 4, 3, 3]",
       {-0.5875351,  -0.2125351, 0.1624649,   -0.1986366, 0.1763634,  0.5513634,   -0.4749854, -0.09998538,
        0.2750146,   -0.4010204, -0.02602048, 0.3489795,  -0.3548247, 0.02017534,  0.3951753,  -0.3230535,
        0.05194654,  0.4269466,  -0.1985415,  0.1764585,  -0.3883312, -0.08002499, 0.294975,   -0.5152353,
        -0.05848025, 0.3165198,  -0.4413117,  -0.1309033, 0.2440967,  -0.4610103,  -0.1104698, 0.2645302,
        -0.3877655,  -0.1817688, 0.1932311,   -0.4064267}});
}

TEST(FxAttention, HasAnyAxesBeforeTheLastTwo) {
  expect_attention("q: \"f32[2, 3, 2]\", k: \"f32[2, 4, 2]\", v: \"f32[2, 4, 3]\"", "",
                   {"f32[2, 3, 3]",
                    {-0.5875351, -0.2125351, 0.1624649, -0.1986366, 0.1763634, 0.5513634, -0.4749854,
                     -0.09998538, 0.2750146, -0.07574718, 0.2992528, -0.4234515, -0.1479115, 0.2270884,
                     -0.4428045, -0.1278446, 0.2471554, -0.3700131}});
  expect_attention("q: \"f32[3, 2]\", k: \"f32[4, 2]\", v: \"f32[4, 3]\"", "",
                   {"f32[3, 3]",
                    {-0.5875351, -0.2125351, 0.1624649, -0.1986366, 0.1763634, 0.5513634, -0.4749854,
                     -0.09998538, 0.2750146}});
  expect_attention(
      "q: \"f32[2, 2, 1, 2]\", k: \"f32[1, 2, 3, 2]\", v: \"f32[1, 1, 3, 2]\"", "",
      {"f32[2, 2, 1, 2]",
       {-0.4766781, -0.1016782, -0.3969849, -0.02198495, -0.4202521, -0.04525217, -0.2168786, 0.1581214}});
}

TEST(FxAttention, Of16BitsIsRoundedOnce) {
  expect_attention(
      "q: \"bf16[1, 2, 3, 2]\", k: \"bf16[1, 2, 4, 2]\", v: \"bf16[1, 2, 4, 3]\"", ", None, 0.0, True",
      {"bf16[1, 2, 3, 3]",
       {-1, -0.625, -0.25, -0.4160156, -0.04077148, 0.3339844, -0.7070312, -0.3320312, 0.04272461, -0.75,
        -0.375, 0, -0.1972656, 0.1777344, -0.4921875, -0.484375, -0.1088867, -0.08349609}});
  expect_attention(
      "q: \"f16[1, 2, 3, 2]\", k: \"f16[1, 2, 4, 2]\", v: \"f16[1, 2, 4, 3]\"", ", None, 0.0, True",
      {"f16[1, 2, 3, 3]",
       {-1, -0.625, -0.25, -0.4157715, -0.04077148, 0.3342285, -0.7075195, -0.3322754, 0.04272461, -0.75,
        -0.375, 0, -0.1967773, 0.1782227, -0.4916992, -0.4838867, -0.1089478, -0.08361816}});
}

TEST(FxAttention, InSingleOperatorsGivesItsWeights) {
  expect_results(
      operands, "y = torch.ops.aten._scaled_dot_product_attention_math.default(q, k, v, None, 0.0, True)",
      {{result,
        {-1, -0.625, -0.25, -0.415759, -0.040759, 0.334241, -0.7072871, -0.332287, 0.04271298, -0.75, -0.375,
         0, -0.1968213, 0.1781787, -0.4917144, -0.4839354, -0.1089353, -0.08360291}},
       {"f32[1, 2, 3, 4]", {1, 0, 0, 0, 0.4806747, 0.5193253, 0, 0, 0.4984894, 0.2300241, 0.2714865, 0,
                            1, 0, 0, 0, 0.5082856, 0.4917144, 0, 0, 0.1878782, 0.1645495, 0.6475724, 0}}});
  expect_results(cat(operands, ", b: \"b8[3, 4]\""),
                 "y = torch.ops.aten._scaled_dot_product_attention_math.default(q, k, v, b)",
                 {{result,
                   {-0.6612687, -0.2862687, 0.08873135, -0.1986366, 0.1763634, 0.5513634, -0.1942118,
                    0.1807882, 0.5557882, -0.1167017, 0.2582983, -0.3710668, -0.1479115, 0.2270884,
                    -0.4428045, 0.1391238, 0.5141237, -0.6073183}},
                  {"f32[1, 2, 3, 4]", {0.5108412, 0.06022327, 0.2357238,  0.1932118, 0.1961674, 0.211941,
                                       0.1572753, 0.4346162,  0.2199627,  0.2759059, 0.1197957, 0.3843356,
                                       0.1345174, 0.05287788, 0.3928401,  0.4197645, 0.3094045, 0.2993172,
                                       0.1988812, 0.1923972,  0.06651842, 0.158364,  0.2292735, 0.545844}}});
  expect_results("n: \"f32[2, 4]\"", "y = torch.ops.aten._safe_softmax.default(n, -1)",
                 {{"f32[2, 4]", {0.1306812, 0.1901401, 0.2766522, 0.4025265, 0, 0, 0, 0}}});
}

// Values have heads of the size of queries, as PyTorch's CPU needs it; the last query sees no key.
constexpr std::string_view kernel =
    "q: \"f32[1, 2, 3, 2]\", k: \"f32[1, 2, 4, 2]\", v: \"f32[1, 2, 4, 2]\", n: \"f32[1, 2, 3, 4]\"";
constexpr std::string_view of_kernel = "f32[1, 2, 3, 2]";
const std::vector<double> masked{-0.4566088, -0.08160881, -0.5584821,  -0.1834821, -0.4836949, -0.1086948,
                                 -0.2065569, 0.1684431,   -0.09094824, 0.2840518,  0,          0};
const std::vector<double> masked_sums{1.023447, 1.523966, 1.886448, 1.684488, 1.393168, 0};
const std::vector<double> causal{-1,     -0.625, -0.610506, -0.235506, -0.4202522, -0.04525215,
                                 -0.125, 0.25,   0.2437858, 0.6187857, -0.4063206, -0.03132062};
const std::vector<double> causal_sums{0.7402524, 0.478448, 1.138115, -0.4750874, 0.8755854, 1.23002};

std::vector<double> padded(const std::vector<double>& sums, std::size_t length, std::size_t to) {
  std::vector<double> all;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    all.push_back(sums[k]);
    if ((k + 1) % length == 0) all.resize(all.size() + to - length, inf);
  }
  return all;
}

TEST(FxAttention, OfKernelsForTheCPUGivesSums) {
  expect_results(
      kernel,
      "y = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, v, attn_mask = n)",
      {{of_kernel, masked}, {"f32[1, 2, 3]", masked_sums}});
  expect_results(kernel,
                 "y = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, True)",
                 {{of_kernel, causal}, {"f32[1, 2, 3]", causal_sums}});
}

TEST(FxAttention, OfEfficientKernelsFillsSumsUp) {
  expect_results(
      kernel, "y = torch.ops.aten._scaled_dot_product_efficient_attention.default(q, k, v, n, True)",
      {{of_kernel, masked}, {"f32[1, 2, 32]", padded(masked_sums, 3, 32)}, {"i64[]", {0}}, {"i64[]", {0}}});
  expect_results(
      kernel,
      "y = torch.ops.aten._scaled_dot_product_efficient_attention.default(q, k, v, None, False, 0.0, True)",
      {{of_kernel, causal}, {"f32[1, 2, 0]", {}}, {"i64[]", {0}}, {"i64[]", {0}}});
}

TEST(FxAttention, OfFlashKernelsGivesLengths) {
  expect_results(kernel, "y = torch.ops.aten._scaled_dot_product_flash_attention.default(q, k, v, 0.0, True)",
                 {{of_kernel, causal},
                  {"f32[1, 2, 3]", causal_sums},
                  {"None", {}},
                  {"None", {}},
                  {"size 3", {3}},
                  {"size 4", {4}},
                  {"u64[2]", {0, 0}},
                  {"u64[]", {0}},
                  {"f32[0]", {}}});
}

TEST(FxAttention, OfOtherKernelsGivesWhatTheyGive) {
  for (const std::string_view call :
       {"_scaled_dot_product_cudnn_attention.default(q, k, v, n, True)",
        "_scaled_dot_product_fused_attention_overrideable.default(q, k, v, n)"}) {
    const bool is_cudnn = call.starts_with("_scaled_dot_product_cudnn");
    expect_results(kernel, cat("y = torch.ops.aten.", call),
                   {{of_kernel, masked},
                    {is_cudnn ? "f32[1, 2, 3, 1]" : "f32[1, 2, 3]", masked_sums},
                    {"None", {}},
                    {"None", {}},
                    {"size 3", {3}},
                    {"size 4", {4}},
                    {"i64[]", {0}},
                    {"i64[]", {0}},
                    {"None", {}}});
  }
}

// By PyTorch's autograd.
const std::vector<Result> of_causal{
    {of_kernel,
     {0, 0, 0.1447955, -0.03102761, -0.0728423, 0.03572, 0, 0, -0.006213107, -0.006213095, 0.1960392,
      -0.05477208}},
    {"f32[1, 2, 4, 2]",
     {-0.05261516, -0.07239775, 0.02501191, 0.07239775, 0.02760325, 0, 0, 0, -0.02388801, 0.007801938,
      -0.09414082, 0.05121248, 0.1180288, -0.05901441, 0, 0}},
    {"f32[1, 2, 4, 2]",
     {-1.055631, 0.60643, -0.137241, 0.4043132, 0.06787163, -0.1357433, 0, 0, 0.5573215, 0.3653056,
      -0.3073215, 0.2453737, 0, -0.4856793, 0, 0}}};
const std::vector<Result> of_masked{
    {of_kernel,
     {-0.118329, 0.1499722, 0.1090377, -0.07395985, -0.03897734, 0.06197173, -0.1202001, -0.007651244,
      -0.00972684, 0.0006684513, 0, 0}},
    {"f32[1, 2, 4, 2]",
     {-0.09201963, -0.07252056, 0.03033298, 0.05666294, 0.1471465, 0.06603628, -0.0854598, -0.05017865,
      0.002446848, -0.003473839, 0.02943279, -0.04103536, -0.07940382, 0.1110136, 0.04752419, -0.06650438}},
    {"f32[1, 2, 4, 2]",
     {-0.3295777, 0.2784286, -0.2585046, 0.4164948, -0.2319208, 0.03800466, -0.304997, 0.1420721, -0.3531115,
      0.4877699, 0.006761312, 0.09144431, 0.2296792, 0.120283, 0.366671, 0.1755028}},
    {"f32[1, 2, 3, 4]",
     {0.09412573,   -0.01668699,  -0.1618708,   0.08443203,  -0.07687133, 0.08442958, 0.03735753, -0.04491579,
      0.02686696,   -0.008164679, -0.05901816,  0.04031588,  0.004444758, 0.07045791, -0.1831047, 0.1082021,
      -0.002729567, 0.009647767,  -0.008585927, 0.001667738, 0,           0,          0,          0}}};

// `forward` and `backward`: calls of aten; f[k] stands for result k of the first.
void expect_gradients(std::string_view forward, std::string_view backward, std::vector<Result> expected,
                      std::size_t count) {
  expected.resize(count, {"None", {}});
  expect_results(cat("g: \"f32[1, 2, 3, 2]\", ", kernel),
                 cat("f = torch.ops.aten.", forward, "\ny = torch.ops.aten.", backward), expected);
}

TEST(FxAttention, OfKernelsForTheCPUHasGradients) {
  expect_gradients(
      "_scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, True)",
      "_scaled_dot_product_flash_attention_for_cpu_backward.default(g, q, k, v, f[0], f[1], 0.0, True)",
      of_causal, 3);
  expect_gradients("_scaled_dot_product_flash_attention_for_cpu.default(q, k, v, attn_mask = n)",
                   "_scaled_dot_product_flash_attention_for_cpu_backward.default(g, q, k, v, f[0], f[1], "
                   "0.0, False, attn_mask = n)",
                   of_masked, 3);
}

TEST(FxAttention, OfKernelsForGPUsHasGradients) {
  expect_gradients("_scaled_dot_product_efficient_attention.default(q, k, v, n, True)",
                   "_scaled_dot_product_efficient_attention_backward.default(g, q, k, v, n, f[0], f[1], "
                   "f[2], f[3], 0.0, [True, True, True, True])",
                   of_masked, 4);
  expect_gradients("_scaled_dot_product_efficient_attention.default(q, k, v, None, True, 0.0, True)",
                   "_scaled_dot_product_efficient_attention_backward.default(g, q, k, v, None, f[0], f[1], "
                   "f[2], f[3], 0.0, [True, True, True, False], True)",
                   of_causal, 4);
  expect_gradients("_scaled_dot_product_flash_attention.default(q, k, v, 0.0, True)",
                   "_scaled_dot_product_flash_attention_backward.default(g, q, k, v, f[0], f[1], None, None, "
                   "3, 4, 0.0, True, f[6], f[7])",
                   of_causal, 3);
  expect_gradients("_scaled_dot_product_cudnn_attention.default(q, k, v, n, True)",
                   "_scaled_dot_product_cudnn_attention_backward.default(g, q, k, v, f[0], f[1], f[6], f[7], "
                   "n, None, None, 3, 4, 0.0, False)",
                   of_masked, 3);
  expect_gradients("_scaled_dot_product_fused_attention_overrideable.default(q, k, v, n)",
                   "_scaled_dot_product_fused_attention_overrideable_backward.default(g, q, k, v, n, [True, "
                   "True, True, True], f[0], f[1], None, None, 3, 4, 0.0, False, f[6], f[7])",
                   of_masked, 4);
}

TEST(FxAttention, OfFewerHeadsOfKeysHasGradients) {
  expect_results(
      "g: \"f32[1, 4, 3, 2]\", q: \"f32[1, 4, 3, 2]\", k: \"f32[1, 2, 4, 2]\", v: \"f32[1, 2, 4, 2]\"",
      "f = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, v)\n"
      "y = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default(g, q, k, v, f[0], "
      "f[1], 0.0, False)",
      {{"f32[1, 4, 3, 2]", {-0.1444197,   0.1068056,    0.08746323, -0.1276138,   -0.05185413, 0.04610831,
                            0.123549,     -0.177036,    0.02230491, -0.02452597,  -0.0760793,  0.1392457,
                            -0.0990558,   0.01612408,   0.06953738, -0.009499719, 0.2100797,   -0.01896279,
                            4.802484e-10, -2.71225e-10, -0.1984968, 0.01232945,   -0.07394953, 0.01171896}},
       {"f32[1, 2, 4, 2]",
        {-0.124746, -0.02429835, 0.03145471, 0.0511143, 0.1224531, 0.01693939, -0.02916175, -0.04375537,
         -0.005200338, -0.01280651, 0.07278952, 0.1290811, -0.1021189, -0.1347779, 0.03452973, 0.01850335}},
       {"f32[1, 2, 4, 2]",
        {-0.5091599, 0.3418227, 0.01278949, 0.07167211, 0.00173454, 0.06150058, -0.380364, 0.5250047,
         -0.009857737, 0.1735972, -0.1018352, 0.1544063, 0.285042, -0.07067217, 0.201651, -0.1323313}}});
}

TEST(FxAttention, HasSymbolicSizes) {
  const std::string sizes =
      "g: \"f32[s0, 2*s1, s2, s4]\", q: \"f32[s0, 2*s1, s2, s4]\", k: \"f32[s0, s1, s3, s4]\", v: \"f32[s0, "
      "s1, s3, s4]\"";
  const std::string statements =
      "a: \"f32[s0, 2*s1, s2, s4]\" = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, "
      "0.0, True, "
      "enable_gqa = True)\n"
      "f = torch.ops.aten._scaled_dot_product_efficient_attention.default(q, k, v, None, True, 0.0, True)\n"
      "l: \"f32[s0, 2*s1, 32*(((s2 + 31)//32))]\" = f[1]\n"
      "y = torch.ops.aten._scaled_dot_product_efficient_attention_backward.default(g, q, k, v, None, f[0], "
      "l, f[2], f[3], "
      "0.0, [True, True, True, False], True)";
  const std::string results = "(a, f[0], l, y[0], y[1], y[2])";
  const graph::Graph symbolic = fx::read(module_text(sizes, statements, results));
  for (const std::vector<std::int64_t>& chosen :
       {std::vector<std::int64_t>{1, 2, 3, 4, 2}, {2, 1, 33, 5, 4}}) {
    index::Values values;
    const auto with_numbers = [&](std::string text) {
      for (std::size_t k = 0; k < chosen.size(); ++k) {
        const std::string name = cat("s", k);
        values[index::Symbol(name)] = chosen[k];
        for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
          text.replace(at, name.size(), cat(chosen[k]));
      }
      return text;
    };
    const auto expected = run(fx::read(module_text(with_numbers(sizes), with_numbers(statements), results)));
    const auto given = run(symbolic, values);
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_EQ(evaluate::numbers_in(*given[k]), evaluate::numbers_in(*expected[k])) << "result " << k;
  }
}

}  // namespace
}  // namespace twinloom::tests
