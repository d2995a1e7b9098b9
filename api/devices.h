// Where a graph runs. A Device is a handle on a back end that was built; copying it is cheap.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/backend.h"

namespace twinloom {

struct CpuOptions {
  std::string isa = {};  // "avx2" or "avx512"; empty: the best that this processor has
  // Machine code is kept on disk for later processes and found there: in TWINLOOM_CACHE_DIR, else
  // XDG_CACHE_HOME/twinloom, else HOME/.cache/twinloom; at most TWINLOOM_CACHE_BYTES (1 GiB, 0: none).
  // Trouble with it is no error: backend().warning() says what is wrong. False: every kernel is compiled.
  bool cache = true;
};

class Device {
 public:
  // Error where the processor lacks what is asked for.
  static Device cpu(const CpuOptions& options = {});
  // Interprets, slowly and obviously; the oracle.
  static Device reference();
  // "cpu" or "reference".
  static Device named(std::string_view name, const CpuOptions& options = {});

  const runtime::Backend& backend() const { return *backend_; }
  std::shared_ptr<const runtime::Backend> share() const { return backend_; }

 private:
  explicit Device(std::shared_ptr<const runtime::Backend> backend) : backend_(std::move(backend)) {}
  std::shared_ptr<const runtime::Backend> backend_;
};

// Those that can be used here, the best first.
std::vector<Device> devices();

}  // namespace twinloom
