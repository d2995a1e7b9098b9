// See families.h. Sizes are no multiples of anything, and just large enough that the work is divided; only
// the running total of one row and its sums by key are a single task. Running totals of rows are walked by 16
// to 64 rows at once, as the CPU has lanes.
#include "tests/determinism/families.h"

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"

namespace twinloom::tests {

namespace {

using graph::Builder;
using graph::Mode;
using graph::Tensor;
using ops::DType;

Tensor line(Builder& builder, DType dtype = DType::f32) { return builder.input("x", dtype, {140001}); }
Tensor rows(Builder& builder, DType dtype = DType::f32) { return builder.input("x", dtype, {67, 1201}); }
// Places in a table of 5003, most of them several times.
Tensor places(Builder& builder) { return remainder(builder.input("at", DType::i64, {7001}), 5003); }
Tensor table(Builder& builder, DType dtype = DType::f32) { return builder.input("table", dtype, {5003}); }
Tensor source(Builder& builder, DType dtype = DType::f32) { return builder.input("source", dtype, {7001}); }

template <Mode mode>
void scattered(Builder& builder) {
  builder.output(scatter(table(builder), 0, places(builder), source(builder), mode));
}

void scattered_in_rows(Builder& b, DType dtype) {
  const Tensor at = remainder(b.input("at", DType::i64, {5, 7001}), 97);
  b.output(scatter(b.input("table", dtype, {5, 97}), 1, at, b.input("source", dtype, {5, 7001}), Mode::add));
}

constexpr Family all[] = {
    {"SumOfAll", [](Builder& b) { b.output(sum(line(b))); }, 8},
    {"SumOfAllInF64", [](Builder& b) { b.output(sum(line(b, DType::f64))); }, 8},
    {"SumOfAllInBf16", [](Builder& b) { b.output(sum(line(b, DType::bf16))); }, 8},
    {"SumOfAllIntegers", [](Builder& b) { b.output(sum(line(b, DType::i32))); }, 8},
    {"SumOfRows", [](Builder& b) { b.output(sum(rows(b), {1})); }, 3},
    {"SumOfColumns", [](Builder& b) { b.output(sum(rows(b), {0})); }, 3},
    {"SumOfTheMiddle",
     [](Builder& b) {
       b.output(sum(b.input("x", DType::f32, {29, 311, 13}), {1}));
     },
     3},
    {"ProductOfAll", [](Builder& b) { b.output(prod(line(b))); }, 8},
    {"LargestOfAll", [](Builder& b) { b.output(amax(line(b))); }, 8},
    {"LeastOfColumns", [](Builder& b) { b.output(amin(rows(b), {0})); }, 3},
    {"AnyOfRows", [](Builder& b) { b.output(any(gt(rows(b), 3.5), {1})); }, 3},
    {"AllOfAll", [](Builder& b) { b.output(graph::all(lt(line(b), 9.0))); }, 8},
    {"PlaceOfTheLargest", [](Builder& b) { b.output(argmax(line(b))); }, 8},
    {"PlacesOfTheLeastOfRows", [](Builder& b) { b.output(argmin(rows(b), 1)); }, 3},
    {"PlacesOfTheLargestOfColumns", [](Builder& b) { b.output(argmax(rows(b), 0)); }, 3},
    {"MeanAndVarianceOfAll", [](Builder& b) { b.output(var(line(b))); }, 8},
    {"VarianceOfParts", [](Builder& b) { b.output(var(b.input("x", DType::f32, {264000}))); }, 8},
    {"SoftmaxOfRows", [](Builder& b) { b.output(softmax(rows(b), 1)); }, 3},
    {"SoftmaxOfColumns", [](Builder& b) { b.output(softmax(rows(b), 0)); }, 3},
    {"SoftmaxOfAll", [](Builder& b) { b.output(softmax(line(b), 0)); }, 8},
    {"LayerNorm", [](Builder& b) { b.output(layer_norm(rows(b), 1, {}, {}, 1e-5).value); }, 3},
    {"RunningSumOfAll", [](Builder& b) { b.output(cumsum(b.input("x", DType::f32, {30011}), 0)); }, 1},
    {"RunningSumOfRowsBackwards",
     [](Builder& b) { b.output(cumsum(rows(b), 1, {.exclusive = false, .backwards = true})); }, 2},
    {"RunningSumOfColumns", [](Builder& b) { b.output(cumsum(rows(b), 0)); }, 3},
    {"RunningProductOfRows", [](Builder& b) { b.output(cumprod(rows(b), 1)); }, 2},
    {"RunningMaximumOfRows", [](Builder& b) { b.output(cummax(rows(b), 1).place); }, 2},
    {"ScatterReplaces", scattered<Mode::replace>, 2},
    {"ScatterAdds", [](Builder& b) { scattered_in_rows(b, DType::f32); }, 5},
    {"ScatterAddsToOneRow", scattered<Mode::add>, 1},  // which is one worker's
    {"ScatterMultiplies", scattered<Mode::multiply>, 3},
    {"ScatterKeepsTheGreatest", scattered<Mode::greatest>, 3},
    {"ScatterKeepsTheLeast", scattered<Mode::least>, 3},
    {"ScatterAddsInBf16", [](Builder& b) { scattered_in_rows(b, DType::bf16); }, 5},
    {"ScatterAddsIntegers",
     [](Builder& b) {
       b.output(scatter(table(b, DType::i64), 0, places(b), source(b, DType::i64), Mode::add));
     },
     3},
    {"RowsAreAddedAtPlaces",
     [](Builder& b) {
       const Tensor at = remainder(b.input("at", DType::i64, {301}), 23);
       b.output(index_update(b.input("table", DType::f32, {23, 67}), 0, at,
                             b.input("source", DType::f32, {301, 67}), Mode::add));
     },
     3},
};

}  // namespace

std::span<const Family> families() { return all; }

}  // namespace twinloom::tests
