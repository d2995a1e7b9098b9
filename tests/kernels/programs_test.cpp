// What is made of graphs for a stored GPU gives the evaluator's bits: its programs are interpreted, blocks
// and threads in two orders, no two of which touch an element without a Sync in between.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/traffic.h"
#include "core/cost/estimate.h"
#include "core/evaluate/evaluate.h"
#include "core/graph/composites.h"
#include "core/graph/passes.h"
#include "core/graph/reductions.h"
#include "core/machine/gpu.h"
#include "core/pipeline/pipeline.h"
#include "tests/kernels/subjects.h"
#include "tests/support/programs/program_interpreter.h"
#include "tools/twinloom/inputs.h"

namespace twinloom::tests {

namespace {

void expect_equal(const runtime::Tensor& given, const evaluate::Value& expected) {
  const runtime::Tensor tensor = runtime::contiguous(given);
  const auto* bytes = static_cast<const std::byte*>(tensor.data);
  const auto differs = std::ranges::mismatch(expected.bytes, std::span(bytes, expected.bytes.size())).in1;
  EXPECT_EQ(differs, expected.bytes.end())
      << "element " << (differs - expected.bytes.begin()) / ops::size_of(tensor.dtype) << " differs";
}

void expect_bits_of_the_evaluator(const Loaded& loaded, pipeline::Mode mode,
                                  std::optional<fuse::Limits> limits = {}) {
  const graph::Graph& graph = loaded.model.graph;
  const auto arguments = tool::make_arguments(loaded.model, loaded.options);
  pipeline::Options options{mode, /*fuse=*/true, /*verify=*/true};
  options.limits = limits;
  const auto executable = pipeline::compile(graph, interpreter_of_programs(machine::h200()), options);
  const std::vector<runtime::Output> outputs = executable.run(arguments);
  const graph::Graph meant = mode == pipeline::Mode::strict ? graph : graph::fused_meaning(graph);
  const auto expected =
      evaluate::evaluate(meant, tool::for_evaluator(arguments), evaluate::Arithmetic::strict);
  ASSERT_EQ(outputs.size(), expected.size());
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    SCOPED_TRACE(cat("output ", at));
    const auto* tensor = std::get_if<runtime::Tensor>(&outputs[at]);
    if (tensor != nullptr) expect_equal(*tensor, *expected[at]);
  }
}

class ProgramsForAGpu : public testing::TestWithParam<Subject> {};

TEST_P(ProgramsForAGpu, GiveTheBitsOfTheEvaluator) {
  const Loaded graph = loaded(GetParam());
  for (const pipeline::Mode mode : {pipeline::Mode::strict, pipeline::Mode::fused}) {
    SCOPED_TRACE(pipeline::name(mode));
    expect_bits_of_the_evaluator(graph, mode);
  }
}
INSTANTIATE_TEST_SUITE_P(All, ProgramsForAGpu, testing::ValuesIn(subjects()), test_name);

// Both passes are made of matrices so small where limits ask for it.
class OnePassOfAGraph : public ProgramsForAGpu {
 protected:
  static fuse::Limits limits() {
    fuse::Limits limits;
    limits.one_pass = true;
    limits.most_ragged_columns = limits.most_columns;
    return limits;
  }
};

TEST_P(OnePassOfAGraph, GivesTheBitsOfTheEvaluator) {
  const Loaded graph = loaded(GetParam());
  for (const pipeline::Mode mode : {pipeline::Mode::strict, pipeline::Mode::fused}) {
    SCOPED_TRACE(pipeline::name(mode));
    expect_bits_of_the_evaluator(graph, mode, limits());
  }
}

TEST_P(OnePassOfAGraph, IsOneKernelThatReadsTheRowsOnce) {
  const Loaded graph = loaded(GetParam());
  pipeline::Options options{pipeline::Mode::fused, /*fuse=*/true, /*verify=*/true};
  options.limits = limits();
  const auto variant =
      pipeline::make_variant(graph.model.graph, {}, *interpreter_of_programs(machine::h200()), options);
  ASSERT_EQ(variant->groups.size(), 1U);
  ASSERT_EQ(variant->steps.size(), 2U);
  for (const Traffic& traffic : traffic_of(*variant, {})) EXPECT_EQ(traffic.bytes, traffic.floor_bytes);
}

std::vector<Subject> rows_and_columns() {
  std::vector<Subject> all = subjects();
  std::erase_if(all, [](const Subject& subject) { return subject.sort != Sort::rows_and_columns; });
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, OnePassOfAGraph, testing::ValuesIn(rows_and_columns()), test_name);

// A training step of layer norm, for the stored GPU as it plans by itself.
std::shared_ptr<const runtime::Variant> norm_of(const index::Expr& rows, std::int64_t columns) {
  graph::Builder builder;
  const auto input = [&](const char* name, graph::Shape shape) {
    return builder.input(name, ops::DType::bf16, std::move(shape));
  };
  const graph::Tensor x = input("x", {rows, columns}), gradient = input("gradient", {rows, columns});
  const graph::Tensor weight = input("weight", {columns}), bias = input("bias", {columns});
  const graph::Normalized norm = layer_norm(x, 1, weight, bias, 1e-5);
  builder.output(norm.value);
  const graph::NormGradients all = layer_norm_backward(gradient, x, 1, norm.mean, norm.rstd, weight);
  for (const auto& output : {all.x, all.weight, all.bias}) builder.output(*output);
  return pipeline::make_variant(builder.take(), {}, *interpreter_of_programs(machine::h200()), {});
}

TEST(OnePassForAGpu, IsMadeWhereItPays) {
  const auto variant = norm_of(32768, 4096);
  ASSERT_EQ(variant->groups.size(), 1U);
  ASSERT_EQ(variant->steps.size(), 2U);
  EXPECT_NE(variant->steps[0].schedule.find("columns lanes 8 scratch width 16 units 32"), std::string::npos);
  constexpr std::int64_t MATRIX = 2LL * 32768 * 4096;
  constexpr std::int64_t VECTORS = 4 * 2 * 4096;
  EXPECT_EQ(traffic_of(*variant, {}).front().bytes, 4 * MATRIX + VECTORS);
}

// Sums of products are asked of a library, which has none of these: those of rows and columns, and the
// backward pass of a norm with the gradient of the bias before it.
TEST(OnePassForAGpu, IsMadeBesideALibraryToo) {
  const auto made = [](bool norm, double library_rate) {
    graph::Builder builder;
    const auto matrix = [&](const char* name) { return builder.input(name, ops::DType::f32, {32768, 1024}); };
    const graph::Tensor x = matrix("x"), gradient = matrix("gradient");
    const graph::Tensor rows = sum(gradient * x, {1}, /*keep=*/true), back = gradient - x * rows;
    builder.output(sum(gradient * x, {0}));
    builder.output(norm ? back : rows);
    if (norm) builder.output(sum(back, {0}));
    machine::Machine machine = machine::h200();
    machine.library_rate = library_rate;
    const auto variant = pipeline::make_variant(builder.take(), {}, *interpreter_of_programs(machine),
                                                {.mode = pipeline::Mode::fused});
    EXPECT_EQ(variant->groups.size(), 1U);
    return loops::print(variant->steps.front().program);
  };
  for (const bool norm : {false, true}) EXPECT_EQ(made(norm, 4e11), made(norm, 0));
}

// The usual schedule of rows whose length nobody knows keeps few of its loads in registers; were all of them
// counted, two kernels would seem faster.
TEST(RowsForAGpu, OfSymbolicSizesAreNormalisedInOneKernel) {
  graph::Builder builder;
  const index::Expr rows = index::Symbol("m"), columns = index::Symbol("n");
  const graph::Tensor x = builder.input("x", ops::DType::f32, {rows, columns});
  const graph::Tensor weight = builder.input("weight", ops::DType::f32, {columns});
  const graph::Tensor bias = builder.input("bias", ops::DType::f32, {columns});
  builder.output(layer_norm(x, 1, weight, bias, 1e-5).value);
  const auto variant = pipeline::make_variant(builder.take(), {}, *interpreter_of_programs(machine::h200()),
                                              {.mode = pipeline::Mode::fused});
  EXPECT_EQ(variant->groups.size(), 1U);
}

// Memory that an estimate says the first kernel moves, and how many there are.
std::pair<double, std::size_t> memory_of_variance(const graph::Shape& shape, const graph::Axes& axes,
                                                  pipeline::Mode mode) {
  graph::Builder builder;
  const auto [variance, mean] = var_mean(builder.input("x", ops::DType::f32, shape), axes);
  builder.output(variance);
  builder.output(mean);
  pipeline::Options options;
  options.mode = mode;
  const auto backend = interpreter_of_programs(machine::h200());
  const auto variant = pipeline::make_variant(builder.take(), {}, *backend, options);
  const auto roofs = cost::estimate(variant->steps.front().program, machine::h200(), {}).roofs;
  return {std::ranges::find(roofs, "memory", &cost::Roof::name)->amount, variant->groups.size()};
}

// A part stays on the multiprocessor between its two loops; what caches do not hold is read once.
TEST(VarianceForAGpu, ReadsMemoryOnce) {
  struct Case {
    graph::Shape shape;
    graph::Axes axes;
    double elements;
  };
  for (const Case& given :
       {Case{{64, 256, 56, 56}, {0, 2, 3}, 64.0 * 256 * 56 * 56},
        Case{{64, 56, 56, 256}, {0, 1, 2}, 64.0 * 256 * 56 * 56}, Case{{65536, 1024}, {0}, 65536.0 * 1024}}) {
    const auto [once, kernels] = memory_of_variance(given.shape, given.axes, pipeline::Mode::fused);
    EXPECT_LT(once, 1.1 * 4 * given.elements);
    EXPECT_EQ(kernels, 2U);
    EXPECT_EQ(memory_of_variance(given.shape, given.axes, pipeline::Mode::fast).second, 2U);
  }
}
TEST(VarianceForAGpu, IsOneKernelWhereThatHoldsIt) {
  EXPECT_EQ(memory_of_variance({4096, 1024}, {1}, pipeline::Mode::fused).second, 1U);
}
// One sum after the other, as strict asks: the blocks of a cluster hold what both read.
TEST(VarianceForAGpu, ReadsMemoryOnceWhereItIsStrict) {
  const double once = memory_of_variance({64, 256, 56, 56}, {0, 2, 3}, pipeline::Mode::strict).first;
  EXPECT_LT(once, 1.1 * 4 * 64 * 256 * 56 * 56);
}

TEST(OnePassForAGpu, IsNotMadeWhereItDoesNotPay) {
  using Norm = std::pair<index::Expr, std::int64_t>;
  const auto expect_two = [](const Norm& norm, std::string_view why) {
    const auto& [rows, columns] = norm;
    SCOPED_TRACE(columns);
    const auto variant = norm_of(rows, columns);
    EXPECT_EQ(variant->groups.size(), 2U);
    ASSERT_EQ(variant->missed.size(), 1U)
        << join(variant->missed, "\n", [](const auto& missed) { return missed.words; });
    EXPECT_NE(variant->missed.front().words.find(why), std::string::npos) << variant->missed.front().words;
  };
  for (const Norm& norm : {Norm{4096, 4000}, {32768, 3072}, {16384, 8192}})
    expect_two(norm, "; one pass over both ");
  expect_two({index::Symbol("n"), 4096}, "; one kernel would take ");
}

TEST(DynamicProgramsForAGpu, GiveTheBitsOfTheEvaluator) {
  Loaded graph = read_printed("dyn_softmax_stack.fw");
  graph.model.arrays.clear();
  using Sizes = std::pair<int, int>;
  for (const auto& [rows, columns] : {Sizes{0, 5}, {5, 0}, {1, 1}, {33, 65}, {257, 3}, {2, 1500}}) {
    graph.options.sizes = {cat("s77=", rows), cat("s27=", columns)};
    SCOPED_TRACE(cat(rows, " rows of ", columns));
    expect_bits_of_the_evaluator(graph, pipeline::Mode::strict);
  }
}

}  // namespace

}  // namespace twinloom::tests
