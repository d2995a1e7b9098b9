// The graph of one plan through every stage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/conformance/generate.h"
#include "tests/support/guarded.h"

namespace twinloom::tests {

// Where the arguments of a seed's runs lie in their memory.
Against side_of(std::uint64_t seed);

// Nothing when all stages agree, or the one that is named; else what differs, after shrinking, with the
// command that shows it again.
std::optional<std::string> report_of(const Plan& plan, const std::string& stage = {});

}  // namespace twinloom::tests
