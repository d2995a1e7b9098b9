// Scatters that add in memory. On whole numbers every order gives the same bits, so the interpreter of the
// nests, before and after fusion, has those of the evaluator.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/fuse/fuse.h"
#include "core/graph/builder.h"
#include "core/graph/indexing.h"
#include "core/graph/passes.h"
#include "core/loops/rewrite.h"
#include "tests/lower/run_lowered.h"

namespace twinloom::tests {

namespace {

using namespace graph;
using ops::DType;

const lower::Routines ATOMICS = {.atomics = true};

Tensor whole(Builder& builder, const char* name, DType dtype, std::vector<index::Expr> shape) {
  const Tensor x = builder.input(name, dtype, std::move(shape));
  return pointwise(ops::Pointwise::round, {pointwise(ops::Pointwise::mul, x, 8.0)});
}

struct Kernels {
  std::ptrdiff_t all = 0, adding = 0, sorts = 0;
  friend bool operator==(const Kernels&, const Kernels&) = default;
};
Kernels kernels_of(const lower::Lowered& lowered) {
  return {std::ssize(lowered.units),
          std::ranges::count_if(lowered.units, [](const auto& unit) { return !unit.updates.empty(); }),
          std::ranges::count_if(lowered.units,
                                [](const auto& unit) { return loops::routine_of(unit.nest) != nullptr; })};
}

// What was there is copied by one kernel; sources that are computed are computed where they are added; what
// is made of the sums is a kernel that comes after all that add to them.
TEST(Atomics, AddToWhatIsThere) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    Builder b;
    const Tensor x = whole(b, "x", dtype, {90, 20}), w = whole(b, "w", dtype, {40, 20});
    const Tensor at = b.input("at", DType::i64, {40});
    b.output(pointwise(ops::Pointwise::mul, index_update(x, 0, at, w + w, Mode::add), 3.0));
    const Tensor along = b.input("along", DType::i64, {40, 20});
    b.output(scatter(x, 0, along, w, Mode::add));
    const Graph graph = b.take();
    const bool is_narrow = ops::is_16_bit_float(dtype);
    const Kernels fused = kernels_of(fuse::fuse(lower::lower(graph, {}, ATOMICS)).lowered);
    EXPECT_EQ(fused, (Kernels{is_narrow ? 5 : 4, 2, 0}));
    expect_same_bits(graph, {}, 90, ATOMICS);
  }
}

// What is put is the source of what is added, and what is added to.
TEST(Atomics, AddToTheirOwnSource) {
  Builder b;
  const Tensor x = whole(b, "x", DType::f32, {300});
  b.output(scatter(x, 0, b.input("at", DType::i64, {300}), x, Mode::add));
  b.output(index_put(whole(b, "y", DType::f32, {300}), {b.input("to", DType::i64, {300})}, x, Mode::add));
  expect_same_bits(b.take(), {}, 300, ATOMICS);
}

// Few places, integers, products, sums without what was there, and rows whose indices are sorted in less
// time: long ones that meet.
TEST(Atomics, AreNotUsedWhere) {
  Builder b;
  const Tensor at = b.input("at", DType::i64, {40}), x = b.input("x", DType::f32, {300});
  const Tensor w = b.input("w", DType::f32, {40}), i = b.input("i", DType::i32, {300});
  b.output(scatter(b.input("few", DType::f32, {255}), 0, at, w, Mode::add));
  b.output(scatter(i, 0, at, b.input("j", DType::i32, {40}), Mode::add));
  b.output(scatter(x, 0, at, w, Mode::multiply));
  b.output(scatter(x, 0, at, w, Mode::add, false));
  const Tensor many = b.input("many", DType::i64, {300});
  for (const index::Expr& row : {index::Expr(64), index::Expr(index::Symbol("n"))})
    b.output(index_update(b.input(cat("x", row), DType::f32, {300, row}), 0, many,
                          b.input(cat("w", row), DType::f32, {300, row}), Mode::add));
  const Graph graph = b.take();
  EXPECT_EQ(kernels_of(lower::lower(graph, {}, ATOMICS)).adding, 0);
  Builder c;
  c.output(scatter(c.input("x", DType::f32, {300}), 0, c.input("at", DType::i64, {40}),
                   c.input("w", DType::f32, {40}), Mode::add));
  c.output(index_update(c.input("y", DType::f32, {300, 63}), 0, c.input("to", DType::i64, {40}),
                        c.input("v", DType::f32, {40, 63}), Mode::add));
  c.output(index_update(c.input("z", DType::f32, {300, 512}), 0, c.input("into", DType::i64, {299}),
                        c.input("u", DType::f32, {299, 512}), Mode::add));
  EXPECT_EQ(kernels_of(lower::lower(c.graph(), {}, ATOMICS)).adding, 3);
  EXPECT_EQ(kernels_of(lower::lower(c.graph())).adding, 0);
}

}  // namespace

}  // namespace twinloom::tests
