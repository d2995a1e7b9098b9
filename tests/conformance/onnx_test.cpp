// Random graphs that are written as ONNX models and read again: the evaluator gives the same numbers, in
// doubles all through. What ONNX cannot say is an Error that names the node. TWINLOOM_ONNX_GRAPHS asks for
// another number of graphs, TWINLOOM_SEED for other seeds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "core/base/error.h"
#include "frontends/onnx/read.h"
#include "frontends/onnx/write.h"
#include "tests/conformance/check.h"
#include "tests/conformance/stages.h"
#include "tests/support/nearly.h"

namespace twinloom::tests {

namespace {

std::int64_t number_from(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

// Nothing where ONNX cannot say it.
std::optional<std::string> difference_of(const graph::Graph& graph, const Arguments& arguments) {
  std::string file;
  try {
    file = onnx::write(graph);
  } catch (const Error& error) {
    if (std::string_view(error.what()).find("ONNX") == std::string_view::npos) throw;
    return std::nullopt;
  }
  const auto results_of = [&](const graph::Graph& of) {
    return evaluate::evaluate(of, arguments.values(), evaluate::Arithmetic::wide);
  };
  constexpr double tolerance = 1e-5;  // of what formulas have in place of functions, with numbers of f32
  return first_difference(results_of(onnx::read(file)), results_of(graph), tolerance);
}

TEST(OnnxGraphs, AreReadAsTheyWereWritten) {
  const auto first = static_cast<std::uint64_t>(number_from("TWINLOOM_SEED", 1));
  const std::int64_t graphs = number_from("TWINLOOM_ONNX_GRAPHS", TWINLOOM_DEFAULT_ONNX_GRAPHS);
  std::int64_t compared = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(graphs); ++seed) {
    Generated generated = generate({seed, 0});
    for (InputPlan& plan : generated.inputs)
      if (plan.contents == Contents::special) plan.contents = Contents::plain;
    const Arguments arguments(generated.graph, generated.inputs, generated.sizes.back(), seed, side_of(seed));
    try {
      const auto difference = difference_of(generated.graph, arguments);
      compared += difference ? 1 : 0;
      EXPECT_EQ(difference.value_or(""), "") << "seed " << seed << "\n" << graph::print(generated.graph);
    } catch (const std::exception& problem) {
      ADD_FAILURE() << "seed " << seed << ": " << problem.what() << "\n" << graph::print(generated.graph);
    }
  }
  std::cout << compared << " of " << graphs << " graphs are said in ONNX\n";
  EXPECT_GE(compared * 3, graphs);
}

}  // namespace

}  // namespace twinloom::tests
