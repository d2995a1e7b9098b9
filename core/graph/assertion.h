// Conditions that only the elements of tensors tell: a run that breaks one ends in an Error with its words.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/graph/builder.h"

namespace twinloom::graph {

struct Assertion {
  Tensor holds;  // b8, without axes
  std::string words;
};

// The value, in a run of which every assertion holds. Each becomes an index that is out of range where it
// does not, and which the value waits for.
Tensor asserting(const Tensor& value, std::span<const Assertion> assertions);

// The words of the assertion that the node checks, where it is one.
std::optional<std::string> words_of_assertion(const Node& node);

}  // namespace twinloom::graph
