// See steps.h.
#include "core/runtime/steps.h"

#include <array>
#include <atomic>

#include "core/base/error.h"
#include "core/graph/assertion.h"

namespace twinloom::runtime {

namespace {

// What few kernels have more of.
constexpr std::size_t USUAL_ARGUMENTS = 16;

// What a person calls a node, and where in his program it stands.
std::string described(const graph::Graph& graph, graph::NodeId node) {
  const graph::Origin& origin = graph[node].origin;
  std::string words = graph::describe(graph, node);
  if (!origin.file.empty()) words += cat(" (", escaped(origin.file), ":", origin.line, ")");
  return words;
}

}  // namespace

std::optional<Failure> start_step(const Prepared& prepared, std::size_t at, std::span<const Memory> values,
                                  std::byte* temporaries, const RunOptions& options, RunSettings& settings) {
  const Step& step = prepared.variant->steps[at];
  const Prepared::Launch& launch = prepared.launches[at];
  if (launch.kernel == nullptr) return std::nullopt;
  std::array<Memory, USUAL_ARGUMENTS> usual;
  std::vector<Memory> many(step.arguments.size() > usual.size() ? step.arguments.size() : 0);
  const std::span<Memory> memory(many.empty() ? usual.data() : many.data(), step.arguments.size());
  for (std::size_t k = 0; k < memory.size(); ++k) {
    const lower::ValueId id = step.arguments[k];
    memory[k] = values[id.index];
    const std::int64_t offset = prepared.plan.offsets[id.index];
    if (offset >= 0) memory[k].data = temporaries + offset;
  }
  settings.tasks = launch.tasks;
  if (launch.seeds.empty() && launch.offsets.empty())
    return launch.kernel->run(memory, launch.sizes, settings);
  std::vector<std::int64_t> sizes = launch.sizes;
  for (const std::size_t place : launch.seeds) sizes[place] = static_cast<std::int64_t>(options.seed);
  for (const std::size_t place : launch.offsets) sizes[place] = static_cast<std::int64_t>(options.offset);
  return launch.kernel->run(memory, sizes, settings);
}

std::uint64_t new_run() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

std::exception_ptr error_of(const graph::Graph& graph, const Failure& failure) {
  const graph::NodeId node{static_cast<std::uint32_t>(failure.node)};
  const bool known = failure.node >= 0 && node.index < graph.nodes().size();
  if (const auto words = known ? graph::words_of_assertion(graph[node]) : std::nullopt)
    return std::make_exception_ptr(Error(*words, {graph[node].origin.name}));
  const std::string place =
      failure.offset < 0 ? std::string() : cat("; it is element ", failure.offset, " of its tensor's memory");
  return std::make_exception_ptr(
      Error(cat(known ? described(graph, node) : std::string("an index"), ": index ", failure.value,
                " is out of range; expected 0 <= index < ", failure.bound, place),
            {known ? graph[node].origin.name : std::string()}));
}

}  // namespace twinloom::runtime
