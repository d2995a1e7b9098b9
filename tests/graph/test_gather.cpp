// What becomes of a Gather whose indices follow from the place: the nodes of its View, or the Gather as it
// was.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/graph/indexing.h"
#include "core/graph/passes.h"
#include "core/graph/print.h"
#include "core/graph/views.h"

namespace twinloom::graph {
namespace {

using ops::DType;

struct Row {
  const char* name;
  Tensor (*build)(Builder& builder, const Tensor& x);  // of x: f32 [9, 5]
  const char* after;  // the nodes but x, which is %0, and the last one; empty: all as before
};

Tensor counted(Builder& builder, std::int64_t count, DType dtype = DType::i64) {
  return builder.iota({count}, 0, dtype);
}

const Row rows[] = {
    {"positions that are counted",
     [](Builder& builder, const Tensor& x) { return take(x, 0, counted(builder, 4)); },
     "%1: f32 [4, 5] = view(%0) at [i0, i1] from [i0, i1]\n"},
    {"a roll as it is printed",
     [](Builder& builder, const Tensor& x) { return take(x, 0, fmod(counted(builder, 9) + 7, 9)); },
     "%1: f32 [9, 5] = view(%0) at [i0, i1] from [floor_mod(i0 + 7, 9), i1]\n"},
    {"quotients of a shorter type",
     [](Builder& builder, const Tensor& x) {
       return take(x, 1, div_trunc(counted(builder, 9, DType::i32), 3));
     },
     "%1: f32 [9, 9] = view(%0) at [i0, i1] from [i0, floor_div(i1, 3)]\n"},
    {"positions from the end",
     [](Builder& builder, const Tensor& x) { return take(x, 0, counted(builder, 4) - 9, Negative::wraps); },
     "%1: f32 [4, 5] = view(%0) at [i0, i1] from [i0, i1]\n"},
    {"one that may be outside",
     [](Builder& builder, const Tensor& x) { return take(x, 1, counted(builder, 9)); }, ""},
    {"one that may be below zero",
     [](Builder& builder, const Tensor& x) { return take(x, 0, counted(builder, 9) - 1, Negative::wraps); },
     ""},
    {"towards zero is not downwards",
     [](Builder& builder, const Tensor& x) {
       return take(x, 1, fmod(counted(builder, 9) - 4, 5), Negative::wraps);
     },
     ""},
    {"a sum that a byte does not hold",
     [](Builder& builder, const Tensor& x) {
       return take(x, 0, remainder(counted(builder, 9, DType::i8) + 126, 9));
     },
     ""},
};

// Two results that are one View would be said to share memory.
TEST(GatherToView, AResultStaysWhatItIs) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {9, 5});
  builder.output(take(x, 0, counted(builder, 4)));
  builder.output(slice(x, 0, 0, 4));
  EXPECT_EQ(print(gather_to_view(builder.graph())), print(remove_dead(builder.graph())));
}

TEST(GatherToView, Table) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Builder builder;
    builder.output(exp(row.build(builder, builder.input("x", DType::f32, {9, 5}))));
    const Graph before = remove_dead(builder.graph()), after = gather_to_view(builder.graph());
    verify(after);
    if (std::string_view(row.after).empty()) {
      EXPECT_EQ(print(after), print(before));
      continue;
    }
    std::string text;
    for (std::uint32_t n = 1; n + 1 < after.nodes().size(); ++n)
      text += cat(print_node(after, NodeId{n}), "\n");
    EXPECT_EQ(text, row.after);
  }
}

}  // namespace
}  // namespace twinloom::graph
