// How much work planning takes, counted: it grows with the graph and not with its square.
#include <gtest/gtest.h>

#include <cmath>

#include "core/fuse/fuse.h"
#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "core/lower/lower.h"
#include "core/lower/realize.h"

namespace twinloom::tests {

using namespace graph;
using ops::DType;

namespace {

Tensor matrix(Builder& b, const char* name) { return b.input(name, DType::f32, {512, 768}); }

void chain(Builder& b, int operators) {
  Tensor x = matrix(b, "x");
  for (int k = 0; k < operators; k += 2) x = sin(x + 0.5);
  b.output(x);
}

void fan(Builder& b, int operators) {
  const Tensor x = exp(matrix(b, "x"));
  for (int k = 0; k < operators; k += 2) b.output(cos(x * static_cast<double>(k)));
}

void fan_of_rows(Builder& b, int operators) {
  const Tensor x = sigmoid(matrix(b, "x"));
  for (int k = 0; k < operators; k += 3) b.output(sum(exp(x + static_cast<double>(k)), {1}));
}

void ladder(Builder& b, int operators) {
  Tensor left = matrix(b, "x"), right = matrix(b, "y");
  for (int k = 0; k < operators; k += 4) {
    const Tensor half = right * 0.5, root = tanh(left);
    left = left + half;
    right = right - root;
  }
  b.output(left);
  b.output(right);
}

void axes(Builder& b, int operators) {
  Tensor x = matrix(b, "x");
  for (int k = 0; k < operators; k += 5) x = softmax(x, k / 5 % 2);
  b.output(x);
}

void layers(Builder& b, int operators) {
  Tensor x = matrix(b, "x");
  const Tensor mask = matrix(b, "mask");
  for (int k = 0; k < operators; k += 36) {
    x = x + softmax(layer_norm(x, 1, {}, {}, 1e-5).value * 0.125 + mask, 1);
    x = x + gelu(layer_norm(x, 1, {}, {}, 1e-5).value);
  }
  b.output(x);
}

struct Counts {
  double nodes = 0, realize = 0, scored = 0, attempts = 0, visited = 0;
};

Counts counts_of(void (*build)(Builder&, int), int operators) {
  Builder b;
  build(b, operators);
  const Graph graph = b.take();
  const fuse::Effort effort = fuse::fuse(lower::lower(graph)).effort;
  constexpr double FEW = 20;  // so that one pair more of a handful is no growth
  const auto number = [](auto count) { return static_cast<double>(count) + FEW; };
  return {number(graph.nodes().size()), number(lower::choose_realized(graph).visited), number(effort.scored),
          number(effort.attempts), number(effort.visited)};
}

}  // namespace

// From 600 operators, which are past all that is bounded by a limit of one kernel, to three times as many.
TEST(Effort, GrowsWithTheGraph) {
  struct Case {
    const char* name;
    void (*build)(Builder&, int);
  };
  for (const auto& [name, build] : {Case{"chain", chain}, Case{"fan", fan}, Case{"fan_of_rows", fan_of_rows},
                                    Case{"ladder", ladder}, Case{"axes", axes}, Case{"layers", layers}}) {
    SCOPED_TRACE(name);
    const Counts few = counts_of(build, 600), many = counts_of(build, 1800);
    const double nodes = std::log(many.nodes / few.nodes);
    const auto exponent = [&](double Counts::*count) { return std::log(many.*count / few.*count) / nodes; };
    EXPECT_LE(exponent(&Counts::realize), 1.15) << few.realize << " to " << many.realize;
    EXPECT_LE(exponent(&Counts::scored), 1.15) << few.scored << " to " << many.scored;
    EXPECT_LE(exponent(&Counts::attempts), 1.15) << few.attempts << " to " << many.attempts;
    EXPECT_LE(exponent(&Counts::visited), 1.15) << few.visited << " to " << many.visited;
  }
}

}  // namespace twinloom::tests
