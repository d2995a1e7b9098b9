// Hashes that are the same in every process and on every machine (XXH3): 64 bits for settling most
// comparisons of forms quickly, 128 bits for names and checksums of files. Not for security.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace twinloom {

std::uint64_t stable_hash(std::string_view bytes);

struct Hash128 {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

std::string hexadecimal(std::uint64_t number);  // 16 digits
std::string hexadecimal(const Hash128& hash);   // 32 digits
Hash128 stable_hash_128(std::string_view bytes);

// Order matters: mix(mix(s, a), b) != mix(mix(s, b), a).
constexpr std::uint64_t mix_hash(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t x = seed ^ (value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2));
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  x ^= x >> 32;
  return x;
}

}  // namespace twinloom
