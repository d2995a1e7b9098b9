// See space.h.
#include "core/runtime/space.h"

#include "core/runtime/memory_pool.h"

namespace twinloom::runtime {

Space::Space() : memory_(std::make_shared<MemoryPool>(this)) {}
Space::~Space() = default;

}  // namespace twinloom::runtime
