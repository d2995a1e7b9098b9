// See object_cache.h.
#include "core/object_cache/object_cache.h"

#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/object_cache/entry.h"

namespace twinloom::object_cache {

namespace {

// A kernel has some kilobytes; what is larger than this is not worth its place.
constexpr std::int64_t largest_file = std::int64_t{64} << 20;
constexpr std::int64_t second = 1'000'000'000;
// Entries go until this share of the limit is free, so that they do not go one by one.
constexpr std::int64_t slack = 8;
// Others write too: after this share of the limit the folder is read again.
constexpr std::int64_t recount_share = 16;

constexpr const char* off_words = "compiled kernels are not kept on disk: ";

// "cache: k0_exp (cpu avx2): hit"
template <class Words>
void log_of(const Key& key, const Words& words) {
  logging::event(Log::cache, [&] {
    return cat(escaped(subject_of(key)), " (", escaped(text_of(key, target_field)), "): ", words());
  });
}

std::optional<std::int64_t> bytes_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

Options options_from_environment() {
  FoundPlace found = place_from_environment();
  Options options;
  options.place = std::move(found.place);
  if (!found.trouble.empty()) options.trouble = cat(off_words, found.trouble);
  const char* given = secure_getenv("TWINLOOM_CACHE_BYTES");
  if (given == nullptr || *given == '\0') return options;
  if (const auto bytes = bytes_in(given))
    options.most_bytes = *bytes;
  else
    options.trouble = cat("TWINLOOM_CACHE_BYTES is '", escaped(given), "'; expected a number of bytes");
  return options;
}

struct ObjectCache::State {
  Options options;
  std::atomic<bool> off = false, writing_off = false;
  std::mutex mutex;  // guards what follows
  std::string warning;
  std::int64_t bytes_in_folder = -1, bytes_since_count = 0;

  explicit State(Options given)
      : options(std::move(given)),
        off(options.place.base.empty() || options.most_bytes == 0),
        warning(options.most_bytes == 0 ? std::string() : options.trouble) {}

  void warn(const std::string& trouble) {
    logging::event(Log::cache, [&] { return cat("trouble: ", trouble); });
    const std::lock_guard lock(mutex);
    if (warning.empty()) warning = trouble;
  }

  // Not open where there is no folder or it must not be used.
  File folder(Missing missing) {
    if (off) return File();
    OpenedFolder opened = open_folder(options.place, missing);
    if (!opened.trouble.empty()) {
      off = true;
      warn(cat(off_words, opened.trouble));
    }
    return std::move(opened.file);
  }

  std::string name_of(const Key& key) const { return file_name(key, options.name_digits); }

  std::vector<Listed> files(int descriptor) const {
    return list_files(descriptor,
                      [this](std::string_view name) { return is_file_name(name, options.name_digits); });
  }

  // The content of a file that is what its name says; anything else is removed.
  std::optional<Content> read(int descriptor, const std::string& name, Reading reading) const {
    const auto file = read_file(descriptor, name, largest_file, reading);
    if (!file) return std::nullopt;
    auto content = file->sound ? unpack(file->bytes) : std::nullopt;
    if (content && name_of(content->key) == name) return content;
    remove_same(descriptor, name, file->status);
    return std::nullopt;
  }

