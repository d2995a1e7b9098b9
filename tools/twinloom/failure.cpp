// See failure.h.
#include "tools/twinloom/failure.h"

#include <iostream>
#include <new>

#include "core/base/error.h"
#include "tools/twinloom/exit_codes.h"

namespace twinloom::tool {

Failure failure_of(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return {exits::wrong_input, error.what()};
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return {exits::wrong_input, "there is no memory left"};
  return {exits::bug, error.what()};
}

void print_failure(const Failure& failure) {
  std::cerr << (failure.code == exits::wrong_input ? "error: " : "") << failure.words << '\n';
}

}  // namespace twinloom::tool
