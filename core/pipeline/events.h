// What the logs `fusion`, `schedule` and `code` say of the passes; see core/base/log.h.
#pragma once

#include "core/fuse/fuse.h"
#include "core/graph/graph.h"
#include "core/runtime/backend.h"
#include "core/runtime/variant.h"

namespace twinloom::pipeline {

// Each kernel of several operators, and each pair of kernels that stayed two.
void log_fusion(const graph::Graph& graph, const fuse::Fused& fused);

// Each kernel's schedule, with what it should take in a run of these sizes: without them that is not said,
// nor of what calls a routine.
void log_schedules(const runtime::Variant& variant, const runtime::Backend& backend,
                   const index::Values& sizes);

void log_code(const runtime::Step& step);

}  // namespace twinloom::pipeline
