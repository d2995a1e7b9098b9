// See code_image.h.
#include "jit/code_image.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "core/base/bytes.h"
#include "core/base/error.h"

namespace twinloom::jit {

namespace {

constexpr std::int64_t WORD = sizeof(void*);

void* address_of(const std::string& name, const std::vector<HostSymbol>& symbols) {
  const auto found = std::ranges::find(symbols, name, &HostSymbol::name);
  if (found == symbols.end())
    throw Error(cat("machine code calls '", escaped(name), "', which this library does not have"));
  return found->address;
}

void check_inside(const CodeImage& image, std::int64_t offset, std::int64_t bytes) {
  const auto size = static_cast<std::int64_t>(image.bytes.size());
  if (offset < 0 || offset > size - bytes)
    throw Error(cat("machine code of ", size, " bytes has something at its byte ", offset));
}

}  // namespace

std::string packed(const CodeImage& image) {
  std::string text;
  append_number(text, static_cast<std::uint64_t>(image.entry));
  append_number(text, image.imports.size());
  for (const CodeImage::Import& import : image.imports) {
    append_number(text, static_cast<std::uint64_t>(import.offset));
    append_number(text, import.name.size());
    text += import.name;
  }
  return text + image.bytes;
}

CodeImage unpacked(std::string_view text) {
  ByteReader reader(text);
  CodeImage image;
  image.entry = static_cast<std::int64_t>(reader.number());
  for (std::uint64_t left = reader.number(); left > 0 && reader.good(); --left) {
    const auto offset = static_cast<std::int64_t>(reader.number());
    image.imports.push_back({offset, std::string(reader.take(reader.number()))});
  }
  if (!reader.good() || reader.at_end())
    throw Error(cat("machine code is cut off: ", text.size(), " bytes are not all of it"));
  image.bytes = reader.rest();
  return image;
}

void LoadedCode::Unmap::operator()(void* memory) const { munmap(memory, bytes); }

LoadedCode::LoadedCode(const CodeImage& image, const std::vector<HostSymbol>& symbols)
    : memory_(nullptr, Unmap{image.bytes.size()}) {
  check_inside(image, image.entry, 1);
  const std::size_t size = image.bytes.size();
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Error(cat("there is no memory for ", size, " bytes of machine code"));
  memory_.reset(memory);
  std::memcpy(memory, image.bytes.data(), size);
  for (const CodeImage::Import& import : image.imports) {
    check_inside(image, import.offset, WORD);
    void* const address = address_of(import.name, symbols);
    std::memcpy(static_cast<char*>(memory) + import.offset, &address, WORD);
  }
  if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0)
    throw Error("the system does not let machine code that was loaded be executed");
  entry_ = static_cast<char*>(memory) + image.entry;
}

}  // namespace twinloom::jit
