// The files of one folder, which other processes may change at any moment. A file appears under its name at
// once and whole, or not at all; a process that is killed while it writes leaves nothing that stays.
// `folder` is an open descriptor.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace twinloom::object_cache {

struct ReadFile {
  std::string bytes;
  struct stat status;
  bool sound;  // false: no regular file of this user alone, too large, or it became shorter meanwhile
};

enum class Reading {
  use,   // counts as used now
  look,  // does not
};
// Nothing where there is no such file, or it cannot be read at the moment. Files over `most_bytes` are too
// large.
std::optional<ReadFile> read_file(int folder, const std::string& name, std::int64_t most_bytes,
                                  Reading reading);

// Removes what bears the name, unless it is no longer the file of `status`.
void remove_same(int folder, const std::string& name, const struct stat& status);

enum class Temporary {
  unnamed,  // O_TMPFILE: nobody sees it; where the file system has none, as `named`
  named,    // locked while it is written, so that others know whether somebody still writes
};
// Writes a file, unless one of the name is there. Empty, or in words why it failed.
std::string write_file(int folder, const std::string& name, std::string_view bytes, Temporary way);

struct Listed {
  std::string name;
  std::int64_t bytes, written, used;  // the last two in nanoseconds since the epoch
};
// The files whose names `is_ours` accepts, in no order. Temporaries that nobody writes any more are removed.
std::vector<Listed> list_files(int folder, const std::function<bool(std::string_view)>& is_ours);

// Removes the least recently used of the files until they have at most `most_bytes`; gives the bytes that are
// left. -1: all go. Files that others removed meanwhile do not matter.
std::int64_t remove_least_used(int folder, std::vector<Listed> files, std::int64_t most_bytes);

}  // namespace twinloom::object_cache
