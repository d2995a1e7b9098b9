// Residuals that are added in place: the memory of a run, and a run that begins again.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/cpu/cpu.h"
#include "backends/cpu/onednn.h"
#include "core/graph/composites.h"
#include "core/pipeline/pipeline.h"
#include "core/runtime/bound_run.h"

namespace twinloom::tests {
namespace {

constexpr std::int64_t ROWS = 256, COLUMNS = 192, BYTES = ROWS * COLUMNS * 4;

// h = relu(x w); three times h = relu(h + relu(h w) w); y = h w.
graph::Graph residuals(bool donates) {
  graph::Builder builder;
  const graph::Tensor x = builder.input("x", ops::DType::f32, {ROWS, COLUMNS}, donates);
  const graph::Tensor w = builder.input("w", ops::DType::f32, {COLUMNS, COLUMNS});
  graph::Tensor h = relu(matrix_product(x, w));
  for (int block = 0; block < 3; ++block) h = relu(h + matrix_product(relu(matrix_product(h, w)), w));
  builder.output(matrix_product(h, w));
  return builder.take();
}

struct Residuals {
  std::vector<float> x = std::vector<float>(ROWS * COLUMNS), w = std::vector<float>(COLUMNS * COLUMNS);
  Residuals() {
    for (std::size_t at = 0; at < x.size(); ++at) x[at] = static_cast<float>(at * 7919 % 1000) / 1000 - 0.5F;
    for (std::size_t at = 0; at < w.size(); ++at)
      w[at] = static_cast<float>(at * 7907 % 1000) / 8000 - 0.0625F;
  }
  std::vector<runtime::Argument> arguments() {
    return {runtime::view_of(x.data(), ops::DType::f32, {ROWS, COLUMNS}),
            runtime::view_of(w.data(), ops::DType::f32, {COLUMNS, COLUMNS})};
  }
};

runtime::Executable compiled(bool donates, pipeline::Mode mode = pipeline::Mode::fused) {
  pipeline::Options options;
  options.mode = mode;
  return pipeline::compile(residuals(donates), cpu::make_cpu({.threads = 2}), options);
}

class Residual : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cpu::onednn_path()) GTEST_SKIP() << "oneDNN 3 is not found";
  }
};

// Without the sum in place a block needs a third matrix beside the result. Where the memory of an argument
// may be taken, a run cannot begin again.
TEST_F(Residual, NeedsNoMemoryOfItsOwn) {
  Residuals given;
  EXPECT_EQ(compiled(false).peak_bytes(given.arguments()), 3 * BYTES);
  const runtime::Executable donated = compiled(true);
  ASSERT_EQ(donated.reuses(given.arguments()).size(), 1);
  EXPECT_EQ(donated.peak_bytes(given.arguments()), 3 * BYTES);
}

// A NaN in row 5 of the second run, and of a bound one, none in the third: relu keeps it, whatever the
// library does with it.
TEST_F(Residual, IsThereWhenARunBeginsAgain) {
  Residuals given;
  const runtime::Executable fused = compiled(false), strict = compiled(false, pipeline::Mode::strict);
  std::vector<float> y(ROWS * COLUMNS);
  const std::vector<runtime::Tensor> outputs = {runtime::view_of(y.data(), ops::DType::f32, {ROWS, COLUMNS})};
  const auto bound = fused.bind(given.arguments(), outputs);
  for (const bool has_nan : {false, true, false}) {
    given.x[5 * COLUMNS + 1] = has_nan ? std::numeric_limits<float>::quiet_NaN() : 0.25F;
    const auto arguments = given.arguments();
    const auto results = strict.run(arguments), of_run = fused.run(arguments);
    const std::vector<void*> addresses = {given.x.data(), given.w.data(), y.data()};
    bound->start(addresses, nullptr, {});
    const auto numbers = [](const std::vector<runtime::Output>& of) {
      return static_cast<const float*>(std::get<runtime::Tensor>(of.at(0)).data);
    };
    for (std::size_t at = 0; at < y.size(); ++at) {
      const float expected = numbers(results)[at];
      ASSERT_EQ(std::isnan(expected), has_nan && at / COLUMNS == 5);
      for (const float each : {numbers(of_run)[at], y[at]})
        ASSERT_TRUE(std::isnan(expected) ? std::isnan(each)
                                         : std::abs(each - expected) <= 1e-4F * std::abs(expected) + 1e-5F)
            << at << ": " << each << ", expected " << expected;
    }
  }
}

}  // namespace
}  // namespace twinloom::tests
