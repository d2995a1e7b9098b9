// The device header gives the same bits for vectors of 8 and 16 lanes and single elements by Clang as for
// single elements by GCC.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/ops/convert.h"
#include "core/ops/pointwise.h"
#include "tests/ops/elements.h"
#include "tests/ops/vector/usable.h"

namespace twinloom::ops {
namespace {

using testing::Elements;

constexpr std::int64_t count = 16384;  // a multiple of every number of lanes

std::vector<Elements> inputs_of(Pointwise op, DType element, std::mt19937_64& random) {
  if (arity(op) == 2) return testing::mixed_pairs(element, count, random);
  std::vector<Elements> inputs;
  for (int i = 0; i < arity(op); ++i) {
    const bool is_mask = takes(op) == Takes::select && i == 0;
    inputs.push_back(testing::mixed_elements(is_mask ? DType::b8 : element, count, random));
  }
  return inputs;
}

class EveryTable : public ::testing::TestWithParam<const testing::VectorTable*> {
 protected:
  void SetUp() override {
    if (!testing::is_usable(*GetParam())) GTEST_SKIP() << "this CPU lacks its instructions";
  }
};

TEST_P(EveryTable, HasTheBitsOfSingleElements) {
  std::mt19937_64 random(20260101);
  int compared = 0;
  for (const testing::VectorRow& row : GetParam()->functions) {
    const Pointwise op = pointwise_named(row.name).value();
    const DType element = dtype_named(row.element).value();
    const auto inputs = inputs_of(op, element, random);
    std::vector<const void*> pointers;
    std::vector<DType> types;
    for (const Elements& input : inputs) {
      pointers.push_back(input.data());
      types.push_back(input.dtype());
    }
    const DType result = result_type(op, types).value();
    Elements by_vectors(result, count);
    Elements by_gcc(result, count);
    row.loop(pointers.data(), by_vectors.data(), count);
    apply_spelled(op, element, pointers, by_gcc.data(), count);
    EXPECT_EQ(testing::difference(by_vectors, by_gcc), "")
        << row.name << " of " << row.element << " x " << row.lanes;
    ++compared;
  }
  EXPECT_GT(compared, 2 * static_cast<int>(all_pointwise().size()));
}

TEST_P(EveryTable, HasTheBitsOfSingleConversions) {
  std::mt19937_64 random(20260102);
  for (const testing::VectorRow& row : GetParam()->casts) {
    const DType from = dtype_named(row.element).value();
    const DType to = dtype_named(row.name).value();
    const Elements input =
        bits_of(from) == 16 ? testing::every_value(from) : testing::mixed_elements(from, count, random);
    Elements by_vectors(to, input.count());
    Elements by_gcc(to, input.count());
    const void* pointer = input.data();
    row.loop(&pointer, by_vectors.data(), input.count());
    convert_spelled(from, to, input.data(), by_gcc.data(), input.count());
    EXPECT_EQ(testing::difference(by_vectors, by_gcc), "")
        << row.element << " to " << row.name << " x " << row.lanes;
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, EveryTable, ::testing::ValuesIn(testing::all_tables()),
                         [](const auto& row) { return std::string(row.param->name); });

}  // namespace
}  // namespace twinloom::ops
