// Which results lie in the memory of a parameter or of each other, and how they lie there.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/graph/builder.h"
#include "core/graph/reductions.h"
#include "core/graph/related_views.h"
#include "core/graph/sharing.h"
#include "core/graph/views.h"

namespace twinloom::graph {
namespace {

using ops::DType;

std::string words_of(const Graph& graph, const Result& result) {
  switch (result.kind) {
    case Ownership::own:
      return "own";
    case Ownership::input:
      return cat("input ", result.input);
    case Ownership::view:
      return cat("view of ", describe(graph, result.base));
    case Ownership::written:
    case Ownership::size:
    case Ownership::none:
      break;
  }
  return "?";
}

struct Row {
  std::string_view what;
  std::vector<Returned> returned;
  std::string expected;
};

// y = exp(x) and its relatives, and who shares with whom.
struct Values {
  Builder builder;
  index::Expr n = index::Symbol("n"), m = index::Symbol("m");
  Tensor x = builder.input("x", DType::f32, {n, m});
  Tensor named(const std::string& name, const Tensor& from) {
    builder.origin.name = name;
    const Tensor result = exp(from);
    builder.origin.name.clear();
    return result;
  }
  Tensor y = named("y", x), line = named("line", reshape(builder.input("l", DType::f32, {24}), {24}));

  std::string shared(const std::vector<Returned>& returned) const {
    return join(shared_results(builder.graph(), returned), ", ",
                [&](const Result& result) { return words_of(builder.graph(), result); });
  }
};

TEST(Sharing, FollowsViewsAndCopies) {
  Values v;
  const Tensor &x = v.x, &y = v.y;
  const Tensor turned = transpose(y, 0, 1), flat = reshape(y, {-1}), line = v.line;
  const Tensor rows = reshape(line, {4, 6}), left = slice(line, 0, 0, 10), right = slice(line, 0, 10, 24);
  const std::vector<Row> table = {
      {"a value twice", {{y.id()}, {y.id()}}, "own, view of 'y'"},
      {"views before their base", {{turned.id()}, {flat.id()}, {y.id()}}, "view of 'y', view of 'y', own"},
      {"a view alone", {{turned.id()}}, "own"},
      {"the same view twice", {{turned.id()}, {turned.id()}}, "view of 'y', view of 'y'"},
      {"views that cover their base", {{flat.id()}, {turned.id()}}, "view of 'y', view of 'y'"},
      {"parts of a split", {{left.id()}, {right.id()}}, "view of 'line', view of 'line'"},
      {"a small part twice", {{left.id()}, {left.id()}}, cat("own, view of ", "view %", left.id().index)},
      {"small parts", {{left.id()}, {slice(line, 0, 12, 14).id()}}, "own, own"},
      {"an expanded value", {{y.id()}, {expand(y, {3, -1, -1}).id()}}, "own, view of 'y'"},
      {"a matrix of a line", {{line.id()}, {rows.id()}}, "own, view of 'line'"},
      {"no negative strides", {{y.id()}, {flip(y, {0}).id()}}, "own, own"},
      {"no outside", {{y.id()}, {pad(y, {{0, 1}, {0, 0}}, 0).id()}}, "own, own"},
      {"elements that are copied", {{line.id()}, {reshape(transpose(rows, 0, 1), {24}).id()}}, "own, own"},
      {"a clone", {{y.id()}, {y.id(), 1}}, "own, own"},
      {"a clone and its view", {{y.id(), 1}, {turned.id(), 1}}, "own, view of 'y'"},
      {"two clones and views",
       {{y.id(), 1}, {y.id(), 2}, {turned.id(), 2}, {flat.id(), 1}},
       "own, own, own, view of 'y'"},
      {"a parameter", {{x.id()}, {x.id()}, {transpose(x, 0, 1).id()}}, "input 0, input 0, input 0"},
      {"a parameter whose strides are not known", {{reshape(x, {-1}).id()}}, "own"},
      {"a turned parameter", {{flip(x, {1}).id()}}, "own"},
      {"a clone of a parameter",
       {{x.id(), 1}, {reshape(x, {-1}).id(), 1}, {x.id()}},
       "own, view of 'x', input 0"},
  };
  for (const Row& row : table) EXPECT_EQ(v.shared(row.returned), row.expected) << row.what;
}

TEST(Sharing, ViewsOfAParameterThatLiesRowMajorAreItsMemory) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {64, 32, 768}), z = builder.input("z", DType::f32, {4, 6});
  const Tensor columns = reshape(permute(x, {2, 0, 1}), {768, 2048}), flat = reshape(z, {24});
  const auto shared = [&](const std::vector<Returned>& given) {
    const std::set<NodeId> row_major = {x.id()};
    const auto related = with_related_views(builder.graph(), given, row_major);
    return join(shared_results(builder.graph(), related, row_major), ", ",
                [&](const Result& result) { return words_of(builder.graph(), result); });
  };
  EXPECT_EQ(shared({{columns.id()}, {flat.id()}}), "input 0, own");
  EXPECT_EQ(shared({{columns.id(), 1}}), "own") << "a clone";
  EXPECT_EQ(shared({{reshape(permute(x, {1, 0, 2}), {2048, 768}).id()}}), "own") << "copied by any reshape";
}

