// On a GPU, mode `fast` with the relaxation `reassociate`: scans, in parts or by neighbours of each thread,
// are within their bound of the sums in f64, n u of the magnitudes, also backwards, exclusive and of several
// rows, and repeat bit for bit.
#include <cmath>
#include <cstdint>
#include <random>

#include "tests/determinism/inputs.h"
#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

struct Case {
  const char* name;
  std::int64_t rows, elements;
  bool exclusive, backwards;
};
constexpr Case CASES[] = {{"OneRow", 1, 30'000'001, false, false},  {"Backwards", 1, 5'000'003, false, true},
                          {"Exclusive", 3, 2'000'003, true, false}, {"FewChunks", 2, 70'000, false, false},
                          {"ShortRows", 20'001, 60, false, false},  {"RowsOfABlock", 2001, 2044, true, false},
                          {"LongRows", 1000, 5004, false, true}};

class FreeScans : public GpuTest, public testing::WithParamInterface<Case> {};

TEST_P(FreeScans, AreWithinTheirBound) {
  const Case& given = GetParam();
  Builder builder("scans");
  const Value x = builder.input("x", DType::f32, {given.rows, given.elements});
  builder.output(graph::cumsum(x, 1, {.exclusive = given.exclusive, .backwards = given.backwards}));
  std::mt19937_64 random(static_cast<std::uint64_t>(given.elements));
  std::normal_distribution<float> normal;
  std::vector<float> terms(static_cast<std::size_t>(given.rows * given.elements));
  for (float& each : terms) each = normal(random);
  CompileOptions options{.mode = Mode::fast};
  options.relaxed = {graph::Relaxation::reassociate};
  const Executable executable = twinloom::compile(builder.take(), device(), options);
  const std::vector<Argument> arguments = {
      device().upload(runtime::view_of(terms.data(), DType::f32, {given.rows, given.elements}))};
  const std::vector<float> sums = numbers(std::get<Tensor>(executable.run(arguments)[0]), device());
  EXPECT_EQ(sums, numbers(std::get<Tensor>(executable.run(arguments)[0]), device()));
  for (std::int64_t row = 0; row < given.rows; ++row) {
    double exact = 0, magnitude = 0;
    for (std::int64_t n = 0; n < given.elements; ++n) {
      const std::int64_t along = given.backwards ? given.elements - 1 - n : n;
      const auto at = static_cast<std::size_t>(row * given.elements + along);
      const double before = exact, before_magnitude = magnitude;
      exact += terms[at], magnitude += std::abs(terms[at]);
      const double want = given.exclusive ? before : exact;
      const double bound =
          0x1p-24 * static_cast<double>(n + 1) * (given.exclusive ? before_magnitude : magnitude);
      ASSERT_LE(std::abs(sums[at] - want), bound) << "row " << row << ", element " << along;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Scans, FreeScans, testing::ValuesIn(CASES),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace

}  // namespace twinloom::tests
