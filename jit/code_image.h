// Machine code of one function as bytes that may lie at any address, and such code in this process. Nothing
// here needs LLVM: a process that runs what another one compiled does without.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jit/host_symbols.h"

namespace twinloom::jit {

// Code and constants in one piece. All references are relative to where they stand but those to functions of
// the host: for each the image has a word of 8 bytes that its address is written to.
struct CodeImage {
  struct Import {
    std::int64_t offset;  // of the word, in bytes
    std::string name;
    friend bool operator==(const Import&, const Import&) = default;
  };
  std::string bytes;
  std::int64_t entry = 0;  // of the function, in bytes
  std::vector<Import> imports;
  friend bool operator==(const CodeImage&, const CodeImage&) = default;
};

// The image as text of bytes: numbers of 8 bytes, little endian,
//   entry | imports | of each its offset, the length of its name, the name | bytes
std::string packed(const CodeImage& image);
// Error where packed() did not make it.
CodeImage unpacked(std::string_view text);

// The image in memory of its own that can be executed, and cannot be written. Moved, not copied.
class LoadedCode {
 public:
  // Error where an offset lies outside of the image, and where a function is not among the symbols.
  LoadedCode(const CodeImage& image, const std::vector<HostSymbol>& symbols);

  void* entry() const { return entry_; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Unmap> memory_;
  void* entry_ = nullptr;
};

}  // namespace twinloom::jit
