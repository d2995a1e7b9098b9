// Random graphs with totals of rows and of columns of the same elements: gradients of norms, and sums. Random
// graphs of all sorts seldom have both.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "core/fuse/columns.h"
#include "core/fuse/fuse.h"
#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "core/lower/lower.h"
#include "tests/conformance/random.h"
#include "tests/conformance/stages.h"

namespace twinloom::tests {

namespace {

using graph::Shape;
using graph::Tensor;
using ops::DType;

class Norms {
 public:
  explicit Norms(std::uint64_t seed) : random_(seed) {
    static constexpr std::array<std::int64_t, 12> few_rows = {2,   31,  100,  255,  256,  257,
                                                              768, 999, 1023, 1024, 1025, 2049};
    static constexpr std::array<std::int64_t, 11> widths = {3, 8, 31, 64, 96, 100, 255, 256, 257, 768, 1030};
    dtype_ = random_.pick(std::array{DType::f32, DType::bf16, DType::f16});
    columns_ = random_.pick(widths);
    std::int64_t rows = random_.pick(few_rows);
    while (rows * columns_ > MOST_ELEMENTS) {
      if (columns_ > 40 && random_.chance(60))
        columns_ = columns_ / 2 + 1;
      else
        rows = rows / 2 + 1;
    }
    const bool symbolic = random_.chance(25);
    const index::Symbol n("n");
    if (symbolic) shape_ = random_.pick(std::array<Shape, 3>{{{n}, {3, n}, {n, 2}}});
    if (!symbolic && rows % 3 == 0 && random_.chance(50)) shape_ = {3, rows / 3};
    if (shape_.empty()) shape_.emplace_back(rows);
    shape_.emplace_back(columns_);
    kind_ = random_.pick(std::array{Kind::training, Kind::gradients, Kind::rms, Kind::sums});
    // An extreme needs rows.
    sizes_ = symbolic
                 ? std::vector<index::Values>{{{n, rows}}, {{n, 1}}, {{n, kind_ == Kind::sums ? 300 : 0}}}
                 : std::vector<index::Values>{{}};
  }

  graph::Graph build() {
    const Tensor x = sum_or_input("x"), gradient = sum_or_input("gradient");
    switch (kind_) {
      case Kind::training:
        training(x, gradient);
        break;
      case Kind::gradients:
        gradients(x, gradient);
        break;
      case Kind::rms:
        rms(x, gradient);
        break;
      case Kind::sums:
        sums(x, gradient);
        break;
    }
    return builder_.take();
  }
  const std::vector<index::Values>& sizes() const { return sizes_; }

 private:
  enum class Kind : std::uint8_t { training, gradients, rms, sums };
  static constexpr std::int64_t MOST_ELEMENTS = 50000;

  Tensor input(const char* name, Shape shape) { return builder_.input(name, dtype_, std::move(shape)); }
  // What the columns' kernel may store for the rows.
  Tensor sum_or_input(const std::string& name) {
    const Tensor one = input(name.c_str(), shape_);
    return random_.chance(30) ? one + input((name + " too").c_str(), shape_) : one;
  }
  // The gradient of what is normalized, and at times that of a bias before it.
  void output_gradient(const Tensor& gradient) {
    builder_.output(gradient);
    if (random_.chance(50)) builder_.output(graph::sum(gradient, rows()));
    if (random_.chance(25)) builder_.output(graph::sum(gradient * gradient, rows()));
  }
  std::vector<int> rows() const { return shape_.size() == 3 ? std::vector{0, 1} : std::vector{0}; }

