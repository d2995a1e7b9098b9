// On a GPU: tensors of more than 2^31 elements, of known and of symbolic sizes, at chosen places and in
// total.
#include <bit>
#include <utility>

#include "tests/streams/gpu_test.h"

namespace twinloom::tests {

namespace {

constexpr std::int64_t MANY = (std::int64_t{1} << 31) + 5;
constexpr std::int64_t PLACES[] = {0,        1,        77,       (MANY - 5) / 2, MANY - 7,
                                   MANY - 6, MANY - 5, MANY - 2, MANY - 1};

// The line: element i is 7i + 3 in 8 bits.
std::int64_t element(std::int64_t i) { return (7 * i + 3) % 256; }
std::int64_t total(std::int64_t count) {
  constexpr std::int64_t ALL = 255 * 256 / 2;  // 7 is odd, so 256 neighbours are all values
  std::int64_t sum = count / 256 * ALL;
  for (std::int64_t i = count / 256 * 256; i < count; ++i) sum += element(i);
  return sum;
}

// The square, row-major: element (i, k) is (3i + k) mod 8 in bf16.
constexpr std::int64_t ROWS = 65537, COLUMNS = 32771;
static_assert(ROWS * COLUMNS > MANY);

class Large : public GpuTest, public testing::WithParamInterface<bool> {
 protected:
  // As a graph spells the size: a symbol or a number.
  index::Expr size(const Symbol& symbol, std::int64_t value) const {
    return GetParam() ? index::Expr(symbol) : index::Expr(value);
  }
  Tensor run(Builder& builder, const std::vector<Argument>& arguments) const {
    const Executable executable = compile(builder.take(), device(), {.mode = Mode::strict});
    return std::get<Tensor>(executable.run(arguments)[0]);
  }
  // The values are made where they are needed: a copy of them to the GPU would take longer than the test.
  Tensor line() const {
    Builder builder("line");
    const Symbol n("n");
    builder.size_parameter("n", n);
    const Value places = builder.iota({size(n, MANY)}, 0);
    builder.output(graph::cast(places * 7 + 3, DType::u8));
    return run(builder, {MANY});
  }
  Tensor square() const {
    Builder builder("square");
    const Symbol n("n"), m("m");
    builder.size_parameter("n", n);
    builder.size_parameter("m", m);
    const graph::Shape shape = {size(n, ROWS), size(m, COLUMNS)};
    const Value sum = builder.iota(shape, 0) * 3 + builder.iota(shape, 1);
    builder.output(graph::cast(graph::remainder(sum, 8), DType::bf16));
    return run(builder, {ROWS, COLUMNS});
  }
  template <class Of>
  std::vector<Of> part(const Tensor& tensor, std::int64_t first, std::int64_t count) const {
    Tensor few = tensor;
    few.data = static_cast<Of*>(tensor.data) + first;
    few.sizes = {count};
    few.strides = {1};
    const Tensor here = device().download(few);
    return {static_cast<const Of*>(here.data), static_cast<const Of*>(here.data) + count};
  }
  std::int64_t byte(const Tensor& tensor, std::int64_t at) const {
    return part<std::uint8_t>(tensor, at, 1).front();
  }
};

TEST_P(Large, ElementsAndTheirTotal) {
  const Tensor x = line();
  Builder pointwise("pointwise"), reduction("total");
  const Symbol n("n");
  pointwise.output(pointwise.input("x", DType::u8, {size(n, MANY)}) + 1);
  reduction.output(graph::sum(graph::cast(reduction.input("x", DType::u8, {size(n, MANY)}), DType::i64)));
  const Tensor moved = run(pointwise, {x});
  for (const std::int64_t at : PLACES) {
    EXPECT_EQ(byte(x, at), element(at)) << at;
    EXPECT_EQ(byte(moved, at), (element(at) + 1) % 256) << at;
  }
  EXPECT_EQ(part<std::int64_t>(run(reduction, {x}), 0, 1).front(), total(MANY));
}

TEST_P(Large, ReadAndWrittenAtComputedPlaces) {
  const Tensor x = line();
  std::vector<std::int64_t> places(std::begin(PLACES), std::end(PLACES));
  const auto count = static_cast<std::int64_t>(places.size());
  const Tensor there = device().upload(contiguous(view_of(places.data(), DType::i64, {count})));
  Builder reading("reading"), writing("writing");
  const Symbol n("n");
  const Value read_from = reading.input("x", DType::u8, {size(n, MANY)});
  reading.output(graph::take(read_from, 0, reading.input("places", DType::i64, {count})));
  const Value written_to = writing.input("x", DType::u8, {size(n, MANY)});
  writing.output(graph::index_put(written_to, {writing.input("places", DType::i64, {count})},
                                  writing.constant(std::int64_t{201}, DType::u8, {count})));
  const auto read = part<std::uint8_t>(run(reading, {x, there}), 0, count);
  const Tensor written = run(writing, {x, there});
  for (std::size_t k = 0; k < places.size(); ++k) {
    EXPECT_EQ(read[k], element(places[k])) << places[k];
    EXPECT_EQ(byte(written, places[k]), 201) << places[k];
  }
  EXPECT_EQ(byte(written, MANY - 3), element(MANY - 3));
}

TEST_P(Large, RowsColumnsAndTheTransposition) {
  const Tensor x = square();
  const Symbol n("n"), m("m");
  const graph::Shape shape = {size(n, ROWS), size(m, COLUMNS)};
  Builder rows("rows"), columns("columns"), transposition("transposition");
  rows.output(graph::sum(graph::cast(rows.input("x", DType::bf16, shape), DType::f32), {1}));
  columns.output(graph::sum(graph::cast(columns.input("x", DType::bf16, shape), DType::f32), {0}));
  const Value turned_rows = graph::transpose(transposition.input("x", DType::bf16, shape), 0, 1) + 1.0;
  transposition.output(graph::reshape(turned_rows, {shape[0] * shape[1]}));
  const std::vector<float> of_rows = part<float>(run(rows, {x}), 0, ROWS);
  const std::vector<float> of_columns = part<float>(run(columns, {x}), 0, COLUMNS);
  const auto sum = [](std::int64_t first, std::int64_t step, std::int64_t count) {
    std::int64_t all = 0;
    for (std::int64_t at = 0; at < count; ++at) all += (first + step * at) % 8;
    return static_cast<float>(all);
  };
  for (const std::int64_t row : {std::int64_t{0}, std::int64_t{5}, ROWS - 2, ROWS - 1})
    EXPECT_EQ(of_rows[static_cast<std::size_t>(row)], sum(3 * row, 1, COLUMNS)) << row;
  for (const std::int64_t column : {std::int64_t{0}, std::int64_t{6}, COLUMNS - 1})
    EXPECT_EQ(of_columns[static_cast<std::size_t>(column)], sum(column, 3, ROWS)) << column;
  const Tensor turned = run(transposition, {x});
  for (const auto& [i, k] :
       {std::pair{ROWS - 1, COLUMNS - 1}, {ROWS - 2, COLUMNS - 1}, {std::int64_t{1}, COLUMNS - 2}}) {
    const auto bits = std::uint32_t{part<std::uint16_t>(turned, k * ROWS + i, 1).front()} << 16;
    EXPECT_EQ(std::bit_cast<float>(bits), static_cast<float>((3 * i + k) % 8 + 1)) << i << " " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Large, testing::Bool(),
                         [](const auto& row) { return row.param ? "symbolic" : "known"; });

}  // namespace

}  // namespace twinloom::tests
