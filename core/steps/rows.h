// The transformation of each step. For the inside of this component.
#pragma once

#include "core/steps/tree.h"

namespace twinloom::steps {

// Of an array: none that is nearer than memory is larger.
constexpr std::int64_t MOST_ELEMENTS = std::int64_t{1} << 20;

Result apply_split(const Kernel& kernel, const Split& split);
Result apply_fuse(const Kernel& kernel, const Fuse& fuse);
Result apply_reorder(const Kernel& kernel, const Reorder& reorder);
Result apply_cache(const Kernel& kernel, const Cache& cache);
// The same of a buffer that atomics update inside the loop. See cache_updates.cpp.
Result cache_updates(const Kernel& kernel, const Cache& cache, const loops::Loop& at, loops::Buffer buffer);
Result apply_store_at(const Kernel& kernel, const StoreAt& wanted);
Result apply_distribute(const Kernel& kernel, const Distribute& distribute);
Result apply_bind(const Kernel& kernel, const BindLoop& wanted);

}  // namespace twinloom::steps
