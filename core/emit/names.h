// Names of kernels where others see them: in profilers, and in keys of machine code.
#pragma once

#include <string>
#include <string_view>

namespace twinloom::emit {

// What a kernel does, without its number: "sum_mul" of "k3_sum_mul". Kernels of one text have one such name,
// whichever graph they are of and wherever they stand there.
std::string_view without_number(std::string_view kernel);

// The kernel as a function of C: "twinloom_sum_mul". At most 64 letters, digits and underscores.
std::string function_name(std::string_view kernel);

}  // namespace twinloom::emit
