// On a GPU, mode `fast` with the relaxation `atomics`: what is added in memory is within its bound of the
// sums in f64, n u of the magnitudes, however often a place comes.
#include <cmath>
#include <cstdint>
#include <random>

#include "tests/determinism/inputs.h"
#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

struct Case {
  const char* name;
  std::int64_t rows, places, columns;
};
constexpr Case CASES[] = {{"Few", 33, 300, 1},         {"Scalars", 1'000'003, 50'000, 1},
                          {"OneRow", 100'003, 1, 300}, {"Rows", 20'011, 13'001, 64},
                          {"Uneven", 20'011, 307, 13}, {"Often", 1 << 20, 2, 257}};

class Atomics : public GpuTest, public testing::WithParamInterface<Case> {};

TEST_P(Atomics, AreWithinTheirBound) {
  const Case& given = GetParam();
  Builder builder("sums");
  const Value x = builder.input("x", DType::f32, {given.places, given.columns});
  const Value at = builder.input("at", DType::i64, {given.rows});
  const Value source = builder.input("source", DType::f32, {given.rows, given.columns});
  builder.output(graph::index_update(x, 0, at, source, graph::Mode::add));
  std::mt19937_64 random(static_cast<std::uint64_t>(given.rows));
  std::normal_distribution<float> normal;
  std::vector<float> there(static_cast<std::size_t>(given.places * given.columns));
  std::vector<float> rows(static_cast<std::size_t>(given.rows * given.columns));
  std::vector<std::int64_t> place(static_cast<std::size_t>(given.rows));
  for (float& each : there) each = normal(random);
  for (float& each : rows) each = normal(random);
  for (std::int64_t& each : place)
    each = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(given.places));
  std::vector<double> exact(there.begin(), there.end()), magnitudes, terms(there.size(), 1);
  for (const float each : there) magnitudes.push_back(std::abs(each));
  for (std::size_t e = 0; e < rows.size(); ++e) {
    const auto columns = static_cast<std::size_t>(given.columns);
    const auto to = static_cast<std::size_t>(place[e / columns]) * columns + e % columns;
    exact[to] += rows[e], magnitudes[to] += std::abs(rows[e]), terms[to] += 1;
  }
  CompileOptions options{.mode = Mode::fast};
  options.relaxed = {graph::Relaxation::atomics};
  const Executable executable = twinloom::compile(builder.take(), device(), options);
  const auto up = [&](auto& data, DType dtype, std::vector<std::int64_t> sizes) {
    return device().upload(runtime::view_of(data.data(), dtype, std::move(sizes)));
  };
  const std::vector<Argument> arguments = {up(there, DType::f32, {given.places, given.columns}),
                                           up(place, DType::i64, {given.rows}),
                                           up(rows, DType::f32, {given.rows, given.columns})};
  const std::vector<float> sums = numbers(std::get<Tensor>(executable.run(arguments)[0]), device());
  ASSERT_EQ(sums.size(), exact.size());
  for (std::size_t e = 0; e < sums.size(); ++e) {
    ASSERT_LE(std::abs(sums[e] - exact[e]), terms[e] * 0x1p-24 * magnitudes[e])
        << "element " << e << " of " << terms[e] << " terms";
  }
}

INSTANTIATE_TEST_SUITE_P(Scatters, Atomics, testing::ValuesIn(CASES),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace

}  // namespace twinloom::tests
