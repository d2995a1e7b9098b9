// Products of matrices, as sums of products of their elements.
#include <array>

#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "frontends/fx/operators.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;

// [.., n, k] and [.., k, m], each with so many axes. Of 16-bit floats only the sum is rounded to their type.
template <int axes>
Item product(const Arguments& arguments) {
  const Tensor a = arguments.tensor(0, "self"), b = arguments.tensor(1, "mat2");
  for (const Tensor& tensor : {a, b}) {
    if (tensor.rank() != axes)
      arguments.fail(cat("needs tensors of ", axes, " axes, given one of ", tensor.rank()));
    if (!ops::is_floating(tensor.dtype()))
      arguments.fail(cat("needs elements of a floating type, given ", ops::name(tensor.dtype())));
  }
  if (a.dtype() != b.dtype())
    arguments.fail(
        cat("needs tensors of one type, given ", ops::name(a.dtype()), " and ", ops::name(b.dtype())));
  const auto same = [&](const index::Expr& one, const index::Expr& other) {
    arguments.builder().graph().require_equal(
        one, other, cat("matrices of ", one, " and ", other, " do not fit together"));
  };
  same(a.size(-1), b.size(-2));
  if (axes == 3) same(a.size(0), b.size(0));
  const Tensor products = graph::unsqueeze(graph::widened(a), -1) * graph::unsqueeze(graph::widened(b), -3);
  return {graph::cast(graph::sum(products, {-2}), a.dtype(), true)};
}

constexpr std::array rows = {
    Row{"mm", product<2>},
    Row{"bmm", product<3>},
};

}  // namespace

std::span<const Row> product_rows() { return rows; }

}  // namespace twinloom::fx
