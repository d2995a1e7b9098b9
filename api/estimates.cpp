// See estimates.h.
#include "api/estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/base/text.h"
#include "core/loops/rewrite.h"
#include "core/schedule/schedule.h"
#include "core/steps/contraction.h"

namespace twinloom {

namespace {

// A CPU whose workers are the threads of the run.
machine::Machine machine_of_run(const runtime::Backend& backend, int threads) {
  machine::Machine machine = backend.machine();
  const bool is_cpu = machine.max_threads == 1;
  if (is_cpu && threads > 0) machine.blocks_at_once = threads;
  return machine;
}

bool calls_routine(const loops::Program& program) {
  return std::holds_alternative<loops::Call>(program.body->node);
}

}  // namespace

Estimates estimates_of(const runtime::Variant& variant, const runtime::Backend& backend, int threads,
                       const index::Values& values) {
  Estimates estimates(variant.groups.size());
  if (backend.runs_nests()) return estimates;
  const machine::Machine machine = machine_of_run(backend, threads);
  std::vector<std::vector<loops::Program>> programs(variant.groups.size());
  for (const runtime::Step& step : variant.steps) programs[step.unit].push_back(step.program);
  for (std::size_t group = 0; group < programs.size(); ++group)
    if (std::ranges::none_of(programs[group], calls_routine))
      estimates[group] = cost::estimate(programs[group], machine, values);
  return estimates;
}

RelaxedNest relaxed_in(const loops::Program& nest) {
  RelaxedNest relaxed;
  relaxed.sums = steps::without_free_sums(nest).body != nest.body;
  loops::for_each_value(*nest.body, [&](const loops::Value& value) {
    const auto* apply = std::get_if<loops::Apply>(&value.node);
    if (apply == nullptr) return;
    relaxed.products += apply->op == ops::Pointwise::fma ? 1 : 0;
    relaxed.functions += ops::approximated_by(apply->op) ? 1 : 0;
  });
  loops::for_each_stmt(*nest.body, [&](const loops::Stmt& stmt) {
    const auto* store = std::get_if<loops::Store>(&stmt.node);
    relaxed.atomics |= store != nullptr && store->update == loops::Update::atomic_add &&
                       !ops::is_integer(nest.buffers[store->buffer.index].dtype);
  });
  return relaxed;
}

double unrelaxed_seconds(const loops::Program& nest, const runtime::Backend& backend, int threads,
                         const index::Values& values) {
  using ops::Pointwise;
  loops::Program plain = steps::without_free_sums(nest);
  plain.body = loops::rewrite_values(plain.body, [](const loops::Ref<loops::Value>& value) {
    const auto* apply = std::get_if<loops::Apply>(&value->node);
    if (apply == nullptr) return value;
    if (const auto op = ops::approximated_by(apply->op)) return loops::apply(*op, apply->inputs);
    if (apply->op != Pointwise::fma) return value;
    const auto product = loops::apply(Pointwise::mul, {apply->inputs[0], apply->inputs[1]});
    return loops::apply(Pointwise::add, {product, apply->inputs[2]});
  });
  const machine::Machine& machine = backend.machine();
  const auto programs = schedule::apply(plain, schedule::choose(plain, machine));
  return cost::estimate(programs, machine_of_run(backend, threads), values).seconds;
}

std::string estimate_words(const cost::Estimate& estimate) {
  constexpr double LEAST_SHOWN = 0.05e-6;  // less is printed as 0.0
  std::vector<cost::Roof> roofs = estimate.roofs;
  std::erase_if(roofs, [](const cost::Roof& roof) { return roof.seconds < LEAST_SHOWN; });
  std::ranges::stable_sort(roofs, std::ranges::greater(), &cost::Roof::seconds);
  const auto words_of_roof = [](const cost::Roof& roof) {
    const std::string words = cat(roof.name, " ", microseconds(roof.seconds));
    if (roof.name != "memory") return words;
    return cat(words, " (", bytes_words(static_cast<std::int64_t>(roof.amount)), ")");
  };
  std::string words =
      cat("estimate ", microseconds(estimate.seconds), ": ", join(roofs, ", ", words_of_roof));
  if (estimate.registers > 0)
    words += fmt::format("; {:.0f} registers, {:.0f} blocks a multiprocessor", estimate.registers,
                         estimate.blocks_each);
  return words;
}

std::string sum_words(const Estimates& estimates) {
  double seconds = 0;
  std::size_t count = 0;
  for (const auto& estimate : estimates) {
    if (!estimate) continue;
    seconds += estimate->seconds;
    ++count;
  }
  if (count == 0) return {};
  const std::string kernels = count == estimates.size() ? "all" : cat(count, " of ", estimates.size());
  return cat("estimate ", microseconds(seconds), " for ", kernels, " kernels");
}

std::string bytes_words(std::int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (number >= 1e9) return fmt::format("{:.2f} GB", number * 1e-9);
  if (number >= 1e6) return fmt::format("{:.2f} MB", number * 1e-6);
  if (number >= 1e3) return fmt::format("{:.2f} kB", number * 1e-3);
  return cat(bytes, " B");
}

}  // namespace twinloom
