// Two ways to fail, and no third.
//   Error  what a user can cause: says what was given, what was expected, and where.
//   Bug    what we believed and was not so: a CHECK failed.
// Both derive from std::exception. Nothing in Twinloom aborts, prints and carries on, or returns codes.
#pragma once

#include <stdexcept>
#include <string>

#include "core/base/text.h"

namespace twinloom {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Bug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace base {
[[noreturn]] void throw_bug(const char* condition, const char* file, int line, const std::string& words);
}  // namespace base

}  // namespace twinloom

// CHECK(condition, words...) stays on in release builds. The words are joined as by cat().
#define CHECK(condition, ...)                                                            \
  do {                                                                                   \
    if (!(condition)) [[unlikely]]                                                       \
      ::twinloom::base::throw_bug(#condition, __FILE__, __LINE__, ::twinloom::cat(__VA_ARGS__)); \
  } while (false)
