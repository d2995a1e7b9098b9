// Tensors side by side, and parts of one. See views.h.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/graph/build_error.h"
#include "core/graph/infer.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

std::int64_t constant_size(const Tensor& x, int axis, std::string_view what) {
  const index::Expr size = x.size(axis);
  const auto known = index::constant_of(size);
  if (!known)
    fail(x.builder(), what, "the size ", size, " of axis ", axis, " must be known when the graph is built");
  return *known;
}

void check_parts(const Tensor& x, std::int64_t parts, std::string_view what) {
  const std::int64_t most = x.builder().limits.parts;
  if (parts > most) fail(x.builder(), what, "gives ", parts, " tensors; at most ", most, " are made");
}

bool agree(const Tensor& a, const Tensor& b, int along) {
  if (a.rank() != b.rank() || a.dtype() != b.dtype()) return false;
  for (int axis = 0; axis < a.rank(); ++axis)
    if (axis != along && a.size(axis) != b.size(axis)) return false;
  return true;
}

}  // namespace

Tensor concat(const std::vector<Tensor>& parts, int axis) {
  CHECK(!parts.empty(), "concat of no tensors");
  Builder& builder = parts[0].builder();
  const int along = axis_of(axis, parts[0].rank(), subject(builder, "concat"));
  // Where the shapes disagree, the node compares them, those of parts without elements too.
  if (!std::ranges::all_of(parts, [&](const Tensor& part) { return agree(part, parts[0], along); }))
    return builder.add(Concat{along}, parts);
  std::vector<Tensor> filled;
  for (const Tensor& part : parts)
    if (part.size(along) != index::Expr(0)) filled.push_back(part);
  if (filled.empty()) return parts[0];
  if (filled.size() == 1) return filled[0];
  return builder.add(Concat{along}, filled);
}

Tensor stack(const std::vector<Tensor>& parts, int axis) {
  std::vector<Tensor> rows;
  for (const Tensor& part : parts) rows.push_back(unsqueeze(part, axis));
  return concat(rows, axis);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<index::Expr>& sizes, int axis) {
  const int along = axis_of(axis, x.rank(), subject(x.builder(), "split"));
  index::Expr start = 0;
  check_parts(x, static_cast<std::int64_t>(sizes.size()), "split");
  std::vector<Tensor> parts;
  for (const index::Expr& size : sizes) {
    parts.push_back(slice_exact(x, along, start, size));
    start = start + size;
  }
  x.builder().graph().require_equal(start, x.size(along),
                                    cat(subject(x.builder(), "split"), ": the sizes ", print_shape(sizes),
                                        " add up to ", start, ", axis ", along, " has size ", x.size(along)));
  return parts;
}

std::vector<Tensor> split_every(const Tensor& x, std::int64_t size, int axis) {
  const std::int64_t whole = constant_size(x, axis, "split");
  const bool fits = size > 0 || (size == 0 && whole == 0);
  if (!fits) fail(x.builder(), "split", "the size of a part is ", size, ", it must be at least 1");
  if (whole == 0) return split(x, {0}, axis);
  check_parts(x, ceil_div(whole, size), "split");
  std::vector<index::Expr> sizes;
  for (std::int64_t start = 0; start < whole; start += size)
    sizes.emplace_back(std::min(size, whole - start));
  return split(x, sizes, axis);
}

std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, int axis) {
  if (chunks < 1) fail(x.builder(), "chunk", "the number of chunks is ", chunks, ", it must be at least 1");
  return split_every(x, std::max<std::int64_t>(1, ceil_div(constant_size(x, axis, "chunk"), chunks)), axis);
}

std::vector<Tensor> unbind(const Tensor& x, int axis) {
  const std::int64_t size = constant_size(x, axis, "unbind");
  check_parts(x, size, "unbind");
  std::vector<Tensor> parts;
  for (std::int64_t at = 0; at < size; ++at) parts.push_back(select(x, axis, at));
  return parts;
}

}  // namespace twinloom::graph
