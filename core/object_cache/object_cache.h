// Compiled objects on disk, shared by the processes and threads of one user.
//   const ObjectCache cache(options_from_environment());
//   const Key key = {{"kernel", "softmax_1"}, {"target", "cpu avx2"}, {"source", text}};
//   if (auto bytes = cache.find(key)) return *bytes;
//   cache.store(key, compile(text));
// What find() gives was stored under the same key, byte for byte: a file that is damaged, cut off, foreign or
// exchanged is a miss and is removed. Trouble with the disk never throws: it turns the cache off, or only its
// writing, and warning() says why. Nothing is written before the first store().
// Who runs as the same user may plant entries; the checksum is no signature.
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/object_cache/files.h"
#include "core/object_cache/folder.h"
#include "core/object_cache/key.h"

namespace twinloom::object_cache {

inline constexpr std::int64_t default_most_bytes = std::int64_t{1} << 30;

struct Options {
  Place place;                                   // no place: the cache is off
  std::int64_t most_bytes = default_most_bytes;  // of all entries together; 0: the cache is off
  std::string trouble;                           // that was met on the way here: the first warning
  Temporary temporary = Temporary::unnamed;      // how files are written
  int name_digits = 32;                          // of the hash in a file's name; fewer make names meet
};

// The folder that folder.h names, and TWINLOOM_CACHE_BYTES.
Options options_from_environment();

struct Entry {
  Key key;
  std::int64_t file_bytes = 0, payload_bytes = 0;
  std::int64_t stored_seconds = 0;  // since the epoch
};

struct Cleared {
  std::int64_t entries = 0, bytes = 0;
};

class ObjectCache {
 public:
  explicit ObjectCache(Options options);
  ~ObjectCache();

  std::optional<std::string> find(const Key& key) const;

  // Keeps the payload, unless one is kept under this key or it is too large. Older entries may go for it.
  // Processes that store at once may together pass the limit by a sixteenth of it each.
  void store(const Key& key, std::string_view payload) const;

  void remove(const Key& key) const;

  // All that are whole, last stored first.
  std::vector<Entry> entries() const;

  // Removes all entries, the damaged ones too. Files of other names stay.
  Cleared clear() const;

  // The first trouble there was; empty where there was none.
  std::string warning() const;

  // The folder; empty where the cache is off from the start.
  std::string folder() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// In words, what keeps the key from being found among the entries: how it differs from the one that differs
// least, of those with the same kernel's name. Empty where one has the very key.
std::string why_miss(const Key& asked, const std::vector<Entry>& entries);

}  // namespace twinloom::object_cache
