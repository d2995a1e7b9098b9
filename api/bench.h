// How long the runs of an executable and each of its kernels take, what they move, and what they should take.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/estimates.h"
#include "api/traffic.h"
#include "api/twinloom.h"

namespace twinloom {

struct BenchOptions {
  RunOptions run;
  double seconds = 1;  // half for runs, half for runs in which each kernel is timed; at least 5 of both
  // Called with what is done next; left empty, nobody is.
  std::function<void(const std::string& words)> progress = {};
};

// Durations of one thing, in seconds.
struct Durations {
  double median = 0, lower_quartile = 0, upper_quartile = 0;
  std::size_t count = 0;  // that these are of
};

struct BenchedKernel {
  std::string name;
  std::vector<std::string> ops;  // fused operators, in order, each once
  Durations time;
  double compile_seconds = 0;
  bool cached = true;  // all of its machine code was kept from before
  Traffic traffic;
  std::optional<cost::Estimate> estimate;
  std::vector<runtime::Resources> launches;  // on a GPU, of each
  bool once = false;  // before the first run, from arrays of the graph alone: no time, no estimate
  double bytes_per_second() const { return a_second(static_cast<double>(traffic.bytes)); }
  double operations_per_second() const { return a_second(static_cast<double>(traffic.operations)); }
  // The seconds of the estimate's limiter divided by the measured ones. There must be an estimate.
  double share_of_limiter() const { return estimate->limiter().seconds / time.median; }

 private:
  double a_second(double amount) const { return once ? 0 : amount / time.median; }
};

struct Benched {
  Durations run;  // in which nothing is between the kernels
  // From the executable and its arguments to kernels that can be run, by the wall clock.
  double prepare_seconds = 0;
  double compile_seconds = 0;  // of all kernels, the sum: they are compiled side by side
  std::int64_t peak_bytes = 0;
  std::vector<BenchedKernel> kernels;
};

// Runs it with these arguments, into the same outputs each time; donated ones keep what they hold, written
// ones do not. On a GPU the times are its own, by events, and a buffer larger than its L2 cache is written
// before each run. `device` is the one that the executable was made for. Error where a run fails.
Benched bench(const Executable& executable, std::span<const Argument> arguments, const Device& device,
              const BenchOptions& options = {});

// As an object: run_ms, run_quartiles_ms, runs, prepare_ms, compile_ms, peak_bytes, kernels (name, ops,
// median_ms, quartiles_ms, runs; estimated_ms, limiter, share_of_limiter, roofs where there is an estimate;
// bytes, touched_bytes, floor_bytes, gbps, flops, compile_ms, cached; launches on a GPU; once where it is
// so), in this order.
std::string json_of(const Benched& benched);

}  // namespace twinloom
