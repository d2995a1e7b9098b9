// Every row of edges.md: see there.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/text.h"
#include "tests/edges/subjects.h"

namespace twinloom::tests {

namespace {

const std::vector<Edge>& all_edges() {
  static const std::vector<Edge> edges = read_edges(TWINLOOM_EDGES);
  return edges;
}

// What the case gave at one of its places.
std::vector<ops::Number> given(const evaluate::Value& value, Layout layout, std::int64_t place) {
  const auto size = static_cast<std::size_t>(ops::size_of(value.dtype));
  const std::size_t count = value.bytes.size() / size / static_cast<std::size_t>(elements);
  std::vector<ops::Number> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(place);
    const std::size_t at = layout == Layout::across ? i * elements + row : row * count + i;
    numbers.push_back(ops::load_number(value.dtype, value.bytes.data() + at * size));
  }
  return numbers;
}

std::string words(const std::vector<ops::Number>& numbers) {
  return join(numbers, ", ", [](const ops::Number& number) { return ops::print(number); });
}

void expect(const Edge& edge, Layout layout, const Subject& subject) {
  const evaluate::Value value = subject.run(arguments_of(edge, layout));
  std::vector<ops::Number> expected;
  for (const std::string& text : edge.gives) expected.push_back(number_of(text, value.dtype));
  for (const std::int64_t place : places) {
    EXPECT_EQ(words(given(value, layout, place)), words(expected))
        << "edges.md:" << edge.line << ": " << edge.operation << " of " << ops::name(edge.of) << ", "
        << edge.authority << "; element " << place << " by the " << subject.name
        << (layout == Layout::across ? ", across" : "");
  }
}

class EdgeCases : public testing::TestWithParam<std::string> {};

TEST_P(EdgeCases, GiveWhatTheirAuthoritySays) {
  using Key = std::tuple<ops::DType, Layout, std::size_t>;
  std::map<Key, std::vector<Subject>> subjects;
  for (const Edge& edge : all_edges()) {
    if (edge.operation != GetParam()) continue;
    const auto layouts =
        edge.in_rows ? std::vector{Layout::along, Layout::across} : std::vector{Layout::pointwise};
    for (const Layout layout : layouts) {
      auto& made = subjects[{edge.of, layout, edge.inputs[0].size()}];
      if (made.empty()) made = subjects_of(graph_of(edge, layout));
      for (const Subject& subject : made) expect(edge, layout, subject);
    }
  }
}

std::vector<std::string> operations() {
  std::set<std::string> names;
  for (const Edge& edge : all_edges()) names.insert(edge.operation);
  return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(Table, EdgeCases, testing::ValuesIn(operations()), [](const auto& row) {
  std::string name = row.param;
  std::ranges::replace(name, ' ', '_');
  return name;
});

TEST(EdgeTable, IsLongAndNamesItsAuthorities) {
  EXPECT_GE(all_edges().size(), 200u);
  for (const Edge& edge : all_edges()) EXPECT_GE(edge.authority.size(), 8u) << edge.line;
}

}  // namespace

}  // namespace twinloom::tests
