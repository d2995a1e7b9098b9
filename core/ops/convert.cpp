// See convert.h. An element is read as a number or an exact value, rounded, and written back.
#include "core/ops/convert.h"

#include <bit>
#include <cstring>

#include "core/base/error.h"
#include "core/ops/number.h"
#include "core/ops/rounding.h"

namespace twinloom::ops {

namespace {

std::uint64_t load_bits(const std::uint8_t* element, int size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<std::size_t>(size));
  return bits;
}

std::uint64_t from_real(DType from, DType to, std::uint64_t bits) {
  const Exact value = decode(from, bits);
  if (holds_real(to)) return encode(to, value);
  const double wide = std::bit_cast<double>(encode(DType::f64, value));  // exact: f64 holds all of them
  if (to == DType::b8) return wide != 0 ? 1 : 0;
  return static_cast<std::uint64_t>(to_integer(to, wide));
}

std::uint64_t from_integer(DType from, DType to, std::uint64_t bits) {
  const std::int64_t value = wrap(from, static_cast<std::int64_t>(bits));
  if (!holds_real(to)) return static_cast<std::uint64_t>(wrap(to, value));
  return encode(to, from == DType::u64 ? exact(static_cast<std::uint64_t>(value)) : exact(value));
}

template <class From, class To>
void convert_plain(const void* input, void* output, std::int64_t count) {
  const auto* from = static_cast<const From*>(input);
  auto* to = static_cast<To*>(output);
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

// bf16 is the high half of an f32: the casts that evaluators do most.
void widen_bf16(const void* input, void* output, std::int64_t count) {
  const auto* from = static_cast<const std::uint16_t*>(input);
  auto* to = static_cast<float*>(output);
  for (std::int64_t i = 0; i < count; ++i) to[i] = std::bit_cast<float>(std::uint32_t{from[i]} << 16);
}

}  // namespace

void convert(DType from, DType to, const void* input, void* output, std::int64_t count) {
  if (count == 0) return;  // there may be no memory to point to
  const int from_size = size_of(from);
  const int to_size = size_of(to);
  if (from == to && from != DType::b8) {
    std::memmove(output, input, static_cast<std::size_t>(count * from_size));
    return;
  }
  if (from == DType::bf16 && to == DType::f32) return widen_bf16(input, output, count);
  if (from == DType::f32 && to == DType::f64) return convert_plain<float, double>(input, output, count);
  if (from == DType::f64 && to == DType::f32) return convert_plain<double, float>(input, output, count);
  const auto rule = holds_real(from) ? from_real : from_integer;
  const auto* elements = static_cast<const std::uint8_t*>(input);
  auto* results = static_cast<std::uint8_t*>(output);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = rule(from, to, load_bits(elements + i * from_size, from_size));
    std::memcpy(results + i * to_size, &bits, static_cast<std::size_t>(to_size));
  }
}

}  // namespace twinloom::ops
