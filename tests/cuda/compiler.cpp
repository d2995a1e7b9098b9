// See compiler.h.
#include "tests/cuda/compiler.h"

#include <optional>

namespace twinloom::cuda {

namespace {

struct Opened {
  std::optional<Nvrtc> nvrtc;
  std::string missing;

  Opened() {
    try {
      nvrtc.emplace();
    } catch (const Error& error) {
      missing = error.what();
    }
  }
};
const Opened& opened() {
  static const Opened once;
  return once;
}

}  // namespace

const std::string& nvrtc_missing() { return opened().missing; }
const Nvrtc& nvrtc() { return opened().nvrtc.value(); }

}  // namespace twinloom::cuda
