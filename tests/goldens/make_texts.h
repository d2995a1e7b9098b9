// Runs the pipeline: what becomes of every subject on the machine of a planner, as texts.
#pragma once

#include <memory>
#include <vector>

#include "core/runtime/backend.h"
#include "tests/goldens/texts.h"

namespace twinloom::tests {

// In the order of the subjects. Mode fused under a subject's own name; "NAME, strict" follows where that mode
// gives other texts.
std::vector<SubjectTexts> make_texts(const std::shared_ptr<const runtime::Backend>& planner);

}  // namespace twinloom::tests
