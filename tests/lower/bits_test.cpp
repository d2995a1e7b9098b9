// The nests of every family give the evaluator's bits, before and after fusion.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "tests/lower/run_lowered.h"

namespace twinloom::tests {

using namespace graph;
using ops::DType;

TEST(LoweredBits, Pointwise) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {5, 7}), y = b.input("y", DType::f32, {7});
  b.output(relu(sin(x) * y + 0.5));
  b.output(gt(x, sin(x)));
  expect_same_bits(b.take());
}

TEST(LoweredBits, Bfloat16RoundsAfterEachOperator) {
  Builder b;
  const Tensor x = b.input("x", DType::bf16, {33}), y = b.input("y", DType::bf16, {33});
  b.output(exp(x * y) - x);
  b.output(sum(x * y));
  expect_same_bits(b.take());
}

// What chooses among values of 16 bits, or changes their signs, gives such values.
TEST(LoweredBits, ValuesOf16BitsAreNotRoundedAgain) {
  Builder b;
  const Tensor x = b.input("x", DType::bf16, {4, 6}), y = b.input("y", DType::bf16, {4, 9});
  const Tensor rotated = concat({-slice(x, 1, 3, 6), maximum(abs(slice(x, 1, 0, 3)), 0.5), relu(y)}, 1);
  b.output(rotated * rotated);
  const Graph graph = b.take();
  expect_same_bits(graph);
  const std::string text = lower::print(lower::lower(graph));
  EXPECT_EQ(text.find("f32(bf16("), std::string::npos) << text;
}

// Each is looked at once, however many ways lead to it.
TEST(LoweredBits, ChoicesAmongChoicesOf16BitsAreKnownAtOnce) {
  Builder b;
  const Tensor m = b.input("m", DType::b8, {3});
  Tensor x = b.input("x", DType::bf16, {3});
  for (int k = 0; k < 40; ++k) x = where(m, -x, maximum(x, abs(x)));
  b.output(x + x);
  expect_same_bits(b.take());
}

TEST(LoweredBits, SumsOf16BitsAreRounded) {
  Builder b;
  const Tensor x = b.input("x", DType::bf16, {4, 6});
  b.output(relu(x + x) * 3.0);
  b.output(maximum(x, 0.3) * 3.0);  // 0.3 is none of bf16, its nearest one is
  const Graph graph = b.take();
  expect_same_bits(graph);
  EXPECT_NE(lower::print(lower::lower(graph)).find("f32(bf16("), std::string::npos);
}

TEST(LoweredBits, ViewsAndConcat) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {9, 30}), y = b.input("y", DType::f32, {9, 21});
  const Tensor p = slice(pad(x, {{0, 0}, {1, 2}}, 0.5), 1, 0, 33, 2);
  b.output(cos(concat({p, slice(flip(y, {1}), 1, 1, 21)}, 1)));
  b.output(pad(exp(x), {{1, 1}, {0, -3}}, 2.0));
  b.output(concat({y, y + 1.0, y, y * y, y, y}, 0));
  b.output(reshape(transpose(x, 0, 1), {27, 10}));
  expect_same_bits(b.take());
}

TEST(LoweredBits, Reductions) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {5, 41, 67});
  b.output(var(x, {1}));
  b.output(mean(x));
  b.output(amax(x, {0, 2}));
  b.output(argmax(x, 2));
  b.output(sum(x, {1}, true) + x);
  expect_same_bits(b.take());
}

TEST(LoweredBits, ReductionsOfMoreThanAUnit) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {3, 2500});
  b.output(softmax(x, 1));
  b.output(sum(x, {}));
  expect_same_bits(b.take());
}

TEST(LoweredBits, Scans) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {4, 1100}), m = b.input("m", DType::b8, {4, 1100});
  b.output(where(m, cumsum(x, 1), 0.0));
  b.output(cumprod(x, 0, {.exclusive = true}));
  b.output(cumsum(x, 1, {.exclusive = false, .backwards = true}));
  const Extreme extreme = cummax(x, 1);
  b.output(extreme.value);
  b.output(extreme.place);
  expect_same_bits(b.take());
}

