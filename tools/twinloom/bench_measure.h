// Measures one model of a bench.
#pragma once

#include "api/bench.h"
#include "api/twinloom.h"
#include "core/measure/measure.h"
#include "tools/twinloom/model.h"
#include "tools/twinloom/progress.h"

namespace twinloom::tool {

// Where and how all models of a bench run.
struct BenchSetting {
  Device device;
  CompileOptions compiled;
  RunOptions run;
  double seconds = 1;  // that each model is measured for
  Progress* progress = nullptr;
};

// Begins with the memory of a GPU that an earlier one has left given back, and leaves nothing else. Error
// where the model cannot be read or run.
Benched measure_model(const ModelOptions& model, const BenchSetting& setting);

// Of the device that the models run on; begins like that.
measure::CopyBandwidth measure_copy(const BenchSetting& setting);

}  // namespace twinloom::tool
