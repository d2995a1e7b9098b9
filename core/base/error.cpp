// Words a failed CHECK. See error.h.
#include "core/base/error.h"

namespace twinloom::base {

void throw_bug(const char* condition, const char* file, int line, const std::string& words) {
  throw Bug(cat("bug in Twinloom: ", words, " (", condition, " is false, ", file, ":", line, ")"));
}

}  // namespace twinloom::base