TEST(LoweredBits, Gathers) {
  Builder b;
  const Tensor table = b.input("table", DType::f32, {11, 6}), rows = b.input("rows", DType::i64, {4, 3});
  const Tensor along = b.input("along", DType::i32, {5, 6});
  b.output(embedding(exp(table), rows));
  b.output(take_along(table, 0, along) * 2.0);
  b.output(graph::index(table, {rows, rows}));
  expect_same_bits(b.take(), {}, 6);
}

TEST(LoweredBits, ScattersWithRepeatedPlaces) {
  for (const Mode mode : {Mode::replace, Mode::add, Mode::multiply, Mode::least, Mode::greatest}) {
    Builder b;
    const Tensor x = b.input("x", DType::f32, {7, 5}), rows = b.input("rows", DType::i64, {40});
    const Tensor v = b.input("v", DType::f32, {40, 5}), along = b.input("along", DType::i64, {9, 5});
    const Tensor w = b.input("w", DType::f32, {9, 5});
    b.output(index_update(x, 0, rows, v, mode));
    b.output(scatter(sin(x), 0, along, w, mode, mode == Mode::replace));
    expect_same_bits(b.take(), {}, 5);
  }
}

// Along the last axis, so that rows are sorted alone; some have fewer rows than the result.
TEST(LoweredBits, ScattersIntoRowsOfTheirOwn) {
  for (const Mode mode : {Mode::replace, Mode::add, Mode::least}) {
    Builder b;
    const Tensor x = b.input("x", DType::f32, {3, 2, 5}), along = b.input("along", DType::i64, {3, 2, 40});
    const Tensor w = b.input("w", DType::f32, {3, 2, 40}), few = b.input("few", DType::i64, {2, 2, 9});
    const Tensor v = b.input("v", DType::f32, {3, 5}), one = b.input("one", DType::i64, {3});
    b.output(scatter(x, 2, along, w, mode));
    b.output(scatter(x, 2, few, w, mode));
    b.output(index_put(v, {b.iota({3}, 0), one}, b.input("u", DType::f32, {3}), mode));
    expect_same_bits(b.take(), {}, 5);
  }
}

std::int64_t calls_of(const Graph& graph, loops::Routine routine, const lower::Routines& routines = {}) {
  const lower::Lowered lowered = lower::lower(graph, {}, routines);
  return std::ranges::count_if(lowered.units, [&](const lower::Unit& unit) {
    const loops::Call* const call = loops::routine_of(unit.nest);
    return call != nullptr && call->routine == routine;
  });
}
std::int64_t sorts_of(const Graph& graph) { return calls_of(graph, loops::Routine::stable_sort); }

const lower::Routines BY_KEY = {.sums_by_key = true, .workers = 2};

// Rows of one and of several dimensions, some of them not written; sources that are computed and places that
// are looked up; every type of floats.
TEST(LoweredBits, SumsByKeyOfRowsOfTheirOwn) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    Builder b;
    const Tensor x = b.input("x", dtype, {3, 2, 5}), along = b.input("along", DType::i64, {3, 2, 1200});
    const Tensor w = b.input("w", dtype, {3, 2, 1200});
    b.output(exp(scatter(x, 2, along, w * w, Mode::add)));
    const Tensor blocks = b.input("blocks", dtype, {4, 5, 3}), table = b.input("table", DType::i64, {7});
    const Tensor rows = take(table, 0, b.input("rows", DType::i64, {4, 90, 3}));
    b.output(scatter(blocks, 1, rows, b.input("v", dtype, {4, 90, 3}), Mode::add));
    const Graph graph = b.take();
    EXPECT_EQ(calls_of(graph, loops::Routine::sums_by_key, BY_KEY), 2);
    EXPECT_EQ(sorts_of(graph), 2);
    expect_same_bits(graph, {}, 3, BY_KEY);
  }
}

