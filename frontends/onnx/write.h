// A Graph -> the bytes of an ONNX model that computes the same, operator by operator, of opset 21.
//
// Values have the names of the graph's nodes, inputs those of its parameters and outputs those of its results
// (None, of which ONNX has no output, is left out). A size with a name is a dim_param, a size parameter an
// input of i64 and shape []. What a run checks of sizes and indices is not written. A parameter that the
// graph writes is an output beside it.
#pragma once

#include <string>

#include "core/graph/graph.h"

namespace twinloom::onnx {

// Error naming the node where ONNX cannot say it, as random numbers.
std::string write(const graph::Graph& graph);

}  // namespace twinloom::onnx
