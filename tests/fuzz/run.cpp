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

// Or `most` + 1 where it is more.
std::int64_t elements_of(const graph::Shape& shape, const index::Values& sizes, std::int64_t most) {
  std::int64_t count = 1;
  for (const std::int64_t size : graph::sizes_of(shape, sizes)) {
    const auto next = checked_multiply(count, std::max<std::int64_t>(1, size));
    if (!next || *next > most) return most + 1;
    count = *next;
  }
  return count;
}

// Of all nodes; or `most` + 1 where it is more.
std::int64_t elements_of(const Graph& graph, const index::Values& sizes, std::int64_t most) {
  std::int64_t total = 0;
  for (const graph::Node& node : graph.nodes()) {
    total += elements_of(node.shape, sizes, most);
    if (total > most) return most + 1;
  }
  return total;
}

// Of all tensors that are handed in; or more than `most` where it is more.
std::int64_t input_bytes(const Graph& graph, const index::Values& sizes, std::int64_t most) {
  std::int64_t total = 0;
  for (const graph::Parameter& parameter : graph.parameters()) {
    const auto* id = std::get_if<graph::NodeId>(&parameter.value);
    if (id == nullptr || total > most) continue;
    total += elements_of(graph[*id].shape, sizes, most) * ops::size_of(graph[*id].dtype);
  }
  return total;
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

// The value that is there for a parameter, where it has its type and sizes.
const graph::Array* value_for(std::size_t parameter, const graph::Node& node,
                              const std::vector<std::int64_t>& sizes, const Values& values) {
  if (parameter >= values.size() || !values[parameter]) return nullptr;
  const graph::Array& value = *values[parameter];
  return value.dtype == node.dtype && value.sizes == sizes ? &value : nullptr;
}

std::vector<Given> drawn_arguments(const Graph& graph, const index::Values& sizes, const Values& values,
                                   Random& random) {
  std::vector<Given> given;
  for (const graph::Parameter& parameter : graph.parameters()) {
    if (const auto* size = std::get_if<index::Expr>(&parameter.value)) {
      given.push_back({index::evaluate(*size, sizes), {}});
      continue;
    }
    const graph::Node& node = graph[std::get<graph::NodeId>(parameter.value)];
    const std::vector<std::int64_t> shape = graph::sizes_of(node.shape, sizes);
    if (const graph::Array* value = value_for(given.size(), node, shape, values)) {
      const auto bytes = value->bytes.read();
      given.push_back({evaluate::Value{node.dtype, shape, {bytes.begin(), bytes.end()}}, {}});
      continue;
    }
    given.push_back({drawn_value(node.dtype, shape, random), {}});
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

// On the CPU alone.
Outcome run_unchecked(const Graph& graph, const Arguments& arguments, std::uint64_t seed, pipeline::Mode mode,
                      std::int64_t most_bytes) {
  bool is_run = false;
  Outcome outcome = outcome_of([&]() -> std::string {
    const auto executable =
        pipeline::compile(graph, devices_of_fuzzing().back().share(), {mode, true, false});
    if (executable.peak_bytes(arguments.tensors()) > most_bytes) return {};
    runtime::RunOptions options;
    options.settings.threads = 1;
    options.seed = seed;
    executable.run(arguments.tensors(), options);
    arguments.check();
    is_run = true;
    return {};
  });
  if (outcome.fate == Fate::ran && !is_run) outcome.fate = Fate::too_large;
  return outcome;
}

}  // namespace

Outcome run_everywhere(const Graph& graph, std::uint64_t seed, const RunLimits& limits,
                       const Values& values) {
  Random random(seed);
  const Against side = seed % 2 == 0 ? Against::start : Against::end;
  index::Values sizes;
  std::vector<Given> given;
  std::int64_t elements = 0;
  const Outcome ready = outcome_of([&]() -> std::string {
    sizes = drawn_sizes(graph, random);
    const std::int64_t most = std::max(limits.checked, limits.run);
    elements = elements_of(graph, sizes, most);
    if (elements > most) return "too large";
    if (elements > limits.checked && input_bytes(graph, sizes, limits.bytes) > limits.bytes)
      return "too large";
    given = drawn_arguments(graph, sizes, values, random);
    return {};
  });
  if (ready.fate != Fate::ran) return ready;
  if (!ready.words.empty()) return {Fate::too_large, {}};
  const Arguments arguments(given, side);
  if (limits.fused || elements > limits.checked) {
    const auto mode = limits.fused ? pipeline::Mode::fused : pipeline::Mode::strict;
    Outcome unchecked = run_unchecked(graph, arguments, seed, mode, limits.bytes);
    if (unchecked.fate == Fate::wrong || elements > limits.checked) return unchecked;
  }
  Expected expected;
  const Outcome evaluated = outcome_of([&]() -> std::string {
    expected = evaluate::evaluate(graph, arguments.values(), evaluate::Arithmetic::strict,
                                  {static_cast<std::int64_t>(seed), 0});
    return {};
  });
  if (evaluated.fate == Fate::wrong) return {Fate::wrong, "evaluator: " + evaluated.words};
  for (const Device& device : devices_of_fuzzing()) {
    if (device.backend().name() != "reference" && seed % limits.compiled_one_in != 0) continue;
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
