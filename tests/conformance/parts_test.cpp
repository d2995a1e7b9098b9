// Random layers: products with what stands around them in models. Random graphs of all sorts seldom have
// kernels of several parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "core/fuse/fuse.h"
#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "core/loops/parts.h"
#include "core/lower/lower.h"
#include "tests/conformance/random.h"
#include "tests/conformance/stages.h"

namespace twinloom::tests {

namespace {

using graph::Shape;
using graph::Tensor;
using ops::DType;

class Layers {
 public:
  explicit Layers(std::uint64_t seed) : random_(seed) {
    static constexpr std::array<std::int64_t, 7> batches = {0, 0, 1, 2, 3, 5, 8};
    batch_ = random_.pick(batches);
    const bool symbolic = batch_ > 0 && random_.chance(30);
    if (batch_ > 0) around_.emplace_back(symbolic ? index::Expr(index::Symbol("n")) : index::Expr(batch_));
    rows_ = random_.pick(SIZES);
    sizes_ = symbolic ? std::vector<index::Values>{{{index::Symbol("n"), batch_}}, {{index::Symbol("n"), 0}}}
                      : std::vector<index::Values>{{}};
  }

  graph::Graph build() {
    Tensor x = input(random_.pick(SIZES));
    const int layers = 2 + static_cast<int>(random_.below(5));
    for (int layer = 0; layer < layers; ++layer) x = layer % 2 == 0 ? product(x) : between(x);
    builder_.output(x);
    return builder_.take();
  }
  const std::vector<index::Values>& sizes() const { return sizes_; }

 private:
  static constexpr std::array<std::int64_t, 9> SIZES = {1, 3, 8, 16, 17, 24, 31, 40, 64};

  Tensor input(std::int64_t columns) { return input(around_, rows_, columns); }
  Tensor input(Shape shape, std::int64_t rows, std::int64_t columns) {
    shape.insert(shape.end(), {rows, columns});
    return builder_.input(cat("x", number_++), DType::f32, shape);
  }

  Tensor product(const Tensor& x) {
    const std::int64_t depth = *index::constant_of(x.size(-1)), columns = random_.pick(SIZES);
    const bool each = random_.chance(50), transposed = random_.chance(50);
    Tensor y = input(each ? around_ : Shape{}, transposed ? columns : depth, transposed ? depth : columns);
    if (transposed) y = graph::transpose(y, -1, -2);
    return graph::sum(graph::unsqueeze(x, -1) * graph::unsqueeze(y, -3), {-2});
  }

  Tensor between(const Tensor& x) {
    const std::int64_t columns = *index::constant_of(x.size(-1));
    switch (random_.below(6)) {
      case 0:
        return graph::softmax(x * 0.25, -1);
      case 1:
        return graph::layer_norm(x, 1, std::nullopt,
                                 builder_.input(cat("x", number_++), DType::f32, {columns}), 1e-5)
            .value;
      case 2:
        return graph::relu(x + builder_.input(cat("x", number_++), DType::f32, {columns}));
      case 3:
        return x + input(columns);
      case 4:
        return graph::flip(x, {random_.chance(50) ? -1 : -2});
      default:
        return x - graph::amax(x, {-1}, true);
    }
  }

  Random random_;
  graph::Builder builder_;
  std::int64_t batch_ = 0, rows_ = 1;
  int number_ = 0;
  Shape around_;
  std::vector<index::Values> sizes_;
};

bool has_several_parts(const graph::Graph& graph) {
  fuse::Limits limits;
  limits.seconds_in_parts = [](const loops::Program&) { return 1.0; };
  const fuse::Fused fused = fuse::fuse(lower::lower(graph), limits);
  return std::ranges::any_of(fused.lowered.units,
                             [](const lower::Unit& unit) { return loops::has_parts(unit.nest); });
}

class SeveralParts : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SeveralParts, AllStagesAgree) {
  constexpr std::uint64_t EACH = 10;
  int found = 0;
  for (std::uint64_t seed = GetParam() * EACH; seed < (GetParam() + 1) * EACH; ++seed) {
    Layers layers(seed);
    const graph::Graph graph = layers.build();
    found += has_several_parts(graph) ? 1 : 0;
    std::vector<InputPlan> inputs;
    for (int at = 0; at < static_cast<int>(graph.parameters().size()); ++at) inputs.push_back({at});
    for (const std::string& stage : stage_names()) {
      if (stage.find("several parts") == std::string::npos) continue;
      if (stage.find("JIT") != std::string::npos && seed % EACH != 0) continue;
      Comparison comparison(graph, seed, stage);
      for (const index::Values& sizes : layers.sizes()) {
        const Arguments arguments(graph, inputs, sizes, seed, seed % 2 == 0 ? Against::start : Against::end);
        const auto difference = comparison.first_difference(arguments);
        EXPECT_FALSE(difference) << "seed " << seed << ": " << difference->stage << ": " << difference->words
                                 << "\n"
                                 << graph::print(graph);
      }
    }
  }
  std::cout << found << " of " << EACH << " with several parts\n";
  EXPECT_GE(found * 2, static_cast<int>(EACH));
}
INSTANTIATE_TEST_SUITE_P(Seeds, SeveralParts, testing::Range<std::uint64_t>(0, 6));

}  // namespace

}  // namespace twinloom::tests
