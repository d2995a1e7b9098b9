// What becomes of an exception that ends a command, or the part of one that has several.
#pragma once

#include <exception>
#include <string>

namespace twinloom::tool {

struct Failure {
  int code = 0;  // that the program exits with; see exit_codes.h
  std::string words;
};

Failure failure_of(const std::exception& error);

// Says it on the error stream.
void print_failure(const Failure& failure);

}  // namespace twinloom::tool
