// See error.h.
#include "core/base/error.h"

#include <utility>

namespace twinloom {

Error::Error(const std::string& message, Location location)
    : std::runtime_error(message), location_(std::make_shared<const Location>(std::move(location))) {}

const Location& Error::location() const {
  static const Location nowhere;
  return location_ == nullptr ? nowhere : *location_;
}

}  // namespace twinloom

namespace twinloom::base {

void throw_bug(const char* condition, const char* file, int line, const std::string& words) {
  throw Bug(cat("bug in Twinloom: ", words, " (", condition, " is false, ", file, ":", line, ")"));
}

}  // namespace twinloom::base
