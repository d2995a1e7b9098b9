// See driver.h.
#include "backends/cuda/driver.h"

#include <memory>
#include <mutex>

#include "core/base/text.h"

namespace twinloom::cuda {

namespace {

// The name after cuda.h has put the version in: cuMemAlloc is cuMemAlloc_v2.
#define TWINLOOM_TEXT(name) #name
#define TWINLOOM_SYMBOL(name) TWINLOOM_TEXT(name)

constexpr int LEAST_VERSION = 12000;  // CUDA 12.0, as the driver counts

}  // namespace

Driver::Driver() {
  const Library library("the NVIDIA driver", {"libcuda.so.1", "libcuda.so"});
#define TWINLOOM_ROW(name) this->name = library.function<decltype(::name)>(TWINLOOM_SYMBOL(name));
  TWINLOOM_DRIVER_FUNCTIONS(TWINLOOM_ROW)
#undef TWINLOOM_ROW
  check(this->cuInit(0), "the NVIDIA driver does not start");
  int version = 0;
  check(this->cuDriverGetVersion(&version), "the NVIDIA driver has no version");
  if (version < LEAST_VERSION) {
    throw Error(cat("the NVIDIA driver in ", library.path(), " is for CUDA ", version / 1000, ".",
                    version % 1000 / 10, "; expected ", LEAST_VERSION / 1000, " or newer"));
  }
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
