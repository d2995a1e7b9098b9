// Tensors of ONNX in files, and folders of them beside a model.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/runtime/tensor.h"
#include "frontends/onnx/read.h"
#include "tools/twinloom/model.h"

namespace twinloom::tool {

// One tensor; and those of a folder, by the names of read_arrays().
runtime::Tensor read_pb(const std::filesystem::path& file);
std::map<std::string, Model::Given> read_data_set(const std::filesystem::path& folder);

// The same elements in the form of the other side.
graph::Array array_of(const runtime::Tensor& tensor);
runtime::Tensor tensor_of(const graph::Array& array);

}  // namespace twinloom::tool
