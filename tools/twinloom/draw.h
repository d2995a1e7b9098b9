// Inputs that no file gives: drawn from a seed, or as a specification says.
//
//   specification := "normal" | "uniform" | "zeros" | "ones" | NUMBER | LOW ".." HIGH
//     normal     N(0, 1)                          uniform    0 <= x < 1
//     LOW..HIGH  low <= x <= high, evenly; of integers both ends included
// The type and the shape are the parameter's. `normal` and `uniform` are for floating types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/runtime/tensor.h"

namespace twinloom::tool {

enum class Law : std::uint8_t {
  normal,  // N(0, 1)
  even,    // every value of low..high alike
};
struct Specification {
  Law law = Law::normal;
  double low = 0, high = 0;  // of `even`
  bool open = false;         // high itself is not drawn
};

// Nothing where the text is no specification.
std::optional<Specification> parse_specification(const std::string& text);

// Error where the type does not hold what is specified.
void check_fits(ops::DType dtype, const Specification& specification);
// The same Error. A seed means the same numbers on every machine, whatever the number of threads.
runtime::Tensor draw(ops::DType dtype, std::vector<std::int64_t> sizes, const Specification& specification,
                     std::uint64_t seed);

}  // namespace twinloom::tool
