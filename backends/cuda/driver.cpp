// See driver.h.
#include "backends/cuda/driver.h"

#include <memory>
#include <mutex>
#include <string_view>

#include "core/base/text.h"

namespace twinloom::cuda {

namespace {

constexpr int LEAST_VERSION = 12000;  // CUDA 12.0, as the driver counts

std::string spelled(int version) { return cat(version / 1000, ".", version % 1000 / 10); }

// A function is called by the header's declaration, so the header's version of it has to be that of the
// symbol, or take the same: cuEventElapsedTime_v2 of CUDA 12.8 does.
constexpr bool agree(std::string_view in_header, std::string_view symbol) {
  return in_header == symbol || in_header == "cuEventElapsedTime_v2";
}
#define TWINLOOM_TEXT(name) #name
#define TWINLOOM_IN_HEADER(name) TWINLOOM_TEXT(name)
#define TWINLOOM_ROW(name, symbol) static_assert(agree(TWINLOOM_IN_HEADER(name), symbol));
TWINLOOM_DRIVER_FUNCTIONS(TWINLOOM_ROW)
#undef TWINLOOM_ROW

std::string refusal(const SharedLibrary& library) {
  int version = LEAST_VERSION;
  const auto version_of =
      reinterpret_cast<decltype(&::cuDriverGetVersion)>(library.find("cuDriverGetVersion"));
  if (version_of != nullptr) version_of(&version);
  if (version < LEAST_VERSION) return cat("is for CUDA ", spelled(version));
#define TWINLOOM_ROW(name, symbol) symbol,
  return library.without({TWINLOOM_DRIVER_FUNCTIONS(TWINLOOM_ROW)});
#undef TWINLOOM_ROW
}

}  // namespace

Library open_driver(const LibraryPlaces& places) {
  return Library(cat("the NVIDIA driver (for CUDA ", spelled(LEAST_VERSION), " or newer)"), places, refusal);
}

Driver::Driver() {
  const Library library = open_driver({{"libcuda.so.1", "libcuda.so"}});
#define TWINLOOM_ROW(name, symbol) this->name = library.function<decltype(::name)>(symbol);
  TWINLOOM_DRIVER_FUNCTIONS(TWINLOOM_ROW)
#undef TWINLOOM_ROW
  check(this->cuInit(0), "the NVIDIA driver does not start");
}

// A failure is kept too: the search is not made again.
const Driver& Driver::get() {
  static std::once_flag once;
  static std::unique_ptr<const Driver> driver;
  static std::string failure;
  std::call_once(once, [] {
    try {
      driver.reset(new Driver());
    } catch (const Error& error) {
      failure = error.what();
    }
  });
  if (driver == nullptr) throw Error(failure);
  driver->owner_.expect_this_process();
  return *driver;
}

std::string Driver::words(CUresult result) const {
  const char *name = nullptr, *words = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &words);
  return cat(name == nullptr ? "an unknown error" : name, ", ", words == nullptr ? "" : words);
}

void Driver::check(CUresult result, const std::string& what) const {
  if (result != CUDA_SUCCESS) throw Error(cat(what, ": ", words(result)));
}

}  // namespace twinloom::cuda
