// On a GPU: a thousand indices out of range, an Error each that names operator, position, value and bound,
// and after each a right run.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>

#include "tests/determinism/inputs.h"
#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

constexpr std::int64_t ROWS = 40, COLUMNS = 30, COUNT = 50;

struct Reader {
  const char* name;
  DType index;
  bool wraps;
  std::int64_t bound;
  Value (*build)(const Value& x, const Value& at, const Value& source);
};

Value in_rows(const Value& at) { return graph::reshape(at, {COUNT / 5, 5}); }
Value part(const Value& source) { return graph::slice(source, 1, 0, 5); }

constexpr Reader READERS[] = {
    {"take", DType::i64, false, ROWS, [](auto& x, auto& at, auto&) { return graph::take(x, 0, at); }},
    {"take_columns", DType::i32, false, COLUMNS,
     [](auto& x, auto& at, auto&) { return graph::take(x, 1, at); }},
    {"gather", DType::i64, false, ROWS,
     [](auto& x, auto& at, auto&) { return graph::take_along(x, 0, in_rows(at)); }},
    {"embedding", DType::i32, false, ROWS, [](auto& x, auto& at, auto&) { return graph::embedding(x, at); }},
    {"index", DType::i64, true, ROWS, [](auto& x, auto& at, auto&) { return graph::index(x, {at}); }},
    {"index_columns", DType::i64, true, COLUMNS,
     [](auto& x, auto& at, auto&) {
       return graph::index(x, {std::nullopt, at});
     }},
    {"scatter", DType::i64, false, ROWS,
     [](auto& x, auto& at, auto& source) { return graph::scatter(x, 0, in_rows(at), part(source)); }},
    {"scatter_add", DType::i64, false, ROWS,
     [](auto& x, auto& at, auto& source) {
       return graph::scatter(x, 0, in_rows(at), part(source), graph::Mode::add);
     }},
    {"index_add", DType::i32, false, ROWS,
     [](auto& x, auto& at, auto& source) { return graph::index_update(x, 0, at, source, graph::Mode::add); }},
    {"index_put", DType::i64, true, ROWS,
     [](auto& x, auto& at, auto& source) { return graph::index_put(x, {at}, source, graph::Mode::add); }},
};
constexpr int DRAWS = 1000 / static_cast<int>(std::size(READERS));

Graph graph_of(const Reader& reader) {
  Builder builder("reader");
  const Value x = builder.input("x", DType::f32, {ROWS, COLUMNS});
  const Value at = builder.input("at", reader.index, {COUNT});
  const Value source = builder.input("source", DType::f32, {COUNT, COLUMNS});
  builder.origin.name = reader.name;
  builder.output(reader.build(x, at, source));
  return builder.take();
}

// Outside of the range on either side, by little and by as much as the type holds.
std::int64_t wrong_value(const Reader& reader, std::mt19937_64& random) {
  const bool wide = reader.index == DType::i64;
  const std::int64_t least = wide ? std::numeric_limits<std::int64_t>::min() : std::int64_t{INT32_MIN};
  const std::int64_t first_below = reader.wraps ? -reader.bound - 1 : -1;
  const std::int64_t values[] = {
      first_below,      first_below - 1, least,     reader.bound,
      reader.bound + 1, -(least + 1),    INT32_MAX, wide ? std::int64_t{1} << 40 : 1 << 20};
  return values[random() % std::size(values)];
}

class Indices : public GpuTest, public testing::WithParamInterface<Reader> {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    graph_ = graph_of(GetParam());
    given_ = inputs_of(graph_);
  }
  void set_index(std::size_t at, std::int64_t value) {
    const DType dtype = GetParam().index;
    ops::store_number(dtype, ops::cast(value, dtype),
                      given_.memory[1].data() + at * static_cast<std::size_t>(ops::size_of(dtype)));
  }
  std::vector<Argument> uploaded() const {
    std::vector<Argument> there;
    for (const Argument& argument : given_.arguments)
      there.emplace_back(device().upload(contiguous(std::get<Tensor>(argument))));
    return there;
  }
  Memory result(const Executable& executable) const {
    return memory_of(device().download(std::get<Tensor>(executable.run(uploaded())[0])));
  }

  Graph graph_;
  Inputs given_;
};

TEST_P(Indices, EachWrongOneIsAnErrorAndTheNextRunIsRight) {
  const Reader& reader = GetParam();
  std::mt19937_64 random(11);
  const CompileOptions strict{.mode = Mode::strict};
  const Executable executable = compile(graph_, device(), strict);
  const Executable on_cpu = compile(graph_, Device::cpu({.cache = false}), strict);
  for (int draw = 0; draw < DRAWS; ++draw) {
    for (std::size_t at = 0; at < COUNT; ++at)
      set_index(at, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(reader.bound)));
    const Inputs right = given_;  // its arguments still speak of given_'s memory
    const std::size_t at = random() % COUNT;
    const std::int64_t wrong = wrong_value(reader, random);
    set_index(at, wrong);
    try {
      executable.run(uploaded());
      FAIL() << "index " << wrong << " was taken";
    } catch (const Error& error) {
      // Where a schedule has copied the indices to scratch first, their place is not known.
      const std::string words = error.what(),
                        expected = cat("'", reader.name, "': index ", wrong,
                                       " is out of range; expected 0 <= index < ", reader.bound);
      EXPECT_TRUE(words == expected ||
                  words == cat(expected, "; it is element ", at, " of its tensor's memory"))
          << words;
    }
    std::copy(right.memory[1].begin(), right.memory[1].end(), given_.memory[1].begin());
    EXPECT_EQ(result(executable), memory_of(on_cpu.run(given_.arguments)[0])) << "after index " << wrong;
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, Indices, testing::ValuesIn(READERS),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace

}  // namespace twinloom::tests
