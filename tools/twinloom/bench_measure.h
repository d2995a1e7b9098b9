// Measures one model: how long a run and each of its kernels take, and what they move.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/estimates.h"
#include "api/twinloom.h"
#include "core/measure/measure.h"
#include "tools/twinloom/model.h"
#include "tools/twinloom/progress.h"
#include "tools/twinloom/traffic.h"

namespace twinloom::tool {

// Where and how all models of a bench run.
struct BenchSetting {
  Device device;
  CompileOptions compiled;
  RunOptions run;
  double seconds = 1;  // that each model is measured for
  Progress* progress = nullptr;
};

struct KernelLine {
  std::string name;
  std::vector<std::string> ops;  // fused operators, in order, each once
  double median_seconds = 0;
  double compile_seconds = 0;
  bool cached = true;  // all of its machine code was kept from before
  Traffic traffic;
  std::optional<cost::Estimate> estimate;
  std::vector<runtime::Resources> launches;  // on a GPU, of each
  double bytes_per_second() const { return static_cast<double>(traffic.bytes) / median_seconds; }
  double operations_per_second() const { return static_cast<double>(traffic.operations) / median_seconds; }
  // The seconds of the estimate's limiter divided by the measured ones. There must be an estimate.
  double share_of_limiter() const { return estimate->limiter().seconds / median_seconds; }
};

struct Measured {
  double run_seconds = 0;  // of a run in which nothing is between the kernels, the median
  double prepare_seconds =
      0;  // from the graph and its arguments to kernels that can be run, by the wall clock
  double compile_seconds = 0;  // of all kernels, the sum: they are compiled side by side
  std::int64_t peak_bytes = 0;
  std::vector<KernelLine> kernels;
};

// Begins with the memory of a GPU that an earlier one has left given back, and leaves nothing else. Error
// where the model cannot be read or run.
Measured measure_model(const ModelOptions& model, const BenchSetting& setting);

// Of the device that the models run on; begins like that.
measure::CopyBandwidth measure_copy(const BenchSetting& setting);

}  // namespace twinloom::tool
