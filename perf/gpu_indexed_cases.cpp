// See gpu_cases.h: kernels that read or write at places which are computed. perf/gpu_peers.py has the same
// cases and sizes. Bytes count each element that is read and written once, and each index once; a table of
// which only some rows are read does not count.
#include "core/graph/indexing.h"
#include "perf/gpu_cases.h"

namespace twinloom::perf {

namespace {

using graph::Builder;
using graph::Mode;
using graph::Tensor;
using ops::DType;

constexpr std::int64_t MEBI = 1 << 20;
constexpr std::int64_t VOCABULARY = 50257, WIDTH = 1024, TOKENS = 65536;
constexpr std::int64_t TAKE_ROWS = 32768, TAKE_COLUMNS = 4096, TAKEN = 1024;
constexpr std::int64_t ADDED_ROWS = MEBI, ADDED_WIDTH = 64, ADDED_PLACES = 50000;
constexpr std::int64_t COUNTED = 16 * MEBI, COUNTED_PLACES = MEBI;
constexpr std::int64_t F32 = 4, I64 = 8;  // bytes

void embedding_of_tokens(Builder& builder) {
  const Tensor table = builder.input("table", DType::f32, {VOCABULARY, WIDTH});
  builder.output(embedding(table, builder.input("index", DType::i64, {TOKENS})));
}
void take_along_rows(Builder& builder) {
  const Tensor x = builder.input("x", DType::f32, {TAKE_ROWS, TAKE_COLUMNS});
  builder.output(take_along(x, 1, builder.input("index", DType::i64, {TAKE_ROWS, TAKEN})));
}
void add_rows(Builder& builder) {
  const Tensor x = builder.input("x", DType::f32, {ADDED_PLACES, ADDED_WIDTH});
  const Tensor index = builder.input("index", DType::i64, {ADDED_ROWS});
  const Tensor source = builder.input("source", DType::f32, {ADDED_ROWS, ADDED_WIDTH});
  builder.output(index_update(x, 0, index, source, Mode::add));
}
void add_elements(Builder& builder) {
  const Tensor x = builder.input("x", DType::f32, {COUNTED_PLACES});
  const Tensor index = builder.input("index", DType::i64, {COUNTED});
  const Tensor source = builder.input("source", DType::f32, {COUNTED});
  builder.output(index_update(x, 0, index, source, Mode::add));
}

}  // namespace

const std::vector<GpuCase>& gpu_indexed_cases() {
  constexpr std::int64_t TAKEN_BYTES = TAKE_ROWS * TAKEN * (2 * F32 + I64);
  constexpr std::int64_t ROW = F32 * ADDED_WIDTH;
  static const std::vector<GpuCase> cases = {
      {"embedding", embedding_of_tokens, TOKENS * (2 * F32 * WIDTH + I64), VOCABULARY},
      {"take_along_rows", take_along_rows, TAKEN_BYTES, TAKE_COLUMNS},
      {"index_add_rows", add_rows, ADDED_ROWS * (ROW + I64) + 2 * ROW * ADDED_PLACES, ADDED_PLACES},
      {"index_add_elements", add_elements, COUNTED * (F32 + I64) + 2 * F32 * COUNTED_PLACES, COUNTED_PLACES},
  };
  return cases;
}

}  // namespace twinloom::perf
