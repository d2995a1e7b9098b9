// On a GPU: rows are added at places that come many times, by the sort of many threads; the CPU's bits.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>

#include "tests/determinism/inputs.h"
#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

// How the places of a line are drawn.
struct Pattern {
  const char* name;
  std::int64_t (*place)(std::int64_t at, std::int64_t count, std::int64_t places, std::uint64_t random);
};

constexpr Pattern PATTERNS[] = {
    {"Drawn",
     [](auto, auto, auto places, auto random) {
       return static_cast<std::int64_t>(random % static_cast<std::uint64_t>(places));
     }},
    {"AllTheSame", [](auto, auto, auto places, auto) { return places / 2; }},
    {"NearlyAllTheSame",
     [](auto, auto, auto places, auto random) {
       return random % 16 != 0 ? places - 1 : static_cast<std::int64_t>(random >> 8) % places / 2;
     }},
    {"Ascending", [](auto at, auto count, auto places, auto) { return at * places / count; }},
    {"Descending", [](auto at, auto count, auto places, auto) { return (count - 1 - at) * places / count; }},
    {"InTurn", [](auto at, auto, auto places, auto) { return at % places; }},
};

class Sort : public GpuTest, public testing::WithParamInterface<Pattern> {
 protected:
  // result[place[i]] += source[i]
  static Graph graph(DType index, std::int64_t count, std::int64_t places, std::int64_t columns) {
    Builder builder("sums");
    const Value x = builder.input("x", DType::f32, {places, columns});
    const Value at = builder.input("at", index, {count});
    const Value source = builder.input("source", DType::f32, {count, columns});
    builder.output(graph::index_update(x, 0, at, source, graph::Mode::add));
    return builder.take();
  }
  void compare(DType index, std::int64_t count, std::int64_t places, std::int64_t columns = 1) const {
    const Graph sums = graph(index, count, places, columns);
    Inputs given = inputs_of(sums);
    std::mt19937_64 random(static_cast<std::uint64_t>(count + places));
    for (std::int64_t at = 0; at < count; ++at)
      ops::store_number(index, ops::cast(GetParam().place(at, count, places, random() >> 1), index),
                        given.memory[1].data() + at * ops::size_of(index));
    std::vector<Argument> there;
    for (const Argument& argument : given.arguments)
      there.emplace_back(device().upload(std::get<Tensor>(argument)));
    const CompileOptions strict{.mode = Mode::strict};
    const Memory expected =
        memory_of(twinloom::compile(sums, Device::cpu({.cache = false}), strict).run(given.arguments)[0]);
    const Executable executable = twinloom::compile(sums, device(), strict);
    const Tensor result = device().download(std::get<Tensor>(executable.run(there)[0]));
    EXPECT_EQ(memory_of(result), expected)
        << count << " rows of " << columns << " at " << places << " places";
  }
};

TEST_P(Sort, RowsAreAddedInTheirOrder) {
  for (const std::int64_t count : {1, 33, 1024, 5000})
    for (const std::int64_t places : {1, 7, 300, 4097}) compare(DType::i64, count, places);
  compare(DType::i32, 100'003, 1);
  compare(DType::i32, 100'003, 70'001);
  compare(DType::i64, 1'000'003, 50'000);
  compare(DType::i64, 300'001, 1'000'003);
}

// Warps where there are few places, threads where there are many.
TEST_P(Sort, RowsOfColumnsAreAddedInTheirOrder) {
  for (const std::int64_t columns : {3, 64}) {
    compare(DType::i64, 5000, 7, columns);
    compare(DType::i64, 20'011, 13'001, columns);
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, Sort, testing::ValuesIn(PATTERNS),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace

}  // namespace twinloom::tests
