// The device header gives the same bits everywhere: by Clang for vectors of 8 and 16 lanes and single
// elements, with AVX2 and with AVX-512, and by GCC for vectors that are xsimd's registers, all as by GCC for
// single elements.
#include <gtest/gtest.h>

#include <cstring>

#include "core/base/text.h"
#include "core/ops/convert.h"
#include "core/ops/pointwise.h"
#include "tests/ops/draws.h"
#include "tests/ops/elements.h"
#include "tests/ops/vector/usable.h"

namespace twinloom::ops {
namespace {

using testing::Elements;
using Operands = std::vector<Elements>;

// Each a multiple of every number of lanes.
constexpr std::int64_t few = 16384, many = TWINLOOM_ACCURACY_INPUTS / 16, many_integers = many / 4;

// Pairs of all special values, then random ones.
Operands special_inputs(Pointwise op, DType element, std::int64_t count, std::mt19937_64& random) {
  if (arity(op) == 2) return testing::mixed_pairs(element, count, random);
  Operands inputs;
  for (int i = 0; i < arity(op); ++i) {
    const bool is_mask = takes(op) == Takes::select && i == 0;
    inputs.push_back(testing::mixed_elements(is_mask ? DType::b8 : element, count, random));
  }
  return inputs;
}

template <class Real>
Operands drawn_inputs(Pointwise op, DType element) {
  Operands inputs;
  for (const std::vector<Real>& drawn :
       testing::draw<Real>(arity(op), many, static_cast<std::uint64_t>(op))) {
    std::memcpy(inputs.emplace_back(element, many).data(), drawn.data(), drawn.size() * sizeof(Real));
  }
  return inputs;
}
Operands many_inputs(Pointwise op, DType element, std::mt19937_64& random) {
  const bool selects = takes(op) == Takes::select;
  if (element == DType::f32 && !selects) return drawn_inputs<float>(op, element);
  if (element == DType::f64 && !selects) return drawn_inputs<double>(op, element);
  return special_inputs(op, element, many_integers, random);
}

// How many tables have the row.
int expect_same_bits(Pointwise op, DType element, const Operands& inputs) {
  std::vector<const void*> pointers;
  std::vector<DType> types;
  for (const Elements& input : inputs) {
    pointers.push_back(input.data());
    types.push_back(input.dtype());
  }
  const DType result = result_type(op, types).value();
  const std::int64_t count = inputs[0].count();
  Elements by_elements(result, count);
  apply_spelled(op, element, pointers, by_elements.data(), count);
  int compared = 0;
  for (const testing::VectorTable* table : testing::all_tables()) {
    for (const testing::VectorRow& row : table->functions) {
      if (row.name != name(op) || row.element != name(element)) continue;
      ++compared;
      if (!testing::is_usable(*table)) continue;
      Elements by_vectors(result, count);
      row.loop(pointers.data(), by_vectors.data(), count);
      EXPECT_EQ(testing::difference(by_vectors, by_elements), "")
          << row.name << " of " << row.element << " x " << row.lanes << ", " << table->name;
    }
  }
  return compared;
}

class RowsEverywhere : public ::testing::TestWithParam<Pointwise> {};

TEST_P(RowsEverywhere, HaveTheSameBits) {
  const Pointwise op = GetParam();
  std::mt19937_64 random(20260101 + static_cast<std::uint64_t>(op));
  for (const DType element : all_dtypes()) {
    if (!takes_element(op, element) || is_16_bit_float(element)) continue;
    EXPECT_EQ(expect_same_bits(op, element, special_inputs(op, element, few, random)), 8);
    expect_same_bits(op, element, many_inputs(op, element, random));
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, RowsEverywhere, ::testing::ValuesIn(all_pointwise()),
                         [](const auto& row) { return std::string(name(row.param)); });

class EveryTable : public ::testing::TestWithParam<const testing::VectorTable*> {};

TEST_P(EveryTable, HasTheBitsOfSingleConversions) {
  if (!testing::is_usable(*GetParam())) GTEST_SKIP() << "this CPU lacks its instructions: nothing was run";
  std::mt19937_64 random(20260102);
  for (const testing::VectorRow& row : GetParam()->casts) {
    const DType from = dtype_named(row.element).value();
    const DType to = dtype_named(row.name).value();
    const Elements input = bits_of(from) == 16 ? testing::every_value(from)
                                               : testing::mixed_elements(from, many_integers / 4, random);
    Elements by_vectors(to, input.count());
    Elements by_elements(to, input.count());
    const void* pointer = input.data();
    row.loop(&pointer, by_vectors.data(), input.count());
    convert_spelled(from, to, input.data(), by_elements.data(), input.count());
    EXPECT_EQ(testing::difference(by_vectors, by_elements), "")
        << row.element << " to " << row.name << " x " << row.lanes;
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, EveryTable, ::testing::ValuesIn(testing::all_tables()),
                         [](const auto& row) { return std::string(row.param->name); });

}  // namespace
}  // namespace twinloom::ops
