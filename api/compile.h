// Whether and how this library compiles: it does, or it only runs what packages hold (api/runtime).
#pragma once

#include "api/twinloom.h"

namespace twinloom {

// Makes what a package lacks. Empty where this library compiles nothing.
Executable::Maker maker_for(const Device& device, const CompileOptions& options);

}  // namespace twinloom
