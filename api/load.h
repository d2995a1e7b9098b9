// A graph from text: what PyTorch prints for an FX graph, or what graph::print writes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom {

struct LoadOptions {
  int graph = 0;  // which one of a text with several, from 0
  // The arrays that FX text reads as self.NAME.
  std::map<std::string, graph::Array, std::less<>> constants = {};
};

// Error with the line for a text that is neither, and for what frontends/fx/read.h and graph::parse refuse.
graph::Graph read_graph(std::string_view text, const LoadOptions& options = {});

// By parameter: the strides that such a text says it has; empty, or nothing, where it says none.
std::vector<std::optional<graph::Shape>> strides_in(std::string_view text, const LoadOptions& options = {});

// The text in a file. Error where it cannot be read or has more than 256 MiB.
std::string load_text(const std::filesystem::path& file);

}  // namespace twinloom
