// See bytes.h.
#include "core/base/bytes.h"

#include "core/base/hash.h"

namespace twinloom {

namespace {

constexpr std::size_t number_bytes = 8;

}  // namespace

void append_number(std::string& bytes, std::uint64_t number) {
  for (std::size_t at = 0; at < number_bytes; ++at) bytes += static_cast<char>((number >> (8 * at)) & 0xff);
}

std::string checksum_of(std::string_view bytes) {
  const Hash128 hash = stable_hash_128(bytes);
  std::string sum;
  append_number(sum, hash.high);
  append_number(sum, hash.low);
  return sum;
}

std::string_view ByteReader::take(std::uint64_t count) {
  if (count > rest_.size()) {
    good_ = false;
    rest_ = {};
    return {};
  }
  const std::string_view piece = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return piece;
}

std::uint64_t ByteReader::number() {
  std::uint64_t value = 0;
  const std::string_view piece = take(number_bytes);
  for (std::size_t at = 0; at < piece.size(); ++at)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(piece[at])) << (8 * at);
  return value;
}

}  // namespace twinloom
