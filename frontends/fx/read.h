// The text PyTorch prints for an FX graph -> Graph.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/builder.h"

namespace twinloom::fx {

struct ReadOptions {
  int graph = 0;  // which module of the text, from 0
  // The arrays that the text reads as self.NAME.
  std::map<std::string, graph::Array, std::less<>> constants;
  graph::Limits limits = {};
};

// Error with the line for text that is no FX graph, an unknown operator (with the nearest known names),
// a missing constant, and a result whose type or shape is not the printed one.
graph::Graph read(std::string_view text, const ReadOptions& options = {});

// The strides that the text prints for each parameter, f32[2, s0][1, 2]; nothing where it prints none.
std::vector<std::optional<graph::Shape>> parameter_strides(std::string_view text,
                                                           const ReadOptions& options = {});

// How many modules the text holds.
int count_modules(std::string_view text);

// The operators that are read, sorted.
std::vector<std::string> operators();

}  // namespace twinloom::fx
