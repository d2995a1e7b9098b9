// Inside of the component: element types and tensors of ONNX files.
#pragma once

#include <filesystem>
#include <string>

#include "core/graph/graph.h"
#include "frontends/onnx/format.h"

namespace twinloom::onnx {

// The type that ONNX numbers so. Unsupported where there is one that Twinloom has not, Error where there is
// none.
ops::DType dtype_of(std::int64_t number, const std::string& what);

// The number that ONNX has for the type; Error where it has none.
std::int32_t number_of(ops::DType dtype);

// The elements, from raw_data, typed fields or a file in `folder`. Error starting with `what` where the
// sizes, the type and the data do not fit together, and where the file lies elsewhere.
graph::Array array_of(const format::TensorProto& tensor, const std::filesystem::path& folder,
                      const std::string& what);

}  // namespace twinloom::onnx
