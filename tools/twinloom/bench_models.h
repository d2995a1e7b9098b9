// The models of one twinloom bench, and what each of them is told by the options that are given for all.
#pragma once

#include <filesystem>
#include <vector>

#include "tools/twinloom/model.h"

namespace twinloom::tool {

// One for each file, in order. Of several files each has those of --input and --size whose parameter or size
// it has; Error where none of them has one. A file that cannot be read keeps all: that it cannot is said
// where it is measured.
std::vector<ModelOptions> options_of_each(const std::vector<std::filesystem::path>& files,
                                          const ModelOptions& common);

}  // namespace twinloom::tool
