// See shared_library.h.
#include "core/base/shared_library.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <system_error>

#include "core/base/text.h"

namespace twinloom {

namespace {

// What the loader says begins with the path again.
std::string without_prefix(std::string words, const std::string& path) {
  const std::string prefix = path + ": ";
  return words.starts_with(prefix) ? words.substr(prefix.size()) : words;
}

}  // namespace

SharedLibrary::SharedLibrary(std::string what, const std::vector<std::string>& paths, const Refusal& refusal,
                             const Before& before)
    : what_(std::move(what)) {
  for (const std::string& path : paths)
    if (take(path, refusal, before)) return;
  throw Error(cat(what_, " was not found; looked for:\n",
                  join(searched_, "\n", [](const std::string& place) { return cat("  ", place); })));
}

// One that is refused stays open: it may have started threads.
bool SharedLibrary::take(const std::string& path, const Refusal& refusal, const Before& before) {
  if (!open(path, before)) return false;
  const std::string reason = refusal ? refusal(*this) : std::string();
  if (reason.empty()) return true;
  searched_.push_back(path == path_ ? cat(path, " (", reason, ")")
                                    : cat(path, " (", path_, " ", reason, ")"));
  return false;
}

// A file that is not there needs no words of the loader; one that does not open says why.
bool SharedLibrary::open(const std::string& path, const Before& before) {
  const bool by_name = path.find('/') == std::string::npos;
  std::error_code ignored;
  if (!by_name && !std::filesystem::exists(path, ignored)) {
    searched_.push_back(path);
    return false;
  }
  if (!by_name && before) before(path);
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) {
    link_map* map = nullptr;
    path_ = dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : path;
    return true;
  }
  const char* words = dlerror();
  const std::string reason = words == nullptr ? "does not open" : without_prefix(words, path);
  searched_.push_back(by_name ? cat(path, " (the loader's own search)") : cat(path, " (", reason, ")"));
  return false;
}

void* SharedLibrary::find(const char* name) const { return dlsym(handle_, name); }

std::string SharedLibrary::without(const std::vector<const char*>& names) const {
  std::vector<const char*> missing;
  for (const char* name : names)
    if (find(name) == nullptr) missing.push_back(name);
  if (missing.empty()) return {};
  return cat("has no function ", join(missing, ", ", [](const char* name) { return cat("'", name, "'"); }));
}

void* SharedLibrary::address(const char* name) const {
  void* found = find(name);
  if (found == nullptr) throw Error(cat(what_, ": ", path_, " has no function '", name, "'"));
  return found;
}

}  // namespace twinloom
