// What an operator means and what generated code does for it agree: over all values of the 8-bit and 16-bit
// types, over all pairs of the 8-bit ones, and over special and random values of the others.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/ops/convert.h"
#include "core/ops/pointwise.h"
#include "tests/ops/elements.h"

namespace twinloom::ops {
namespace {

using testing::Elements;

std::vector<Elements> every_pair(DType element) {
  std::vector<Elements> pair(2, Elements(element, 65536));
  for (std::int64_t i = 0; i < 65536; ++i) {
    pair[0].set_bits(i, static_cast<std::uint64_t>(i / 256));
    pair[1].set_bits(i, static_cast<std::uint64_t>(i % 256));
  }
  return pair;
}

std::vector<Elements> inputs_of(Pointwise op, DType element, std::mt19937_64& random) {
  const bool narrow = bits_of(element) <= 16;
  if (arity(op) == 1)
    return {narrow ? testing::every_value(element) : testing::mixed_elements(element, 100000, random)};
  if (arity(op) == 2)
    return bits_of(element) == 8 ? every_pair(element) : testing::mixed_pairs(element, 100000, random);
  std::vector<Elements> inputs;
  for (int i = 0; i < arity(op); ++i) {
    const bool is_mask = takes(op) == Takes::select && i == 0;
    inputs.push_back(testing::mixed_elements(is_mask ? DType::b8 : element, 10000, random));
  }
  return inputs;
}

class EveryRow : public ::testing::TestWithParam<Pointwise> {};

TEST_P(EveryRow, MeansWhatItsSpellingComputes) {
  const Pointwise op = GetParam();
  std::mt19937_64 random(7);
  int types = 0;
  for (const DType element : all_dtypes()) {
    if (!takes_element(op, element)) continue;
    const auto inputs = inputs_of(op, element, random);
    std::vector<const void*> pointers;
    std::vector<DType> input_types;
    for (const Elements& input : inputs) {
      pointers.push_back(input.data());
      input_types.push_back(input.dtype());
    }
    const DType result = result_type(op, input_types).value();
    Elements meant(result, inputs[0].count());
    Elements spelled(result, inputs[0].count());
    apply_strict(op, element, pointers, meant.data(), meant.count());
    apply_spelled(op, element, pointers, spelled.data(), spelled.count());
    EXPECT_EQ(testing::difference(meant, spelled), "") << name(op) << " of " << name(element);
    ++types;
  }
  EXPECT_GT(types, 0);
}

INSTANTIATE_TEST_SUITE_P(Meaning, EveryRow,
                         ::testing::ValuesIn(all_pointwise().begin(), all_pointwise().end()),
                         [](const auto& row) { return std::string(name(row.param)); });

TEST(Meaning, EveryCastIsWhatItsSpellingComputes) {
  std::mt19937_64 random(8);
  for (const DType from : all_dtypes()) {
    if (kind(from) == TypeKind::packed_int) continue;
    const Elements input =
        bits_of(from) <= 16 ? testing::every_value(from) : testing::mixed_elements(from, 200000, random);
    for (const DType to : all_dtypes()) {
      if (kind(to) == TypeKind::packed_int) continue;
      Elements meant(to, input.count());
      Elements spelled(to, input.count());
      convert(from, to, input.data(), meant.data(), input.count());
      convert_spelled(from, to, input.data(), spelled.data(), input.count());
      EXPECT_EQ(testing::difference(meant, spelled), "") << name(from) << " to " << name(to);
    }
  }
}

// Where a cast of a wide type has a tie or nearly one, rounding twice would show.
TEST(Meaning, CastsNearTiesRoundOnce) {
  std::mt19937_64 random(9);
  for (const DType from : {DType::f64, DType::i64, DType::u64, DType::i32, DType::u32}) {
    for (const DType to : {DType::f16, DType::bf16, DType::f32, DType::f8e4m3, DType::f8e5m2}) {
      Elements input(from, 100000);
      for (std::int64_t i = 0; i < input.count(); ++i) {
        // A value of the target type plus half a step, plus or minus one of the source's last places.
        std::uint64_t bits = (random() | 1) << (random() % 64);
        const int kept = 64 - static_cast<int>(random() % 63);
        bits &= ~std::uint64_t{0} << (64 - kept);
        const std::uint64_t nudge = random() % 3 - 1;
        if (from == DType::f64) {
          const std::uint64_t exponent = 896 + random() % 256;
          bits = (exponent << 52) + ((bits >> 12) & (~std::uint64_t{0} << (random() % 52))) + nudge;
        } else {
          bits = (bits >> (random() % 40)) + nudge;
        }
        input.set_bits(i, bits);
      }
      Elements meant(to, input.count());
      Elements spelled(to, input.count());
      convert(from, to, input.data(), meant.data(), input.count());
      convert_spelled(from, to, input.data(), spelled.data(), input.count());
      EXPECT_EQ(testing::difference(meant, spelled), "") << name(from) << " to " << name(to);
    }
  }
}

}  // namespace
}  // namespace twinloom::ops
