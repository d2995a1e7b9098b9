// Files that somebody else wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace twinloom {

// All bytes of the file; Error naming it where it cannot be read or holds more than `most`.
std::string read_bytes(const std::filesystem::path& file, std::int64_t most);

}  // namespace twinloom
