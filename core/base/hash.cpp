// See hash.h.
#include "core/base/hash.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace twinloom {

std::uint64_t stable_hash(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string hexadecimal(std::uint64_t number) { return fmt::format("{:016x}", number); }
std::string hexadecimal(const Hash128& hash) { return hexadecimal(hash.high) + hexadecimal(hash.low); }

Hash128 stable_hash_128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

}  // namespace twinloom
