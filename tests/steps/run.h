// Runs programs of f32 buffers. On small integers sums and products are exact, so that every order gives the
// same bits; on fractions of different sizes hardly two orders do. A sum of negative zeros shows what was
// added to it.
#pragma once

#include <string>
#include <vector>

#include "core/loops/interpret.h"
#include "core/loops/loops.h"

namespace twinloom::tests {

enum class Data : std::uint8_t { integers, fractions, negative_zeros };

// The bits of what a program leaves in the buffers that it writes. These are poisoned before.
std::vector<std::vector<std::uint32_t>> run_on(Data data, const loops::Program& program,
                                               const index::Values& sizes, const loops::Order& order = {});

}  // namespace twinloom::tests