  void output(const graph::NormGradients& all) {
    if (all.x) output_gradient(*all.x);
    if (all.weight) builder_.output(*all.weight);
    if (all.bias) builder_.output(*all.bias);
  }
  void training(const Tensor& x, const Tensor& gradient) {
    const Tensor weight = input("weight", {columns_}), bias = input("bias", {columns_});
    const graph::Normalized norm = graph::layer_norm(x, 1, weight, bias, 1e-5);
    builder_.output(norm.value);
    output(graph::layer_norm_backward(gradient, x, 1, norm.mean, norm.rstd, weight));
  }
  void gradients(const Tensor& x, const Tensor& gradient) {
    Shape row = shape_;
    row.back() = 1;
    const Tensor mean = input("mean", row), rstd = input("rstd", row), weight = input("weight", {columns_});
    const graph::Wanted wanted{.x = true, .weight = random_.chance(70), .bias = random_.chance(70)};
    output(graph::layer_norm_backward(gradient, x, 1, mean, rstd, weight, wanted));
  }
  void rms(const Tensor& x, const Tensor& gradient) {
    const Tensor weight = input("weight", {columns_});
    const Tensor scale = graph::rsqrt(graph::mean(x * x, {-1}, true) + 1e-5);
    const Tensor scaled = x * scale, inner = gradient * weight;
    output_gradient((inner - scaled * graph::mean(inner * scaled, {-1}, true)) * scale);
    builder_.output(graph::sum(gradient * scaled, rows()));
  }
  void sums(const Tensor& x, const Tensor& y) {
    builder_.output(graph::sum(x, {-1}));
    builder_.output(graph::amax(y * x, {-1}));
    builder_.output(random_.chance(50) ? graph::sum(x * y, rows()) : graph::amax(x, rows()));
    if (random_.chance(50)) builder_.output(graph::exp(graph::sum(graph::sin(x), rows())));
    if (!random_.chance(30)) return;
    const Tensor middle =
        graph::realize(graph::sum(x, rows(), true)) * 0.01;  // other columns need these totals
    builder_.output(graph::sum((x - middle) * y, rows()));
  }

  Random random_;
  graph::Builder builder_;
  DType dtype_;
  Kind kind_;
  std::int64_t columns_ = 1;
  Shape shape_;
  std::vector<index::Values> sizes_;
};

bool is_in_one_pass(const graph::Graph& graph) {
  fuse::Limits limits;
  limits.one_pass = true;
  limits.most_ragged_columns = limits.most_columns;
  const fuse::Fused fused = fuse::fuse(lower::lower(graph), limits);
  return std::ranges::any_of(fused.lowered.units, fuse::has_columns);
}

class RowsAndColumns : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RowsAndColumns, AllStagesAgree) {
  constexpr std::uint64_t EACH = TWINLOOM_ONE_PASS_GRAPHS;
  int in_one_pass = 0;
  for (std::uint64_t seed = GetParam() * EACH; seed < (GetParam() + 1) * EACH; ++seed) {
    Norms norms(seed);
    const graph::Graph graph = norms.build();
    in_one_pass += is_in_one_pass(graph) ? 1 : 0;
    std::vector<InputPlan> inputs;
    for (int at = 0; at < static_cast<int>(graph.parameters().size()); ++at) inputs.push_back({at});
    for (const std::string& stage : stage_names()) {
      if (stage.find("one pass") == std::string::npos && stage.find("NVRTC") == std::string::npos) continue;
      if (stage.find("NVRTC") != std::string::npos && seed % EACH != 0) continue;
      Comparison comparison(graph, seed, stage);
      for (const index::Values& sizes : norms.sizes()) {
        const Arguments arguments(graph, inputs, sizes, seed, seed % 2 == 0 ? Against::start : Against::end);
        const auto difference = comparison.first_difference(arguments);
        EXPECT_FALSE(difference) << "seed " << seed << ": " << difference->stage << ": " << difference->words
                                 << "\n"
                                 << graph::print(graph);
      }
    }
  }
  std::cout << in_one_pass << " of " << EACH << " in one pass\n";
  EXPECT_GE(in_one_pass * 3, static_cast<int>(EACH) * 2);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RowsAndColumns, testing::Range<std::uint64_t>(0, 6));

}  // namespace

}  // namespace twinloom::tests
