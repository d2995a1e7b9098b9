// What becomes of a Scatter: the nodes of the select, or why it stays one.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/graph/indexing.h"
#include "core/graph/passes.h"
#include "core/graph/print.h"
#include "core/graph/views.h"

namespace twinloom::graph {
namespace {

using ops::DType;

// A graph with the inputs `at`, i64, and `source`, f32, of these shapes.
struct Inputs {
  Builder& builder;
  Tensor at, source;
};
Tensor zeros(const Inputs& in, Shape shape) { return in.builder.constant(0.0, DType::f32, std::move(shape)); }

struct Row {
  const char* name;
  Shape at, source;
  Tensor (*build)(const Inputs& in);
  const char* after;  // the nodes but the inputs, which are %0 and %1
};

const Row rows[] = {
    {"a number",
     {5, 1},
     {},
     [](const Inputs& in) {
       return scatter(zeros(in, {5, 9}), 1, in.at, -1.0);
     },
     "%2: f32 [5, 9] = constant 0x0p+0\n"
     "%3: i64 [9] = iota axis 0\n"
     "%4: i64 [5, 9] = view(%0) at [i0, i1] from [i0, 0]\n"
     "%5: i64 [5, 9] = gather(%3, %4) at [i0, i1] found [f0] below [9] from [f0] name \"scatter replace "
     "%4\"\n"
     "%6: i64 [5, 9] = iota axis 1\n"
     "%7: b8 [5, 9] = eq(%6, %5)\n"
     "%8: f32 [5, 9] = constant -0x1p+0\n"
     "%9: f32 [5, 9] = where(%7, %8, %2)\n"},
    {"a tensor",
     {1, 9},
     {1, 9},
     [](const Inputs& in) {
       return scatter(zeros(in, {5, 9}), 0, in.at, in.source);
     },
     "%2: f32 [5, 9] = constant 0x0p+0\n"
     "%3: i64 [5] = iota axis 0\n"
     "%4: i64 [5, 9] = view(%0) at [i0, i1] from [0, i1]\n"
     "%5: i64 [5, 9] = gather(%3, %4) at [i0, i1] found [f0] below [5] from [f0] name \"scatter replace "
     "%3\"\n"
     "%6: i64 [5, 9] = iota axis 0\n"
     "%7: b8 [5, 9] = eq(%6, %5)\n"
     "%8: f32 [5, 9] = view(%1) at [i0, i1] from [0, i1]\n"
     "%9: f32 [5, 9] = where(%7, %8, %2)\n"},
    {"an index of fewer rows than the result",
     {3, 1},
     {3, 1},
     [](const Inputs& in) {
       return scatter(zeros(in, {5, 9}), 1, in.at, in.source);
     },
     "%2: f32 [5, 9] = constant 0x0p+0\n"
     "%3: i64 [9] = iota axis 0\n"
     "%4: i64 [5, 9] = view(%0) at [i0, i1] from [i0, 0] inside i0 < 3 else 0\n"
     "%5: i64 [5, 9] = gather(%3, %4) at [i0, i1] found [f0] below [9] from [f0] name \"scatter replace "
     "%3\"\n"
     "%6: i64 [5, 9] = iota axis 1\n"
     "%7: b8 [5, 9] = eq(%6, %5)\n"
     "%8: b8 [3, 1] = constant 1\n"
     "%9: b8 [5, 9] = view(%8) at [i0, i1] from [i0, 0] inside i0 < 3 else 0\n"
     "%10: b8 [5, 9] = logical_and(%7, %9)\n"
     "%11: f32 [5, 9] = view(%1) at [i0, i1] from [i0, 0] inside i0 < 3 else 0x0p+0\n"
     "%12: f32 [5, 9] = where(%10, %11, %2)\n"},
    {"two elements a row: the last wins",
     {5, 2},
     {5, 2},
     [](const Inputs& in) {
       return scatter(zeros(in, {5, 9}), 1, in.at, in.source);
     },
     "%2: f32 [5, 9] = constant 0x0p+0\n"
     "%3: i64 [9] = iota axis 0\n"
     "%4: i64 [5, 9] = view(%0) at [i0, i1] from [i0, 0]\n"
     "%5: i64 [5, 9] = gather(%3, %4) at [i0, i1] found [f0] below [9] from [f0] name \"scatter replace "
     "%3\"\n"
     "%6: i64 [5, 9] = iota axis 1\n"
     "%7: b8 [5, 9] = eq(%6, %5)\n"
     "%8: f32 [5, 9] = view(%1) at [i0, i1] from [i0, 0]\n"
     "%9: i64 [5, 9] = view(%0) at [i0, i1] from [i0, 1]\n"
     "%10: i64 [5, 9] = gather(%3, %9) at [i0, i1] found [f0] below [9] from [f0] name \"scatter replace "
     "%3\"\n"
     "%11: b8 [5, 9] = eq(%6, %10)\n"
     "%12: f32 [5, 9] = view(%1) at [i0, i1] from [i0, 1]\n"
     "%13: f32 [5, 9] = where(%7, %8, %2)\n"
     "%14: f32 [5, 9] = where(%11, %12, %13)\n"},
    {"two elements are added in order",
     {2},
     {2},
     [](const Inputs& in) { return scatter(zeros(in, {9}), 0, in.at, in.source, Mode::add); },
     "%2: f32 [9] = constant 0x0p+0\n"
     "%3: i64 [9] = iota axis 0\n"
     "%4: i64 [9] = view(%0) at [i0] from [0]\n"
     "%5: i64 [9] = gather(%3, %4) at [i0] found [f0] below [9] from [f0] name \"scatter add %3\"\n"
     "%6: b8 [9] = eq(%3, %5)\n"
     "%7: f32 [9] = view(%1) at [i0] from [0]\n"
     "%8: i64 [9] = view(%0) at [i0] from [1]\n"
     "%9: i64 [9] = gather(%3, %8) at [i0] found [f0] below [9] from [f0] name \"scatter add %3\"\n"
     "%10: b8 [9] = eq(%3, %9)\n"
     "%11: f32 [9] = view(%1) at [i0] from [1]\n"
     "%12: f32 [9] = constant -0x0p+0\n"
     "%13: f32 [9] = where(%10, %11, %12)\n"
     "%14: f32 [9] = where(%6, %13, %12)\n"
     "%15: f32 [9] = where(%6, %7, %13)\n"
     "%16: b8 [9] = logical_or(%6, %10)\n"
     "%17: f32 [9] = add(%15, %14)\n"
     "%18: f32 [9] = add(%2, %17)\n"
     "%19: f32 [9] = where(%16, %18, %2)\n"},
    {"the least of two, without what was there",
     {2},
     {2},
     [](const Inputs& in) { return scatter(zeros(in, {9}), 0, in.at, in.source, Mode::least, false); },
     "%2: f32 [9] = constant 0x0p+0\n"
     "%3: i64 [9] = iota axis 0\n"
     "%4: i64 [9] = view(%0) at [i0] from [0]\n"
     "%5: i64 [9] = gather(%3, %4) at [i0] found [f0] below [9] from [f0] name \"scatter least %3\"\n"
     "%6: b8 [9] = eq(%3, %5)\n"
     "%7: f32 [9] = view(%1) at [i0] from [0]\n"
     "%8: i64 [9] = view(%0) at [i0] from [1]\n"
     "%9: i64 [9] = gather(%3, %8) at [i0] found [f0] below [9] from [f0] name \"scatter least %3\"\n"
     "%10: b8 [9] = eq(%3, %9)\n"
     "%11: f32 [9] = view(%1) at [i0] from [1]\n"
     "%12: f32 [9] = minimum(%7, %11)\n"
     "%13: f32 [9] = where(%6, %12, %11)\n"
     "%14: f32 [9] = where(%10, %13, %7)\n"
     "%15: b8 [9] = logical_or(%6, %10)\n"
     "%16: f32 [9] = where(%15, %14, %2)\n"},
    {"index_put of one hot rows",
     {5},
     {},
     [](const Inputs& in) {
       const Tensor one = in.builder.constant(1.0, DType::f32);
       return index_put(zeros(in, {5, 9}), {in.builder.iota({5}, 0), in.at}, one);
     },
     "%2: f32 [5, 9] = constant 0x0p+0\n"
     "%3: i64 [9] = iota axis 0\n"
     "%4: i64 [5, 9] = view(%0) at [i0, i1] from [i0]\n"
     "%5: i64 [5, 9] = gather(%3, %4) at [i0, i1] found [f0] below [9] from [f0] wraps name \"scatter "
     "replace %6\"\n"
     "%6: i64 [5, 9] = iota axis 1\n"
     "%7: b8 [5, 9] = eq(%6, %5)\n"
     "%8: f32 [5, 9] = constant 0x1p+0\n"
     "%9: f32 [5, 9] = where(%7, %8, %2)\n"},
    {"index_put at one place",
     {1},
     {1},
     [](const Inputs& in) {
       return index_put(zeros(in, {5, 9}), {in.at, in.at + 1}, in.source, Mode::add);
     },
     "%2: i64 [1] = constant 1\n"
     "%3: i64 [1] = add(%0, %2)\n"
     "%4: f32 [5, 9] = constant 0x0p+0\n"
     "%5: i64 [5] = iota axis 0\n"
     "%6: i64 [5, 9] = view(%0) at [i0, i1] from [0]\n"
     "%7: i64 [5, 9] = gather(%5, %6) at [i0, i1] found [f0] below [5] from [f0] wraps name \"scatter add "
     "%6\"\n"
     "%8: i64 [5, 9] = iota axis 0\n"
     "%9: b8 [5, 9] = eq(%8, %7)\n"
     "%10: i64 [9] = iota axis 0\n"
     "%11: i64 [5, 9] = view(%3) at [i0, i1] from [0]\n"
     "%12: i64 [5, 9] = gather(%10, %11) at [i0, i1] found [f0] below [9] from [f0] wraps name \"scatter add "
     "%6\"\n"
     "%13: i64 [5, 9] = iota axis 1\n"
     "%14: b8 [5, 9] = eq(%13, %12)\n"
     "%15: b8 [5, 9] = logical_and(%9, %14)\n"
     "%16: f32 [5, 9] = view(%1) at [i0, i1] from [0]\n"
     "%17: f32 [5, 9] = add(%4, %16)\n"
     "%18: f32 [5, 9] = where(%15, %17, %4)\n"},
    {"index_put of rows that are known",
     {1},
     {2, 9},
     [](const Inputs& in) {
       return index_put(zeros(in, {5, 9}), {in.builder.arange(2, 1, 1, DType::i64)}, in.source);
     },
     "%2: f32 [5, 9] = constant 0x0p+0\n"
     "%3: b8 [2, 9] = constant 1\n"
     "%4: b8 [5, 9] = view(%3) at [i0, i1] from [i0 - 1, i1] inside -1 < i0 - 1 && i0 - 1 < 2 else 0\n"
     "%5: f32 [5, 9] = view(%1) at [i0, i1] from [i0 - 1, i1] inside -1 < i0 - 1 && i0 - 1 < 2 else 0x0p+0\n"
     "%6: f32 [5, 9] = where(%4, %5, %2)\n"},
    {"index_put of every second row",
     {1},
     {3, 9},
     [](const Inputs& in) {
       return index_put(zeros(in, {6, 9}), {in.builder.arange(3, 1, 2, DType::i64)}, in.source);
     },
     "%2: f32 [6, 9] = constant 0x0p+0\n"
     "%3: b8 [3, 9] = constant 1\n"
     "%4: b8 [6, 9] = view(%3) at [i0, i1] from [floor_div(i0 + 1, 2) - 1, i1] inside "
     "-1 < floor_div(i0 + 1, 2) - 1 && floor_mod(i0 + 1, 2) < 1 else 0\n"
     "%5: f32 [6, 9] = view(%1) at [i0, i1] from [floor_div(i0 + 1, 2) - 1, i1] inside "
     "-1 < floor_div(i0 + 1, 2) - 1 && floor_mod(i0 + 1, 2) < 1 else 0x0p+0\n"
     "%6: f32 [6, 9] = where(%4, %5, %2)\n"},
    {"no element",
     {0},
     {0},
     [](const Inputs& in) { return scatter(zeros(in, {9}), 0, in.at, in.source); },
     "%2: f32 [9] = constant 0x0p+0\n"},
};

TEST(ScatterToSelect, Table) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Builder builder;
    const Tensor at = builder.input("at", DType::i64, row.at);
    const Tensor source = builder.input("source", DType::f32, row.source);
    builder.output(row.build({builder, at, source}));
    const Graph after = scatter_to_select(builder.graph());
    verify(after);
    std::string text;
    for (std::uint32_t n = 2; n < after.nodes().size(); ++n) text += cat(print_node(after, NodeId{n}), "\n");
    EXPECT_EQ(text, row.after);
  }
}

