// The device header gives the same bits for vectors of 8 and 16 lanes and single elements by Clang as for
// single elements by GCC.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/ops/convert.h"
#include "core/ops/pointwise.h"
#include "tests/ops/elements.h"

namespace {

using Loop = void (*)(const void* const* in, void* out, std::int64_t size);
struct Row {
  const char* name;
  const char* element;
  int lanes;
  Loop loop;
};

}  // namespace

extern "C" {
extern const Row* const vector_rows;
extern const std::int64_t vector_row_count;
extern const Row* const vector_casts;
extern const std::int64_t vector_cast_count;
}

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

TEST(Vectors, EveryRowHasTheBitsOfSingleElements) {
  std::mt19937_64 random(20260101);
  int compared = 0;
  for (std::int64_t i = 0; i < vector_row_count; ++i) {
    const Row& row = vector_rows[i];
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
    Elements by_clang(result, count);
    Elements by_gcc(result, count);
    row.loop(pointers.data(), by_clang.data(), count);
    apply_spelled(op, element, pointers, by_gcc.data(), count);
    EXPECT_EQ(testing::difference(by_clang, by_gcc), "")
        << row.name << " of " << row.element << " x " << row.lanes;
    ++compared;
  }
  EXPECT_GT(compared, 3 * static_cast<int>(all_pointwise().size()));
}

TEST(Vectors, EveryCastHasTheBitsOfSingleElements) {
  std::mt19937_64 random(20260102);
  for (std::int64_t i = 0; i < vector_cast_count; ++i) {
    const Row& row = vector_casts[i];
    const DType from = dtype_named(row.element).value();
    const DType to = dtype_named(row.name).value();
    const Elements input =
        bits_of(from) == 16 ? testing::every_value(from) : testing::mixed_elements(from, count, random);
    Elements by_clang(to, input.count());
    Elements by_gcc(to, input.count());
    const void* pointer = input.data();
    row.loop(&pointer, by_clang.data(), input.count());
    convert_spelled(from, to, input.data(), by_gcc.data(), input.count());
    EXPECT_EQ(testing::difference(by_clang, by_gcc), "")
        << row.element << " to " << row.name << " x " << row.lanes;
  }
}

}  // namespace
}  // namespace twinloom::ops