// What is not a sum of single floats with what is there, and fewer rows than workers that have fewer elements
// than keys.
TEST(LoweredBits, WhatIsNotSummedByKeyIsSorted) {
  const lower::Routines many_workers = {.sums_by_key = true, .workers = 4};
  Builder b;
  const Tensor x = b.input("x", DType::f32, {3, 50}), along = b.input("along", DType::i64, {3, 49});
  const Tensor w = b.input("w", DType::f32, {3, 49});
  b.output(scatter(x, 1, along, w, Mode::multiply));
  b.output(scatter(x, 1, along, w, Mode::add, false));
  b.output(
      scatter(b.input("i", DType::i32, {3, 50}), 1, along, b.input("j", DType::i32, {3, 49}), Mode::add));
  b.output(
      index_update(x, 0, b.input("at", DType::i64, {90}), b.input("u", DType::f32, {90, 50}), Mode::add));
  EXPECT_EQ(calls_of(b.graph(), loops::Routine::sums_by_key, BY_KEY), 0);
  b.output(scatter(x, 1, along, w, Mode::add));
  EXPECT_EQ(calls_of(b.graph(), loops::Routine::sums_by_key, BY_KEY), 1);
  EXPECT_EQ(calls_of(b.graph(), loops::Routine::sums_by_key, many_workers), 0);
  EXPECT_EQ(calls_of(b.graph(), loops::Routine::sums_by_key), 0);
  const Tensor places = b.input("places", DType::i64, {3, 50});
  b.output(scatter(x, 1, places, b.input("v", DType::f32, {3, 50}), Mode::add));
  EXPECT_EQ(calls_of(b.graph(), loops::Routine::sums_by_key, many_workers), 1);
  expect_same_bits(b.take(), {}, 3, BY_KEY);
}

// Tables of different widths and types; another table's height or another index is another sort.
TEST(LoweredBits, PlacesThatSeveralScattersShareAreSortedOnce) {
  Builder b;
  const Tensor at = b.input("at", DType::i64, {40}), other = b.input("other", DType::i64, {40});
  const auto put = [&](const char* name, DType dtype, std::int64_t height, std::int64_t width,
                       const Tensor& rows) {
    const Tensor table = b.input(name, dtype, {height, width});
    b.output(index_update(table, 0, rows, b.input(std::string("of_") + name, dtype, {40, width}), Mode::add));
  };
  put("wide", DType::f32, 9, 6, at);
  put("narrow", DType::f64, 9, 3, at);
  const Graph same = b.graph();
  EXPECT_EQ(sorts_of(same), 1);
  expect_same_bits(same, {}, 9);
  put("higher", DType::f32, 12, 6, at);
  put("elsewhere", DType::f32, 9, 6, other);
  const Graph all = b.take();
  EXPECT_EQ(sorts_of(all), 3);
  expect_same_bits(all, {}, 9);
}

TEST(LoweredBits, ScattersOfNothing) {
  for (const Mode mode : {Mode::replace, Mode::add, Mode::least}) {
    Builder b;
    const Tensor none = b.input("none", DType::f32, {0, 1, 3, 1, 1}), x = b.input("x", DType::f32, {2, 3, 4});
    const Tensor along = b.input("along", DType::i64, {0, 1, 0, 1, 1}),
                 v = b.input("v", DType::f32, {2, 0, 4});
    const Tensor w = b.input("w", DType::f32, {0, 1, 0, 1, 1}), rows = b.input("rows", DType::i64, {2, 0, 4});
    b.output(scatter(none, 2, along, w, mode));
    b.output(scatter(x, 1, rows, v, mode));
    expect_same_bits(b.take());
  }
}

