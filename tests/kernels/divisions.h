// Integer divisions in the text of a kernel, where they would be done for every vector.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace twinloom::tests {

// Lines of innermost loops that divide by something else than a power of two (which is a shift).
std::vector<std::string> divisions_in_innermost_loops(std::string_view source);

}  // namespace twinloom::tests
