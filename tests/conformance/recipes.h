// One function for each family of operators: each draws what it needs and gives the values it made.
#pragma once

#include <span>

#include "tests/conformance/draw.h"

namespace twinloom::tests {

struct Recipe {
  int weight;
  std::vector<Drawn> (*make)(Draw& draw);
};

std::span<const Recipe> arithmetic_recipes();
std::span<const Recipe> movement_recipes();
std::span<const Recipe> total_recipes();
std::span<const Recipe> place_recipes();
std::span<const Recipe> network_recipes();

}  // namespace twinloom::tests