struct Refused {
  Shape at, source;
  Tensor (*build)(const Inputs& in);
  const char* words;
};

const Refused refusals[] = {
    {{5, 9},
     {5, 9},
     [](const Inputs& in) {
       return scatter(zeros(in, {5, 9}), 1, in.at, in.source);
     },
     "9 elements may be written to one place; a select asks at most 8"},
    {{3},
     {3, 9},
     [](const Inputs& in) {
       return index_put(zeros(in, {5, 9}), {in.at}, in.source);
     },
     "3 rows may be written to one place; a select asks at most 2"},
    {{index::Symbol("n")},
     {index::Symbol("n")},
     [](const Inputs& in) { return scatter(zeros(in, {9}), 0, in.at, in.source, Mode::add); },
     "n elements may be written to one place; a select asks at most 8"},
    {{2},
     {2},
     [](const Inputs& in) { return scatter(zeros(in, {0}), 0, in.at, in.source); },
     "no index is below 0"},
    {{2},
     {2},
     [](const Inputs& in) {
       Scatter twice{{axis_symbol(0)}, {found_symbol(0)}, {4}, {2 * found_symbol(0)}, Mode::replace};
       return in.builder.add(twice, {zeros(in, {9}), in.source, in.at});
     },
     "a place is computed from an index"},
    {{2},
     {2},
     [](const Inputs& in) {
       Scatter unused{{axis_symbol(0)}, {found_symbol(0)}, {4}, {axis_symbol(0)}, Mode::replace};
       return in.builder.add(unused, {zeros(in, {9}), in.source, in.at});
     },
     "an index is no part of the place"},
};

TEST(ScatterToSelect, SaysWhyAScatterStays) {
  for (const Refused& row : refusals) {
    SCOPED_TRACE(row.words);
    Builder builder;
    const Tensor at = builder.input("at", DType::i64, row.at);
    const Tensor source = builder.input("source", DType::f32, row.source);
    builder.output(row.build({builder, at, source}));
    const std::vector<ScatterForm> forms = scatter_forms(builder.graph());
    ASSERT_EQ(forms.size(), 1U);
    EXPECT_EQ(forms[0].refused, row.words);
    EXPECT_EQ(print(scatter_to_select(builder.graph())), print(remove_dead(builder.graph())));
  }
}

TEST(ScatterToSelect, CountsWhatASelectAsks) {
  Builder builder;
  const Tensor at = builder.input("at", DType::i64, {5, 3});
  builder.output(scatter(builder.constant(0.0, DType::f32, {5, 9}), 1, at, 1.0));
  const std::vector<ScatterForm> forms = scatter_forms(builder.graph());
  ASSERT_EQ(forms.size(), 1U);
  EXPECT_EQ(forms[0].candidates, 3);
  EXPECT_EQ(forms[0].refused, "");
}

}  // namespace
}  // namespace twinloom::graph
