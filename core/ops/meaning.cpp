// See meaning.h: the formulas of pointwise.def as unnamed functions in one array, and what runs them.
#include "core/ops/meaning.h"

#include <array>

#include "core/base/error.h"
#include "core/ops/arrays.h"
#include "core/ops/pointwise.h"

namespace twinloom::ops {

namespace {

using meaning::Arithmetic;
using meaning::Value;

// The formula's letters, by the number of inputs.
#define LETTERS_1 auto x
#define LETTERS_2 auto x, auto y
#define LETTERS_3 auto x, auto y, auto z
#define LETTERS_4 auto n, auto seed, auto offset, auto number
#define LETTERS_6 auto n, auto seed, auto offset, auto number, auto low, auto high

constexpr std::tuple formulas = {
#define POINTWISE(name, arity, takes, gives, formula, ...) [](LETTERS_##arity) { return formula; },
#include "core/ops/pointwise.def"
#undef POINTWISE
    0};

constexpr std::array row_takes = {
#define POINTWISE(name, arity, takes, ...) Takes::takes,
#include "core/ops/pointwise.def"
#undef POINTWISE
};
constexpr std::array row_arity = {
#define POINTWISE(name, arity, ...) arity,
#include "core/ops/pointwise.def"
#undef POINTWISE
};
constexpr std::size_t row_count = row_takes.size();

template <std::size_t row>
using Formula = std::tuple_element_t<row, decltype(formulas)>;

template <std::size_t row>
struct Strict {
  template <class... Element>
  auto operator()(Element... elements) const {
    return std::get<row>(formulas)(Value<Element, Arithmetic::strict>{elements}...).value;
  }
};

template <std::size_t... row>
constexpr auto tables_of(std::index_sequence<row...>) {
  return std::array{arrays::arrays_of<Strict<row>, row_takes[row], row_arity[row]>()...};
}
constexpr auto tables = tables_of(std::make_index_sequence<row_count>{});

// The wide loops: of rows that take reals, over doubles.
template <std::size_t row>
struct Wide {
  template <class... Element>
  auto operator()(Element... elements) const {
    return std::get<row>(formulas)(Value<Element, Arithmetic::wide>{elements}...).value;
  }
};
template <std::size_t... row>
constexpr auto wide_loops_of(std::index_sequence<row...>) {
  return std::array{arrays::loop_of<Wide<row>, row_takes[row], row_arity[row], double>()...};
}
constexpr auto wide_loops = wide_loops_of(std::make_index_sequence<row_count>{});

}  // namespace

void apply_strict(Pointwise op, DType element, std::span<const void* const> inputs, void* output,
                  std::int64_t count) {
  arrays::apply(tables, op, element, inputs, output, count);
}

Number apply_wide(Pointwise op, DType element, std::span<const Number> inputs) {
  CHECK(inputs.size() == static_cast<std::size_t>(arity(op)) && inputs.size() <= 6, name(op), " of ",
        inputs.size(), " inputs");
  // An integer that says how elements are ordered is of their own bits.
  const bool of_bits = gives(op) == Gives::i64, real = is_floating(element) && !of_bits;
  const DType held = real ? DType::f64 : compute_type(element);
  std::array<std::uint64_t, 6> elements{};
  std::array<const void*, 6> pointers{};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool is_mask = takes(op) == Takes::select && i == 0;
    const DType dtype = is_mask ? DType::b8 : held;
    store_number(dtype, of_bits ? cast(inputs[i], held) : inputs[i], &elements[i]);
    pointers[i] = &elements[i];
  }
  const std::span used(pointers.data(), inputs.size());
  std::uint64_t result = 0;
  if (real) {
    CHECK(takes_element(op, element), name(op), " does not take ", name(element));
    wide_loops.at(static_cast<std::size_t>(op))(used, &result, 1);
  } else {
    arrays::apply(tables, op, held, used, &result, 1);
  }
  switch (gives(op)) {
    case Gives::same:
      return load_number(real ? DType::f64 : element, &result);
    case Gives::truth:
      return load_number(DType::b8, &result);
    case Gives::f32:
      return load_number(DType::f32, &result);
    case Gives::f64:
      return load_number(DType::f64, &result);
    case Gives::i64:
      return load_number(DType::i64, &result);
  }
  CHECK(false, "a kind of result without a type");
  return {};
}

}  // namespace twinloom::ops
