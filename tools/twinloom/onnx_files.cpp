// See onnx_files.h.
#include "tools/twinloom/onnx_files.h"

#include <cstring>

#include "core/base/error.h"
#include "core/base/files.h"

namespace twinloom::tool {

runtime::Tensor read_pb(const std::filesystem::path& file) {
  return tensor_of(onnx::read_tensor(read_bytes(file, onnx::most_bytes), file.string()));
}

std::map<std::string, Model::Given> read_data_set(const std::filesystem::path& folder) {
  std::map<std::string, Model::Given> arrays;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pb") continue;
    const std::string stem = entry.path().stem().string();
    for (const auto& [prefix, name] : {std::pair("input_", "in"), std::pair("output_", "out")})
      if (stem.starts_with(prefix))
        arrays[name + stem.substr(std::strlen(prefix))].tensor = read_pb(entry.path());
  }
  if (arrays.empty())
    throw Error(cat("the folder '", escaped(folder.string()), "' holds no input_K.pb and no output_K.pb"));
  return arrays;
}

graph::Array array_of(const runtime::Tensor& given) {
  const runtime::Tensor tensor = runtime::contiguous(given);
  const auto* bytes = static_cast<const std::byte*>(tensor.data);
  const auto count = runtime::element_count(tensor) * ops::size_of(tensor.dtype);
  return {tensor.dtype, tensor.sizes, std::vector(bytes, bytes + count)};
}

runtime::Tensor tensor_of(const graph::Array& array) {
  runtime::Tensor tensor = runtime::allocate(array.dtype, array.sizes);
  const auto bytes = array.bytes.read();
  if (!bytes.empty()) std::memcpy(tensor.data, bytes.data(), bytes.size());
  return tensor;
}

}  // namespace twinloom::tool
