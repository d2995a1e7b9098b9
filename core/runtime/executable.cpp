// See executable.h.
#include "core/runtime/executable.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <set>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/base/log.h"
#include "core/graph/passes.h"
#include "core/runtime/arguments.h"
#include "core/runtime/bound_run.h"
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

std::vector<Reuse> reuses_of(const Prepared& prepared, std::span<const Argument> arguments) {
  std::vector<Reuse> reuses;
  for (std::size_t v = 0; v < prepared.reused.size(); ++v) {
    const int parameter = prepared.reused[v];
    const lower::Value& value = prepared.variant->values[v];
    if (parameter == NO_PARAMETER || !may_be_taken(arguments, parameter, value.dtype)) continue;
    const Bytes bytes = bytes_of(std::get<Tensor>(arguments[static_cast<std::size_t>(parameter)]));
    reuses.push_back({result_in(prepared.variant->graph, value), parameter, bytes.last - bytes.first});
  }
  return reuses;
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
  std::list<Kept> kept;              // the most recently used first
  std::set<std::string> making;      // keys of those that are made at the moment, one of each at a time
  std::condition_variable made_one;  // or failed to
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

  // For the log.
  std::string why_made(const std::string& key, bool of_class) const {
    const std::size_t classes = classes_of(key);
    if (kept.empty()) return "the first variant is made";
    if (!of_class) return cat("a variant for all sizes is made, for ", classes, " classes have their own");
    if (classes > 0) return cat("a variant is made, for none of ", classes, " is of this class of sizes");
    return cat("a variant is made, for none of ", kept.size(), " has these strides and zero sizes",
               kept.size() >= most_variants ? "; strides are numbers of the run from here on" : "");
  }

  struct ChosenVariant {
    std::shared_ptr<const Variant> variant;
    index::Values strides;
  };
  // Known ones are found while another is made.
  ChosenVariant choose(std::span<const Argument> arguments, const index::Values& sizes) {
    const index::Values zeros = zeros_of(sizes);
    std::unique_lock lock(mutex);
    for (;;) {
      Wanted wanted = wanted_by(arguments, sizes, zeros, true);
      auto variant = find(wanted.key, wanted.sizes);
      if (!variant && kept.size() + making.size() >= most_variants && !making.contains(wanted.key)) {
        wanted = wanted_by(arguments, sizes, zeros, false);
        variant = find(wanted.key, wanted.sizes);
      }
      if (variant) {
        logging::event(Log::guards, [&] { return cat("a variant that was made before serves: ", wanted); });
        return {std::move(variant), std::move(wanted.strides)};
      }
      if (!making.contains(wanted.key)) return {make(lock, wanted, zeros), std::move(wanted.strides)};
      made_one.wait(lock);
    }
  }
  // Found or made.
  std::shared_ptr<const Prepared> prepared(std::span<const Argument> arguments, Purpose purpose);
  void forget(const Variant* variant);

 private:
  // Sizes above zero share what is compiled by their class; zeros are folded in.
  struct Wanted {
    lower::Layouts layouts;
    index::Values strides;
    index::Values sizes;  // and strides
    std::string key;
    // "s0 = 3, row-major"
    friend std::string print(const Wanted& wanted) {
      const std::string known = join(
          wanted.sizes, ", ", [](const auto& size) { return cat(size.first.name(), " = ", size.second); });
      return cat(
          known, known.empty() ? "" : ", ",
          wanted.layouts.empty() ? "row-major" : cat("strides of parameters ", key_of(wanted.layouts)));
    }
  };
  Wanted wanted_by(std::span<const Argument> arguments, const index::Values& sizes,
                   const index::Values& zeros, bool known_numbers) const {
    BoundLayouts bound = layouts_of(graph, arguments, known_numbers);
    index::Values all = sizes;
    all.insert(bound.strides.begin(), bound.strides.end());
    std::string key = variant_key(zeros, bound.layouts);
    return {std::move(bound.layouts), std::move(bound.strides), std::move(all), std::move(key)};
  }
  // Lets go of the lock meanwhile. Who waits for a failed one tries for himself.
  std::shared_ptr<const Variant> make(std::unique_lock<std::mutex>& lock, const Wanted& wanted,
                                      const index::Values& zeros);

  struct Known {
    Signature signature;
    Purpose purpose;
    std::shared_ptr<const Prepared> prepared;
  };
  static constexpr std::size_t MOST_KNOWN = 32;
  std::mutex known_mutex_;
  std::vector<Known> known_;  // the longest known first
};

