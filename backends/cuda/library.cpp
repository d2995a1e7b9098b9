// See library.h.
#include "backends/cuda/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace twinloom::cuda {

namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// The sub-directories whose names begin with `prefix`, the greatest name first.
std::vector<fs::path> children(const fs::path& directory, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator each(directory, ignored), end; !ignored && each != end; each.increment(ignored))
    if (each->path().filename().string().starts_with(prefix)) found.push_back(each->path());
  std::sort(found.rbegin(), found.rend());
  return found;
}

struct Directories {
  std::vector<std::string> all;

  void add(const fs::path& directory) {
    if (std::find(all.begin(), all.end(), directory.string()) == all.end()) all.push_back(directory.string());
  }
  void add_existing(const fs::path& directory) {
    std::error_code ignored;
    if (fs::is_directory(directory, ignored)) add(directory);
  }
  void add_toolkit(const fs::path& root) {
    for (const char* below : {"lib64", "lib", "targets/x86_64-linux/lib"}) add_existing(root / below);
  }
  // nvidia/cuda_nvrtc/lib, and nvidia/cu13/lib of newer wheels.
  void add_wheels(const fs::path& packages) {
    for (const fs::path& wheel : children(packages / "nvidia", "")) add_existing(wheel / "lib");
  }
  void add_python(const fs::path& prefix) {
    for (const char* lib : {"lib", "lib64", "local/lib"})
      for (const fs::path& python : children(prefix / lib, "python3"))
        for (const char* packages : {"site-packages", "dist-packages"}) add_wheels(python / packages);
  }
  // Where tools/install_packages puts wheels.
  void add_cached(const fs::path& cache) {
    for (const fs::path& packages : children(cache, "twinloom-cuda-")) add_wheels(packages);
  }
};

void add_listed(Directories& directories, std::string_view list) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    if (end != 0) directories.add(fs::path(list.substr(0, end)));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

// NVRTC asks the loader for its builtins by their name alone: those that lie beside it are found only where
// they are open already.
void open_builtins_of(const fs::path& library) {
  const std::string name = library.filename().string();
  const std::string start = name.substr(0, name.find(".so")) + "-builtins.so";
  std::error_code ignored;
  for (const fs::directory_entry& file : fs::directory_iterator(library.parent_path(), ignored))
    if (file.path().filename().string().starts_with(start))
      dlopen(file.path().c_str(), RTLD_LAZY | RTLD_LOCAL);
}

// What the loader says begins with the path again.
std::string without_prefix(std::string words, const std::string& path) {
  const std::string prefix = path + ": ";
  return words.starts_with(prefix) ? words.substr(prefix.size()) : words;
}

}  // namespace

std::vector<std::string> library_directories() {
  Directories directories;
  add_listed(directories, environment("TWINLOOM_CUDA_PATH"));
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    const std::string root = environment(variable);
    if (root.empty()) continue;
    directories.add(fs::path(root) / "lib64");
    directories.add_toolkit(root);
  }
  for (const fs::path& root : children("/usr/local", "cuda")) directories.add_toolkit(root);
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string prefix = environment(variable);
    if (!prefix.empty()) directories.add_python(prefix);
  }
  const std::string home = environment("HOME"), cache = environment("XDG_CACHE_HOME");
  if (!home.empty()) directories.add_python(fs::path(home) / ".local");
  for (const char* prefix : {"/usr/local", "/usr", "/opt/conda"}) directories.add_python(prefix);
  if (!cache.empty())
    directories.add_cached(cache);
  else if (!home.empty())
    directories.add_cached(fs::path(home) / ".cache");
  return directories.all;
}

Library::Library(std::string what, const LibraryPlaces& places, const Refusal& refusal)
    : what_(std::move(what)) {
  for (const std::string& name : places.names)
    if (take(name, refusal)) return;
  for (const std::string& directory : places.directories)
    for (const std::string& name : places.names)
      if (take((fs::path(directory) / name).string(), refusal)) return;
  throw Error(cat(what_, " was not found; looked for:\n",
                  join(searched_, "\n", [](const std::string& place) { return cat("  ", place); })));
}

// One that is refused stays open: it may have started threads.
bool Library::take(const std::string& path, const Refusal& refusal) {
  if (!open(path)) return false;
  const std::string reason = refusal ? refusal(*this) : std::string();
  if (reason.empty()) return true;
  searched_.push_back(path == path_ ? cat(path, " (", reason, ")")
                                    : cat(path, " (", path_, " ", reason, ")"));
  return false;
}

// A file that is not there needs no words of the loader; one that does not open says why.
bool Library::open(const std::string& path) {
  const bool by_name = path.find('/') == std::string::npos;
  std::error_code ignored;
  if (!by_name && !fs::exists(path, ignored)) {
    searched_.push_back(path);
    return false;
  }
  if (!by_name) open_builtins_of(path);
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

void* Library::find(const char* name) const { return dlsym(handle_, name); }

std::string Library::without(const std::vector<const char*>& names) const {
  std::vector<const char*> missing;
  for (const char* name : names)
    if (find(name) == nullptr) missing.push_back(name);
  if (missing.empty()) return {};
  return cat("has no function ", join(missing, ", ", [](const char* name) { return cat("'", name, "'"); }));
}

void* Library::address(const char* name) const {
  void* found = find(name);
  if (found == nullptr) throw Error(cat(what_, ": ", path_, " has no function '", name, "'"));
  return found;
}

}  // namespace twinloom::cuda
