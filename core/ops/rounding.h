// Exact values and their one rounding to a type: the meaning of every cast, by integer arithmetic
// alone. A value is taken apart (exact), then put together in the format of a type (encode) with
// round to nearest, ties to even; subnormals are kept.
#pragma once

#include <cstdint>

#include "core/ops/dtype.h"

namespace twinloom::ops {

struct Exact {
  enum class Kind : std::uint8_t {
    finite,  // (-1)^negative * significand * 2^exponent; a zero has significand 0
    infinite,
    nan,
  };
  Kind kind = Kind::finite;
  bool negative = false;
  std::uint64_t significand = 0;
  int exponent = 0;
};

Exact exact(double value);
Exact exact(std::int64_t value);
Exact exact(std::uint64_t value);
// The bits of an element of a floating or narrow float type, and what they stand for. Beyond the
// largest finite value an element becomes infinite; f8e4m3 has no infinity and gives NaN.
std::uint64_t encode(DType to, const Exact& value);
Exact decode(DType from, std::uint64_t bits);

// Truncated towards zero and saturated; NaN gives 0. For u64 the result is held by its bits.
std::int64_t to_integer(DType to, double value);
// The low bits of an integer, sign or zero extended as the type says; b8 gives 0 or 1.
std::int64_t wrap(DType to, std::int64_t value);

}  // namespace twinloom::ops
