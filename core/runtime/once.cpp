// See once.h.
#include "core/runtime/once.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/runtime/memory_pool.h"

namespace twinloom::runtime {

namespace {

// As many as the arrays that a value follows from and half as many again: weights that are turned or
// transposed, in phases or padded a little, but not small integers that are widened, which somebody keeps
// small on purpose. A table that follows from nothing may have few.
constexpr double MOST_OF_ARRAYS = 1.5;
constexpr double FEW_BYTES = 64 << 10;

double bytes_of(const lower::Value& value) {
  const auto count = index::constant_of(value.count);
  return count ? static_cast<double>(*count) * ops::size_of(value.dtype)
               : std::numeric_limits<double>::infinity();
}

template <class Do>
void for_written(const Step& step, const Do& act) {
  std::size_t at = 0;
  for (const loops::BufferInfo& buffer : step.program.buffers) {
    if (buffer.local) continue;
    if (buffer.written) act(step.arguments[at]);
    ++at;
  }
}

class Choosing {
 public:
  explicit Choosing(const Variant& variant)
      : variant_(variant), once_(variant.steps.size()), arrays_(variant.values.size(), 0) {
    for (std::size_t v = 0; v < arrays_.size(); ++v)
      if (variant.values[v].storage == lower::Storage::constant) arrays_[v] = bytes_of(variant.values[v]);
    for (std::size_t s = 0; s < once_.size(); ++s) once_[s] = knows_nothing_of_the_run(variant.steps[s]);
  }

  // Until nothing more follows from a step that is none.
  std::vector<bool> chosen() {
    for (bool changed = true; changed;) {
      changed = false;
      const std::vector<bool> is_run = written_in_runs();
      for (std::size_t s = 0; s < once_.size(); ++s) {
        if (!once_[s] || !reads_or_writes(variant_.steps[s], is_run)) continue;
        once_[s] = false, changed = true;
      }
    }
    return once_;
  }

 private:
  bool knows_nothing_of_the_run(const Step& step) {
    double arrays = 0;
    for (const lower::ValueId id : step.arguments) {
      const lower::Storage storage = value_of(id).storage;
      if (storage != lower::Storage::constant && storage != lower::Storage::temporary) return false;
      arrays += arrays_[id.index];
    }
    for (const lower::ValueId id : step.arguments) {
      if (value_of(id).storage == lower::Storage::constant) continue;
      arrays_[id.index] = std::max(arrays_[id.index], arrays);
      if (bytes_of(value_of(id)) > MOST_OF_ARRAYS * arrays + FEW_BYTES) return false;
    }
    return step.program.sizes.empty();
  }

  std::vector<bool> written_in_runs() const {
    std::vector<bool> written(variant_.values.size(), false);
    for (std::size_t s = 0; s < once_.size(); ++s) {
      if (once_[s]) continue;
      for_written(variant_.steps[s], [&](lower::ValueId id) { written[id.index] = true; });
    }
    return written;
  }

  static bool reads_or_writes(const Step& step, const std::vector<bool>& values) {
    return std::ranges::any_of(step.arguments, [&](lower::ValueId id) { return values[id.index]; });
  }

  const lower::Value& value_of(lower::ValueId id) const { return variant_.values[id.index]; }

  const Variant& variant_;
  std::vector<bool> once_;
  std::vector<double> arrays_;  // by value: bytes of those that it follows from
};

// Whether other steps read what these have written, by value.
std::vector<bool> kept_of(const Variant& variant, const std::vector<bool>& steps) {
  std::vector<bool> is_written(variant.values.size(), false), is_kept = is_written;
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (steps[s]) for_written(variant.steps[s], [&](lower::ValueId id) { is_written[id.index] = true; });
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s]) continue;
    for (const lower::ValueId id : variant.steps[s].arguments) is_kept[id.index] = is_written[id.index];
  }
  return is_kept;
}

// Equal where a Once serves both: what the steps compute, from which arrays, and what others read of it.
std::string key_of(const Variant& variant, const Once& once) {
  const std::vector<bool>& steps = once.steps;
  std::string key = cat(steps.size(), " ", variant.values.size(), "\n");
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (!steps[s]) continue;
    key += cat("step ", s, " ", loops::print(variant.steps[s].program));
    for (const lower::ValueId id : variant.steps[s].arguments)
      key +=
          cat(id.index, " ", reinterpret_cast<std::uintptr_t>(variant.values[id.index].content.get()), "\n");
  }
  for (std::size_t v = 0; v < once.kept.size(); ++v)
    if (once.kept[v]) key += cat("kept ", v, "\n");
  return key;
}

