// See texts.h.
#include "core/object_cache/texts.h"

#include "core/base/text.h"
#include "core/object_cache/files.h"

namespace twinloom::object_cache {

namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 20;

}  // namespace

FoundText read_text(const Place& place, const std::string& name) {
  if (place.base.empty()) return {};
  const OpenedFolder folder = open_folder(place, Missing::leave);
  if (!folder.file.is_open()) return {};
  auto file = read_file(folder.file.descriptor(), name, most_bytes, Reading::look);
  if (!file) return {};
  if (file->sound) return {std::move(file->bytes), {}};
  return {std::nullopt, cat("'", escaped(cat(place.path(), "/", name)),
                            "' is no file that only this user can write, of at most ", most_bytes, " bytes")};
}

std::string write_text(const Place& place, const std::string& name, std::string_view text) {
  const OpenedFolder folder = open_folder(place, Missing::make);
  if (!folder.file.is_open()) return folder.trouble;
  // A named temporary takes the place of an earlier file, one without a name does not.
  const std::string trouble = write_file(folder.file.descriptor(), name, text, Temporary::named);
  return trouble.empty() ? trouble : cat(escaped(place.path()), ": ", trouble);
}

bool remove_text(const Place& place, const std::string& name) {
  if (place.base.empty()) return false;
  const OpenedFolder folder = open_folder(place, Missing::leave);
  if (!folder.file.is_open()) return false;
  const auto file = read_file(folder.file.descriptor(), name, most_bytes, Reading::look);
  if (!file) return false;
  remove_same(folder.file.descriptor(), name, file->status);
  return true;
}

}  // namespace twinloom::object_cache
