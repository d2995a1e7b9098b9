// See executable.h.
#include "core/runtime/executable.h"

#include <algorithm>
#include <list>
#include <mutex>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/graph/passes.h"
#include "core/runtime/arguments.h"
#include "core/runtime/constants.h"
#include "core/runtime/memory_pool.h"
#include "core/runtime/prepared.h"
#include "core/runtime/run.h"

namespace twinloom::runtime {

namespace {

using graph::Graph;

index::Values zeros_of(const index::Values& sizes) {
  index::Values zeros;
  for (const auto& [symbol, value] : sizes) {
    if (value == 0) zeros[symbol] = 0;
  }
  return zeros;
}

std::string variant_key(const index::Values& zeros, const lower::Layouts& layouts) {
  return cat(join(zeros, ",", [](const auto& zero) { return std::string(zero.first.name()); }), " | ",
             key_of(layouts));
}

}  // namespace

struct Executable::State {
  Graph graph;
  Maker maker;
  struct Kept {
    std::string key;
    std::shared_ptr<const Variant> variant;
    bool of_class;  // else of all sizes
  };
  std::mutex mutex;
  std::list<Kept> kept;  // the most recently used first
  const Space* space;
  std::shared_ptr<MemoryPool> memory;
  Constants constants;

  State(Graph given, Maker make, const Space* where)
      : graph(std::move(given)),
        maker(std::move(make)),
        space(where),
        memory(where == nullptr ? std::make_shared<MemoryPool>() : where->memory()),
        constants(where) {}

  // Of the class of these sizes, or, where there are as many classes as may be, of all.
  std::shared_ptr<const Variant> find(const std::string& key, const index::Values& sizes) {
    auto found = std::ranges::find_if(kept, [&](const Kept& one) {
      return one.key == key && one.of_class && one.variant->sizes.holds(sizes);
    });
    if (found == kept.end() && classes_of(key) >= most_size_classes)
      found = std::ranges::find_if(kept, [&](const Kept& one) { return one.key == key && !one.of_class; });
    if (found == kept.end()) return nullptr;
    kept.splice(kept.begin(), kept, found);
    return kept.front().variant;
  }
  std::size_t classes_of(const std::string& key) const {
    const auto count =
        std::ranges::count_if(kept, [&](const Kept& one) { return one.key == key && one.of_class; });
    return static_cast<std::size_t>(count);
  }

  struct ChosenVariant {
    std::shared_ptr<const Variant> variant;
    index::Values strides;
  };
  // Sizes above zero share what is compiled by their class; zeros are folded in.
  ChosenVariant choose(std::span<const Argument> arguments, const index::Values& sizes) {
    const index::Values zeros = zeros_of(sizes);
    const std::lock_guard lock(mutex);
    BoundLayouts bound = layouts_of(graph, arguments, true);
    std::string key = variant_key(zeros, bound.layouts);
    const auto with_strides = [&] {
      index::Values all = sizes;
      all.insert(bound.strides.begin(), bound.strides.end());
      return all;
    };
    if (auto variant = find(key, with_strides())) return {variant, std::move(bound.strides)};
    if (kept.size() >= most_variants) {
      bound = layouts_of(graph, arguments, false);
      key = variant_key(zeros, bound.layouts);
      if (auto variant = find(key, with_strides())) return {variant, std::move(bound.strides)};
    }
    const bool of_class = classes_of(key) < most_size_classes;
    std::shared_ptr<const Variant> made = maker(
        {graph::specialise(graph, zeros), zeros, bound.layouts, of_class ? with_strides() : index::Values()});
    kept.push_front({key, made, of_class});
    if (kept.size() > most_variants) {
      forget(kept.back().variant.get());
      kept.pop_back();
    }
    return {made, std::move(bound.strides)};
  }
  // Found or made.
  std::shared_ptr<const Prepared> prepared(std::span<const Argument> arguments);
  void forget(const Variant* variant);
  Sources sources(Stream stream) { return {*memory, constants, stream}; }

 private:
  struct Known {
    Signature signature;
    std::shared_ptr<const Prepared> prepared;
  };
  static constexpr std::size_t MOST_KNOWN = 32;
  std::mutex known_mutex_;
  std::vector<Known> known_;  // the longest known first
};

std::shared_ptr<const Prepared> Executable::State::prepared(std::span<const Argument> arguments) {
  Signature signature = signature_of(arguments);
  {
    const std::lock_guard lock(known_mutex_);
    const auto found = std::ranges::find(known_, signature, &Known::signature);
    if (found != known_.end()) return found->prepared;
  }
  index::Values values = bound_sizes(graph, arguments);
  ChosenVariant chosen = choose(arguments, values);
  values.insert(chosen.strides.begin(), chosen.strides.end());
  auto made = std::make_shared<const Prepared>(
      prepare(graph, std::move(chosen.variant), std::move(values), arguments, constants));
  const std::lock_guard lock(known_mutex_);
  if (known_.size() >= MOST_KNOWN) known_.erase(known_.begin());
  known_.push_back({std::move(signature), made});
  return made;
}

void Executable::State::forget(const Variant* variant) {
  const std::lock_guard lock(known_mutex_);
  std::erase_if(known_, [&](const Known& known) { return known.prepared->variant.get() == variant; });
}

Executable::Executable(Graph graph, Maker maker, const Space* space)
    : state_(std::make_shared<State>(std::move(graph), std::move(maker), space)) {}
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;
Executable::~Executable() = default;

const Graph& Executable::graph() const { return state_->graph; }
const Space* Executable::space() const { return state_->space; }

std::shared_ptr<const Variant> Executable::variant(std::span<const Argument> arguments) const {
  return state_->choose(arguments, bound_sizes(state_->graph, arguments)).variant;
}

index::Values Executable::symbols(std::span<const Argument> arguments, const RunOptions& options) const {
  index::Values values = bound_sizes(state_->graph, arguments);
  const index::Values strides = state_->choose(arguments, values).strides;
  values.insert(strides.begin(), strides.end());
  values[index::Symbol("seed")] = static_cast<std::int64_t>(options.seed);
  values[index::Symbol("offset")] = static_cast<std::int64_t>(options.offset);
  return values;
}

std::int64_t Executable::peak_bytes(std::span<const Argument> arguments) const {
  const auto prepared = state_->prepared(arguments);
  return prepared->plan.bytes + prepared->result_bytes;
}

std::vector<Output> Executable::run(std::span<const Argument> arguments, const RunOptions& options,
                                    std::span<const Tensor> outputs) const {
  auto prepared = state_->prepared(arguments);
  check_memory(state_->graph, arguments, state_->space);
  Run run(state_->graph, std::move(prepared), {arguments, outputs}, state_->sources(options.stream), options);
  run.wait();
  return run.outputs();
}

Pending Executable::start(std::span<const Argument> arguments, const RunOptions& options,
                          std::span<const Tensor> outputs) const {
  struct Kept {
    std::shared_ptr<State> state;
    std::vector<Argument> arguments;
    std::vector<Tensor> outputs;
  };
  auto prepared = state_->prepared(arguments);
  check_memory(state_->graph, arguments, state_->space);
  const auto kept = std::make_shared<Kept>(
      Kept{state_, {arguments.begin(), arguments.end()}, {outputs.begin(), outputs.end()}});
  return {kept,
          std::make_unique<Run>(state_->graph, std::move(prepared), Given{kept->arguments, kept->outputs},
                                state_->sources(options.stream), options)};
}

}  // namespace twinloom::runtime
