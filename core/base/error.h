// Two ways to fail, and no third.
//   Error  what a user can cause: says what was given, what was expected, and where.
//   Bug    what we believed and was not so: a CHECK failed.
// Both derive from std::exception. Nothing in Twinloom aborts, prints and carries on, or returns codes.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/base/text.h"

namespace twinloom {

// Where in what the user gave. What is not known is empty or 0.
struct Location {
  std::string node;       // or parameter, as it is called there
  std::int64_t line = 0;  // of the text that was read, from 1
};

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  Error(const std::string& message, Location location);

  const Location& location() const;

 private:
  std::shared_ptr<const Location> location_;  // null: nothing is known. Shared, so that copies do not throw
};

class Bug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace base {
[[noreturn]] void throw_bug(const char* condition, const char* file, int line, const std::string& words);

// Out of line and by value, so that a function with a CHECK pays for its test alone: no text lives in its
// frame, and no variable lives in memory for its address to be passed on.
template <class... Words>
[[noreturn, gnu::cold, gnu::noinline]] void throw_bug_of(const char* condition, const char* file, int line,
                                                         Words... words) {
  throw_bug(condition, file, line, cat(words...));
}
}  // namespace base

}  // namespace twinloom

// CHECK(condition, words...) stays on in release builds. The words are joined as by cat().
#define CHECK(condition, ...)                                                                    \
  do {                                                                                           \
    if (!(condition)) [[unlikely]]                                                               \
      ::twinloom::base::throw_bug_of(#condition, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)
