// Products of matrices, as sums of products of their elements.
#include <array>

#include "core/graph/composites.h"
#include "frontends/fx/operators.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;

// [.., n, k] and [.., k, m], each with so many axes; in f32 where they are of 16 bits.
Tensor wide_product(const Arguments& arguments, const Tensor& a, const Tensor& b, int axes) {
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
  return graph::matrix_product(graph::widened(a), graph::widened(b));
}

// Of 16-bit floats only the sum is rounded to their type.
template <int axes>
Item product(const Arguments& arguments) {
  const Tensor a = arguments.tensor(0, "self");
  return {graph::cast(wide_product(arguments, a, arguments.tensor(1, "mat2"), axes), a.dtype(), true)};
}

Tensor scaled(const Tensor& x, double factor) { return factor == 1 ? x : x * factor; }

// beta * self + alpha * (a @ b), rounded once. What has the factor 0 is left out, with its NaNs.
template <int axes>
Item added_product(const Arguments& arguments) {
  constexpr std::string_view second = axes == 2 ? "mat2" : "batch2";
  const Tensor self = arguments.tensor(0, "self"), a = arguments.tensor(1, axes == 2 ? "mat1" : "batch1");
  const double beta = arguments.real(3, "beta", 1), alpha = arguments.real(4, "alpha", 1);
  const Tensor product = wide_product(arguments, a, arguments.tensor(2, second), axes);
  Tensor result =
      alpha == 0 ? a.builder().constant(0, product.dtype(), product.shape()) : scaled(product, alpha);
  if (beta != 0) result = result + scaled(graph::widened(self), beta);
  return {graph::cast(result, a.dtype(), true)};
}

constexpr std::array rows = {
    Row{"mm", product<2>},
    Row{"bmm", product<3>},
    Row{"addmm", added_product<2>},
    Row{"baddbmm", added_product<3>},
};

}  // namespace

std::span<const Row> product_rows() { return rows; }

}  // namespace twinloom::fx
