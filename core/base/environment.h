// Variables of the environment.
#pragma once

#include <cstdlib>
#include <string>

namespace twinloom {

// Empty where it is not set. Variables are not believed in a program that has more rights than who started
// it.
inline std::string environment(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace twinloom
