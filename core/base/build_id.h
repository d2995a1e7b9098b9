// What tells a build of this program apart from every other one.
#pragma once

#include <string>

namespace twinloom {

// The linker's build ID of the file that this code was loaded from, in hexadecimal; empty where the linker
// gave it none. Two builds of which any code differs have two.
const std::string& build_id();

}  // namespace twinloom
