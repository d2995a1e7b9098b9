// Inside of the component: tensors of ONNX files.
#pragma once

#include <string>

#include "core/graph/graph.h"
#include "frontends/onnx/element_types.h"
#include "frontends/onnx/format.h"
#include "frontends/onnx/read.h"

namespace twinloom::onnx {

// The elements, from raw_data, typed fields or a file in the folder of external data; of narrow types in the
// type that holds them. Error starting with `what` where the sizes, the type and the data do not fit
// together, and where the file lies elsewhere.
graph::Array array_of(const format::TensorProto& tensor, const ReadOptions& options, const std::string& what);

}  // namespace twinloom::onnx
