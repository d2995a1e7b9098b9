// See model.h.
#include "tools/twinloom/model.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <set>

#include "api/load.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/graph/donate.h"
#include "frontends/arrays/arrays.h"
#include "tools/twinloom/onnx_files.h"

namespace twinloom::tool {

namespace {

// Takes the ending off; false where it has another.
bool take_suffix(std::string& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.resize(name.size() - suffix.size());
  return true;
}

std::vector<std::int64_t> integers_of(const runtime::Tensor& tensor, const std::string& name) {
  if (tensor.dtype != ops::DType::i64 || tensor.sizes.size() != 1)
    throw Error(cat("array '", escaped(name), "' must be a list of int64"));
  const auto* data = static_cast<const std::int64_t*>(tensor.data);
  return {data, data + tensor.sizes[0]};
}

LoadOptions load_options(const Model& model, const ModelOptions& options) {
  LoadOptions load_options{options.graph, {}};
  constexpr std::string_view prefix = "const_";
  for (const auto& [name, given] : model.arrays) {
    if (!name.starts_with(prefix) || !given.tensor) continue;
    load_options.constants[name.substr(prefix.size())] = array_of(*given.tensor);
  }
  return load_options;
}

bool is_package(const std::filesystem::path& file) {
  std::array<char, 8> first{};
  std::ifstream(file, std::ios::binary).read(first.data(), first.size());
  return package::Package::begins({first.data(), first.size()});
}

// Arguments have the layouts that its kernels are for.
Model packaged(Model model, const ModelOptions& options) {
  if (options.graph != 0)
    throw Error(cat("graph ", options.graph, " was asked for; a package holds 1, counted from 0"));
  if (!options.donated.empty())
    throw Error(
        "--donate is for graphs that are compiled; a package knows the inputs that it was exported with");
  model.package = package::Package::open(options.file);
  model.graph = model.package->graph();
  model.strides.resize(model.graph.parameters().size());
  const std::set<index::Symbol> sizes = graph::size_symbols(model.graph);
  const auto is_known = [&](const index::Expr& stride) {
    return std::ranges::all_of(index::symbols_of(stride), [&](index::Symbol s) { return sizes.contains(s); });
  };
  for (const auto& [parameter, strides] : model.package->layouts())
    if (std::ranges::all_of(strides, is_known))
      model.strides.at(static_cast<std::size_t>(parameter)) = strides;
  return model;
}

// Inputs that decide about shapes have the values that the command line gives them.
Model onnx_model(Model model, const ModelOptions& options) {
  expect_first_graph(options.graph, "an ONNX model");
  const auto value = [&](const std::string& name, std::size_t position) -> std::optional<graph::Array> {
    for (const std::string& text : options.input) {
      const auto [parameter, file] = split_at_equals(text, "input");
      if ((parameter == name || parameter == cat("in", position)) && is_array_file(file))
        return array_of(read_array(file));
    }
    for (const std::string& key : {name, cat("in", position)}) {
      const auto found = model.arrays.find(key);
      if (found != model.arrays.end() && found->second.tensor) return array_of(*found->second.tensor);
    }
    return std::nullopt;
  };
  model.graph = graph::donate(load_onnx(options.file, {.folder = {}, .values = value, .elements = {}}),
                              options.donated);
  model.graph.name = "graph";
  model.strides.resize(model.graph.parameters().size());
  return model;
}

}  // namespace

std::pair<std::string, std::string> split_at_equals(const std::string& text, std::string_view option) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0)
    throw Error(cat("--", option, " takes NAME=VALUE, given was '", escaped(text), "'"));
  return {text.substr(0, at), text.substr(at + 1)};
}

bool is_array_file(const std::string& value) { return value.ends_with(".npy") || value.ends_with(".pb"); }

runtime::Tensor read_array(const std::filesystem::path& file) {
  return file.extension() == ".pb" ? read_pb(file) : arrays::read_npy(file);
}

runtime::Tensor with_strides(const runtime::Tensor& tensor, std::vector<std::int64_t> strides,
                             const std::string& name) {
  if (strides.size() != tensor.sizes.size()) {
    throw Error(cat("'", escaped(name), "_strides' has ", strides.size(), " numbers for ",
                    tensor.sizes.size(), " axes"));
  }
  if (tensor.data == nullptr)
    return runtime::view_of(nullptr, tensor.dtype, tensor.sizes, std::move(strides));
  if (strides == tensor.strides) return tensor;
  runtime::Tensor result = runtime::allocate(tensor.dtype, tensor.sizes, std::move(strides));
  const std::int64_t bytes = ops::size_of(tensor.dtype);
  const std::int64_t count = runtime::element_count(tensor);
  const auto* from = static_cast<const std::byte*>(tensor.data);
  for (std::int64_t e = 0; e < count; ++e) {
    std::int64_t rest = e;
    std::int64_t offset = 0;
    for (std::size_t axis = result.sizes.size(); axis-- > 0;) {
      offset += rest % result.sizes[axis] * result.strides[axis];
      rest /= result.sizes[axis];
    }
    std::memcpy(static_cast<std::byte*>(result.data) + offset * bytes, from + e * bytes,
                static_cast<std::size_t>(bytes));
  }
  return result;
}

std::map<std::string, Model::Given> read_arrays(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file)) return read_data_set(file);
  std::map<std::string, Model::Given> arrays;
  std::map<std::string, std::vector<std::int64_t>> strides;
  for (const arrays::Entry& entry : arrays::read_npz(file)) {
    std::string name = entry.name;
    runtime::Tensor tensor = entry.tensor;
    if (take_suffix(name, "_strides")) {
      strides[name] = integers_of(tensor, entry.name);
    } else if (take_suffix(name, "_none")) {
      arrays[name].none = true;
    } else {
      if (take_suffix(name, "_bf16")) {
        if (tensor.dtype != ops::DType::u16)
          throw Error(cat("array '", escaped(entry.name), "' must be uint16"));
        tensor.dtype = ops::DType::bf16;
      }
      take_suffix(name, "_scalar");
      arrays[name].tensor = std::move(tensor);
    }
  }
  for (auto& [name, numbers] : strides) {
    const auto found = arrays.find(name);
    if (found != arrays.end() && found->second.tensor)
      found->second.tensor = with_strides(*found->second.tensor, numbers, name);
  }
  return arrays;
}

Model read_model(const ModelOptions& options) {
  Model model;
  if (!options.inputs.empty()) model.arrays = read_arrays(options.inputs);
  if (is_package(options.file)) return packaged(std::move(model), options);
  if (is_onnx(options.file)) return onnx_model(std::move(model), options);
  const std::string text = load_text(options.file);
  const LoadOptions load = load_options(model, options);
  model.graph = graph::donate(read_graph(text, load), options.donated);
  model.strides = strides_in(text, load);
  model.graph.name = "graph";
  return model;
}

}  // namespace twinloom::tool
