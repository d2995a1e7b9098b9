// Files that others write, perhaps at this moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace twinloom {

// All bytes of the file; Error naming it where it cannot be read or holds more than `most`.
std::string read_bytes(const std::filesystem::path& file, std::int64_t most);
// The same; nothing where there is no such file.
std::optional<std::string> read_if_there(const std::filesystem::path& file, std::int64_t most);

// In place of a file of that name: whoever reads it meanwhile finds the one or the other, whole. Error naming
// it where it cannot be written.
void write_whole(const std::filesystem::path& file, std::string_view bytes);

}  // namespace twinloom
