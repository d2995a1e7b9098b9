// Two goldens of one machine, compared kernel by kernel, in words for a person.
#pragma once

#include <string>
#include <string_view>

namespace twinloom::tests {

// A paragraph for each kernel that differs, with the first lines that do, of `kept` with '-', of `made` with
// '+', or that only one of them has; of many kernels the first. Empty where both are equal.
//   h200: way/softmax/native, kernel k0_softmax
//     - loop 0 r0.1 thread
//     + loop 0 r0.1 serial
std::string differences(std::string_view kept, std::string_view made);

}  // namespace twinloom::tests
