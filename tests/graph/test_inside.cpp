// Maps that are not proven to stay inside: an Error where the sizes are known, else a requirement in words.
// What the builder's functions make needs none.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/base/error.h"
#include "core/graph/bind.h"
#include "core/graph/builder.h"
#include "core/graph/indexing.h"
#include "core/graph/passes.h"
#include "core/graph/views.h"

namespace twinloom::graph {
namespace {

using index::Expr;
using ops::DType;

struct Inputs {
  Builder builder;
  Expr n = index::Symbol("n"), m = index::Symbol("m"), k = index::Symbol("k");
  Expr i0 = axis_symbol(0), i1 = axis_symbol(1), f0 = found_symbol(0);
  Tensor x = builder.input("x", DType::f32, {8});
  Tensor y = builder.input("y", DType::f32, {n, m});
  Tensor at = builder.input("at", DType::i64, {n});
  Tensor three = builder.input("three", DType::i64, {3});
  Inputs() { builder.size_parameter("k", k); }

  Tensor add(Op op, const std::vector<Tensor>& inputs) { return builder.add(std::move(op), inputs); }
  Tensor line(Expr size, Expr place, index::Condition inside = {}) {
    return add(View{{axis_symbol(0)}, {std::move(size)}, {std::move(place)}, std::move(inside), 0}, {x});
  }
  Tensor table(Expr rows, Expr row, Expr column, index::Condition inside = {}) {
    return add(
        View{{axis_symbol(0)}, {std::move(rows)}, {std::move(row), std::move(column)}, std::move(inside), 0},
        {y});
  }
};

struct Case {
  std::string expected;
  std::function<void(Inputs&)> run;
};

std::string error_of(const std::function<void(Inputs&)>& run) {
  Inputs inputs;
  try {
    run(inputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

const Case of_known_sizes[] = {
    {"no error", [](Inputs& in) { in.line(8, 7 - in.i0); }},
    {"no error", [](Inputs& in) { in.line(16, index::floor_div(in.i0, 2)); }},
    {"no error",
     [](Inputs& in) {
       in.line(1000, in.i0 - 5, {{{4, in.i0}, {in.i0, 13}}});
     }},
    {"no error", [](Inputs& in) { in.line(0, in.i0 + 1000); }},
    {"view: position i0 + 1000 can lie outside axis 0 of input 0 ('x', f32 [8])",
     [](Inputs& in) { in.line(4, in.i0 + 1000); }},
    {"view: position i0 can lie outside axis 0 of input 0 ('x', f32 [8])",
     [](Inputs& in) { in.line(9, in.i0); }},
    {"view: position i0 - 1 can lie outside axis 0 of input 0 ('x', f32 [8])",
     [](Inputs& in) { in.line(4, in.i0 - 1); }},
    {"view: position 8 can lie outside axis 0 of input 0 ('x', f32 [8])", [](Inputs& in) { in.line(4, 8); }},
    {"view: position 4611686018427387904*i0 can lie outside axis 0 of input 0 ('x', f32 [8])",
     [](Inputs& in) { in.line(2, in.i0 * Expr(std::int64_t{1} << 62)); }},
    {"view: index expression: a constant in the product does not fit 64 bits",
     [](Inputs& in) {
       in.line(1 << 30, in.i0, {{{in.i0 * Expr(std::int64_t{1} << 40), 5}}});
     }},
    {"view: index expression: a constant in the difference does not fit 64 bits",
     [](Inputs& in) { in.line(8, index::floor_mod(in.i0, in.n + largest)); }},
    {"view: index expression: a constant in the difference does not fit 64 bits",
     [](Inputs& in) {
       in.line(8, in.i0, {{{index::floor_mod(in.i0, in.n + largest), 3}}});
     }},
    {"view 'v' (model.py:3): position i0 + 1 can lie outside axis 0 of input 0 ('x', f32 [8])",
     [](Inputs& in) {
       in.builder.origin = {"model.py", 3, "v", "", 0};
       in.line(8, in.i0 + 1);
     }},
    {"view: position i0 + 1 can lie outside axis 0 of input 0 ('x', f32 [8])",
     [](Inputs& in) {
       view(in.x, View{{axis_symbol(0)}, {8}, {in.i0 + 1}, {}, 0});
     }},
    {"gather: position f0 + 5 can lie outside axis 0 of input 0 ('x', f32 [8])",
     [](Inputs& in) {
       in.add(Gather{{axis_symbol(0)}, {3}, {found_symbol(0)}, {8}, {in.f0 + 5}}, {in.x, in.three});
     }},
    {"gather: position f0 can lie outside axis 0 of input 0 ('x', f32 [8])",
     [](Inputs& in) {
       in.add(Gather{{axis_symbol(0)}, {3}, {found_symbol(0)}, {9}, {in.f0}}, {in.x, in.three});
     }},
    {"gather: position i0 + 6 can lie outside axis 0 of input 0 ('x', f32 [8])",
     [](Inputs& in) {
       in.add(Gather{{axis_symbol(0)}, {3}, {found_symbol(0)}, {0}, {in.i0 + 6}}, {in.x, in.three});
     }},
    {"no error",
     [](Inputs& in) {
       const Tensor none = in.builder.constant(0, DType::f32, {0, 3});
       take(none, 0, in.three);
     }},
    {"scatter replace: position 2*f0 can lie outside axis 0 of input 0 ('x', f32 [8])",
     [](Inputs& in) {
       const Tensor ones = in.builder.constant(1, DType::f32, {3});
       in.add(Scatter{{axis_symbol(0)}, {found_symbol(0)}, {8}, {2 * in.f0}, Mode::replace},
              {in.x, ones, in.three});
     }},
    {"view: position m can lie outside axis 1 of input 0 ('y', f32 [n, m])",
     [](Inputs& in) { in.table(in.n, in.i0, in.m); }},
    {"view: it divides by i0 + 1, which changes along an axis",
     [](Inputs& in) { in.line(4, index::floor_div(4, in.i0 + 1)); }},
    {"constant: a tensor of f32 [4611686018427387904, 4] has more bytes than 64 bits count",
     [](Inputs& in) {
       in.builder.constant(0, DType::f32, {std::int64_t{1} << 62, 4});
     }},
    {"constant: has 65 axes; at most 64 are possible",
     [](Inputs& in) { in.builder.constant(0, DType::f32, Shape(65, 1)); }},
    {"constant: the array has 0 bytes, its shape needs more than 64 bits count",
     [](Inputs& in) {
       in.builder.constant(Array{DType::i8, {std::int64_t{1} << 62, 4}, {}});
     }},
    {"unfold: the step 0 must be at least 1", [](Inputs& in) { unfold(in.x, 0, 3, 0); }},
    {"unfold: the size -3 must not be negative", [](Inputs& in) { unfold(in.x, 0, -3, 1); }},
    {"repeat_interleave: elements are repeated -1 times", [](Inputs& in) { repeat_interleave(in.x, 0, -1); }},
    {"unbind: gives 30000000 tensors; at most 16384 are made",
     [](Inputs& in) { unbind(in.builder.constant(0, DType::f32, {30000000}), 0); }},
    {"split: gives 30000000 tensors; at most 16384 are made",
     [](Inputs& in) { split_every(in.builder.constant(0, DType::f32, {30000000}), 1, 0); }},
};

TEST(Inside, ErrorsWhereSizesAreKnown) {
  for (const Case& row : of_known_sizes) EXPECT_EQ(error_of(row.run), row.expected);
}

TEST(Inside, PartsAreAnOption) {
  Builder builder;
  builder.limits.parts = 3;
  const Tensor x = builder.constant(0, DType::f32, {4});
  EXPECT_THROW(unbind(x, 0), Error);
  builder.limits.parts = 4;
  EXPECT_EQ(unbind(x, 0).size(), 4u);
}

const Case of_symbolic_sizes[] = {
    {"",
     [](Inputs& in) {
       in.table(in.n, in.i0, 0, {{{0, in.m}}});
     }},
    {"",
     [](Inputs& in) {
       in.table(in.n, in.n - 1 - in.i0, 0, {{{0, in.m}}});
     }},
    {"view: position i0 can lie outside axis 0 of input 0 ('x', f32 [8]): n < 9",
     [](Inputs& in) { in.line(in.n, in.i0); }},
    {"view: position i0 can lie outside axis 0 of input 0 ('y', f32 [n, m]): k < n + 1; "
     "view: position 3 can lie outside axis 1 of input 0 ('y', f32 [n, m]): 3 < m",
     [](Inputs& in) { in.table(in.k, in.i0, 3); }},
    {"gather: position f0 can lie outside axis 0 of input 0 ('x', f32 [8]): k < 9",
     [](Inputs& in) {
       in.add(Gather{{axis_symbol(0)}, {in.n}, {found_symbol(0)}, {in.k}, {in.f0}}, {in.x, in.at});
     }},
    {"view: the index 4294967296*n can leave 64 bits: 4294967296*n < 4611686018427387904",
     [](Inputs& in) { in.line(8, index::least(in.i0, in.n * Expr(std::int64_t{1} << 32))); }},
    {"view: the index i0 + 4611686018427387903 can leave 64 bits: n < 2",
     [](Inputs& in) {
       in.add(View{{axis_symbol(0)}, {in.n}, {in.i0}, {{{in.k, in.i0 + Expr(largest / 2)}}}, 0}, {in.at});
     }},
    {"view: the divisor 6*n - 3 must be at least 1: 2 < 6*n",
     [](Inputs& in) {
       in.add(View{{axis_symbol(0)},
                   {in.n},
                   {index::floor_mod(index::floor_div(in.i0, 6 * in.n - 3), in.n)},
                   {},
                   0},
              {in.at});
     }},
    {"size: the divisor n - 5 must be at least 1: 5 < n",
     [](Inputs& in) { in.builder.size(index::floor_div(in.k, in.n - 5)); }},
    {"constant: the size n - 5 must not be negative: 4 < n",
     [](Inputs& in) { in.builder.constant(0, DType::f32, {in.n - 5}); }},
};

std::string requirements_of(const Graph& graph) {
  return join(graph.requirements(), "; ",
              [](const Require& require) { return cat(require.message, ": ", require.condition); });
}

TEST(Inside, RequirementsWhereSizesAreNot) {
  for (const Case& row : of_symbolic_sizes) {
    Inputs inputs;
    row.run(inputs);
    EXPECT_EQ(requirements_of(inputs.builder.graph()), row.expected);
  }
}

TEST(Inside, TheRunIsRefusedInWords) {
  Inputs in;
  in.line(in.n, in.i0 + 3);
  using Sizes = std::vector<std::int64_t>;
  const auto bound = [&](std::int64_t n) -> std::string {
    const std::vector<ParameterSizes> given{Sizes{8}, Sizes{n, 2}, Sizes{n}, Sizes{3}, std::int64_t{1}};
    try {
      bind_sizes(in.builder.graph(), given);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(bound(0), "no error");
  EXPECT_EQ(bound(5), "no error");
  EXPECT_EQ(
      bound(6),
      "view: position i0 + 3 can lie outside axis 0 of input 0 ('x', f32 [8]): n < 6 does not hold (n = 6 "
      "from axis 0 of 'y')");
}

// Where m is 0 there is no position, and least(m, n) is 0 too.
TEST(Inside, NothingIsDividedByWhatBecomesZero) {
  Inputs in;
  const Tensor part = in.add(View{{axis_symbol(0)},
                                  {in.n * index::least(in.k, in.m)},
                                  {index::floor_div(in.i0, index::least(in.k, in.m))},
                                  {},
                                  0},
                             {in.at});
  in.builder.output(part);
  const Graph none = specialise(in.builder.take(), {{index::Symbol("m"), 0}});
  EXPECT_EQ(none[none.results()[0].value].shape, Shape{0});
  EXPECT_EQ(print(none).find("floor_div"), std::string::npos);
}

// What is inside by construction, over sizes that nothing is known of.
const Case made_inside[] = {
    {"flip",
     [](Inputs& in) {
       flip(in.y, {0, 1});
     }},
    {"permute",
     [](Inputs& in) {
       permute(in.y, {1, 0});
     }},
    {"expand",
     [](Inputs& in) {
       expand(in.y, {in.k, in.n, in.m});
     }},
    {"flatten", [](Inputs& in) { reshape(in.y, {in.n * in.m}); }},
    {"flatten and back",
     [](Inputs& in) {
       reshape(reshape(in.y, {in.n * in.m}), {in.m, in.n});
     }},
    {"slice", [](Inputs& in) { slice(in.y, 0, 2, 7, 3); }},
    {"slice from the end", [](Inputs& in) { slice(in.y, 0, -5, -1, 2); }},
    {"slice of a symbolic part", [](Inputs& in) { slice(in.y, 0, in.k, in.k + 4); }},
    {"pad",
     [](Inputs& in) {
       pad(in.y, {{1, 2}, {in.k, 0}}, 0);
     }},
    {"pad of nothing",
     [](Inputs& in) {
       pad(slice(in.y, 1, 0, 0), {{0, 0}, {1, 1}}, 0);
     }},
    {"repeat",
     [](Inputs& in) {
       repeat(in.y, {3, in.k});
     }},
    {"repeat_interleave", [](Inputs& in) { repeat_interleave(in.y, 1, in.k); }},
    {"roll", [](Inputs& in) { roll(in.y, {3}, {0}); }},
    {"diagonal", [](Inputs& in) { diagonal(in.y, 1); }},
    {"tril", [](Inputs& in) { tril(in.y, -1); }},
    {"slice_scatter", [](Inputs& in) { slice_scatter(in.y, slice(in.y, 0, 1, 9, 2), 0, 1, 9, 2); }},
    {"concat of parts",
     [](Inputs& in) {
       concat({slice(in.y, 0, 0, 3), slice(in.y, 0, 3, 1 << 31)}, 0);
     }},
    {"take", [](Inputs& in) { take(in.y, 0, in.at); }},
    {"index_put", [](Inputs& in) { index_put(in.y, {in.at}, in.builder.constant(1, DType::f32)); }},
    {"a chain",
     [](Inputs& in) {
       slice(flip(pad(permute(in.y, {1, 0}), {{1, 1}, {2, 2}}, 0), {0}), 0, 1, in.k, 2);
     }},
    {"part of a roll", [](Inputs& in) { slice(roll(in.at, {1}, {0}), 0, 2, in.n, 3); }},
    {"nothing of a roll", [](Inputs& in) { slice(roll(in.at, {1}, {0}), 0, 2, 2); }},
    {"part of a repeat",
     [](Inputs& in) {
       const Tensor part = slice(repeat(in.at, {2}), 0, 4, -1, 4);
       flip(pad(part, {{3, 1}}, 0), {0});
     }},
    {"roll of a pad",
     [](Inputs& in) {
       roll(pad(in.x, {{3, 2}}, 0), {3}, {0});
     }},
    {"roll of a pad by symbols",
     [](Inputs& in) {
       roll(pad(in.at, {{in.k, 2}}, 0), {3}, {0});
     }},
    {"roll of a diagonal band",
     [](Inputs& in) {
       const Expr place = 3 * in.i0 - in.i1 - 8;
       const index::Condition inside{{{2, in.i0}, {in.i0, 6}, {in.i1, 2}}};
       roll(view(in.x, {{axis_symbol(0), axis_symbol(1)}, {8, 5}, {place}, inside, 0}), {3}, {0});
     }},
    {"part of a flipped part",
     [](Inputs& in) {
       const Tensor flat = reshape(in.builder.input("deep", DType::f32, {5, in.n, 10}), {50 * in.n});
       slice(flip(slice(flat, 0, 3, 50 * in.n), {0}), 0, 1, 50 * in.n, 4);
     }},
    {"reshape of every other element of a pad",
     [](Inputs& in) {
       reshape(slice(pad(in.x, {{5, 3}}, 0), 0, 0, 16, 2), {2, 4});
     }},
    {"reshape of a pad",
     [](Inputs& in) {
       const Tensor square = in.builder.input("square", DType::f32, {4, 2});
       reshape(reshape(pad(square, {{0, 0}, {3, 1}}, 0), {24}), {8, 3});
     }},
    {"flattened part of a band",
     [](Inputs& in) {
       const Tensor deep = in.builder.input("deep", DType::u8, {13, 4});
       const Expr column = in.i0 + in.i1 + 3;
       const index::Condition inside{{{in.i0, 4}, {1, in.i1 + 1}}};
       const View band{{axis_symbol(0), axis_symbol(1)},
                       {5, 14},
                       {3 * in.i0 + index::floor_div(column, 4) - 1, index::floor_mod(column, 4)},
                       inside,
                       2};
       reshape(view(deep, band), {70});
     }},
};

TEST(Inside, WhatTheBuilderMakesNeedsNothing) {
  for (const Case& row : made_inside) {
    Inputs inputs;
    row.run(inputs);
    EXPECT_EQ(requirements_of(inputs.builder.graph()), "") << row.expected;
    const std::string text = print(inputs.builder.graph());
    EXPECT_EQ(requirements_of(parse(text)), "") << row.expected << " read back: " << text;
  }
}

std::string parse_error(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Inside, TextsAreNotBelieved) {
  const std::string head = "graph \"g\"\n";
  const std::string x = "parameter \"x\" = %0\n%0: f32 [n] = input slot 0 name \"x\"\n";
  const Graph graph =
      parse(head + "fact n in 4 to 64 divisor 2\nequal m = n + 1\nparameter \"k\" = size m\n" +
            "parameter \"x\" = %0\n%0: f32 [n] = input slot 1 name \"x\"\n");
  EXPECT_EQ(requirements_of(graph),
            "a fact of the graph's text: 4 < n + 1; a fact of the graph's text: n < 65; a fact of the "
            "graph's text: "
            "floor_mod(n, 2) < 1; a fact of the graph's text: m < n + 2; a fact of the graph's text: n + 1 < "
            "m + 1");
  EXPECT_NE(parse_error(head + "fact i0 in 3 to 3\n" + x)
                .find("a fact: the size symbol i0 has a name that is taken"),
            std::string::npos);
  EXPECT_NE(parse_error(head + "fact n in 0 to inf divisor 0\n" + x).find("a divisor of at least 1"),
            std::string::npos);
  EXPECT_NE(
      parse_error(head + "parameter \"x\" = %0\nparameter \"x\" = size n\n").find("there is a parameter 'x'"),
      std::string::npos);
  EXPECT_NE(parse_error(head + x + "%1: f32 [n] = iota axis 4294967296\n").find("a number of 32 bits"),
            std::string::npos);
  EXPECT_EQ(parse_error(head + x + "%1: f32 [m] = view(%0) at [i0] from [0] inside i0 < 0 else 0\n"),
            "not a valid graph: graph 'g': %1: f32 [m] = view(%0) at [i0] from [0] inside i0 < 0 else 0x0p+0 "
            "mentions "
            "m, which no parameter binds");
  EXPECT_EQ(parse_error(head + x +
                        "%1: f32 [n] = view(%0) at [i0] from [i0] inside i0 < 2 else 0\n"
                        "result \"y\" = input 0 %1\n"),
            "not a valid graph: result 0 is no strided view of parameter 0");
}

}  // namespace
}  // namespace twinloom::graph
