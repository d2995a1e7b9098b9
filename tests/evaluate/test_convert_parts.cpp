// Concatenations whose parts are converted in place of all of them have their values, to the last bit.
#include <gtest/gtest.h>

#include "core/graph/passes.h"
#include "core/graph/views.h"
#include "tests/evaluate/arrays.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder;
using graph::concat;
using graph::Tensor;
using ops::DType;

// The types of the parts that the one concatenation then has.
std::vector<DType> types_of_parts(DType to, bool read_twice) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {2, 3}), y = builder.input("y", DType::f32, {2, 2});
  const Tensor joined = concat({x, y}, 1);
  builder.output(cast(joined, to));
  if (read_twice) builder.output(joined);
  const graph::Graph before = builder.take(), after = convert_parts(before);
  verify(after);
  const std::vector<Argument> arguments{array(DType::f32, {2, 3}, {0.1, -7, 1e30, 3.5, 255.9, -0.0}),
                                        array(DType::f32, {2, 2}, {1e-40, 70000, 2, -2})};
  const auto got = evaluate(after, arguments, Arithmetic::strict),
             wanted = evaluate(before, arguments, Arithmetic::strict);
  for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_EQ(got[k]->bytes, wanted[k]->bytes) << print(after);
  std::vector<DType> types;
  for (const graph::Node& node : after.nodes())
    if (std::holds_alternative<graph::Concat>(node.node))
      for (const graph::NodeId part : node.inputs) types.push_back(after[part].dtype);
  return types;
}

TEST(ConvertParts, ToSmallerTypes) {
  for (const DType to : {DType::bf16, DType::f16, DType::u8})
    EXPECT_EQ(types_of_parts(to, false), (std::vector<DType>{to, to})) << name(to);
}

TEST(ConvertParts, NotToLargerOnesNorWhereSomebodyReadsAllOfIt) {
  EXPECT_EQ(types_of_parts(DType::f64, false), (std::vector<DType>{DType::f32, DType::f32}));
  EXPECT_EQ(types_of_parts(DType::bf16, true), (std::vector<DType>{DType::f32, DType::f32}));
}

}  // namespace
}  // namespace twinloom::evaluate
