// Every Error that add(), the builder and bind_sizes() give, with its text.
#include <gtest/gtest.h>

#include <functional>

#include "core/base/error.h"
#include "core/graph/bind.h"
#include "core/graph/builder.h"
#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "tests/support/thrown.h"

namespace twinloom::graph {
namespace {

using ops::DType;

struct Inputs {
  Builder builder;
  index::Expr n = index::Symbol("n");
  Tensor x = builder.input("x", DType::f32, {2, 3});
  Tensor y = builder.input("y", DType::f32, {n, 3});
  Tensor half = builder.input("half", DType::bf16, {2, 3});
  Tensor whole = builder.input("whole", DType::i32, {2, 3});
  Tensor truth = builder.input("truth", DType::b8, {2, 3});

  NodeId add(Op op, const std::vector<Tensor>& inputs) { return builder.add(std::move(op), inputs).id(); }
};

struct Case {
  std::string expected;
  std::function<void(Inputs&)> run;
};

const Case of_nodes[] = {
    {"add: takes 2 inputs, given 1", [](Inputs& in) { in.add(Pointwise{ops::Pointwise::add}, {in.x}); }},
    {"add: does not take the types f32, bf16", [](Inputs& in) { in.x + in.half; }},
    {"bitwise_and: does not take the types f32, f32", [](Inputs& in) { bitwise_and(in.x, in.x); }},
    {"add: input 1 ('y', f32 [n, 3]) has rank 2, input 0 (constant %5, f32 [3]) has rank 1",
     [](Inputs& in) {
       in.add(Pointwise{ops::Pointwise::add}, {in.builder.constant(1.0, DType::f32, {3}), in.y});
     }},
    {"cast to f16 'c' (model.py:7): takes 1 inputs, given 0",
     [](Inputs& in) {
       in.builder.origin = {"model.py", 7, "c", "", 0};
       in.add(Cast{DType::f16}, {});
     }},
    {"view: has 1 axes and 0 sizes",
     [](Inputs& in) {
       in.builder.graph().add(View{{axis_symbol(0)}, {}, {}, {}, 0}, {in.x.id()});
     }},
    {"view: gives 1 expressions for the source of a tensor of rank 2",
     [](Inputs& in) {
       in.builder.graph().add(View{{}, {}, {0}, {}, 0}, {in.x.id()});
     }},
    {"concat: takes at least one input", [](Inputs& in) { in.builder.graph().add(Concat{0}, {}); }},
    {"concat: input 1 ('half', bf16 [2, 3]) is of another type than input 0 ('x', f32 [2, 3])",
     [](Inputs& in) {
       concat({in.x, in.half}, 0);
     }},
    {"concat: axis 1 of input 1 (constant %5, f32 [2, 4]) has size 4, of input 0 ('x', f32 [2, 3]) 3; they "
     "must be "
     "equal",
     [](Inputs& in) {
       concat({in.x, in.builder.constant(1.0, DType::f32, {2, 4})}, 0);
     }},
    {"iota: positions cannot be b8", [](Inputs& in) { in.builder.iota({3}, 0, DType::b8); }},
    {"size: a size cannot be b8", [](Inputs& in) { in.builder.size(in.n, DType::b8); }},
    {"random uniform: numbers of the distribution uniform cannot be i32",
     [](Inputs& in) { in.builder.uniform({3}, DType::i32); }},
    {"random integers: the range 3 <= x < 3 is empty", [](Inputs& in) { in.builder.integers(3, 3, {2}); }},
    {"constant: the array does not have the shape [3]",
     [](Inputs& in) {
       const auto array = std::make_shared<const Array>(Array{DType::i8, {2}, std::vector<std::byte>(2)});
       in.builder.graph().add(Constant{array, DType::i8, {3}}, {});
     }},
    {"constant: the array has 3 bytes, its shape needs 4",
     [](Inputs& in) {
       in.builder.constant(Array{DType::i16, {2}, std::vector<std::byte>(3)});
     }},
    {"constant: the size -1 in [-1] is negative",
     [](Inputs& in) { in.builder.constant(0, DType::i8, {-1}); }},
    {"reduce sum: reduces over no axes",
     [](Inputs& in) {
       in.add(Reduce{ops::Monoid::sum, {}, 0}, {in.x});
     }},
    {"reduce sum: the axes are not sorted and distinct",
     [](Inputs& in) {
       in.add(Reduce{ops::Monoid::sum, {1, 1}, 0}, {in.x});
     }},
    {"reduce sum: axis 2 is out of range for rank 2",
     [](Inputs& in) {
       in.add(Reduce{ops::Monoid::sum, {2}, 0}, {in.x});
     }},
    {"reduce sum: sum does not take input 0 ('truth', b8 [2, 3])", [](Inputs& in) { sum(in.truth); }},
    {"reduce sum: sum has no part 1",
     [](Inputs& in) {
       in.add(Reduce{ops::Monoid::sum, {0}, 1}, {in.x});
     }},
    {"reduce max: max of input 0 (constant %5, f32 [2, 0]) over no elements has no value",
     [](Inputs& in) {
       amax(in.builder.constant(1.0, DType::f32, {2, 0}), {1});
     }},
    {"scan argmax_last: a scan for places runs forwards only",
     [](Inputs& in) {
       in.add(Scan{ops::Monoid::argmax_last, 0, false, true, 0}, {in.x});
     }},
    {"scan max: an exclusive scan of max has no first value",
     [](Inputs& in) {
       in.add(Scan{ops::Monoid::max, 0, true, false, 0}, {in.x});
     }},
    {"scatter add: cannot add elements of b8",
     [](Inputs& in) {
       const index::Symbol i = axis_symbol(0), j = axis_symbol(1);
       in.add(Scatter{{i, j}, {}, {}, {i, j}, Mode::add}, {in.truth, in.truth});
     }},
};

const Case of_builders[] = {
    {"add: the shapes [2, 3] and [4] do not broadcast: 3 is not 4",
     [](Inputs& in) { in.x + in.builder.constant(1.0, DType::f32, {4}); }},
    {"add 'sum_1' (net.py:3): the shapes [2, 3] and [4] do not broadcast: 3 is not 4",
     [](Inputs& in) {
       in.builder.origin = {"net.py", 3, "sum_1", "", 0};
       in.x + in.builder.constant(1.0, DType::f32, {4});
     }},
    {"mul: the number 0x1p-1 has a fraction and stands beside elements of i32; cast the tensor first",
     [](Inputs& in) { in.whole * 0.5; }},
    {"eq: the number 2 does not fit b8; cast the tensor first", [](Inputs& in) { eq(in.truth, 2); }},
    {"softmax: needs elements of a floating type, given i32", [](Inputs& in) { softmax(in.whole, 1); }},
    {"max: axis 2 is out of range for rank 2", [](Inputs& in) { softmax(in.x, 2); }},
    {"sum: an axis is named twice for rank 2",
     [](Inputs& in) {
       sum(in.x, {1, -1});
     }},
    {"mean: needs elements of a floating type, given i32", [](Inputs& in) { mean(in.whole); }},
    {"permute: 1 axes are given for rank 2", [](Inputs& in) { permute(in.x, {0}); }},
    {"permute: axis -2 is named twice",
     [](Inputs& in) {
       permute(in.x, {0, -2});
     }},
    {"transpose: axis 5 is out of range for rank 2", [](Inputs& in) { transpose(in.x, 0, 5); }},
    {"reshape: [2, 3] has 6 elements, [4] has 4", [](Inputs& in) { reshape(in.x, {4}); }},
    {"reshape: [2, 3] has no shape [4, -1]",
     [](Inputs& in) {
       reshape(in.x, {4, -1});
     }},
    {"reshape: -1 appears twice in [-1, -1]",
     [](Inputs& in) {
       reshape(in.x, {-1, -1});
     }},
    {"reshape: the size -2 in [-2] is negative", [](Inputs& in) { reshape(in.x, {-2}); }},
    {"expand: axis 1 of [2, 3] has size 3 and cannot become 4",
     [](Inputs& in) {
       expand(in.x, {2, 4});
     }},
    {"expand: [2, 3] has more axes than [3]", [](Inputs& in) { expand(in.x, {3}); }},
    {"expand: -1 stands for an axis that the input does not have",
     [](Inputs& in) {
       expand(in.x, {-1, 2, 3});
     }},
    {"slice: the step 0 must be at least 1", [](Inputs& in) { slice(in.x, 0, 0, 2, 0); }},
    {"slice: 2 elements from 1 are not all inside axis 0 of [2, 3]",
     [](Inputs& in) { slice_exact(in.x, 0, 1, 2); }},
    {"select: position 3 is outside axis 1 of [2, 3]", [](Inputs& in) { select(in.x, 1, 3); }},
    {"select: position -4 is outside axis 1 of [2, 3]", [](Inputs& in) { select(in.x, 1, -4); }},
    {"pad: paddings are given for 1 axes of 2",
     [](Inputs& in) {
       pad(in.x, {{1, 1}}, 0);
     }},
    {"pad: axis 0 of [2, 3] would get the size -1",
     [](Inputs& in) {
       pad(in.x, {{-1, -2}, {0, 0}}, 0);
     }},
    {"as_strided: sizes [2, 2], strides [4, 2] and offset 0 reach outside the 6 elements of the base",
     [](Inputs& in) {
       as_strided(in.x, {2, 2}, {4, 2});
     }},
    {"as_strided: 1 sizes are given and 2 strides",
     [](Inputs& in) {
       as_strided(in.x, {2}, {1, 2});
     }},
    {"repeat: 1 numbers are given for rank 2", [](Inputs& in) { repeat(in.x, {2}); }},
    {"roll: 2 shifts are given for 1 axes",
     [](Inputs& in) {
       roll(in.x, {1, 2}, {0});
     }},
    {"diagonal: both axes are 1", [](Inputs& in) { diagonal(in.x, 0, 1, 1); }},
    {"unfold: windows of 4 do not fit axis 1 of [2, 3]", [](Inputs& in) { unfold(in.x, 1, 4, 1); }},
    {"split: the sizes [1, 1] add up to 2, axis 1 has size 3",
     [](Inputs& in) {
       split(in.x, {1, 1}, 1);
     }},
    {"chunk: the size n of axis 0 must be known when the graph is built",
     [](Inputs& in) { chunk(in.y, 2, 0); }},
    {"tril: needs rank 2 or more, given [3]", [](Inputs& in) { tril(select(in.x, 0, 0)); }},
    {"slice_scatter: the source is bf16, the base f32",
     [](Inputs& in) { slice_scatter(in.x, in.half, 0, 0, 2); }},
    {"slice_scatter: the source has the shape [2, 3], its place in the base [1, 3]",
     [](Inputs& in) { slice_scatter(in.x, in.x, 0, 0, 1); }},
    {"index: how many elements a mask of b8 takes depends on data, so the result has no size; where(mask, x, "
     "y) keeps the shape",
     [](Inputs& in) { index(in.x, {in.truth}); }},
    {"index: 3 indices are given for rank 2",
     [](Inputs& in) {
       index(in.x, {in.whole, in.whole, in.whole});
     }},
    {"index: no index is given", [](Inputs& in) { index(in.x, {std::nullopt}); }},
    {"take_along: the index has rank 1, the input has rank 2",
     [](Inputs& in) { take_along(in.x, 0, select(in.whole, 0, 0)); }},
    {"take_along: axis 1 of the index has size 4, of the input 3",
     [](Inputs& in) {
       take_along(in.x, 0, in.builder.constant(0, DType::i64, {1, 4}));
     }},
    {"index_put: the source is bf16, the base f32",
     [](Inputs& in) { index_put(in.x, {select(in.whole, 0, 0)}, in.half); }},
    {"index_update: needs an index of rank 1 and a source of the input's rank, given [2, 3] and [2, 3]",
     [](Inputs& in) { index_update(in.x, 0, in.whole, in.x, Mode::add); }},
    {"layer_norm: normalises the last 3 axes of rank 2",
     [](Inputs& in) { layer_norm(in.x, 3, {}, {}, 1e-5); }},
    {"parameter 'z': the size symbol i3 has a name that is taken: those of an i or f and digits, 'seed', "
     "'offset' "
     "and those with a dot are",
     [](Inputs& in) { in.builder.input("z", DType::f32, {index::Symbol("i3")}); }},
};

TEST(Errors, OfNodes) {
  for (const Case& row : of_nodes) {
    Inputs inputs;
    EXPECT_EQ(tests::words_of<Error>([&] { row.run(inputs); }), row.expected);
  }
}

TEST(Errors, OfBuilders) {
  for (const Case& row : of_builders) {
    Inputs inputs;
    EXPECT_EQ(tests::words_of<Error>([&] { row.run(inputs); }), row.expected);
  }
}

using Given = std::vector<ParameterSizes>;
using Sizes = std::vector<std::int64_t>;

TEST(Bind, FindsSizesInEveryWay) {
  Builder builder;
  const index::Expr n = index::Symbol("n");
  const index::Expr m = index::Symbol("m");
  const index::Expr k = index::Symbol("k");
  builder.input("a", DType::f32, {3 * n + 2, m});
  builder.input("b", DType::f32, {n * m + k});
  builder.size_parameter("rows", m);
  const index::Values values = bind_sizes(builder.graph(), Given{Sizes{14, 5}, Sizes{27}, std::int64_t{5}});
  EXPECT_EQ(values.at(index::Symbol("n")), 4);
  EXPECT_EQ(values.at(index::Symbol("m")), 5);
  EXPECT_EQ(values.at(index::Symbol("k")), 7);
}

TEST(Bind, SaysWhatFailed) {
  Builder builder("net");
  const index::Expr n = index::Symbol("n");
  const Tensor a = builder.input("a", DType::f32, {n, 4});
  builder.input("b", DType::f32, {2 * n});
  const Tensor c = builder.input("c", DType::f32, {index::Symbol("m")});
  builder.size_parameter("size", n + 1);
  builder.origin.name = "both";
  builder.output(select(a, 1, 0) + c);
  const auto error = [&](Given given) {
    return tests::words_of<Error>([&] { bind_sizes(builder.graph(), given); });
  };
  EXPECT_EQ(error({Sizes{3, 4}, Sizes{6}, Sizes{3}, std::int64_t{4}}), tests::NOTHING_THROWN);
  EXPECT_EQ(error({Sizes{3, 4}}), "graph 'net' takes 4 inputs, given 1");
  EXPECT_EQ(error({Sizes{3}, Sizes{6}, Sizes{3}, std::int64_t{4}}),
            "input 0 'a' has the shape [3], expected [n, 4]");
  EXPECT_EQ(error({std::int64_t{3}, Sizes{6}, Sizes{3}, std::int64_t{4}}),
            "input 0 'a' is a tensor, given a number");
  EXPECT_EQ(error({Sizes{3, 4}, Sizes{6}, Sizes{3}, Sizes{}}), "input 3 'size' is a size, given a tensor");
  EXPECT_EQ(error({Sizes{3, 5}, Sizes{6}, Sizes{3}, std::int64_t{4}}), "axis 1 of 'a' is 5, expected 4");
  EXPECT_EQ(error({Sizes{3, 4}, Sizes{7}, Sizes{3}, std::int64_t{4}}),
            "axis 0 of 'b' is 7, expected 2*n = 6 (n = 3 from axis 0 of 'a')");
  EXPECT_EQ(error({Sizes{3, 4}, Sizes{6}, Sizes{3}, std::int64_t{9}}),
            "the size 'size' is 9, expected n + 1 = 4 (n = 3 from axis 0 of 'a')");
  EXPECT_NE(error({Sizes{3, 4}, Sizes{6}, Sizes{5}, std::int64_t{4}})
                .find("add 'both': the shapes [n] and [m] do not broadcast: n is not m"),
            std::string::npos);
}

}  // namespace
}  // namespace twinloom::graph
