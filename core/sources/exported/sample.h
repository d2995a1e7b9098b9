// What test.cpp reads and compares: files of elements, and results, every bit of them; NaNs are one.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "sample_memory.h"

namespace twinloom::exported {

// Memory at a multiple of 64 bytes.
struct Bytes {
  std::unique_ptr<unsigned char, decltype(&release)> memory{nullptr, &release};
  std::size_t count = 0;
  template <class Of>
  Of* at(std::int64_t element) const {
    return reinterpret_cast<Of*>(memory.get()) + element;
  }
};
inline Bytes bytes_of(std::size_t count) {
  Bytes bytes;
  bytes.memory.reset(static_cast<unsigned char*>(allocate(count)));
  bytes.count = count;
  std::memset(bytes.memory.get(), 0xcd, count);
  return bytes;
}
inline Bytes read_sample(const std::string& name) {
  std::ifstream file(SAMPLES + ("/" + name), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) {
    std::fprintf(stderr, "%s/%s cannot be read\n", SAMPLES, name.c_str());
    std::exit(2);
  }
  Bytes bytes = bytes_of(text.size());
  std::memcpy(bytes.memory.get(), text.data(), text.size());
  return bytes;
}

// How NaNs of a type are recognised: their magnitude is more than that of infinity.
struct Type {
  int bytes;
  std::uint64_t infinity;  // 0: there are no NaNs
};
inline std::uint64_t bits_of(const unsigned char* element, const Type& type) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, std::size_t(type.bytes));
  const std::uint64_t magnitude = bits & ((std::uint64_t(1) << (8 * type.bytes - 1)) - 1);
  return type.infinity != 0 && magnitude > type.infinity ? ~std::uint64_t(0) : bits;
}

// A result: element i, row-major, lies at `offset` plus its places times the strides. Gives whether it is the
// file's.
inline bool is_sample(const std::string& name, const Type& type, const Bytes& result, std::int64_t offset,
                      const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides) {
  finish();
  const Bytes expected = read_sample(name);
  std::vector<std::int64_t> place(sizes.size());
  std::size_t different = 0;
  const std::size_t count = expected.count / std::size_t(type.bytes);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t at = offset;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) at += place[axis] * strides[axis];
    different += bits_of(result.at<unsigned char>(at * type.bytes), type) !=
                 bits_of(expected.at<unsigned char>(std::int64_t(i) * type.bytes), type);
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      if (++place[axis] < sizes[axis]) break;
      place[axis] = 0;
    }
  }
  std::printf("%s: %zu of %zu elements differ\n", name.c_str(), different, count);
  return different == 0;
}

}  // namespace twinloom::exported
