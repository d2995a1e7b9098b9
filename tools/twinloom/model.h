// A model file and the arrays beside it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/package/package.h"
#include "core/runtime/layout.h"

namespace twinloom::tool {

// What the command line says of the model and its inputs; shared by run, verify, bench, explain, dump.
struct ModelOptions {
  std::filesystem::path file;
  int graph = 0;                   // which one of a file with several
  std::filesystem::path inputs;    // .npz, or a folder of input_K.pb
  std::vector<std::string> input;  // NAME=F.npy, NAME=F.pb or NAME=SPEC
  std::vector<std::string> sizes;  // SYMBOL=N
  std::uint64_t seed = 0;
  std::vector<std::string> donated;  // parameters by name
};

struct Model {
  graph::Graph graph;
  // By name, as the archive holds them, bfloat16 and strides already applied.
  struct Given {
    std::optional<runtime::Tensor> tensor;
    bool none = false;
  };
  std::map<std::string, Given> arrays;
  // By parameter: the strides that the file says it has; empty, or nothing, where it says none.
  std::vector<std::optional<graph::Shape>> strides;
  std::optional<package::Package> package = {};  // where the file is one
};

// Reads the file (FX text, the text of graph::print, a package, or an ONNX model) and, for constants of FX
// text and inputs, the archive. Error where either is broken.
Model read_model(const ModelOptions& options);

// Whether --input names a file by the value, and the array in it: F.npy, or F.pb with a tensor of ONNX.
bool is_array_file(const std::string& value);
runtime::Tensor read_array(const std::filesystem::path& file);

// NAME and VALUE of NAME=VALUE. Error where it is none.
std::pair<std::string, std::string> split_at_equals(const std::string& text, std::string_view option);

// The arrays of an archive under the names of their parameters: NAME, and the suffixes _bf16 (uint16 bits
// of bfloat16), _strides (elements between neighbours), _scalar (a number of a size parameter), _none. Of a
// folder of ONNX's test data input_K.pb is inK, and output_K.pb outK.
std::map<std::string, Model::Given> read_arrays(const std::filesystem::path& file);

// The same elements in memory with these strides. Error naming the array where their number is not that of
// its axes.
runtime::Tensor with_strides(const runtime::Tensor& tensor, std::vector<std::int64_t> strides,
                             const std::string& name);

}  // namespace twinloom::tool
