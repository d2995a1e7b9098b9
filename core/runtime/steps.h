// The kernels of a run and how one of them fails, for all that run a Prepared.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>

#include "core/runtime/executable.h"
#include "core/runtime/prepared.h"

namespace twinloom::runtime {

// Starts the kernel of a step, unless what it computes is made already. `values`: where each value of the
// variant lies, but temporaries, which lie in the block `temporaries` as it was planned. `settings` are those
// of the options, with the run's work and number.
std::optional<Failure> start_step(const Prepared& prepared, std::size_t step, std::span<const Memory> values,
                                  std::byte* temporaries, const RunOptions& options, RunSettings& settings);

// Starts all steps in order by start(step), until one of them returns false; where a kernel has overwritten
// what it had to read again, all once more, with care.
template <class Start>
void start_steps(const Prepared& prepared, RunSettings& settings, const Start& start) {
  Attempt attempt;
  settings.attempt = prepared.can_begin_again ? &attempt : nullptr;
  std::size_t step = 0;
  while (step < prepared.launches.size() && start(step)) {
    ++step;
    if (!attempt.is_lost) continue;
    attempt = {.is_careful = true};
    step = 0;
  }
  settings.attempt = nullptr;
}

// A number that no other run of this process has.
std::uint64_t new_run();

// Names the node that has failed, of the graph that the kernels were made from.
std::exception_ptr error_of(const graph::Graph& graph, const Failure& failure);

}  // namespace twinloom::runtime