std::shared_ptr<const Variant> Executable::State::make(std::unique_lock<std::mutex>& lock,
                                                       const Wanted& wanted, const index::Values& zeros) {
  const bool of_class = classes_of(wanted.key) < most_size_classes;
  logging::event(Log::guards, [&] { return cat(why_made(wanted.key, of_class), ": ", wanted); });
  making.insert(wanted.key);
  lock.unlock();
  std::shared_ptr<const Variant> made;
  std::exception_ptr failure;
  try {
    made = maker(
        {graph::specialise(graph, zeros), zeros, wanted.layouts, of_class ? wanted.sizes : index::Values()});
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  making.erase(wanted.key);
  made_one.notify_all();
  if (failure) std::rethrow_exception(failure);
  kept.push_front({wanted.key, made, of_class});
  if (kept.size() > most_variants) {
    forget(kept.back().variant.get());
    kept.pop_back();
  }
  return made;
}

std::shared_ptr<const Prepared> Executable::State::prepared(std::span<const Argument> arguments,
                                                            Purpose purpose) {
  Signature signature = signature_of(arguments);
  {
    const std::lock_guard lock(known_mutex_);
    const auto found = std::ranges::find_if(known_, [&](const Known& known) {
      return known.signature == signature && (known.purpose == purpose || purpose == Purpose::plan);
    });
    if (found != known_.end()) {
      logging::event(Log::guards, [] { return "the variant of the same arguments before serves"; });
      return found->prepared;
    }
  }
  index::Values values = bound_sizes(graph, arguments);
  ChosenVariant chosen = choose(arguments, values);
  values.insert(chosen.strides.begin(), chosen.strides.end());
  auto made = std::make_shared<const Prepared>(
      prepare(graph, std::move(chosen.variant), std::move(values), arguments, constants, purpose));
  const std::lock_guard lock(known_mutex_);
  const bool is_planned =
      std::erase_if(known_, [&](const Known& known) {
        return known.signature == signature && (purpose == Purpose::run || known.purpose == Purpose::plan);
      }) != 0;
  if (!is_planned && known_.size() >= MOST_KNOWN) known_.erase(known_.begin());
  known_.push_back({std::move(signature), purpose, made});
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
  const auto prepared = state_->prepared(arguments, Purpose::plan);
  std::int64_t bytes = prepared->plan.bytes + prepared->result_bytes;
  for (const Reuse& reuse : reuses_of(*prepared, arguments)) bytes -= reuse.bytes;
  return bytes;
}

std::vector<Reuse> Executable::reuses(std::span<const Argument> arguments) const {
  return reuses_of(*state_->prepared(arguments, Purpose::plan), arguments);
}

std::vector<Output> Executable::run(std::span<const Argument> arguments, const RunOptions& options,
                                    std::span<const Tensor> outputs) const {
  auto prepared = state_->prepared(arguments, Purpose::run);
  check_memory(state_->graph, arguments, state_->space);
  MemoryPool callers(state_->space, options.allocate);
  Run run(state_->graph, std::move(prepared), {arguments, outputs, options.keep_donated},
          {options.allocate ? callers : *state_->memory, state_->constants, options.stream}, options);
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
  auto prepared = state_->prepared(arguments, Purpose::run);
  check_memory(state_->graph, arguments, state_->space);
  const auto kept = std::make_shared<Kept>(
      Kept{state_, {arguments.begin(), arguments.end()}, {outputs.begin(), outputs.end()}});
  MemoryPool callers(state_->space, options.allocate);
  const Sources sources{options.allocate ? callers : *state_->memory, state_->constants, options.stream};
  return {kept, std::make_unique<Run>(state_->graph, std::move(prepared),
                                      Given{kept->arguments, kept->outputs, options.keep_donated}, sources,
                                      options)};
}

std::unique_ptr<const BoundRun> Executable::bind(std::span<const Argument> arguments,
                                                 std::span<const Tensor> outputs) const {
  auto prepared = state_->prepared(arguments, Purpose::run);
  check_device(state_->graph, arguments, state_->space);
  return std::make_unique<const BoundRun>(state_, state_->graph, std::move(prepared), state_->memory,
                                          arguments, outputs);
}

}  // namespace twinloom::runtime
