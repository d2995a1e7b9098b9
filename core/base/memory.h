// How much memory there is to have.
#pragma once

#include <cstdint>

namespace twinloom {

// Bytes that this process may still take without being ended for it: what the system has available, at most
// the limit of its control group and of its address space. It changes while others run; taking all of it
// fails.
std::int64_t available_memory();

// Whether so many can be taken. The system hands out more than it has, and ends programs later; it is asked
// only where they are many.
bool fits_memory(std::int64_t bytes);

}  // namespace twinloom