// What is reshaped after its axes were permuted is no strided view of the value, and chains of Views are one
// View.
TEST(Sharing, RelatesViewsOfOneValue) {
  Builder builder;
  const index::Expr n = index::Symbol("n");
  const Tensor y = relu(builder.input("x", DType::f32, {n, 3, 4}));
  const Tensor rows = reshape(permute(y, {1, 0, 2}), {3 * n, 4}), turned = transpose(rows, 0, 1);
  const Tensor cube = reshape(rows, {3, n, 4}), line = reshape(rows, {12 * n}),
               back = permute(cube, {2, 1, 0});
  const auto shared = [&](std::vector<Returned> returned) {
    const auto related = with_related_views(builder.graph(), std::move(returned));
    return join(shared_results(builder.graph(), related), ", ", [&](const Result& result) {
      return result.base == rows.id() ? "view of rows" : words_of(builder.graph(), result);
    });
  };
  EXPECT_EQ(shared({{rows.id(), 1}, {turned.id(), 1}, {line.id(), 1}}), "own, view of rows, view of rows");
  EXPECT_EQ(shared({{rows.id(), 1}, {back.id(), 1}}), "own, view of rows");
  EXPECT_EQ(shared({{rows.id(), 1}, {turned.id(), 2}}), "own, own") << "two copies";
  EXPECT_EQ(shared({{rows.id(), 1}, {reshape(turned, {12 * n}).id(), 1}}), "own, own")
      << "other elements there";
  EXPECT_EQ(shared({{rows.id(), 1}, {reshape(flip(y, {1}), {3 * n, 4}).id(), 1}}), "own, own");
  EXPECT_EQ(shared({{rows.id(), 1}, {slice(line, 0, 0, 6).id(), 1}}), "own, own") << "half of it";

  const Tensor flat = reshape(y, {n, 12});
  const std::string of_y = cat("view of ", describe(builder.graph(), y.id()));
  EXPECT_EQ(shared({{flat.id(), 1}, {transpose(flat, 0, 1).id(), 1}}), cat(of_y, ", ", of_y));

  const auto related = with_related_views(builder.graph(), {{rows.id(), 1}, {turned.id(), 1}});
  const StridedView lies = strided_view(builder.graph(), related[1].value, rows.id(),
                                        std::vector<std::int64_t>{4, 1}, {{index::Symbol("n"), 5}});
  EXPECT_EQ(lies.sizes, (std::vector<std::int64_t>{4, 15}));
  EXPECT_EQ(lies.strides, (std::vector<std::int64_t>{1, 4}));
}

TEST(Sharing, SaysHowAValueLies) {
  Values v;
  const Tensor &x = v.x, &y = v.y;
  EXPECT_EQ(strided(v.builder.graph(), transpose(y, 0, 1).id(), y.id()), Strided::always);
  EXPECT_EQ(strided(v.builder.graph(), reshape(y, {-1}).id(), y.id()), Strided::row_major);
  EXPECT_EQ(strided(v.builder.graph(), y.id(), x.id()), Strided::no);
  const Tensor z = relu(v.builder.input("z", DType::f32, {2, 3, 4}));
  const Graph& graph = v.builder.graph();
  const auto lies = [&](const Tensor& value, std::vector<std::int64_t> strides) {
    const StridedView view = strided_view(graph, value.id(), z.id(), strides, {});
    return cat(join(view.sizes, ",", [](std::int64_t k) { return cat(k); }), " by ",
               join(view.strides, ",", [](std::int64_t k) { return cat(k); }), " from ", view.offset);
  };
  EXPECT_EQ(lies(z, {12, 4, 1}), "2,3,4 by 12,4,1 from 0");
  EXPECT_EQ(lies(permute(z, {2, 0, 1}), {1, 2, 6}), "4,2,3 by 6,1,2 from 0");
  EXPECT_EQ(lies(slice(z, 2, 1, 4, 2), {12, 4, 1}), "2,3,2 by 12,4,2 from 1");
  EXPECT_EQ(lies(select(z, 0, 1), {12, 4, 1}), "3,4 by 4,1 from 12");
  EXPECT_EQ(lies(reshape(z, {6, 2, 2}), {12, 4, 1}), "6,2,2 by 4,2,1 from 0");
  EXPECT_EQ(lies(reshape(z, {8, 3}), {12, 4, 1}), "8,3 by 3,1 from 0");
  EXPECT_EQ(lies(expand(z, {5, -1, -1, -1}), {12, 4, 1}), "5,2,3,4 by 0,12,4,1 from 0");
  EXPECT_EQ(lies(slice(z, 0, 2, 2), {12, 4, 1}), "0,3,4 by 12,4,1 from 0");
}

// A product of two axes is linear in each, and no stride.
TEST(Sharing, WantsStridesThatAreNumbers) {
  Builder builder;
  const Tensor y = relu(builder.input("x", DType::f32, {9}));
  const index::Symbol i("i0"), j("i1");
  const Tensor odd = view(y, {{i, j}, {3, 3}, {index::Expr(i) * j}, {}, 0});
  EXPECT_EQ(strided(builder.graph(), odd.id(), y.id()), Strided::no);
}

TEST(Sharing, WrongViewsAreErrors) {
  Values v;
  const auto error_of = [](auto&& run) -> std::string {
    try {
      run();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const Tensor flipped = flip(v.y, {0});
  EXPECT_EQ(error_of([&] { v.builder.output_view(flipped, v.y); }),
            cat("output: view %", flipped.id().index, " is no strided view of 'y'"));
  EXPECT_EQ(error_of([&] { v.builder.output_of_input(v.y, 0); }),
            "output: 'y' is no strided view of parameter 0");
  EXPECT_EQ(error_of([&] { v.builder.output_of_input(v.x, 7); }),
            "output: 'x' is no strided view of parameter 7");
  EXPECT_EQ(error_of([&] { v.builder.output_view(transpose(v.y, 0, 1), v.y); }), "no error");
}

}  // namespace
}  // namespace twinloom::graph
