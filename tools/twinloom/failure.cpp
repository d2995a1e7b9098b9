// See failure.h.
#include "tools/twinloom/failure.h"

#include <iostream>
#include <new>

#include "core/base/error.h"

namespace twinloom::tool {

namespace {

constexpr int user_error = 2;
constexpr int our_bug = 3;

}  // namespace

Failure failure_of(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return {user_error, error.what()};
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return {user_error, "there is no memory left"};
  return {our_bug, error.what()};
}

void print_failure(const Failure& failure) {
  std::cerr << (failure.code == user_error ? "error: " : "") << failure.words << '\n';
}

}  // namespace twinloom::tool
