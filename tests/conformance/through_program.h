// A case as files that the `twinloom` program reads, verified by it on a device that may be this test's own.
#pragma once

#include <optional>
#include <string>

#include "tests/conformance/shrink.h"

namespace twinloom::tests {

// The device whose memory this process cannot read; every other name is the program's own.
inline constexpr std::string_view SEALED = "sealed";

// What the program prints where it finds a difference or fails.
std::optional<std::string> difference_in_program(const Case& given, std::string_view device);

}  // namespace twinloom::tests