// By value, of what the steps write.
std::vector<std::shared_ptr<std::byte>> memory_of(const Variant& variant, const std::vector<bool>& steps,
                                                  const Space* space) {
  std::vector<std::shared_ptr<std::byte>> memory(variant.values.size());
  const auto take = [&](lower::ValueId id) {
    const lower::Value& value = variant.values[id.index];
    if (memory[id.index] != nullptr) return;
    const std::int64_t bytes = *index::constant_of(value.count) * ops::size_of(value.dtype);
    const std::int64_t some = std::max<std::int64_t>(bytes, 1);
    memory[id.index] =
        space == nullptr ? std::shared_ptr<std::byte>(new_block(some)) : space->memory()->take(some);
    if (memory[id.index] == nullptr)
      throw out_of_memory(space, "what follows from arrays of the graph", bytes);
  };
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (steps[s]) for_written(variant.steps[s], take);
  return memory;
}

// Whether none of them failed.
bool run_steps(const Variant& variant, const std::vector<bool>& steps, std::span<const Memory> values,
               const Space* space) {
  const std::unique_ptr<Work> work = space == nullptr ? nullptr : space->begin(nullptr);
  RunSettings settings;
  settings.work = work.get();
  bool failed = false;
  for (std::size_t s = 0; s < steps.size() && !failed; ++s) {
    if (!steps[s]) continue;
    std::vector<Memory> arguments;
    for (const lower::ValueId id : variant.steps[s].arguments) arguments.push_back(values[id.index]);
    failed = variant.steps[s].kernel->run(arguments, {}, settings).has_value();
  }
  if (work == nullptr) return !failed;
  work->close();
  return !work->wait().has_value() && !failed;
}

Once with_steps(const Variant& variant, std::vector<bool> steps) {
  Once once;
  once.kept = kept_of(variant, steps);
  once.steps = std::move(steps);
  once.memory.resize(variant.values.size());
  return once;
}

Once made(const Variant& variant, Once planned, std::span<const Memory> constants, const Space* space) {
  planned.memory = memory_of(variant, planned.steps, space);
  std::vector<Memory> values(constants.begin(), constants.end());
  for (std::size_t v = 0; v < values.size(); ++v)
    if (const auto& memory = planned.memory[v])
      values[v] = {memory.get(), 0, *index::constant_of(variant.values[v].count)};
  if (!run_steps(variant, planned.steps, values, space))
    return with_steps(variant, std::vector<bool>(planned.steps.size(), false));
  for (std::size_t v = 0; v < values.size(); ++v)
    if (!planned.kept[v]) planned.memory[v] = nullptr;
  for (std::size_t s = 0; s < planned.steps.size(); ++s) {
    if (!planned.steps[s]) continue;
    for (const lower::ValueId id : variant.steps[s].arguments)
      if (variant.values[id.index].content != nullptr)
        planned.arrays.push_back(variant.values[id.index].content);
  }
  return planned;
}

}  // namespace

std::vector<bool> steps_made_once(const Variant& variant) { return Choosing(variant).chosen(); }

std::vector<bool> groups_made_once(const Variant& variant) {
  const std::vector<bool> steps = steps_made_once(variant);
  std::vector<bool> groups(variant.groups.size(), true);
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (!steps[s]) groups[variant.steps[s].unit] = false;
  return groups;
}

Once planned_once(const Variant& variant) { return with_steps(variant, steps_made_once(variant)); }

std::shared_ptr<const Once> OnceMade::get(const Variant& variant, std::span<const Memory> values) {
  Once planned = planned_once(variant);
  if (std::ranges::find(planned.steps, true) == planned.steps.end())
    return std::make_shared<const Once>(std::move(planned));
  const std::string key = key_of(variant, planned);
  const std::lock_guard lock(mutex_);
  std::erase_if(made_, [](const auto& one) { return one.second.expired(); });
  auto once = made_[key].lock();
  if (once == nullptr)
    made_[key] = once = std::make_shared<const Once>(made(variant, std::move(planned), values, space_));
  return once;
}

}  // namespace twinloom::runtime
