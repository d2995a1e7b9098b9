// The folder of the cache: where it is, and that only its owner can change it.
//   TWINLOOM_CACHE_DIR, else XDG_CACHE_HOME/twinloom, else HOME/.cache/twinloom, else nowhere
// It is opened component by component. None may be a symbolic link, belong to anybody but this user or root,
// or be writable by others (unless it is sticky, as /tmp is); the last one must be this user's alone.
#pragma once

#include <string>
#include <utility>

namespace twinloom::object_cache {

// A file or folder that is open; closed at the end.
class File {
 public:
  explicit File(int descriptor = -1) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File();
  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

// "'/a/b': No space left on device", of an error number of the system.
std::string trouble_words(const std::string& what, int number);

struct Place {
  std::string base;   // absolute, must exist; empty: there is no place
  std::string below;  // in `base`; is made where it is missing, for this user alone
  std::string path() const { return base.empty() ? base : base + (base.ends_with('/') ? "" : "/") + below; }
};

struct FoundPlace {
  Place place;
  std::string trouble;  // why there is none
};
FoundPlace place_from_environment();

enum class Missing { leave, make };
struct OpenedFolder {
  File file;            // not open where the folder is missing or must not be used
  std::string trouble;  // why it must not be used
};
OpenedFolder open_folder(const Place& place, Missing missing);

}  // namespace twinloom::object_cache
