// See once.h.
#include "core/runtime/once.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/base/mapped_file.h"
#include "core/lower/once.h"
#include "core/runtime/memory_pool.h"

namespace twinloom::runtime {

namespace {

lower::Work work_of(const Step& step) { return {&step.program, step.arguments}; }

// Whether other steps read what these have written, by value.
std::vector<bool> kept_of(const Variant& variant, const std::vector<bool>& steps) {
  std::vector<bool> is_written(variant.values.size(), false), is_kept = is_written;
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (steps[s])
      for (const lower::ValueId id : lower::written_by(work_of(variant.steps[s])))
        is_written[id.index] = true;
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
    if (steps[s]) std::ranges::for_each(lower::written_by(work_of(variant.steps[s])), take);
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
  for (const graph::Content& array : planned.arrays) unload(array->bytes.read());
  return planned;
}

}  // namespace

std::vector<bool> steps_made_once(const Variant& variant) {
  std::vector<lower::Work> works;
  for (const Step& step : variant.steps) works.push_back(work_of(step));
  return lower::follows_from_arrays(variant.values, works);
}

std::vector<bool> groups_made_once(const Variant& variant) {
  const std::vector<bool> steps = steps_made_once(variant);
  std::vector<bool> groups(variant.groups.size(), true);
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (!steps[s]) groups[variant.steps[s].unit] = false;
  return groups;
}

Once planned_once(const Variant& variant) { return with_steps(variant, steps_made_once(variant)); }

std::shared_ptr<const Once> OnceMade::get(const std::shared_ptr<const Variant>& variant,
                                          std::span<const Memory> values) {
  const std::lock_guard lock(mutex_);
  const auto is_over = [](const auto& one) { return one.second.expired(); };
  std::erase_if(made_, is_over), std::erase_if(known_, is_over);
  if (auto known = known_[variant].lock()) return known;
  Once planned = planned_once(*variant);
  const bool is_any = std::ranges::find(planned.steps, true) != planned.steps.end();
  Made& kept = is_any ? made_[key_of(*variant, planned)] : known_[variant];
  auto once = kept.lock();
  if (once == nullptr) {
    if (is_any) planned = made(*variant, std::move(planned), values, space_);
    once = std::make_shared<const Once>(std::move(planned));
  }
  kept = known_[variant] = once;
  return once;
}

}  // namespace twinloom::runtime
