// See run.h.
#include "tests/fuzz/run.h"

#include <algorithm>
#include <array>

#include "api/devices.h"
#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/graph/bind.h"
#include "core/pipeline/pipeline.h"
#include "tests/conformance/random.h"
#include "tests/conformance/stages.h"

namespace twinloom::tests {

namespace {

using graph::Graph;
using Expected = std::vector<std::optional<evaluate::Value>>;

constexpr std::int64_t most_elements = 20'000;  // of all nodes together
constexpr std::uint64_t compiled_one_in = 4;    // compiling takes longer than all else

bool allows(const Graph& graph, const index::Values& sizes) {
  try {
    return std::ranges::all_of(graph.requirements(), [&](const graph::Require& require) {
      return index::evaluate(require.condition, sizes);
    });
  } catch (const Error&) {
    return false;
  }
}

// Sizes that the graph allows, where some draws find any; else such as it refuses.
index::Values drawn_sizes(const Graph& graph, Random& random) {
  constexpr std::array<std::int64_t, 8> sizes = {0, 1, 2, 3, 4, 5, 8, 17};
  constexpr int most_draws = 40;
  const std::set<index::Symbol> symbols = graph::size_symbols(graph);
  index::Values values;
  for (int draw = 0; draw < most_draws; ++draw) {
    for (const index::Symbol symbol : symbols) values[symbol] = random.pick(sizes);
    if (allows(graph, values)) break;
  }
  return values;
}

// Nothing where it is more than anybody wants to run.
std::optional<std::int64_t> elements_of(const graph::Shape& shape, const index::Values& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : graph::sizes_of(shape, sizes)) {
    const auto next = checked_multiply(count, std::max<std::int64_t>(1, size));
    if (!next || *next > most_elements) return std::nullopt;
    count = *next;
  }
  return count;
}

bool is_too_large(const Graph& graph, const index::Values& sizes) {
  std::int64_t total = 0;
  for (const graph::Node& node : graph.nodes()) {
    const auto count = elements_of(node.shape, sizes);
    if (!count || (total += *count) > most_elements) return true;
  }
  return false;
}

evaluate::Value drawn_value(ops::DType dtype, std::vector<std::int64_t> sizes, Random& random) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  const std::int64_t bytes = ops::size_of(dtype);
  evaluate::Value value{dtype, std::move(sizes),
                        std::vector<std::byte>(static_cast<std::size_t>(count * bytes))};
  for (std::int64_t e = 0; e < count; ++e) {
    ops::Number number = random.real() * 4;
    if (dtype == ops::DType::b8)
      number = random.below(2);
    else if (ops::is_integer(dtype))
      number = random.chance(2) ? random.between(-5, 20) : random.below(3);
    ops::store_number(dtype, ops::cast(number, dtype), value.bytes.data() + e * bytes);
  }
  return value;
}

std::vector<Given> drawn_arguments(const Graph& graph, const index::Values& sizes, Random& random) {
  std::vector<Given> given;
  for (const graph::Parameter& parameter : graph.parameters()) {
    if (const auto* size = std::get_if<index::Expr>(&parameter.value)) {
      given.push_back({index::evaluate(*size, sizes), {}});
      continue;
    }
    const graph::Node& node = graph[std::get<graph::NodeId>(parameter.value)];
    given.push_back({drawn_value(node.dtype, graph::sizes_of(node.shape, sizes), random), {}});
  }
  return given;
}

// Guarded memory for each own result.
struct OwnResults {
  std::vector<Guarded> memory;
  std::vector<runtime::Tensor> tensors;
};

OwnResults own_results(const Graph& graph, const index::Values& sizes, Against side) {
  OwnResults own;
  for (const graph::Result& result : graph.results()) {
    if (result.kind != graph::Ownership::own) continue;
    const graph::Node& node = graph[result.value];
    const std::vector<std::int64_t> shape = graph::sizes_of(node.shape, sizes);
    runtime::Tensor tensor = runtime::view_of(nullptr, node.dtype, shape);
    const std::int64_t bytes = runtime::element_count(tensor) * ops::size_of(node.dtype);
    tensor.data = own.memory.emplace_back(static_cast<std::size_t>(bytes), side).data();
    own.tensors.push_back(std::move(tensor));
  }
  return own;
}

