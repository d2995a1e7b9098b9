// What must hold of sizes for a text to have a meaning.
#pragma once

#include <string>

#include "frontends/fx/sizes.h"

namespace twinloom::fx {

// The condition becomes a requirement of the graph where it does not follow, and what it tells of single
// sizes a fact, so that what follows from that needs no other.
void require(graph::Graph& graph, const index::Condition& condition, const std::string& words);

// Requires with the line that is read before the words.
SizeRules rules_of(Context& context);

}  // namespace twinloom::fx
