// On a GPU, mode `fast` with the relaxations `approximate` and `flush`: every function that may be
// approximated, over inputs of all exponents, is within its bound of the exact value, and special where the
// function is.
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/ops/arrays.h"
#include "core/ops/pointwise.h"
#include "tests/determinism/inputs.h"
#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

using ops::Pointwise;

constexpr double LEAST = 0x1p-118, MOST = 0x1p118;

constexpr Pointwise FUNCTIONS[] = {Pointwise::exp,        Pointwise::sqrt,    Pointwise::rsqrt,
                                   Pointwise::reciprocal, Pointwise::sigmoid, Pointwise::silu,
                                   Pointwise::tanh};

class Approximate : public GpuTest, public testing::WithParamInterface<Pointwise> {};

// Every 251st bit pattern, and those that are special.
std::vector<float> inputs() {
  std::vector<float> all = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 88.7f, -87.3f, 1.0f, -1.0f, 0.65f, -0.65f};
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 251)
    all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return all;
}

bool is_near(float got, double want) {
  if (std::isnan(want)) return std::isnan(got);
  const double size = std::abs(want);
  if (size > 0x1.fffffdp127) return std::abs(got) >= 0x1.fffff0p127f;
  if (size < LEAST) return std::abs(got - want) <= 2 * LEAST;
  return std::abs(got - want) <= 0x1p-21 * size;
}

TEST_P(Approximate, IsWithinItsBound) {
  const Pointwise op = GetParam();
  std::vector<float> x = inputs();
  const auto count = static_cast<std::int64_t>(x.size());
  std::vector<double> wide(x.begin(), x.end()), exact(x.size());
  const void* const given = wide.data();
  ops::apply_spelled(op, DType::f64, {&given, 1}, exact.data(), count);
  Builder builder;
  builder.output(graph::pointwise(op, {builder.input("x", DType::f32, {count})}));
  const Graph graph = builder.take();
  for (const bool flushes : {false, true}) {
    CompileOptions options{.mode = Mode::fast};
    options.relaxed = {graph::Relaxation::approximate};
    if (flushes) options.relaxed.add(graph::Relaxation::flush);
    const Executable executable = twinloom::compile(graph, device(), options);
    const std::vector<Argument> arguments = {
        device().upload(runtime::view_of(x.data(), DType::f32, {count}))};
    const std::vector<float> got = numbers(std::get<Tensor>(executable.run(arguments)[0]), device());
    std::int64_t wrong = 0;
    for (std::size_t e = 0; e < got.size(); ++e) {
      // What is subnormal may count as 0, and a reciprocal of what is above 2^126 may be 0.
      const double size = std::abs(wide[e]);
      if (size != 0 && std::isfinite(size) && (size < LEAST || size > MOST)) continue;
      if (is_near(got[e], exact[e])) continue;
      if (++wrong < 5) ADD_FAILURE() << name(op) << "(" << x[e] << ") is " << got[e] << ", not " << exact[e];
    }
    EXPECT_EQ(wrong, 0) << (flushes ? "flushed" : "kept");
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, Approximate, testing::ValuesIn(FUNCTIONS),
                         [](const auto& row) { return std::string(name(row.param)); });

}  // namespace

}  // namespace twinloom::tests
