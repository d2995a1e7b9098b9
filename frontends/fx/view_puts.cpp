// See view_puts.h.
#include "frontends/fx/view_puts.h"

#include <limits>

#include "core/graph/views.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;
using index::Expr;

constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();

Tensor base_of(const Write& write) { return write.call.tensor(0, "self"); }

// The value in place of the elements from `start` on.
Tensor put_at(const Write& write, int axis, const Expr& start) {
  const Tensor base = base_of(write);
  const Expr count = write.value.size(axis);
  return graph::slice_scatter(base, write.value, axis, start, start + count);
}

// What is written there may be a view of a view that shows each element once.
[[noreturn]] void fail_repeated(const Arguments& call) {
  call.fail("its result, which is written to, may show elements more than once");
}

}  // namespace

Tensor put_reshaped(const Write& write) { return graph::reshape(write.value, base_of(write).shape()); }

Tensor put_permuted(const Write& write) {
  const graph::Axes order = write.call.axes(1, "dims");
  graph::Axes back(order.size());
  for (int k = 0; std::cmp_less(k, order.size()); ++k) {
    const int axis = graph::axis_of(order[static_cast<std::size_t>(k)], write.value.rank(), "permute");
    back[static_cast<std::size_t>(axis)] = k;
  }
  return graph::permute(write.value, back);
}

Tensor put_transposed(const Write& write) {
  return graph::transpose(write.value, write.call.integer(1, "dim0"), write.call.integer(2, "dim1"));
}

Tensor put_turned(const Write& write) {
  return write.value.rank() < 2 ? write.value : graph::transpose(write.value, 0, 1);
}

Tensor put_expanded(const Write& write) {
  const Tensor base = base_of(write);
  if (!base.builder().graph().facts().proves_equal(write.value.count(), base.count()))
    fail_repeated(write.call);
  return graph::reshape(write.value, base.shape());
}

Tensor put_slice(const Write& write) {
  const Arguments& call = write.call;
  return graph::slice_scatter(base_of(write), write.value, call.integer(1, "dim", 0),
                              call.size(2, "start", 0), call.size(3, "end", to_the_end),
                              call.size(4, "step", 1));
}

Tensor put_selected(const Write& write) {
  return graph::select_scatter(base_of(write), write.value, write.call.integer(1, "dim"),
                               write.call.size(2, "index"));
}

Tensor put_diagonal(const Write& write) {
  const Arguments& call = write.call;
  return graph::diagonal_scatter(base_of(write), write.value, call.integer(1, "offset", 0),
                                 call.integer(2, "dim1", 0), call.integer(3, "dim2", 1));
}

Tensor put_strided(const Write& write) {
  const Arguments& call = write.call;
  const Item& whole = call.item(0, "self");
  if (whole.gaps || whole.storage)
    call.fail("what is written lies in a parameter whose elements are not in order in memory");
  const Tensor base = base_of(write);
  const std::vector<Expr> sizes = call.sizes(1, "size"), strides = call.sizes(2, "stride");
  if (!graph::reaches_once(base, sizes, strides)) fail_repeated(call);
  return graph::as_strided_scatter(base, write.value, sizes, strides, call.size(3, "storage_offset", 0));
}

Tensor put_part(const Write& write) {
  const Arguments& call = write.call;
  const int axis = call.integer(2, "dim", 0);
  if (call.item(1, "split_size").get<Items>() == nullptr)
    return put_at(write, axis, call.size(1, "split_size") * write.part);
  const std::vector<Expr> sizes = call.sizes(1, "split_sizes");
  Expr start = 0;
  for (std::size_t k = 0; std::cmp_less(k, write.part); ++k) start = start + sizes[k];
  return put_at(write, axis, start);
}

Tensor put_chunk(const Write& write) {
  const int axis = write.call.integer(2, "dim", 0);
  const Expr size = base_of(write).size(axis);
  return put_at(write, axis,
                index::greatest(index::ceil_div(size, write.call.integer(1, "chunks")), 1) * write.part);
}

Tensor put_row(const Write& write) {
  return graph::select_scatter(base_of(write), write.value, write.call.integer(1, "dim", 0),
                               Expr(write.part));
}

}  // namespace twinloom::fx
