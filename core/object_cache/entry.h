// The bytes of one file of the cache. Numbers are little endian, 8 bytes each.
//   magic | format version | bytes of the key | bytes of the payload | key | payload | checksum
// The key is, for each field, the sizes of its name and its text, then both. The checksum (XXH3, 128 bits)
// covers everything before it. It finds damage; against somebody who may write the file it is no defence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/object_cache/key.h"

namespace twinloom::object_cache {

inline constexpr std::uint64_t format_version = 1;

struct Content {
  Key key;
  std::string payload;
};

std::string pack(const Key& key, std::string_view payload);

// Nothing where the bytes are not exactly what pack() made in this version.
std::optional<Content> unpack(std::string_view bytes);

// The name of the file that keeps this key: `digits` digits (at most 32) of its hash, and an ending.
std::string file_name(const Key& key, int digits);
// Whether it is such a name.
bool is_file_name(std::string_view name, int digits);

}  // namespace twinloom::object_cache
