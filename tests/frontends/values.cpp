// See values.h.
#include "tests/frontends/values.h"

#include <gtest/gtest.h>

#include "core/graph/bind.h"
#include "tests/evaluate/arrays.h"
#include "tests/frontends/texts.h"

namespace twinloom::tests {

namespace {

// Of result 0.
std::vector<double> numbers_of(const graph::Graph& graph) {
  std::vector<evaluate::Argument> arguments;
  for (const graph::Parameter& parameter : graph.parameters()) {
    const graph::Node& node = graph[std::get<graph::NodeId>(parameter.value)];
    arguments.emplace_back(evaluate::counting(node.dtype, graph::sizes_of(node.shape, {})));
  }
  return evaluate::numbers_in(*evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict).front());
}

}  // namespace

void expect_all(std::span<const ValueRow> rows) {
  for (const ValueRow& row : rows) {
    const std::string text = module_text(row.parameters, row.statement, "(y,)");
    ASSERT_EQ(error_of(text), "nothing was thrown") << row.statement;
    const graph::Graph graph = fx::read(text);
    EXPECT_EQ(result_type(graph), row.type) << row.statement;
    EXPECT_EQ(numbers_of(graph), row.numbers) << row.statement;
  }
}

}  // namespace twinloom::tests
