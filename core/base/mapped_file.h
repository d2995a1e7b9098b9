// A file, or a part of one, that is read through memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace twinloom {

// Moved, not copied. Who shortens the file meanwhile ends the process that reads it: files are to be replaced
// whole (write_whole), never written in place.
class MappedFile {
 public:
  // Error naming the file where it cannot be read.
  explicit MappedFile(const std::filesystem::path& file);
  // So many bytes from `offset` on, which it must have: Error.
  MappedFile(const std::filesystem::path& file, std::size_t offset, std::size_t bytes);
  std::string_view bytes() const { return bytes_; }

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Unmap> memory_{nullptr, Unmap{}};
  std::string_view bytes_;
};

// The pages that hold nothing else.
std::span<const std::byte> whole_pages(std::span<const std::byte> bytes);
// Whether bytes lie in such a file. Thread-safe.
bool lies_in_file(std::span<const std::byte> bytes);
// Of bytes that lie in such a file: the pages that hold nothing else are given back, to be read again where
// they are needed. Other memory stays as it is. Thread-safe.
void unload(std::span<const std::byte> bytes);

}  // namespace twinloom
