// How Errors about a text begin.
#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"

namespace twinloom::fx {

// Error "FX graph line L: message", which says the line, and the node where one is named, as data too.
[[noreturn]] inline void fail(int line, std::string_view message, std::string node = {}) {
  throw Error(cat("FX graph line ", line, ": ", message), {std::move(node), line});
}

}  // namespace twinloom::fx
