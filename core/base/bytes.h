// Binary files: numbers of 8 bytes, little endian, and checksums.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace twinloom {

void append_number(std::string& bytes, std::uint64_t number);

inline constexpr std::size_t checksum_bytes = 16;
// XXH3 of 128 bits. It finds damage; against somebody who may write the file it is no defence.
std::string checksum_of(std::string_view bytes);

// Takes pieces off the front. What is asked for beyond the end is empty or 0, and the reader is not good any
// more.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::string_view take(std::uint64_t count);
  std::uint64_t number();

  std::string_view rest() const { return rest_; }
  bool good() const { return good_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace twinloom
