// See library.h.
#include "backends/cuda/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/base/environment.h"

namespace twinloom::cuda {

namespace {

namespace fs = std::filesystem;

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
void open_builtins_of(const std::string& path) {
  const fs::path library = path;
  const std::string name = library.filename().string();
  const std::string start = name.substr(0, name.find(".so")) + "-builtins.so";
  std::error_code ignored;
  for (const fs::directory_entry& file : fs::directory_iterator(library.parent_path(), ignored))
    if (file.path().filename().string().starts_with(start))
      dlopen(file.path().c_str(), RTLD_LAZY | RTLD_LOCAL);
}

// The names as they are, then in each directory.
std::vector<std::string> paths_of(const LibraryPlaces& places) {
  std::vector<std::string> paths = places.names;
  for (const std::string& directory : places.directories)
    for (const std::string& name : places.names) paths.push_back((fs::path(directory) / name).string());
  return paths;
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
    : SharedLibrary(std::move(what), paths_of(places), refusal, open_builtins_of) {}

}  // namespace twinloom::cuda
