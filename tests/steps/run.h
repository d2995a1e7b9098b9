// Runs programs on small integers as floats: sums and products of them are exact, so that every order gives
// the same bits and a wrong step shows.
#pragma once

#include <string>
#include <vector>

#include "core/loops/interpret.h"
#include "core/loops/loops.h"

namespace twinloom::tests {

// What a program of f32 buffers leaves in those that it writes. These are poisoned before.
std::vector<std::vector<float>> run_on_integers(const loops::Program& program, const index::Values& sizes);

}  // namespace twinloom::tests
