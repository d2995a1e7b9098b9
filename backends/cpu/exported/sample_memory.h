// Memory that test.cpp hands to the function.
#pragma once

#include <cstdlib>

namespace twinloom::exported {

inline bool can_run() { return true; }
inline void* allocate(std::size_t bytes) { return std::aligned_alloc(64, (bytes + 127) / 64 * 64); }
inline void release(void* memory) { std::free(memory); }
inline void finish() {}  // what the function has begun

}  // namespace twinloom::exported
