// What the C API, the program, the measurements and the tests are written over: the classes of the other
// rooms that a user of the compiler needs, in namespace twinloom. Users of the library have include/twinloom
// instead.
//
// Errors that a caller can cause are thrown as twinloom::Error with words; twinloom::Bug is ours. Of Errors,
// OutOfMemory and DeviceLost are types of their own.
// Thread safety: an Executable, a Device and a const Graph may be used by many threads at once; a Builder
// by one. `run` has a memory and an error record of its own for each call; `start` does not wait for a GPU,
// on the caller's stream where RunOptions::stream names one.
#pragma once

#include <span>
#include <vector>

#include "api/devices.h"
#include "api/threads.h"
#include "core/base/error.h"
#include "core/graph/builder.h"
#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "core/pipeline/pipeline.h"
#include "core/runtime/errors.h"
#include "core/runtime/executable.h"

namespace twinloom {

using index::Symbol;
using ops::DType;
using ops::Number;
using SizeExpr = index::Expr;
using graph::Builder;
using graph::Graph;
// A handle on a value of the graph that is being built.
using Value = graph::Tensor;
// A tensor in memory.
using runtime::allocate;
using runtime::Argument;
using runtime::contiguous;
using runtime::DeviceLost;
using runtime::Executable;
using runtime::OutOfMemory;
using runtime::Output;
using runtime::Tensor;
// A run that was started (Executable::start): what it gives, and when it is done.
using runtime::ParallelFor;
using runtime::Pending;
using runtime::RunOptions;
using runtime::RunSettings;
using runtime::Stream;
using runtime::view_of;
using CompileOptions = pipeline::Options;
using Mode = pipeline::Mode;
using graph::Relaxation;   // what Mode::fast may change beyond Mode::fused
using graph::Relaxations;  // CompileOptions::relaxed
// CompileOptions::tuning: schedules that are measured, and files of schedules.
using Tuning = pipeline::Tuning;

// Prepares `graph` for the device. Machine code is made when the first run of a layout needs it; call
// Executable::variant with its arguments to have it made before.
Executable compile(const Graph& graph, const Device& device, const CompileOptions& options = {});

}  // namespace twinloom
