// See files.h.
#include "core/base/files.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
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

std::optional<std::string> read_if_there(const std::filesystem::path& file, std::int64_t most) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  return read_bytes(file, most);
}

void write_whole(const std::filesystem::path& file, std::string_view bytes) {
  static std::atomic<int> number = 0;
  const auto cannot = [&](const std::error_code& problem) {
    return Error(cat("cannot write '", escaped(file.string()), "': ", problem.message()));
  };
  std::filesystem::path temporary = file;
  temporary += cat(".", getpid(), ".", ++number, ".tmp");
  errno = 0;
  std::ofstream stream(temporary, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  std::error_code problem;
  if (stream)
    std::filesystem::rename(temporary, file, problem);
  else
    problem = {errno != 0 ? errno : EIO, std::generic_category()};
  if (!problem) return;
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  throw cannot(problem);
}

}  // namespace twinloom
