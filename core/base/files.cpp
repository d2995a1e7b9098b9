// See files.h.
#include "core/base/files.h"

#include <algorithm>
#include <fstream>

#include "core/base/error.h"

namespace twinloom {

// In pieces: a pipe and a device do not say how much they hold.
std::string read_bytes(const std::filesystem::path& file, std::int64_t most) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file))
    throw Error(cat("cannot read '", escaped(file.string()), "'"));
  std::string bytes;
  constexpr std::size_t piece = 1 << 20;
  while (stream) {
    const std::size_t have = bytes.size();
    bytes.resize(have + piece);
    stream.read(bytes.data() + have, piece);
    bytes.resize(have + static_cast<std::size_t>(stream.gcount()));
    if (static_cast<std::int64_t>(bytes.size()) > most)
      throw Error(cat("'", escaped(file.string()), "' holds more than ", most, " bytes"));
  }
  return bytes;
}

}  // namespace twinloom
