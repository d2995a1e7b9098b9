// Small texts that people may read, kept in the cache's folder beside the objects, each under a name of its
// own. The limit of the objects does not count them, and clear() leaves them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/object_cache/folder.h"

namespace twinloom::object_cache {

struct FoundText {
  std::optional<std::string> text;  // nothing where there is none, or file or folder must not be used
  std::string trouble;              // why the file must not be; of the folder ObjectCache::warning() speaks
};
FoundText read_text(const Place& place, const std::string& name);

// In place of an earlier one; readers see one or the other, or none. Empty, or in words why it failed.
std::string write_text(const Place& place, const std::string& name, std::string_view text);

// Whether there was one.
bool remove_text(const Place& place, const std::string& name);

}  // namespace twinloom::object_cache
