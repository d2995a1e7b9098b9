// A file that is read through memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

namespace twinloom::package {

// Moved, not copied. Who shortens the file meanwhile ends the process that reads it: packages are replaced
// whole (write_whole), never written in place.
class MappedFile {
 public:
  // Error naming the file where it cannot be read.
  explicit MappedFile(const std::filesystem::path& file);
  std::string_view bytes() const { return {static_cast<const char*>(memory_.get()), size_}; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(void* memory) const;
  };
  std::size_t size_ = 0;
  std::unique_ptr<void, Unmap> memory_{nullptr, Unmap{0}};
};

}  // namespace twinloom::package
