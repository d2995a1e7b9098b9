// See entry.h.
#include "core/object_cache/entry.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes.h"
#include "core/base/hash.h"
#include "core/base/text.h"

namespace twinloom::object_cache {

namespace {

constexpr std::string_view magic = "TWINLOOM";
constexpr std::string_view ending = ".object";
constexpr std::size_t number_bytes = 8;
constexpr std::size_t header_bytes = 4 * number_bytes;

std::string packed_key(const Key& key) {
  std::string bytes;
  for (const Field& field : key) {
    append_number(bytes, field.name.size());
    append_number(bytes, field.text.size());
    bytes += field.name;
    bytes += field.text;
  }
  return bytes;
}

std::optional<Key> unpacked_key(std::string_view bytes) {
  Key key;
  ByteReader reader(bytes);
  while (reader.good() && !reader.at_end()) {
    const std::uint64_t name_bytes = reader.number();
    const std::uint64_t text_bytes = reader.number();
    const std::string_view name = reader.take(name_bytes);
    key.push_back({std::string(name), std::string(reader.take(text_bytes))});
  }
  if (!reader.good()) return std::nullopt;
  return key;
}

}  // namespace

std::string pack(const Key& key, std::string_view payload) {
  const std::string words = packed_key(key);
  std::string bytes(magic);
  bytes.reserve(header_bytes + words.size() + payload.size() + checksum_bytes);
  append_number(bytes, format_version);
  append_number(bytes, words.size());
  append_number(bytes, payload.size());
  bytes += words;
  bytes += payload;
  return bytes += checksum_of(bytes);
}

std::optional<Content> unpack(std::string_view bytes) {
  if (bytes.size() < header_bytes + checksum_bytes) return std::nullopt;
  const std::string_view covered = bytes.substr(0, bytes.size() - checksum_bytes);
  ByteReader reader(covered);
  if (reader.take(magic.size()) != magic || reader.number() != format_version) return std::nullopt;
  const std::uint64_t key_bytes = reader.number();
  const std::uint64_t payload_bytes = reader.number();
  const std::string_view words = reader.take(key_bytes);
  const std::string_view payload = reader.take(payload_bytes);
  if (!reader.good() || !reader.at_end()) return std::nullopt;
  if (checksum_of(covered) != bytes.substr(covered.size())) return std::nullopt;
  std::optional<Key> key = unpacked_key(words);
  if (!key) return std::nullopt;
  return Content{std::move(*key), std::string(payload)};
}

std::string file_name(const Key& key, int digits) {
  const std::string name = hexadecimal(stable_hash_128(cat(format_version, packed_key(key))));
  return name.substr(0, static_cast<std::size_t>(digits)).append(ending);
}

bool is_file_name(std::string_view name, int digits) {
  if (name.size() != static_cast<std::size_t>(digits) + ending.size() || !name.ends_with(ending))
    return false;
  name.remove_suffix(ending.size());
  return std::ranges::all_of(name, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace twinloom::object_cache