std::string difference(const OwnResults& own, const Graph& graph, const Expected& expected) {
  std::size_t next = 0;
  for (std::size_t r = 0; r < expected.size(); ++r) {
    if (graph.results()[r].kind != graph::Ownership::own) continue;
    const Guarded& memory = own.memory[next++];
    memory.check();
    const ops::DType dtype = expected[r]->dtype;
    const std::int64_t size = ops::size_of(dtype);
    for (std::int64_t e = 0; e * size < static_cast<std::int64_t>(memory.size()); ++e) {
      const ops::Number given = ops::load_number(dtype, memory.data() + e * size);
      const ops::Number wanted = ops::load_number(dtype, expected[r]->bytes.data() + e * size);
      if (!(given == wanted))
        return cat("element ", e, " of output ", r, " is ", ops::print(given), ", the evaluator has ",
                   ops::print(wanted));
    }
  }
  return {};
}

// What the work throws, by kind; the Error's words.
template <class Work>
Outcome outcome_of(Work&& work) {
  try {
    return {Fate::ran, work()};
  } catch (const Error& error) {
    return {Fate::refused, error.what()};
  } catch (const std::exception& problem) {
    return {Fate::wrong, problem.what()};
  }
}

const std::vector<Device>& devices_of_fuzzing() {
  static const std::vector<Device> all = {Device::reference(), Device::cpu({.isa = {}, .cache = false})};
  return all;
}

}  // namespace

Outcome run_everywhere(const Graph& graph, std::uint64_t seed) {
  Random random(seed);
  const Against side = seed % 2 == 0 ? Against::start : Against::end;
  index::Values sizes;
  std::vector<Given> given;
  const Outcome ready = outcome_of([&]() -> std::string {
    sizes = drawn_sizes(graph, random);
    if (is_too_large(graph, sizes)) return "too large";
    given = drawn_arguments(graph, sizes, random);
    return {};
  });
  if (ready.fate != Fate::ran) return ready;
  if (!ready.words.empty()) return {Fate::too_large, {}};
  const Arguments arguments(given, side);
  Expected expected;
  const Outcome evaluated = outcome_of([&]() -> std::string {
    expected = evaluate::evaluate(graph, arguments.values(), evaluate::Arithmetic::strict,
                                  {static_cast<std::int64_t>(seed), 0});
    return {};
  });
  if (evaluated.fate == Fate::wrong) return {Fate::wrong, "evaluator: " + evaluated.words};
  for (const Device& device : devices_of_fuzzing()) {
    if (device.backend().name() != "reference" && seed % compiled_one_in != 0) continue;
    const OwnResults own = own_results(graph, sizes, side);
    const Outcome here = outcome_of([&] {
      const auto executable = pipeline::compile(graph, device.share(), {pipeline::Mode::strict, true, false});
      runtime::RunOptions options;
      options.settings.threads = 1;
      options.seed = seed;
      executable.run(arguments.tensors(), options, own.tensors);
      arguments.check();
      return evaluated.fate == Fate::ran ? difference(own, graph, expected) : std::string();
    });
    const std::string name(device.backend().name());
    if (here.fate == Fate::wrong || (here.fate == Fate::ran && !here.words.empty()))
      return {Fate::wrong, cat(name, ": ", here.words)};
    if (here.fate != evaluated.fate)
      return {Fate::wrong, cat(name, here.fate == Fate::ran ? " ran" : ": " + here.words, "; evaluator",
                               evaluated.fate == Fate::ran ? " ran" : ": " + evaluated.words)};
  }
  return evaluated;
}

}  // namespace twinloom::tests
