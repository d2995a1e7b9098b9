// See backend.h.
#include "core/runtime/backend.h"

#include "core/base/error.h"

namespace twinloom::runtime {

std::unique_ptr<const Kernel> Backend::load(const loops::Program&, const Code&) const {
  throw Error(cat("the device ", name(), " loads no machine code that was compiled elsewhere"));
}

}  // namespace twinloom::runtime
