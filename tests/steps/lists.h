// Lists of steps from their text, and the program that one makes of a nest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/steps/steps.h"

namespace twinloom::tests {

steps::Step step(std::string_view text);
std::vector<steps::Step> steps_of(const std::vector<std::string_view>& lines);
std::string print(const std::vector<steps::Step>& list);

// The program of a list of steps, verified; nothing where one of them refuses.
std::optional<loops::Program> program_of(const loops::Program& nest, const std::vector<steps::Step>& list);
// Why there is none; empty where there is one.
std::string why_none(const loops::Program& nest, const std::vector<steps::Step>& list);

}  // namespace twinloom::tests
