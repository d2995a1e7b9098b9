// What is asked of kernels: how many there are, that vectors do their work, and
// how many bytes they touch. Asserted of graphs built here and of those that PyTorch printed.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/traffic.h"
#include "backends/cpu/dialect.h"
#include "core/cost/cost.h"
#include "core/emit/emit.h"
#include "core/loops/rewrite.h"
#include "tests/kernels/compiled.h"
#include "tests/kernels/divisions.h"
#include "tests/kernels/subjects.h"

namespace twinloom::tests {

namespace {

class Kernels : public testing::TestWithParam<Subject> {
 protected:
  const Subject& subject() const { return GetParam(); }
  // For each instruction set.
  std::vector<Compiled> compile() const {
    std::vector<Compiled> result;
    const Loaded graph = loaded(subject());
    for (const char* isa : {"avx2", "avx512"}) result.push_back(compiled(graph, isa));
    return result;
  }
};

TEST_P(Kernels, AreFewAndKeepTheirTemporariesAtHand) {
  for (const Compiled& graph : compile()) {
    EXPECT_LE(graph.variant->groups.size(), subject().most_kernels);
    for (const runtime::Step& step : graph.variant->steps) {
      loops::for_each_stmt(*step.program.body, [&](const loops::Stmt& stmt) {
        const auto* scratch = std::get_if<loops::Scratch>(&stmt.node);
        EXPECT_TRUE(scratch == nullptr || scratch->place != loops::Place::memory) << step.program.name;
      });
    }
  }
}

// Bytes of the arguments that a kernel copies once, of each as many as of its copy.
std::int64_t copied_once(const loops::Program& program, const index::Values& values) {
  std::int64_t bytes = 0;
  for (const loops::BufferInfo& info : program.buffers) {
    if (info.local) bytes += index::evaluate(info.count, values) * ops::size_of(info.dtype);
  }
  return bytes;
}

// Bytes of the largest argument: the rows.
std::int64_t largest_buffer(const loops::Program& program, const index::Values& values) {
  std::int64_t bytes = 0;
  for (const loops::BufferInfo& info : program.buffers) {
    if (!info.local) bytes = std::max(bytes, index::evaluate(info.count, values) * ops::size_of(info.dtype));
  }
  return bytes;
}

// Nine tenths of the elements at least; what is left are the ends of rows.
void expect_vectors(const runtime::Step& step, const index::Values& values) {
  // Combining the parts of a reduction, or the totals of a split scan; rows of one vector each.
  constexpr std::int64_t FEW = 512;
  const Executions executions = executions_of(step.program, values);
  if (executions.all <= FEW) return;
  EXPECT_GE(static_cast<double>(executions.in_vectors), 0.9 * static_cast<double>(executions.all))
      << loops::print(step.program);
}

TEST_P(Kernels, WorkInVectors) {
  if (subject().sums_by_segments) GTEST_SKIP() << "its sums are walked element by element";
  for (const Compiled& graph : compile()) {
    for (const runtime::Step& step : graph.variant->steps) expect_vectors(step, graph.values);
  }
}

// Indices are carried from turn to turn by addition.
TEST_P(Kernels, DivideNoIntegersInTheirInnermostLoops) {
  if (subject().name == "dyn_softmax_stack.fw") GTEST_SKIP() << "it reads a turned view of unknown extents";
  for (const Compiled& graph : compile()) {
    for (const runtime::Step& step : graph.variant->steps) {
      const std::string source = emit::emit(step.program, cpu::CpuDialect());
      EXPECT_EQ(divisions_in_innermost_loops(source), std::vector<std::string>()) << source;
    }
  }
}
TEST(Divisions, AreFoundInInnermostLoopsAlone) {
  EXPECT_EQ(divisions_in_innermost_loops("const i64 n1 = floor_div(k, 3);\n"
                                         "for (i64 k1 = 0; k1 < n1; ++k1) {\n"
                                         "  const i64 n2 = floor_div(k1, n0);\n"
                                         "  for (i64 k2 = 0; k2 < 8; ++k2) {\n"
                                         "    const i64 n3 = floor_mod(k2, 32);\n"
                                         "    if (n3 < 4) {\n"
                                         "      const i64 n4 = floor_mod(k2 + floor_div(k1, 4), n0);\n"
                                         "    }\n"
                                         "  }\n"
                                         "}\n"),
            std::vector<std::string>{"const i64 n4 = floor_mod(k2 + floor_div(k1, 4), n0);"});
}

// By the sort of graph: a pointwise graph hardly more than once; a row kernel three loads for each element
// that it reads or makes, be it of the rows or of what is the same for all of them, and one more where it
// keeps a copy of the latter.
void expect_few_bytes(const Compiled& graph, Sort sort) {
  Traffic sum;
  for (const Traffic& traffic : traffic_of(*graph.variant, graph.values)) {
    sum.floor_bytes += traffic.floor_bytes;
    sum.touched_bytes += traffic.touched_bytes;
  }
  EXPECT_GE(sum.touched_bytes, sum.floor_bytes);
  if (sort == Sort::pointwise) {
    EXPECT_LE(static_cast<double>(sum.touched_bytes), 1.1 * static_cast<double>(sum.floor_bytes));
  }
  if (sort == Sort::rows_and_columns) {
    // Both inputs are read by each loop of the kernel of the rows, which computes products and differences
    // again, and by that of the columns: 7 / 3, and the means and parts of sums beside them.
    EXPECT_LE(static_cast<double>(sum.touched_bytes), 2.5 * static_cast<double>(sum.floor_bytes));
  }
  if (sort != Sort::rows) return;
  for (const runtime::Step& step : graph.variant->steps) {
    const std::int64_t loaded = cost::work_of(step.program, graph.values).loaded;
    EXPECT_LE(loaded,
              3 * largest_buffer(step.program, graph.values) + copied_once(step.program, graph.values))
        << loops::print(step.program);
  }
}

TEST_P(Kernels, TouchFewBytes) {
  for (const Compiled& graph : compile()) expect_few_bytes(graph, subject().sort);
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::ValuesIn(subjects()), test_name);

}  // namespace

}  // namespace twinloom::tests
