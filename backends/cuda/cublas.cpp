// See cublas.h.
#include "backends/cuda/cublas.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include "backends/cuda/gpu.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace twinloom::cuda {

namespace {

namespace fs = std::filesystem;
constexpr const char* VARIABLE = "TWINLOOM_CUBLAS";
constexpr std::size_t OLDEST = 120000;  // 12.0, as it counts

std::string refusal(const SharedLibrary& library) {
  const auto version = reinterpret_cast<std::size_t (*)()>(library.find("cublasLtGetVersion"));
  if (version != nullptr && version() < OLDEST) return cat("is version ", version());
#define TWINLOOM_ROW(name, result, parameters) "cublasLt" #name,
  return library.without({TWINLOOM_CUBLAS_FUNCTIONS(TWINLOOM_ROW)});
#undef TWINLOOM_ROW
}

bool find_file() {
  const LibraryPlaces places = cublas_places();
  std::vector<std::string> directories = places.directories;
  // Where the loader looks too.
  for (const char* system : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"})
    directories.emplace_back(system);
  return std::ranges::any_of(places.names, [&](const std::string& name) {
    std::error_code ignored;
    return std::ranges::any_of(
        directories, [&](const std::string& one) { return fs::exists(fs::path(one) / name, ignored); });
  });
}

}  // namespace

LibraryPlaces cublas_places() {
  std::vector<std::string> names = {"libcublasLt.so.13", "libcublasLt.so.12"};
  const std::string given = environment(VARIABLE);
  if (given.empty()) return {names};
  if (given == "0") return {{}, {}};
  std::error_code ignored;
  if (!fs::is_directory(given, ignored)) return {{given}, {}};
  for (std::string& name : names) name = (fs::path(given) / name).string();
  return {names, {}};
}

bool has_cublas() {
  static const bool found = find_file();
  return found;
}

Library open_cublas(const LibraryPlaces& places) {
  return Library(cat("cuBLASLt of CUDA 12.0 or newer (", VARIABLE, "=0 leaves it out)"), places, refusal);
}

namespace cublas {

namespace {

Functions open() {
  const Library library = open_cublas(cublas_places());
  Functions functions;
#define TWINLOOM_ROW(name, result, parameters) \
  functions.name = library.function<result parameters>("cublasLt" #name);
  TWINLOOM_CUBLAS_FUNCTIONS(TWINLOOM_ROW)
#undef TWINLOOM_ROW
  return functions;
}

}  // namespace

void Functions::check(Status status, const char* what) const {
  if (status != 0) throw Error(cat("cuBLASLt: ", what, ": ", GetStatusString(status)));
}

const Functions& functions() {
  static const Functions opened = open();
  return opened;
}

// Kept until the process ends, as the library is.
Handle handle_of(const Gpu& gpu) {
  static std::mutex mutex;
  static std::map<int, Handle> handles;
  const std::lock_guard lock(mutex);
  Handle& handle = handles[gpu.device()];
  if (handle == nullptr) functions().check(functions().Create(&handle), "its start");
  return handle;
}

Owned new_product() {
  Handle made = nullptr;
  functions().check(functions().MatmulDescCreate(&made, SUMS_OF_F32, F32), "a product");
  return {made, functions().MatmulDescDestroy};
}

Owned new_matrix(int type, std::int64_t rows, std::int64_t columns, std::int64_t column_step) {
  Handle made = nullptr;
  functions().check(functions().MatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(rows),
                                                   static_cast<std::uint64_t>(columns), column_step),
                    "a matrix");
  return {made, functions().MatrixLayoutDestroy};
}

Owned new_preference() {
  Handle made = nullptr;
  functions().check(functions().MatmulPreferenceCreate(&made), "a preference");
  return {made, functions().MatmulPreferenceDestroy};
}

}  // namespace cublas
}  // namespace twinloom::cuda
