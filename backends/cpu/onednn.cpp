// See onednn.h.
#include "backends/cpu/onednn.h"

#include <filesystem>
#include <system_error>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/shared_library.h"
#include "core/base/text.h"

namespace twinloom::cpu {

namespace {

namespace fs = std::filesystem;
constexpr const char* FILE_NAME = "libdnnl.so.3";
constexpr const char* VARIABLE = "TWINLOOM_ONEDNN";

std::vector<fs::path> places() {
  std::vector<fs::path> found;
  const std::string home = environment("HOME"), cache = environment("XDG_CACHE_HOME");
  if (!cache.empty() || !home.empty())
    found.push_back((cache.empty() ? fs::path(home) / ".cache" : fs::path(cache)) / "twinloom-onednn-3");
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string prefix = environment(variable); !prefix.empty())
      found.push_back(fs::path(prefix) / "lib");
  if (!home.empty()) found.push_back(fs::path(home) / ".local/lib");
  for (const char* system : {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"})
    found.emplace_back(system);
  return found;
}

std::optional<std::string> find_file() {
  std::error_code ignored;
  if (const std::string given = environment(VARIABLE); !given.empty()) {
    if (given == "0") return std::nullopt;
    return (fs::is_directory(given, ignored) ? fs::path(given) / FILE_NAME : fs::path(given)).string();
  }
  for (const fs::path& place : places())
    if (fs::exists(place / FILE_NAME, ignored)) return (place / FILE_NAME).string();
  return std::nullopt;
}

}  // namespace

const std::optional<std::string>& onednn_path() {
  static const std::optional<std::string> path = find_file();
  return path;
}

namespace onednn {

namespace {

struct Version {
  int major, minor, patch;
  const char* hash;
  unsigned cpu_runtime, gpu_runtime;
};

std::string refusal(const SharedLibrary& library) {
  constexpr int MAJOR = 3;
  constexpr unsigned OPENMP = 2;
  const auto version = reinterpret_cast<const Version* (*)()>(library.find("dnnl_version"));
  if (version == nullptr) return "has no function 'dnnl_version'";
  if (version()->major != MAJOR) return cat("is version ", version()->major, ".", version()->minor);
  if (version()->cpu_runtime != OPENMP) return "has other threads than OpenMP's";
#define TWINLOOM_ROW(name, result, parameters) "dnnl_" #name,
  return library.without({TWINLOOM_ONEDNN_FUNCTIONS(TWINLOOM_ROW)});
#undef TWINLOOM_ROW
}

void set_scratchpad_by_caller(const Functions& functions, Handle attributes) {
  constexpr int BY_THE_CALLER = 1;
  check(functions.primitive_attr_set_scratchpad_mode(attributes, BY_THE_CALLER), "an attribute");
}

Functions open() {
  if (!onednn_path()) throw Error("oneDNN 3 was not found");
  const SharedLibrary library(cat("oneDNN 3 (", VARIABLE, "=0 leaves it out)"), {*onednn_path()}, refusal);
  Functions functions;
#define TWINLOOM_ROW(name, result, parameters) \
  functions.name = library.function<result parameters>("dnnl_" #name);
  TWINLOOM_ONEDNN_FUNCTIONS(TWINLOOM_ROW)
#undef TWINLOOM_ROW
  check(functions.engine_create(&functions.engine, CPU, 0), "an engine");
  check(functions.primitive_attr_create(&functions.attributes), "attributes");
  set_scratchpad_by_caller(functions, functions.attributes);
  return functions;
}

}  // namespace

const Functions& functions() {
  static const Functions opened = open();
  return opened;
}

void check(Status status, const char* what) {
  if (status != 0) throw Error(cat("oneDNN: ", what, " failed with status ", status));
}

Owned described(const std::vector<std::int64_t>& dims, int dtype, const std::vector<std::int64_t>& strides) {
  Handle made = nullptr;
  const int count = static_cast<int>(dims.size());
  check(functions().memory_desc_create_with_strides(&made, count, dims.data(), dtype, strides.data()),
        "a description of memory");
  return {made, functions().memory_desc_destroy};
}

Owned described_in_any_layout(const std::vector<std::int64_t>& dims, int dtype) {
  Handle made = nullptr;
  const int count = static_cast<int>(dims.size());
  check(functions().memory_desc_create_with_tag(&made, count, dims.data(), dtype, ANY_LAYOUT),
        "a description of memory");
  return {made, functions().memory_desc_destroy};
}

Owned memory_at(Handle description, void* address) {
  Handle made = nullptr;
  check(functions().memory_create(&made, description, functions().engine, address), "a memory");
  return {made, functions().memory_destroy};
}

Owned new_attributes() {
  Handle made = nullptr;
  check(functions().primitive_attr_create(&made), "attributes");
  Owned attributes(made, functions().primitive_attr_destroy);
  set_scratchpad_by_caller(functions(), made);
  return attributes;
}

Primitive primitive_of(Handle primitive_desc) {
  const Owned description(primitive_desc, functions().primitive_desc_destroy);
  Primitive made;
  Handle handle = nullptr;
  check(functions().primitive_create(&handle, primitive_desc), "a primitive");
  made.handle = Owned(handle, functions().primitive_destroy);
  check(functions().memory_desc_clone(
            &handle, functions().primitive_desc_query_md(primitive_desc, QUERY_SCRATCHPAD, 0)),
        "a description of memory");
  made.scratchpad = Owned(handle, functions().memory_desc_destroy);
  made.scratchpad_bytes = functions().memory_desc_get_size(handle);
  return made;
}

Primitive reorder_of(Handle from, Handle to) {
  Handle primitive_desc = nullptr;
  check(functions().reorder_primitive_desc_create(&primitive_desc, from, functions().engine, to,
                                                  functions().engine, functions().attributes),
        "a reorder");
  return primitive_of(primitive_desc);
}

}  // namespace onednn
}  // namespace twinloom::cpu
