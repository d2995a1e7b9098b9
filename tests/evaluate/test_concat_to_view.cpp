// Concatenations of two parts of one value that become a View of it: which, from where, and that no bit
// changes.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/graph/passes.h"
#include "core/graph/views.h"
#include "tests/evaluate/arrays.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder;
using graph::concat;
using graph::Tensor;
using ops::DType;

struct Row {
  const char* name;
  Tensor (*build)(const Tensor& x);  // of x: f32 [6, 64]
  const char* sources;               // of all views, but of x itself; null: the concatenation stays
};

Tensor part(const Tensor& x, int axis, int begin, int end) { return graph::slice(x, axis, begin, end); }

const Row rows[] = {
    {"rotated halves, one negated",
     [](const Tensor& x) {
       return concat({neg(part(x, 1, 32, 64)), part(x, 1, 0, 32)}, 1);
     },
     "[i0, floor_mod(i1 + 32, 64)]"},
    {"their gradient",
     [](const Tensor& x) {
       const Tensor y = x * x;
       return concat({part(y, 1, 32, 64), neg(part(y, 1, 0, 32))}, 1);
     },
     "[i0, floor_mod(i1 + 32, 64)]"},
    {"a roll of unequal parts, of rows",
     [](const Tensor& x) {
       return exp(concat({part(x, 0, 4, 6), part(x, 0, 0, 4)}, 0));
     },
     "[floor_mod(i0 + 4, 6), i1]"},
    {"a roll of unequal parts, along rows",
     [](const Tensor& x) {
       return exp(concat({part(x, 1, 48, 64), part(x, 1, 0, 48)}, 1));
     },
     "[i0, floor_mod(i1 + 48, 64)]"},
    {"as they lie, one part converted and back",
     [](const Tensor& x) {
       return concat({cast(cast(part(x, 1, 0, 16), DType::bf16), DType::f32), part(x, 1, 16, 64)}, 1);
     },
     ""},
    {"of a transposed value",
     [](const Tensor& x) {
       const Tensor y = transpose(x, 0, 1);
       return concat({neg(part(y, 0, 32, 64)), part(y, 0, 0, 32)}, 0);
     },
     "[i1, floor_mod(i0 + 32, 64)]"},
    {"a function of both parts",
     [](const Tensor& x) {
       return concat({exp(part(x, 1, 32, 64)), exp(part(x, 1, 0, 32))}, 1);
     },
     "[i0, floor_mod(i1 + 32, 64)]"},
    {"a function of one part, which all elements would take",
     [](const Tensor& x) {
       return concat({exp(part(x, 1, 32, 64)), part(x, 1, 0, 32)}, 1);
     },
     nullptr},
    {"neighbours would be torn apart",
     [](const Tensor& x) {
       return exp(concat({part(x, 1, 61, 64), part(x, 1, 0, 61)}, 1));
     },
     nullptr},
    {"a part is missing between",
     [](const Tensor& x) {
       return exp(concat({part(x, 1, 32, 64), part(x, 1, 0, 16)}, 1));
     },
     nullptr},
    {"parts that overlap",
     [](const Tensor& x) {
       return exp(concat({part(x, 1, 16, 64), part(x, 1, 0, 32)}, 1));
     },
     nullptr},
    {"every other element",
     [](const Tensor& x) {
       return concat({neg(graph::slice(x, 1, 1, 64, 2)), graph::slice(x, 1, 0, 64, 2)}, 1);
     },
     nullptr},
    {"of two values",
     [](const Tensor& x) {
       return concat({part(x, 1, 32, 64), part(exp(x), 1, 0, 32)}, 1);
     },
     nullptr},
    {"a result of its own",
     [](const Tensor& x) {
       return concat({part(x, 0, 4, 6), part(x, 0, 0, 4)}, 0);
     },
     nullptr},
};

TEST(ConcatToView, Table) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Builder builder;
    builder.output(row.build(builder.input("x", DType::f32, {6, 64})));
    const graph::Graph before = builder.take(), after = concat_to_view(before);
    verify(after);
    std::string sources;
    bool has_concat = false;
    for (const graph::Node& node : after.nodes()) {
      has_concat |= std::holds_alternative<graph::Concat>(node.node);
      if (const auto* view = std::get_if<graph::View>(&node.node))
        sources += cat("[", join(view->source, ", ", [](const index::Expr& expr) { return cat(expr); }), "]");
    }
    const bool stays = row.sources == nullptr;
    EXPECT_EQ(has_concat, stays);
    if (!stays) {
      EXPECT_EQ(sources, row.sources);
    }
    const std::vector<Argument> arguments{counting(DType::f32, {6, 64})};
    EXPECT_EQ(evaluate(after, arguments, Arithmetic::strict).back()->bytes,
              evaluate(before, arguments, Arithmetic::strict).back()->bytes);
  }
}

}  // namespace
}  // namespace twinloom::evaluate
