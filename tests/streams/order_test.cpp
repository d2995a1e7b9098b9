// On a GPU: sorted elements and their offsets, of rows that a block holds and of longer ones; the CPU's bits.
#include "core/graph/sorting.h"

#include <cstdint>

#include "tests/determinism/inputs.h"
#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

class Order : public GpuTest, public testing::WithParamInterface<DType> {
 protected:
  // Of so many different values.
  void compare(const Graph& graph, std::int64_t values, const std::string& words) const {
    Inputs given = inputs_of(graph);
    Memory& memory = given.memory[0];
    const auto size = static_cast<std::size_t>(ops::size_of(GetParam()));
    for (std::size_t at = 0; at < memory.size() / size; ++at) {
      const auto drawn =
          static_cast<std::int64_t>((at * 0x9e3779b97f4a7c15u >> 20) % static_cast<std::uint64_t>(values));
      ops::store_number(GetParam(), ops::cast(drawn - values / 2, GetParam()), memory.data() + at * size);
    }
    std::vector<Argument> there;
    for (const Argument& argument : given.arguments)
      there.emplace_back(device().upload(std::get<Tensor>(argument)));
    const auto expected = twinloom::compile(graph, Device::cpu({.cache = false})).run(given.arguments);
    const auto found = twinloom::compile(graph, device()).run(there);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k)
      EXPECT_EQ(memory_of(device().download(std::get<Tensor>(found[k]))), memory_of(expected[k]))
          << words << ", result " << k;
  }
  void compare(const graph::Shape& shape, int axis, std::int64_t values) const {
    Builder builder("sorts");
    const Value x = builder.input("x", GetParam(), shape);
    const graph::Sorted up = graph::sort(x, axis), down = graph::sort(x, axis, graph::Direction::descending);
    for (const Value& each : {up.values, up.offsets, down.values, down.offsets}) builder.output(each);
    compare(builder.take(), values,
            cat("axis ", axis, " of ", join(shape, " x ", [](const auto& one) { return cat(one); })));
  }
};

// A block has 4,096 elements of an iteration.
TEST_P(Order, RowsOfABlock) {
  for (const std::int64_t n : {150, 1000, 4096}) {
    compare({3, n}, 1, 50);
    compare({300, n}, 1, 100'000);
  }
  compare({300, 257}, 0, 7);
}

TEST_P(Order, LongerRows) {
  for (const std::int64_t n : {4097, 20'011, 300'007}) compare({3, n}, 1, 1'000'000);
  compare({1'000'003}, 0, 30);
  compare({1'000'003}, 0, 1'000'000'000);
}

TEST_P(Order, FirstsOfRows) {
  Builder builder("firsts");
  const Value x = builder.input("x", GetParam(), {64, 20'001});
  for (const std::int64_t count : {1, 50}) {
    const graph::Sorted first = graph::top(x, count, 1);
    builder.output(first.values);
    builder.output(first.offsets);
  }
  builder.output(graph::median(x, 1).value);
  compare(builder.take(), 5000, "firsts");
}

INSTANTIATE_TEST_SUITE_P(Types, Order,
                         testing::Values(DType::f32, DType::bf16, DType::f64, DType::i64, DType::i32,
                                         DType::u8),
                         [](const auto& row) { return std::string(ops::name(row.param)); });

}  // namespace

}  // namespace twinloom::tests
