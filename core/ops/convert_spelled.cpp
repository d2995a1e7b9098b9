// See convert.h: casts by the device header, as generated code spells them: a storage format is widened
// when loaded, a value is converted, or narrowed when stored.
#include <array>
#include <tuple>

#include "core/base/error.h"
#include "core/ops/convert.h"
#include "core/ops/device/kernel.h"

namespace twinloom::ops {

namespace {

using Loop = void (*)(const void* input, void* output, std::int64_t count);

// How an element lies in memory, and the value it is computed as. b8 is any non-zero byte.
template <class Type>
struct Plain {
  using Stored = Type;
  static Type load(Stored stored) { return stored; }
  template <class Value>
  static Stored store(Value value) {
    return device::convert<Type>(value);
  }
};
struct Truth {
  using Stored = std::uint8_t;
  static bool load(Stored stored) { return stored != 0; }
  template <class Value>
  static Stored store(Value value) {
    return device::convert<bool>(value) ? 1 : 0;
  }
};
template <class Format>
struct Narrow {
  using Stored = typename Format::Bits;
  static float load(Stored stored) { return device::widen<Format>(stored); }
  template <class Value>
  static Stored store(Value value) {
    return device::narrow<Format>(value);
  }
};

// In the order of dtype.def, up to the packed types.
using Forms = std::tuple<Truth, Plain<std::int8_t>, Plain<std::int16_t>, Plain<std::int32_t>,
                         Plain<std::int64_t>, Plain<std::uint8_t>, Plain<std::uint16_t>, Plain<std::uint32_t>,
                         Plain<std::uint64_t>, Narrow<device::f16>, Narrow<device::bf16>, Plain<float>,
                         Plain<double>, Narrow<device::f8e4m3>, Narrow<device::f8e5m2>>;
constexpr std::size_t form_count = std::tuple_size_v<Forms>;
static_assert(form_count == static_cast<std::size_t>(DType::i4), "dtype.def has another order");

template <class From, class To>
void loop(const void* input, void* output, std::int64_t count) {
  const auto* from = static_cast<const typename From::Stored*>(input);
  auto* to = static_cast<typename To::Stored*>(output);
  for (std::int64_t i = 0; i < count; ++i) to[i] = To::store(From::load(from[i]));
}

template <std::size_t from, std::size_t... to>
constexpr std::array<Loop, form_count> row_of(std::index_sequence<to...>) {
  return {&loop<std::tuple_element_t<from, Forms>, std::tuple_element_t<to, Forms>>...};
}
constexpr auto loops = []<std::size_t... from>(std::index_sequence<from...>) {
  return std::array{row_of<from>(std::make_index_sequence<form_count>{})...};
}
(std::make_index_sequence<form_count>{});

}  // namespace

void convert_spelled(DType from, DType to, const void* input, void* output, std::int64_t count) {
  const auto source = static_cast<std::size_t>(from);
  const auto target = static_cast<std::size_t>(to);
  CHECK(source < form_count && target < form_count, "no cast of packed elements");
  loops.at(source).at(target)(input, output, count);
}

}  // namespace twinloom::ops
