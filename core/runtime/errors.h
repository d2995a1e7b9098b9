// Errors that a caller may want to tell from others.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"

namespace twinloom::runtime {

// Memory was asked for that is not to be had, also after all that was kept for later had been given back.
// What exists stays as it is; a run that needs less works.
class OutOfMemory : public Error {
 public:
  OutOfMemory(const std::string& words, std::int64_t asked_bytes) : Error(words), asked_bytes_(asked_bytes) {}
  std::int64_t asked_bytes() const { return asked_bytes_; }

 private:
  std::int64_t asked_bytes_;
};

// A GPU has failed in a way that ends all work on it in this process, such as an access outside of its
// memory, or was opened before this process was forked from the one that did. Each later use of it is this
// Error again, at once; other devices go on.
class DeviceLost : public Error {
 public:
  using Error::Error;
};

}  // namespace twinloom::runtime
