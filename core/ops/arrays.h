// Turns a function of single elements into one of arrays, for each row of the operator table and each type
// that it takes: the loops behind apply_strict and apply_spelled. Of use only to those two.
//   Row     a stateless function object over elements: Row{}(x, y)
//   Arrays  pointers to the loops of one row, one for each type of `Elements`
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/ops/convert.h"
#include "core/ops/pointwise.h"

namespace twinloom::ops::arrays {

template <class Element, DType which>
struct Computed {
  using type = Element;
  static constexpr DType dtype = which;
};
// The types that values are computed in.
using Elements = std::tuple<
    Computed<bool, DType::b8>, Computed<std::int8_t, DType::i8>, Computed<std::int16_t, DType::i16>,
    Computed<std::int32_t, DType::i32>, Computed<std::int64_t, DType::i64>, Computed<std::uint8_t, DType::u8>,
    Computed<std::uint16_t, DType::u16>, Computed<std::uint32_t, DType::u32>,
    Computed<std::uint64_t, DType::u64>, Computed<float, DType::f32>, Computed<double, DType::f64>>;
constexpr std::size_t element_count = std::tuple_size_v<Elements>;

using Inputs = std::span<const void* const>;
using Loop = void (*)(Inputs inputs, void* output, std::int64_t count);
using Arrays = std::array<Loop, element_count>;

template <class Element>
Element load(const void* input, std::int64_t index) {
  if constexpr (std::is_same_v<Element, bool>)
    return static_cast<const std::uint8_t*>(input)[index] != 0;
  else
    return static_cast<const Element*>(input)[index];
}

template <class Row, class First, class Rest, std::size_t... next>
void run_loop(Inputs inputs, void* output, std::int64_t count, std::index_sequence<next...>) {
  using Result = decltype(Row{}(First{}, (void(next), Rest{})...));
  auto* results = static_cast<Result*>(output);
  for (std::int64_t i = 0; i < count; ++i) {
    results[i] = Row{}(load<First>(inputs[0], i), load<Rest>(inputs[next + 1], i)...);
  }
}
template <class Row, class First, class Rest, int arity>
void loop(Inputs inputs, void* output, std::int64_t count) {
  run_loop<Row, First, Rest>(inputs, output, count,
                             std::make_index_sequence<static_cast<std::size_t>(arity - 1)>{});
}

// The kinds of operands, for the choice of what to instantiate; takes_element() says the same at run time.
template <class Element>
constexpr bool is_taken(Takes takes) {
  constexpr bool real = std::is_floating_point_v<Element>;
  constexpr bool truth = std::is_same_v<Element, bool>;
  switch (takes) {
    case Takes::real:
    case Takes::precise:
      return real;
    case Takes::integer:
      return !real && !truth;
    case Takes::bits:
      return !real;
    case Takes::number:
      return !truth;
    case Takes::any:
    case Takes::select:
      return true;
    case Takes::truth:
      return truth;
    case Takes::counter:
      return std::is_same_v<Element, std::int64_t>;
  }
  return false;
}

template <class Row, Takes takes, int arity, class Element>
constexpr Loop loop_of() {
  if constexpr (!is_taken<Element>(takes))
    return nullptr;
  else if constexpr (takes == Takes::select)
    return &loop<Row, bool, Element, arity>;
  else
    return &loop<Row, Element, Element, arity>;
}
template <class Row, Takes takes, int arity>
constexpr Arrays arrays_of() {
  return []<std::size_t... i>(std::index_sequence<i...>) {
    return Arrays{loop_of<Row, takes, arity, typename std::tuple_element_t<i, Elements>::type>()...};
  }
  (std::make_index_sequence<element_count>{});
}

constexpr std::size_t place_of(DType computed) {
  return []<std::size_t... i>(DType wanted, std::index_sequence<i...>) {
    std::size_t place = element_count;
    ((std::tuple_element_t<i, Elements>::dtype == wanted ? void(place = i) : void()), ...);
    return place;
  }
  (computed, std::make_index_sequence<element_count>{});
}

// Runs `loop` over f32 copies of 16-bit inputs, a piece at a time. What it gives is as it is where it has
// `given_bytes`, and rounded to the type of the inputs where that is 0.
inline void run_widened(Loop loop, DType element, bool selects, int given_bytes, Inputs inputs, void* output,
                        std::int64_t count) {
  const bool gives_same = given_bytes == 0;
  constexpr std::int64_t piece = 1024;
  std::vector<std::array<float, piece>> wide(inputs.size() + 1);
  std::vector<const void*> pointers(inputs.size());
  for (std::int64_t start = 0; start < count; start += piece) {
    const std::int64_t part = std::min(piece, count - start);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool is_mask = selects && i == 0;
      const auto* from =
          static_cast<const std::uint8_t*>(inputs[i]) + start * (is_mask ? 1 : size_of(element));
      if (!is_mask) convert(element, DType::f32, from, wide[i].data(), part);
      pointers[i] = is_mask ? static_cast<const void*>(from) : wide[i].data();
    }
    auto* to = static_cast<std::uint8_t*>(output) + start * (gives_same ? size_of(element) : given_bytes);
    loop(pointers, gives_same ? static_cast<void*>(wide.back().data()) : to, part);
    if (gives_same) convert(DType::f32, element, wide.back().data(), to, part);
  }
}

inline void apply(std::span<const Arrays> table, Pointwise op, DType element, Inputs inputs, void* output,
                  std::int64_t count) {
  CHECK(takes_element(op, element), name(op), " does not take ", name(element));
  CHECK(inputs.size() == static_cast<std::size_t>(arity(op)), name(op), " of ", inputs.size(), " inputs");
  const Loop loop =
      table[static_cast<std::size_t>(computed_for(op, element))].at(place_of(compute_type(element)));
  if (!is_16_bit_float(element)) return loop(inputs, output, count);
  const int given_bytes = gives(op) == Gives::same ? 0 : gives(op) == Gives::truth ? 1 : sizeof(std::int64_t);
  run_widened(loop, element, takes(op) == Takes::select, given_bytes, inputs, output, count);
}

}  // namespace twinloom::ops::arrays
