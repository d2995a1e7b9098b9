// Tensors of the C API and of the library, both ways, without a copy.
#pragma once

#include "api/include/twinloom/twinloom.h"
#include "core/graph/graph.h"
#include "core/runtime/tensor.h"

namespace twinloom::c {

// `what` names the tensor in messages: "argument 2". Error where its type, its device or its number of
// dimensions is none that Twinloom knows, and where it has elements and `needs_data` and no memory.
runtime::Tensor tensor_of(const DLTensor* tensor, std::string_view what, bool needs_data = true);

// The same; Error where it does not lie in memory of this process.
runtime::Tensor host_tensor_of(const DLTensor* tensor, std::string_view what);

// Keeps the tensor's memory until the deleter is called.
DLManagedTensor* managed(const runtime::Tensor& tensor);

// Each Error where the other has no such type.
DLDataType dlpack_type(ops::DType dtype);
ops::DType dtype_of(const DLDataType& type, std::string_view what);

// A copy of a tensor in memory of this process.
graph::Array array_of(const DLTensor* tensor, std::string_view what);

}  // namespace twinloom::c