// What no loop changes is loaded in front of the loops, also where they have no turns.
TEST(LoweredBits, NothingIsLoadedOfNothing) {
  expect_same_bits(graph::parse(R"(graph "empty"
parameter "x" = %0
%0: f32 [0, 3, 1, 4] = input slot 0
%1: f32 [0] = view(%0) at [i0] from [0, 0, 0, 0]
%2: f32 [] = reduce sum over [0] (%1)
result "y" = own %2
)"));
  const Graph maybe = graph::parse(R"(graph "maybe empty"
fact n in 1 to inf
parameter "size" = %0
parameter "x" = %1
%0: f32 [n] = input slot 0
%1: f32 [n - 1] = input slot 1
%2: f32 [n - 1] = view(%1) at [i0] from [0]
%3: f32 [] = reduce sum over [0] (%2)
%4: f32 [n] = view(%3) at [i0] from []
%5: f32 [n] = add(%0, %4)
result "y" = own %5
)");
  for (const int size : {1, 2, 9}) expect_same_bits(maybe, {{index::Symbol("n"), size}});
}

// What no loop changes is asked in front of the loops, but not where they have no turns.
TEST(LoweredBits, NothingIsAskedOfNothing) {
  expect_same_bits(graph::parse(R"(graph "empty"
parameter "x" = %0
parameter "at" = %1
%0: f32 [0, 4] = input slot 0
%1: i32 [0, 4] = input slot 1
%2: f32 [0, 4] = gather(%0, %1) at [i0, i1] found [f0] below [0] from [f0, i1]
%3: f32 [] = reduce sum over [0, 1] (%2)
result "y" = own %3
)"));
  const Graph maybe = graph::parse(R"(graph "maybe empty"
fact n in 0 to inf
parameter "x" = %0
parameter "at" = %1
%0: f32 [n] = input slot 0
%1: i64 [1] = input slot 1
%2: i64 [n] = view(%1) at [i0] from [0]
%3: f32 [n] = gather(%0, %2) at [i0] found [f0] below [n] from [f0]
%4: f32 [] = reduce sum over [0] (%3)
result "y" = own %4
)");
  for (const int size : {0, 1, 9}) expect_same_bits(maybe, {{index::Symbol("n"), size}}, 1);
}

TEST(LoweredBits, RandomNumbersAndIota) {
  Builder b;
  b.output(b.uniform({4, 9}, DType::f32) * b.normal({4, 9}, DType::f32));
  b.output(b.integers(-3, 12, {17}));
  b.output(b.iota({3, 5}, 1) + 2);
  expect_same_bits(b.take());
}

TEST(LoweredBits, SymbolicSizes) {
  Builder b;
  const index::Symbol n("s77"), m("s27");
  b.size_parameter("n", n);
  b.size_parameter("m", m);
  const Tensor x = b.input("x", DType::f32, {n, m});
  const Tensor y = reshape(transpose(x, 0, 1), {n, m}) * cast(b.size(m), DType::f32);
  b.output(sum(concat({softmax(x, 0), y}, 0), {1}));
  for (const auto& [rows, columns] : {std::pair{9, 31}, std::pair{1, 1}, std::pair{4, 1}})
    expect_same_bits(b.graph(), {{n, rows}, {m, columns}});
}

// Where x[:, 2:] has no elements, its positions are quotients by 0, and only what stands beside it is read.
TEST(LoweredBits, NothingBesideSomething) {
  const index::Symbol n("n");
  Builder b;
  const Tensor x = b.input("x", DType::f32, {3, n}), y = b.input("y", DType::f32, {4});
  const Tensor rest = reshape(slice(x, 1, 2, n), {-1});
  b.output(pad(rest, {{1, 1}}, 1.0));
  b.output(pad(exp(rest), {{1, 2}}, 1.0));
  b.output(concat({y, sin(rest), y}, 0));
  for (const int size : {1, 2, 3, 9}) expect_same_bits(b.graph(), {{n, size}});
}

TEST(LoweredBits, NothingAndSingleElements) {
  Builder b;
  const Tensor none = b.input("none", DType::f32, {0, 5}), one = b.input("one", DType::f32, {});
  const Tensor single = b.input("single", DType::f32, {1, 1});
  b.output(sum(none, {0}));
  b.output(mean(exp(none), {1}));
  b.output(cumsum(none, 0));
  b.output(one * single + sum(none, {}));
  b.output(softmax(single, 1));
  b.output(one);
  expect_same_bits(b.take());
}

}  // namespace twinloom::tests
