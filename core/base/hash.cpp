// See hash.h.
#include "core/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace twinloom {

std::uint64_t stable_hash(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace twinloom
