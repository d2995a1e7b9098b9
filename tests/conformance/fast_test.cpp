// Random graphs in the modes in which sums may have a free order: fast, and fused, where those of
// contractions have. Of each such sum or product the device's own value is taken: it is within its bound of
// the same sum in f64, and all that the graph makes of these values is as the evaluator makes it, bit for
// bit. TWINLOOM_FAST_GRAPHS asks for another number of graphs, TWINLOOM_SEED for other seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <vector>

#include "backends/cpu/cpu.h"
#include "core/base/error.h"
#include "core/graph/indexing.h"
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/reductions.h"
#include "core/loops/loops.h"
#include "core/machine/gpu.h"
#include "core/pipeline/pipeline.h"
#include "tests/conformance/check.h"
#include "tests/conformance/stages.h"
#include "tests/support/programs/program_interpreter.h"
#include "tools/twinloom/compare.h"

namespace twinloom::tests {

namespace {

using evaluate::Arithmetic;
using graph::Graph;
using graph::NodeId;

std::int64_t number_from(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

// With one more result for each sum.
Graph with_sums_as_results(const Graph& original) {
  Graph graph = graph::remove_dead(original);
  for (std::uint32_t n = 0; n < graph.nodes().size(); ++n)
    if (graph::rounded_monoid(graph.nodes()[n])) graph.output({graph::Ownership::own, {n}, -1, 0, {}});
  return graph;
}

evaluate::Value value_of(const runtime::Output& output) {
  const runtime::Tensor tensor = runtime::contiguous(std::get<runtime::Tensor>(output));
  const auto* data = static_cast<const std::byte*>(tensor.data);
  const auto bytes = static_cast<std::size_t>(runtime::element_count(tensor) * ops::size_of(tensor.dtype));
  evaluate::Value value;
  value.dtype = tensor.dtype;
  value.sizes = tensor.sizes;
  value.bytes.assign(data, data + bytes);
  return value;
}

double real_at(const evaluate::Value& value, std::int64_t element) {
  return ops::real_of(ops::load_number(value.dtype, value.bytes.data() + element * ops::size_of(value.dtype)),
                      value.dtype);
}
std::int64_t count_of(const evaluate::Value& value) {
  return static_cast<std::int64_t>(value.bytes.size()) / ops::size_of(value.dtype);
}

// A graph over parameters that stand for some of another's nodes, behind those that the other has.
struct Cut {
  Cut(const Graph& graph, const std::vector<NodeId>& given) : rebuild(graph) {
    for (const NodeId id : given) {
      const graph::Node& node = graph[id];
      rebuild.stands_for(id, rebuild.made().input(cat("given", id.index), node.dtype, node.shape));
    }
  }
  void add_result(NodeId made) { rebuild.made().output({graph::Ownership::own, made, -1, 0, {}}); }
  graph::Rebuild rebuild;
};

// The graph that the mode computes, after all passes.
Graph computed(const Graph& original, const Arguments& arguments,
               const std::shared_ptr<const runtime::Backend>& backend, pipeline::Mode mode) {
  return pipeline::compile(original, backend, {.mode = mode}).variant(arguments.tensors())->graph;
}

// One graph on one machine.
class FastRun {
 public:
  FastRun(const Generated& generated, std::uint64_t seed,
          const std::shared_ptr<const runtime::Backend>& backend, pipeline::Mode mode = pipeline::Mode::fast)
      : original_(generated.graph.results().size()),
        arguments_(generated.graph, generated.inputs, generated.sizes.back(), seed, side_of(seed)),
        given_(arguments_.values()),
        executable_(
            pipeline::compile(with_sums_as_results(computed(generated.graph, arguments_, backend, mode)),
                              backend, {.mode = mode, .verify = true})) {
    options_.seed = seed;
    outputs_ = run(1);
    const auto variant = executable_.variant(arguments_.tensors());
    graph_ = variant->graph;
    std::set<NodeId> may_differ;
    for (const runtime::Group& group : variant->groups) {
      const bool is_free = loops::print(group.nest).find(" free") != std::string::npos;
      free += is_free ? 1 : 0;
      if (is_free || mode == pipeline::Mode::fast) may_differ.insert(group.nodes.begin(), group.nodes.end());
    }
    for (std::size_t r = original_; r < graph_.results().size(); ++r) {
      const NodeId id = graph_.results()[r].value;
      if (!may_differ.contains(id) || !graph::rounded_monoid(graph_[id])) continue;
      if (std::ranges::find(sums_, id) != sums_.end()) continue;
      sums_.push_back(id);
      values_.push_back(value_of(outputs_[r]));
    }
  }

  std::vector<runtime::Output> run(int threads) {
    options_.settings.threads = threads;
    return executable_.run(arguments_.tensors(), options_);
  }

  // What is made of the sums, bit for bit; then the sums, against f64.
  void check() {
    std::vector<evaluate::Argument> given = given_;
    given.insert(given.end(), values_.begin(), values_.end());
    Cut cut(graph_, sums_);
    for (std::uint32_t n = 0; n < graph_.nodes().size(); ++n)
      if (!cut.rebuild.has({n})) cut.rebuild.copy({n});
    std::vector<NodeId> operands, made;
    for (const NodeId sum : sums_)
      for (const NodeId id : graph_[sum].inputs)
        if (std::ranges::find(operands, id) == operands.end()) operands.push_back(id);
    for (const NodeId id : operands) made.push_back(cut.rebuild[id]);
    Graph rest = cut.rebuild.finish();
    for (const NodeId id : made) rest.output({graph::Ownership::own, id, -1, 0, {}});
    const auto expected = evaluate::evaluate(rest, given, Arithmetic::strict, numbers());
    for (std::size_t r = 0; r < original_; ++r) expect_same(r, expected[r]);
    std::vector<evaluate::Value> terms;
    for (std::size_t r = graph_.results().size(); r < expected.size(); ++r) terms.push_back(*expected[r]);
    check_sums(operands, terms);
  }

  int free = 0;               // kernels with sums in free order
  std::int64_t compared = 0;  // elements of sums

 private:
  evaluate::RunNumbers numbers() const { return {static_cast<std::int64_t>(options_.seed), 0}; }

  void expect_same(std::size_t r, const std::optional<evaluate::Value>& expected) const {
    if (!expected || !std::holds_alternative<runtime::Tensor>(outputs_[r])) return;
    const evaluate::Value given = value_of(outputs_[r]);
    ASSERT_EQ(given.bytes.size(), expected->bytes.size());
    const std::int64_t size = ops::size_of(given.dtype);
    for (std::int64_t e = 0; e < count_of(given); ++e)
      ASSERT_EQ(ops::load_number(given.dtype, given.bytes.data() + e * size),
                ops::load_number(given.dtype, expected->bytes.data() + e * size))
          << "output " << r << ", element " << e << "\n"
          << graph::print(graph_);
  }

  // Each sum in f64 over what the device has summed up, and the same of the magnitudes.
  void check_sums(const std::vector<NodeId>& operands, const std::vector<evaluate::Value>& terms) {
    Cut cut(graph_, operands);
    std::vector<NodeId> made;
    for (const NodeId sum : sums_) {
      std::vector<NodeId> inputs;
      for (const NodeId id : graph_[sum].inputs) inputs.push_back(cut.rebuild[id]);
      made.push_back(cut.rebuild.made().add_proven(graph_[sum].node, inputs));
      const std::size_t real = std::holds_alternative<graph::Scatter>(graph_[sum].node) ? 2 : 1;
      for (std::size_t at = 0; at < real; ++at)
        inputs[at] = cut.rebuild.made().add(graph::Pointwise{ops::Pointwise::abs}, {inputs[at]});
      made.push_back(cut.rebuild.made().add_proven(graph_[sum].node, inputs));
    }
    for (const NodeId id : made) cut.add_result(id);
    std::vector<evaluate::Argument> given = given_;
    given.insert(given.end(), terms.begin(), terms.end());
    const auto wide = evaluate::evaluate(cut.rebuild.made(), given, Arithmetic::wide, numbers());
    for (std::size_t s = 0; s < sums_.size(); ++s) {
      const graph::Node& node = graph_[sums_[s]];
      const NodeId operand = node.inputs[std::holds_alternative<graph::Scatter>(node.node) ? 1 : 0];
      const auto at = std::ranges::find(operands, operand) - operands.begin();
      check_sum(node, values_[s], *wide[2 * s], *wide[2 * s + 1],
                count_of(terms[static_cast<std::size_t>(at)]));
    }
  }

  // |error| <= n u (sum of magnitudes): n - 1 additions in whatever order (Higham, Accuracy and Stability of
  // Numerical Algorithms, 4.4) and one more to what a scatter finds; a product alike, of its own magnitude
  // (3.1). A 16-bit result is rounded once more. Where a partial result may be infinite or subnormal nothing
  // is said.
  void check_sum(const graph::Node& node, const evaluate::Value& given, const evaluate::Value& exact,
                 const evaluate::Value& magnitudes, std::int64_t terms) {
    constexpr double LEAST = 1e-30;
    const double largest = node.dtype == ops::DType::f16 ? 32768 : 1e30;
    const bool scatters = std::holds_alternative<graph::Scatter>(node.node);
    const std::int64_t count = count_of(given);
    const auto* scan = std::get_if<graph::Scan>(&node.node);
    const std::int64_t each = scan != nullptr ? given.sizes[static_cast<std::size_t>(scan->axis)]
                                              : terms / std::max<std::int64_t>(count, 1);
    const double n = static_cast<double>(scatters ? terms : each) + 1;
    // The sum it is compared with is rounded too, to f64.
    const double unit = std::ldexp(1.0, node.dtype == ops::DType::f64 ? -52 : -24);
    for (std::int64_t e = 0; e < count; ++e) {
      const double magnitude = real_at(magnitudes, e), wanted = real_at(exact, e);
      if (!(magnitude < largest) || (magnitude < LEAST && magnitude != 0)) continue;
      const double rounding = ops::is_16_bit_float(node.dtype) ? tool::step_of(node.dtype, magnitude) : 0;
      ASSERT_LE(std::abs(real_at(given, e) - wanted), n * unit * magnitude + rounding)
          << "a sum of " << n - 1 << " terms is " << real_at(given, e) << ", in f64 " << wanted << "\n"
          << graph::print(graph_);
      ++compared;
    }
  }

  std::size_t original_;  // results
  Arguments arguments_;
  std::vector<evaluate::Argument> given_;
  runtime::Executable executable_;
  runtime::RunOptions options_;
  std::vector<runtime::Output> outputs_;
  Graph graph_;  // after the passes
  std::vector<NodeId> sums_;
  std::vector<evaluate::Value> values_;  // that the device has for them
};

// Graphs on each of the back ends in turn.
struct Compared {
  int free = 0;               // kernels with sums in free order
  std::int64_t elements = 0;  // of sums
};
Compared compare_graphs(std::int64_t graphs, pipeline::Mode mode,
                        const std::vector<std::shared_ptr<const runtime::Backend>>& backends) {
  const auto first = static_cast<std::uint64_t>(number_from("TWINLOOM_SEED", 1));
  Compared all;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(graphs); ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    FastRun run(generate({seed, 0}), seed, backends[seed % backends.size()], mode);
    run.check();
    if (testing::Test::HasFatalFailure()) return all;
    all.free += run.free;
    all.elements += run.compared;
  }
  std::cout << all.free << " kernels with sums in free order, " << all.elements << " elements of sums\n";
  return all;
}

std::int64_t graph_count() { return number_from("TWINLOOM_FAST_GRAPHS", TWINLOOM_DEFAULT_FAST_GRAPHS); }

TEST(FastGraphs, SumsAreWithinTheirBoundsAndTheRestIsExact) {
  const auto core = interpreter_of_programs(cpu::make_cpu({})->machine());
  const auto compared = compare_graphs(graph_count(), pipeline::Mode::fast,
                                       {interpreter_of_programs(machine::h200()), core, core});
  EXPECT_GE(compared.free, graph_count() / 10);
  EXPECT_GE(compared.elements, 10 * graph_count());
}

TEST(FusedGraphs, ContractionsAreWithinTheirBoundsAndTheRestIsExact) {
  const std::shared_ptr<const runtime::Backend> cpu = cpu::make_cpu({});
  const auto compared = compare_graphs(
      graph_count(), pipeline::Mode::fused,
      {interpreter_of_programs(cpu->machine()), interpreter_of_programs(machine::h200()), cpu});
  EXPECT_GE(compared.free, graph_count() / 10);
  EXPECT_GE(compared.elements, graph_count());
}

// Of the error of a sum of n terms with random signs: 8 u rms sqrt(n log2 n), and the rounding of the result.
double sharper_bound(std::int64_t n, double squares, double exact) {
  return 8 * 0x1p-24 * std::sqrt(squares * std::log2(static_cast<double>(n))) + 0x1p-24 * std::abs(exact);
}

// Along rows and along columns.
TEST(FastSums, OfRandomSignsAreWithinTheSharperBound) {
  for (const std::int64_t n : {100, 1000, 4097, 50000}) {
    for (const int axis : {0, 1}) {
      constexpr std::int64_t SUMS = 16;
      const std::vector<std::int64_t> sizes = axis == 0 ? std::vector{n, SUMS} : std::vector{SUMS, n};
      graph::Builder builder;
      builder.output(sum(builder.input("x", ops::DType::f32, {sizes[0], sizes[1]}), {axis}));
      std::mt19937 random(static_cast<std::uint32_t>(n));
      std::normal_distribution<float> normal;
      std::vector<float> x(static_cast<std::size_t>(n * SUMS));
      std::vector<double> exact(SUMS, 0), squares(SUMS, 0);
      for (std::size_t e = 0; e < x.size(); ++e) {
        x[e] = normal(random);
        const std::size_t at = axis == 0 ? e % SUMS : e / static_cast<std::size_t>(n);
        exact[at] += x[e], squares[at] += static_cast<double>(x[e]) * x[e];
      }
      const Graph graph = builder.take();
      for (const machine::Machine& machine : {cpu::make_cpu({})->machine(), machine::h200()}) {
        const auto executable =
            pipeline::compile(graph, interpreter_of_programs(machine), {.mode = pipeline::Mode::fast});
        const auto outputs = executable.run(
            std::vector<runtime::Argument>{runtime::view_of(x.data(), ops::DType::f32, sizes)});
        const evaluate::Value sums = value_of(outputs.front());
        for (std::int64_t s = 0; s < SUMS; ++s) {
          const auto at = static_cast<std::size_t>(s);
          EXPECT_LE(std::abs(real_at(sums, s) - exact[at]), sharper_bound(n, squares[at], exact[at]))
              << n << " along " << axis;
        }
      }
    }
  }
}

// A list of a million rows for one place of the result, on this CPU.
TEST(FastSums, OfAMillionRowsInOnePlaceAreWithinTheSharperBound) {
  constexpr std::int64_t ROWS = std::int64_t{1} << 20, COLUMNS = 2;
  graph::Builder builder;
  const auto into = builder.input("into", ops::DType::f32, {2, COLUMNS});
  const auto index = builder.input("index", ops::DType::i64, {ROWS});
  const auto source = builder.input("source", ops::DType::f32, {ROWS, COLUMNS});
  builder.output(index_update(into, 0, index, source, graph::Mode::add));
  std::vector<float> nothing(2 * COLUMNS, 0);
  std::vector<std::int64_t> first(ROWS, 0);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> rows(ROWS * COLUMNS);
  std::vector<double> exact(COLUMNS, 0), squares(COLUMNS, 0);
  for (std::size_t e = 0; e < rows.size(); ++e) {
    rows[e] = normal(random);
    exact[e % COLUMNS] += rows[e], squares[e % COLUMNS] += static_cast<double>(rows[e]) * rows[e];
  }
  const auto executable =
      pipeline::compile(builder.take(), cpu::make_cpu({}), {.mode = pipeline::Mode::fast});
  const auto outputs = executable.run(
      std::vector<runtime::Argument>{runtime::view_of(nothing.data(), ops::DType::f32, {2, COLUMNS}),
                                     runtime::view_of(first.data(), ops::DType::i64, {ROWS}),
                                     runtime::view_of(rows.data(), ops::DType::f32, {ROWS, COLUMNS})});
  const evaluate::Value sums = value_of(outputs.front());
  for (std::int64_t s = 0; s < COLUMNS; ++s) {
    const auto at = static_cast<std::size_t>(s);
    EXPECT_LE(std::abs(real_at(sums, s) - exact[at]), sharper_bound(ROWS, squares[at], exact[at]));
  }
}

// Of powers of two every order gives the same product.
TEST(FastSums, OfProductsAreNoProductsOfThem) {
  for (const machine::Machine& machine : {cpu::make_cpu({})->machine(), machine::h200()}) {
    graph::Builder builder;
    const auto x = builder.input("x", ops::DType::f32, {3, 5}),
               y = builder.input("y", ops::DType::f32, {3, 1});
    builder.output(graph::prod(x * y, {1}));
    std::vector<float> twos(15), scales = {2, 0.5, 4};
    for (std::size_t e = 0; e < twos.size(); ++e) twos[e] = e % 2 == 0 ? 2.0f : 0.25f;
    const std::vector<runtime::Argument> arguments = {
        runtime::view_of(twos.data(), ops::DType::f32, {3, 5}),
        runtime::view_of(scales.data(), ops::DType::f32, {3, 1})};
    const Graph graph = builder.take();
    const auto product = [&](pipeline::Mode mode) {
      return value_of(
          pipeline::compile(graph, interpreter_of_programs(machine), {.mode = mode}).run(arguments).front());
    };
    EXPECT_EQ(product(pipeline::Mode::fast).bytes, product(pipeline::Mode::strict).bytes);
  }
}

// As a GPU's programs. Of whole numbers every order gives the same sum; sums of sums wait for each other.
TEST(FastSums, OfWholeNumbersThatAreAddedInMemoryAreExact) {
  constexpr std::int64_t ROWS = 1000, PLACES = 300, COLUMNS = 3;
  for (const ops::DType dtype : {ops::DType::f32, ops::DType::bf16}) {
    graph::Builder builder;
    const auto into = cast(builder.input("into", ops::DType::f32, {PLACES, COLUMNS}), dtype);
    const auto index = builder.input("index", ops::DType::i64, {ROWS});
    const auto source = cast(builder.input("source", ops::DType::f32, {ROWS, COLUMNS}), dtype);
    const auto once = index_update(into, 0, index, source + source, graph::Mode::add);
    const auto twice = index_update(once, 0, index, source, graph::Mode::add);
    builder.output(cast(maximum(twice, once), ops::DType::f32));
    const Graph graph = builder.take();
    std::vector<float> there(PLACES * COLUMNS, 1), rows(ROWS * COLUMNS);
    std::vector<std::int64_t> places(ROWS);
    for (std::size_t r = 0; r < places.size(); ++r) places[r] = static_cast<std::int64_t>(7 * r % 251);
    for (std::size_t e = 0; e < rows.size(); ++e) rows[e] = static_cast<float>(e % 5);
    const std::vector<runtime::Argument> arguments = {
        runtime::view_of(there.data(), ops::DType::f32, {PLACES, COLUMNS}),
        runtime::view_of(places.data(), ops::DType::i64, {ROWS}),
        runtime::view_of(rows.data(), ops::DType::f32, {ROWS, COLUMNS})};
    pipeline::Options options{.mode = pipeline::Mode::fast, .verify = true};
    const auto backend = interpreter_of_programs(machine::h200());
    const evaluate::Value added = value_of(pipeline::compile(graph, backend, options).run(arguments).front());
    options.relaxed = {};
    EXPECT_EQ(added.bytes, value_of(pipeline::compile(graph, backend, options).run(arguments).front()).bytes);
  }
}

TEST(FastGraphs, RunsRepeatBitForBit) {
  constexpr std::uint64_t GRAPHS = 6;
  const std::shared_ptr<const runtime::Backend> backend =
      cpu::make_cpu({.threads = 2, .worth_a_thread_seconds = 0});
  for (std::uint64_t seed = 1; seed <= GRAPHS; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    FastRun run(generate({seed, 0}), seed, backend);
    run.check();
    const auto one = run.run(1), two = run.run(2);
    for (std::size_t r = 0; r < one.size(); ++r) {
      if (!std::holds_alternative<runtime::Tensor>(one[r])) continue;
      EXPECT_EQ(value_of(one[r]).bytes, value_of(two[r]).bytes) << "output " << r;
    }
  }
}

}  // namespace

}  // namespace twinloom::tests
