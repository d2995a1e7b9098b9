// A graph from text (what PyTorch prints for an FX graph, or what graph::print writes), or from an ONNX
// model.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "frontends/onnx/read.h"

namespace twinloom {

struct LoadOptions {
  int graph = 0;  // which one of a text with several, from 0
  // The arrays that FX text reads as self.NAME; of an ONNX model the values of inputs that decide about
  // shapes, by name.
  std::map<std::string, graph::Array, std::less<>> constants = {};
};

// Of a text or the bytes of a model. Error with the line for a text that is neither, and for what
// frontends/fx/read.h, frontends/onnx/read.h and graph::parse refuse.
graph::Graph read_graph(std::string_view text, const LoadOptions& options = {});

// The same of a file. A model's external data lies beside it.
graph::Graph load_graph(const std::filesystem::path& file, const LoadOptions& options = {});

// Error where another than graph 0 is asked for of `what`, which holds one.
void expect_first_graph(int graph, std::string_view what);

// Whether a file holds an ONNX model: by its name, or by its first byte, with which no text begins.
bool is_onnx(const std::filesystem::path& file);
graph::Graph load_onnx(const std::filesystem::path& file, onnx::ReadOptions options);

// By parameter: the strides that such a text says it has; empty, or nothing, where it says none.
std::vector<std::optional<graph::Shape>> strides_in(std::string_view text, const LoadOptions& options = {});

// The text in a file. Error where it cannot be read or has more than 256 MiB.
std::string load_text(const std::filesystem::path& file);

}  // namespace twinloom
