// On a GPU: what NVIDIA's compilers would fold into something of other bits has the bits of the CPU.
#include <vector>

#include "tests/determinism/inputs.h"
#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

class Folds : public GpuTest {
 protected:
  template <class Of>
  Memory run(const Device& on, const Graph& graph, DType dtype, std::vector<Of> given) const {
    const auto count = static_cast<std::int64_t>(given.size());
    const Tensor here = runtime::view_of(reinterpret_cast<std::byte*>(given.data()), dtype, {count});
    const Executable executable = twinloom::compile(graph, on, {.mode = Mode::strict});
    Memory all;
    for (const runtime::Output& output : executable.run(std::vector<Argument>{on.upload(here)})) {
      const Memory one = memory_of(on.download(std::get<Tensor>(output)));
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  template <class Of>
  void compare(const Graph& graph, DType dtype, const std::vector<Of>& given) const {
    EXPECT_EQ(run(device(), graph, dtype, given), run(Device::cpu({.cache = false}), graph, dtype, given));
  }
};

TEST_F(Folds, AChoiceByASignKeepsItsZero) {
  for (const double zero : {0.0, -0.0}) {
    for (const bool below : {false, true}) {
      Builder builder("choice");
      const Value x = builder.input("x", DType::f32, {4});
      const Value limit = builder.constant(zero, DType::f32, {4});
      builder.output(graph::where(below ? graph::lt(x, limit) : graph::gt(x, limit), x, limit));
      compare<float>(builder.take(), DType::f32, {-0.0F, 0.0F, -1, 1});
    }
  }
}

TEST_F(Folds, TheMagnitudeOfAChoice) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Builder builder("magnitudes");
    const Value x = builder.input("x", DType::f32, {4});
    const Value one = builder.constant(1.0, dtype, {4}), zero = builder.constant(-0.0, dtype, {4});
    const Value choice = graph::where(graph::gt(x, builder.constant(0.0, DType::f32, {4})), one, zero);
    builder.output(graph::erf(graph::abs(choice)));
    compare<float>(builder.take(), DType::f32, {-0.0F, 0.0F, -1, 1});
  }
}

// The given numbers negated in three ways, and the greatest and the least of them.
std::vector<Graph> of_negated(DType dtype) {
  std::vector<Graph> graphs;
  const ops::Number zero = ops::cast(0.0, dtype), minus_one = ops::cast(-1.0, dtype);
  for (const int form : {0, 1, 2}) {
    for (const bool greatest : {true, false}) {
      Builder builder("extreme");
      const Value x = builder.input("x", dtype, {8});
      const Value negated = form == 0   ? graph::neg(x)
                            : form == 1 ? graph::mul(x, builder.constant(minus_one, dtype, {8}))
                                        : graph::sub(builder.constant(zero, dtype, {8}), x);
      builder.output(greatest ? graph::amax(negated, {0}) : graph::amin(negated, {0}));
      graphs.push_back(builder.take());
    }
  }
  return graphs;
}

TEST_F(Folds, TheGreatestAndTheLeastOfNegatedIntegers) {
  for (const Graph& graph : of_negated(DType::i32))
    compare<std::int32_t>(graph, DType::i32, {3, 9, -4, 8, -5, 7, 6, -1});
  for (const Graph& graph : of_negated(DType::i16))
    compare<std::int16_t>(graph, DType::i16, {3, 9, -4, 8, -5, 7, 6, -1});
  for (const Graph& graph : of_negated(DType::i8))
    compare<std::int8_t>(graph, DType::i8, {3, 9, -4, 8, -5, 7, 6, -1});
}

// Whether the greater, or the lesser, of a number and a constant is 0.
Graph of_bounds(DType dtype, double bound) {
  Builder builder("bounds");
  const Value x = builder.input("x", dtype, {8});
  const Value limit = builder.constant(ops::cast(bound, dtype), dtype, {8});
  builder.output(graph::cast(graph::logical_not(graph::maximum(x, limit)), DType::i32));
  builder.output(graph::cast(graph::logical_not(graph::minimum(x, limit)), DType::i32));
  const Value both = graph::add(graph::maximum(x, limit), graph::minimum(x, limit));
  builder.output(graph::add(both, graph::cast(graph::ne(graph::relu(x), x), dtype)));
  return builder.take();
}

TEST_F(Folds, WhetherAnExtremeIsItsBound) {
  for (const double bound : {0.0, 1.0, 3.0}) {
    compare<std::int8_t>(of_bounds(DType::i8, bound), DType::i8, {3, 0, -4, 1, -128, 127, 2, -1});
    compare<std::uint8_t>(of_bounds(DType::u8, bound), DType::u8, {3, 0, 255, 1, 128, 127, 2, 4});
    compare<std::int16_t>(of_bounds(DType::i16, bound), DType::i16, {3, 0, -4, 1, -32768, 32767, 2, -1});
    compare<std::int32_t>(of_bounds(DType::i32, bound), DType::i32, {3, 0, -4, 1, -128, 127, 2, -1});
  }
}

TEST_F(Folds, TheNegativeOfATruth) {
  Builder builder("truths");
  const Value x = builder.input("x", DType::i64, {625});
  const Value differs = graph::logical_xor(graph::flip(x, {0}), x);
  builder.output(graph::neg(graph::cast(differs, DType::f32)));
  std::vector<std::int64_t> given(625);
  for (std::size_t at = 0; at < given.size(); ++at) given[at] = at * at % 3 == 0 ? 0 : 1;
  compare<std::int64_t>(builder.take(), DType::i64, given);
}

// An offset with a remainder of a loop's counter, whose few values fit in 8 bits.
TEST_F(Folds, TheRowsOfARolledMatrix) {
  Builder builder("rolled");
  const Value x = graph::reshape(builder.input("x", DType::i32, {91}), {13, 7});
  const Value rolled = graph::roll(graph::flip(x, {1}), {-2}, {0});
  builder.output(graph::cast(graph::expand(rolled, {2, 13, 7}), DType::f64));
  builder.output(graph::sum(rolled, {0, 1}));
  std::vector<std::int32_t> given(91);
  for (std::size_t at = 0; at < given.size(); ++at) given[at] = static_cast<std::int32_t>(3 * at + 1);
  compare<std::int32_t>(builder.take(), DType::i32, given);
}

// One thread compares seven indices of one byte, which lie side by side, with all places.
TEST_F(Folds, SeveralIndicesOfOneByte) {
  Builder builder("histogram");
  const Value index = builder.input("index", DType::u8, {7});
  const Value weight = graph::expand(builder.constant(0.75, DType::bf16, {1}), {7});
  const Value counts = builder.constant(1.0, DType::bf16, {8});
  builder.output(graph::index_update(counts, 0, index, weight, graph::Mode::add));
  const Graph graph = builder.take();
  for (unsigned draw = 0; draw < 8; ++draw) {
    std::vector<std::uint8_t> given(7);
    for (unsigned at = 0; at < given.size(); ++at) given[at] = (draw * at + at / 3 + draw) % 8;
    compare<std::uint8_t>(graph, DType::u8, given);
  }
}

}  // namespace

}  // namespace twinloom::tests
