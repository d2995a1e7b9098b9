// The arguments of a run: from files, from a specification, or drawn from the seed.
//
//   floats      N(0, 1)
//   integers    -8..8; one that reaches an index through views, casts or selects lies inside the smallest
//               bound that it meets
//   truths      both alike
//   sizes       --size, else what the given arrays say, else 16
#pragma once

#include <span>
#include <vector>

#include "core/evaluate/evaluate.h"
#include "core/runtime/executable.h"
#include "tools/twinloom/model.h"

namespace twinloom::tool {

std::vector<runtime::Argument> make_arguments(const Model& model, const ModelOptions& options);
// The same without drawing: what no file gives has type and sizes, and no memory. For what plans and does not
// run.
std::vector<runtime::Argument> describe_arguments(const Model& model, const ModelOptions& options);

// The options without what --input and --size say of parameters and sizes that the graph does not have. Error
// where one is no NAME=VALUE.
ModelOptions options_for(const graph::Graph& graph, ModelOptions options);

// The same for the evaluator, and the numbers of such a run.
std::vector<evaluate::Argument> for_evaluator(std::span<const runtime::Argument> arguments);
evaluate::RunNumbers run_numbers(const runtime::RunOptions& options);

}  // namespace twinloom::tool