  void keep_within_limit(int descriptor, std::int64_t added) {
    const std::lock_guard lock(mutex);
    bytes_since_count += added;
    const bool known = bytes_in_folder >= 0 && bytes_since_count <= options.most_bytes / recount_share;
    if (known && bytes_in_folder + bytes_since_count <= options.most_bytes) return;
    std::vector<Listed> present = files(descriptor);
    std::int64_t bytes = 0;
    for (const Listed& file : present) bytes += file.bytes;
    if (bytes > options.most_bytes)
      bytes =
          remove_least_used(descriptor, std::move(present), options.most_bytes - options.most_bytes / slack);
    bytes_in_folder = bytes;
    bytes_since_count = 0;
  }
};

ObjectCache::ObjectCache(Options options) {
  CHECK(options.name_digits > 0 && options.name_digits <= 32, options.name_digits, " digits of a hash of 32");
  state_ = std::make_unique<State>(std::move(options));
  if (!state_->warning.empty()) logging::event(Log::cache, [&] { return cat("trouble: ", state_->warning); });
}
ObjectCache::~ObjectCache() = default;

std::optional<std::string> ObjectCache::find(const Key& key) const {
  const File folder = state_->folder(Missing::leave);
  if (!folder.is_open()) {
    log_of(key, [&] { return state_->off ? "miss: the cache is off" : "miss: there is no folder yet"; });
    return std::nullopt;
  }
  auto content = state_->read(folder.descriptor(), state_->name_of(key), Reading::use);
  if (!content || content->key != key) {
    log_of(key, [&] { return cat("miss: ", why_miss(key, entries())); });
    return std::nullopt;
  }
  log_of(key, [] { return "hit"; });
  return std::move(content->payload);
}

void ObjectCache::store(const Key& key, std::string_view payload) const {
  if (state_->writing_off) return;
  const File folder = state_->folder(Missing::make);
  if (!folder.is_open()) return;
  const std::string bytes = pack(key, payload);
  const auto count = static_cast<std::int64_t>(bytes.size());
  if (count > std::min(largest_file, state_->options.most_bytes)) return;
  const std::string trouble =
      write_file(folder.descriptor(), state_->name_of(key), bytes, state_->options.temporary);
  if (!trouble.empty()) {
    state_->writing_off = true;
    state_->warn(cat("compiled kernels are no longer kept on disk: ", escaped(state_->options.place.path()),
                     ": ", trouble));
    return;
  }
  log_of(key, [&] { return cat("stored, ", count, " bytes"); });
  state_->keep_within_limit(folder.descriptor(), count);
}

void ObjectCache::remove(const Key& key) const {
  const File folder = state_->folder(Missing::leave);
  if (!folder.is_open()) return;
  const std::string name = state_->name_of(key);
  const auto file = read_file(folder.descriptor(), name, largest_file, Reading::look);
  if (file) remove_same(folder.descriptor(), name, file->status);
}

std::vector<Entry> ObjectCache::entries() const {
  std::vector<Entry> entries;
  const File folder = state_->folder(Missing::leave);
  if (!folder.is_open()) return entries;
  for (const Listed& file : state_->files(folder.descriptor())) {
    auto content = state_->read(folder.descriptor(), file.name, Reading::look);
    if (!content || !text_of(content->key, shortcut_field).empty()) continue;
    entries.push_back({std::move(content->key), file.bytes,
                       static_cast<std::int64_t>(content->payload.size()), file.written / second});
  }
  std::ranges::sort(entries, std::greater(), &Entry::stored_seconds);
  return entries;
}

Cleared ObjectCache::clear() const {
  Cleared cleared;
  const File folder = state_->folder(Missing::leave);
  if (!folder.is_open()) return cleared;
  std::vector<Listed> present = state_->files(folder.descriptor());
  for (const Listed& file : present) {
    const auto content = state_->read(folder.descriptor(), file.name, Reading::look);
    if (!content || text_of(content->key, shortcut_field).empty()) ++cleared.entries;
    cleared.bytes += file.bytes;
  }
  remove_least_used(folder.descriptor(), std::move(present), /*most_bytes=*/-1);
  return cleared;
}

std::string ObjectCache::warning() const {
  const std::lock_guard lock(state_->mutex);
  return state_->warning;
}

std::string ObjectCache::folder() const {
  return state_->options.most_bytes == 0 ? std::string() : state_->options.place.path();
}

std::string why_miss(const Key& asked, const std::vector<Entry>& entries) {
  const Entry* nearest = nullptr;
  for (const Entry& entry : entries) {
    if (subject_of(entry.key) != subject_of(asked)) continue;
    if (entry.key == asked) return {};
    if (nearest == nullptr || count_differences(asked, entry.key) < count_differences(asked, nearest->key))
      nearest = &entry;
  }
  if (nearest == nullptr)
    return cat("no entry is of a ", text_of(asked, kernel_field).empty() ? "graph" : "kernel",
               " of this name");
  return describe_differences(asked, nearest->key);
}

}  // namespace twinloom::object_cache
