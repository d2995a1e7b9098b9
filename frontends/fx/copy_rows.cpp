// Tensors with the elements of others: as a whole, at strides, on a diagonal, where a mask holds.
#include <array>

#include "core/graph/indexing.h"
#include "core/graph/views.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"

namespace twinloom::fx {

namespace {

using graph::Mode;
using graph::Tensor;
using index::Expr;

// `src` in the type and the shape of `self`.
Item copy(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const Item& source = arguments.item(1, "src");
  if (const auto* tensor = source.get<Tensor>())
    return {graph::expand(graph::cast(*tensor, x.dtype()), x.shape())};
  return {graph::expand(filling(arguments, source, x.dtype()), x.shape())};
}

// Memory without contents: any contents will do, and zeros are the same every time.
Item zeros(const Arguments& arguments, std::size_t sizes_at, ops::DType otherwise) {
  const ops::DType dtype = arguments.dtype(99, "dtype").value_or(otherwise);
  return {graph::expand(arguments.builder().constant(0, dtype), arguments.sizes(sizes_at, "size"))};
}
Item empty_strided(const Arguments& arguments) { return zeros(arguments, 0, ops::DType::f32); }
Item new_empty_strided(const Arguments& arguments) {
  return zeros(arguments, 1, arguments.tensor(0, "self").dtype());
}

// Whether the elements of the tensor lie in its memory in their own order, without others between them.
bool is_in_order(const Arguments& arguments, const Tensor& x) {
  const Item& item = arguments.item(0, "self");
  if (item.gaps) return false;
  if (!item.storage) return true;
  return graph::reshape(x, {x.count()}).id() == graph::reshape(*item.storage, {item.storage->count()}).id();
}
Item as_strided_scatter(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  if (!is_in_order(arguments, x))
    arguments.fail("'self' is a view whose elements do not lie in memory one after the other");
  return {graph::as_strided_scatter(x, arguments.tensor(1, "src"), arguments.sizes(2, "size"),
                                    arguments.sizes(3, "stride"), arguments.size(4, "storage_offset", 0))};
}
Item diagonal_scatter(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return {graph::diagonal_scatter(x, graph::cast(arguments.tensor(1, "src"), x.dtype()),
                                  arguments.integer(2, "offset", 0), arguments.integer(3, "dim1", 0),
                                  arguments.integer(4, "dim2", 1))};
}
Item diagonal_backward(const Arguments& arguments) {
  const Tensor gradient = arguments.tensor(0, "grad_output");
  const Tensor zeros =
      graph::expand(arguments.builder().constant(0, gradient.dtype()), arguments.sizes(1, "input_sizes"));
  return {graph::diagonal_scatter(zeros, gradient, arguments.integer(2, "offset", 0),
                                  arguments.integer(3, "dim1", 0), arguments.integer(4, "dim2", 1))};
}

// The indices, each moved into what its axis has: where the mask does not hold they may be anything.
graph::Indices clamped_indices(const Arguments& arguments, const Tensor& x) {
  graph::Indices indices = indices_of(arguments, 2);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    if (!indices[k]) continue;
    const Tensor size = arguments.builder().size(x.size(static_cast<int>(k)), indices[k]->dtype());
    indices[k] = graph::clamp(*indices[k], graph::neg(size), size - 1);
  }
  return indices;
}
Item masked_index(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const Tensor found = graph::index(x, clamped_indices(arguments, x));
  const Tensor fill = as_tensor(arguments, arguments.item(3, "fill"), x.dtype());
  return {graph::where(arguments.tensor(1, "mask"), found, fill)};
}
Item masked_index_put(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const Tensor values =
      graph::where(arguments.tensor(1, "mask"), arguments.tensor(3, "values"), ops::Number(0));
  return {graph::index_put(x, clamped_indices(arguments, x), values, Mode::add)};
}

constexpr bool WRITES = true;
constexpr std::array rows = {
    Row{"copy", copy},
    Row{"prims.copy_to", copy, Lies::apart, nullptr, WRITES},
    Row{"empty_strided", empty_strided},
    Row{"empty_permuted", empty_strided},
    Row{"new_empty_strided", new_empty_strided},
    Row{"as_strided_scatter", as_strided_scatter},
    Row{"diagonal_scatter", diagonal_scatter},
    Row{"diagonal_backward", diagonal_backward},
    Row{"_unsafe_masked_index", masked_index},
    Row{"_unsafe_masked_index_put_accumulate", masked_index_put},
};

}  // namespace

std::span<const Row> copy_rows() { return rows; }

}  // namespace twinloom::fx
