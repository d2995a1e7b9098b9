// Movement of elements: views, copies, concatenation.
#include <algorithm>
#include <array>
#include <limits>

#include "core/graph/build_error.h"
#include "core/graph/indexing.h"
#include "core/graph/views.h"
#include "frontends/fx/numbers.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"
#include "frontends/fx/view_puts.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;
using index::Expr;

constexpr int MOST_PARTS = 1 << 16;
constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();

// A -1 takes the size that the text prints, where it prints one.
graph::Shape with_printed(const Arguments& arguments, graph::Shape sizes) {
  const auto& printed = arguments.printed();
  if (!printed || printed->size() != sizes.size()) return sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (index::constant_of(sizes[i]) == -1) sizes[i] = (*printed)[i];
  }
  return sizes;
}

Item view(const Arguments& arguments) {
  return {graph::reshape(arguments.tensor(0, "self"), with_printed(arguments, arguments.sizes(1, "size")))};
}
// The axes from start to end become one; a tensor without axes gets one.
Item flatten(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  if (x.rank() == 0) return {graph::reshape(x, {1})};
  const int start = graph::axis_of(arguments.integer(1, "start_dim", 0), x.rank(), "flatten"),
            end = graph::axis_of(arguments.integer(2, "end_dim", -1), x.rank(), "flatten");
  if (start > end) arguments.fail(cat("'start_dim' ", start, " lies behind 'end_dim' ", end));
  graph::Shape shape = x.shape();
  Expr size = 1;
  for (int axis = start; axis <= end; ++axis) size = size * x.size(axis);
  shape[static_cast<std::size_t>(start)] = size;
  shape.erase(shape.begin() + start + 1, shape.begin() + end + 1);
  return {graph::reshape(x, shape)};
}
// One axis becomes several, of which one may be -1.
Item unflatten(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const int axis = graph::axis_of(arguments.integer(1, "dim"), x.rank(), "unflatten");
  graph::Shape shape = x.shape();
  const std::vector<Expr> sizes = arguments.sizes(2, "sizes");
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, sizes.begin(), sizes.end());
  return {graph::reshape(x, with_printed(arguments, shape))};
}
Item same(const Arguments& arguments) { return {arguments.tensor(0, "self")}; }
// All elements of self become the value.
Item fill(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const Item& value = arguments.item(1, "value");
  return {graph::expand(filling(arguments, value, x.dtype()), x.shape())};
}
Item zero(const Arguments& arguments) { return {graph::full_like(arguments.tensor(0, "self"), 0)}; }
Item permute(const Arguments& arguments) {
  return {graph::permute(arguments.tensor(0, "self"), arguments.axes(1, "dims"))};
}
Item transpose(const Arguments& arguments) {
  return {graph::transpose(arguments.tensor(0, "self"), arguments.integer(1, "dim0"),
                           arguments.integer(2, "dim1"))};
}
Item t(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  if (x.rank() > 2) arguments.fail(cat("takes at most 2 axes, given ", x.rank()));
  return {x.rank() < 2 ? x : graph::transpose(x, 0, 1)};
}
Item squeeze(const Arguments& arguments) { return {graph::squeeze(arguments.tensor(0, "self"))}; }
Item squeeze_axes(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const graph::Axes axes = arguments.axes(1, "dim");
  return {axes.empty() ? x : graph::squeeze(x, axes)};
}
Item unsqueeze(const Arguments& arguments) {
  return {graph::unsqueeze(arguments.tensor(0, "self"), arguments.integer(1, "dim"))};
}
Item expand(const Arguments& arguments) {
  return {graph::expand(arguments.tensor(0, "self"), arguments.sizes(1, "size"))};
}
Item slice(const Arguments& arguments) {
  return {graph::slice(arguments.tensor(0, "self"), arguments.integer(1, "dim", 0),
                       arguments.size(2, "start", 0), arguments.size(3, "end", to_the_end),
                       arguments.size(4, "step", 1))};
}
// The source in the type of the tensor that it goes into.
Tensor source_for(const Arguments& arguments, const Tensor& x) {
  return graph::cast(arguments.tensor(1, "src"), x.dtype());
}
Item slice_scatter(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return {graph::slice_scatter(x, source_for(arguments, x), arguments.integer(2, "dim", 0),
                               arguments.size(3, "start", 0), arguments.size(4, "end", to_the_end),
                               arguments.size(5, "step", 1))};
}
Item slice_backward(const Arguments& arguments) {
  const Tensor gradient = arguments.tensor(0, "grad_output");
  const Tensor zeros =
      graph::expand(arguments.builder().constant(0, gradient.dtype()), arguments.sizes(1, "input_sizes"));
  return {graph::slice_scatter(zeros, gradient, arguments.integer(2, "dim"), arguments.size(3, "start"),
                               arguments.size(4, "end"), arguments.size(5, "step"))};
}
// A position that only the run tells is looked up, and checked.
Item select(const Arguments& arguments) {
  const Item& at = arguments.item(2, "index");
  if (at.get<Number>() != nullptr && !size_of(at)) {
    return {graph::take(arguments.tensor(0, "self"), arguments.integer(1, "dim"),
                        tensor_of(arguments.builder(), at, ops::DType::i64), graph::Negative::wraps)};
  }
  return {
      graph::select(arguments.tensor(0, "self"), arguments.integer(1, "dim"), arguments.size(2, "index"))};
}
Item select_scatter(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return {graph::select_scatter(x, source_for(arguments, x), arguments.integer(2, "dim"),
                                arguments.size(3, "index"))};
}
Item select_backward(const Arguments& arguments) {
  const Tensor gradient = arguments.tensor(0, "grad_output");
  const Tensor zeros =
      graph::expand(arguments.builder().constant(0, gradient.dtype()), arguments.sizes(1, "input_sizes"));
  return {graph::select_scatter(zeros, gradient, arguments.integer(2, "dim"), arguments.size(3, "index"))};
}

// Of the i-th axis from the end: what negative numbers take away must be there.
graph::Padding padded(const Arguments& arguments, const Tensor& x, int i, const Expr& before,
                      const Expr& after) {
  const Expr left = x.size(-1 - i) + index::least(0, before) + index::least(0, after);
  const auto known = index::constant_of(left);
  if (known && *known < 0)
    arguments.fail(
        cat("'pad' takes ", before, " and ", after, " away from axis ", -1 - i, " of size ", x.size(-1 - i)));
  return {before, after};
}

// [last axis before, after, the one before it before, after, ...]
Item pad_by(const Arguments& arguments, std::size_t value_at) {
  const Tensor x = arguments.tensor(0, "self");
  const std::vector<Expr> pairs = arguments.sizes(1, "pad");
  if (pairs.size() % 2 != 0 || pairs.size() / 2 > static_cast<std::size_t>(x.rank())) {
    arguments.fail(
        cat("'pad' must hold two numbers an axis, it holds ", pairs.size(), " for ", x.rank(), " axes"));
  }
  std::vector<graph::Padding> padding(static_cast<std::size_t>(x.rank()), graph::Padding{0, 0});
  for (std::size_t i = 0; i < pairs.size() / 2; ++i)
    padding[padding.size() - 1 - i] =
        padded(arguments, x, static_cast<int>(i), pairs[2 * i], pairs[2 * i + 1]);
  ops::Number fill =
      arguments.find(value_at, "value") == nullptr ? ops::Number(0) : arguments.number(value_at, "value");
  const bool fills =
      std::ranges::any_of(pairs, [](const Expr& size) { return index::constant_of(size).value_or(1) > 0; });
  if (fills) fill = fitting(arguments, fill, x.dtype());
  return {graph::pad(x, padding, fill)};
}
Item pad(const Arguments& arguments) { return pad_by(arguments, 2); }
Item pad_with_mode(const Arguments& arguments) {
  const std::string mode = arguments.text(2, "mode", "constant");
  if (mode != "constant") arguments.fail(cat("'mode' must be constant, it is ", escaped(mode)));
  return pad_by(arguments, 3);
}
Item flip(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const graph::Axes axes = arguments.axes(1, "dims");
  return {axes.empty() ? x : graph::flip(x, graph::axes_of(axes, x.rank(), "flip"))};
}
Item repeat(const Arguments& arguments) {
  return {graph::repeat(arguments.tensor(0, "self"), arguments.sizes(1, "repeats"))};
}
Item roll(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const std::vector<Expr> shifts = arguments.sizes(1, "shifts");
  if (shifts.empty()) arguments.fail("'shifts' is empty");
  return {graph::roll(x, shifts, arguments.axes(2, "dims"))};
}
// Of the memory that the argument lies in, whatever view of it the argument is.
Item as_strided(const Arguments& arguments) {
  const Item& whole = arguments.item(0, "self");
  const Tensor memory = whole.storage.value_or(arguments.tensor(0, "self"));
  if (whole.gaps) arguments.fail("the argument lies in memory with gaps");
  return {graph::as_strided(memory, arguments.sizes(1, "size"), arguments.sizes(2, "stride"),
                            arguments.size(3, "storage_offset", 0))};
}
Item diagonal(const Arguments& arguments) {
  return {graph::diagonal(arguments.tensor(0, "self"), arguments.integer(1, "offset", 0),
                          arguments.integer(2, "dim1", 0), arguments.integer(3, "dim2", 1))};
}
Item unfold(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const Tensor rows = x.rank() == 0 ? graph::unsqueeze(x, 0) : x;
  const Tensor windows = graph::unfold(rows, arguments.integer(1, "dimension"), arguments.size(2, "size"),
                                       arguments.size(3, "step"));
  return {x.rank() == 0 ? graph::select(windows, 0, 0) : windows};
}
Item tril(const Arguments& arguments) {
  return {graph::tril(arguments.tensor(0, "self"), arguments.size(1, "diagonal", 0))};
}
Item triu(const Arguments& arguments) {
  return {graph::triu(arguments.tensor(0, "self"), arguments.size(1, "diagonal", 0))};
}

// The parts in one type, as promotion has it.
std::vector<Tensor> joined_parts(const Arguments& arguments) {
  std::vector<Tensor> parts = arguments.tensors(0, "tensors");
  if (parts.empty()) arguments.fail("needs at least one tensor");
  std::vector<Item> items(parts.begin(), parts.end());
  std::vector<const Item*> pointers;
  for (const Item& item : items) pointers.push_back(&item);
  const ops::DType type = result_type(arguments, pointers);
  for (Tensor& part : parts) part = graph::cast(part, type, true);
  return parts;
}
Item cat_rows(const Arguments& arguments) {
  std::vector<Tensor> parts = joined_parts(arguments);
  // An empty tensor of one axis takes part in any concatenation.
  std::vector<Tensor> kept;
  for (const Tensor& part : parts) {
    if (part.rank() != 1 || index::constant_of(part.size(0)) != 0) kept.push_back(part);
  }
  if (kept.empty()) return {parts.front()};  // along whatever axis
  return {graph::concat(kept, arguments.integer(1, "dim", 0))};
}
Item stack(const Arguments& arguments) {
  return {graph::stack(joined_parts(arguments), arguments.integer(1, "dim", 0))};
}

Item list_of(const std::vector<Tensor>& tensors) {
  Items items;
  for (const Tensor& tensor : tensors) items.push_back({tensor});
  return {std::move(items)};
}
// As many parts of a symbolic axis as the text takes; each must start inside it.
Item parts_taken(const Arguments& arguments, const Tensor& x, int axis, const Expr& every) {
  const std::string words =
      cat(graph::subject(arguments.builder(), "split"), ": axis ", axis, " of size ", x.size(axis),
          " in parts of ", every, " has fewer than ", arguments.context().elements, " parts");
  graph::require_sizes(arguments.builder(), {{{0, every}}}, words);
  std::vector<Tensor> parts;
  for (std::size_t k = 0; k < arguments.context().elements; ++k) {
    const Expr start = Expr(static_cast<std::int64_t>(k)) * every;
    if (k > 0) graph::require_sizes(arguments.builder(), {{{start, x.size(axis)}}}, words);
    parts.push_back(graph::slice(x, axis, start, start + every));
  }
  return list_of(parts);
}
Item split(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const int axis = arguments.integer(2, "dim", 0);
  if (arguments.item(1, "split_size").get<Items>() != nullptr)
    return list_of(graph::split(x, arguments.sizes(1, "split_sizes"), axis));
  const Expr every = arguments.size(1, "split_size");
  if (index::constant_of(every) && index::constant_of(x.size(axis)))
    return list_of(graph::split_every(x, arguments.integer(1, "split_size"), axis));
  return parts_taken(arguments, x, axis, every);
}
Item chunk(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const int axis = arguments.integer(2, "dim", 0);
  const int chunks = arguments.integer(1, "chunks");
  // Of nothing there are as many parts as are asked for.
  if (x.rank() > 0 && chunks > 0 && chunks <= MOST_PARTS && index::constant_of(x.size(axis)) == 0)
    return list_of(std::vector<Tensor>(static_cast<std::size_t>(chunks), x));
  if (!index::constant_of(x.size(axis)) && chunks > 0) {
    const Expr every = index::greatest(index::ceil_div(x.size(axis), chunks), 1);
    return parts_taken(arguments, x, axis, every);
  }
  return list_of(graph::chunk(arguments.tensor(0, "self"), arguments.integer(1, "chunks"),
                              arguments.integer(2, "dim", 0)));
}
Item unbind(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const int axis = arguments.integer(1, "dim", 0);
  if (!index::constant_of(x.size(axis))) {
    std::vector<Tensor> rows;
    for (std::size_t k = 0; k < arguments.context().elements; ++k)
      rows.push_back(graph::select(x, axis, Expr(static_cast<std::int64_t>(k))));
    return list_of(rows);
  }
  return list_of(graph::unbind(arguments.tensor(0, "self"), arguments.integer(1, "dim", 0)));
}

constexpr std::array rows = {
    Row{"view", view, Lies::view, put_reshaped},
    Row{"_unsafe_view", view, Lies::view, put_reshaped},
    Row{"reshape", view, Lies::view_or_copy},
    Row{"flatten.using_ints", flatten, Lies::view_or_copy},
    Row{"unflatten.int", unflatten, Lies::view, put_reshaped},
    Row{"alias", same, Lies::whole},
    Row{"detach", same, Lies::whole},
    Row{"detach_", same, Lies::whole},
    Row{"lift_fresh_copy", same},
    Row{"lift_fresh", same, Lies::whole},
    Row{"clone", same},
    Row{"contiguous", same, Lies::whole_or_copy},
    Row{"device_put", same, Lies::whole_or_copy},
    Row{"view_of", same, Lies::whole},
    Row{"fill", fill},
    Row{"zero", zero},
    Row{"permute", permute, Lies::view, put_permuted},
    Row{"transpose", transpose, Lies::view, put_transposed},
    Row{"swapaxes", transpose, Lies::view, put_transposed},
    Row{"swapdims", transpose, Lies::view, put_transposed},
    Row{"t", t, Lies::view, put_turned},
    Row{"squeeze.default", squeeze, Lies::view, put_reshaped},
    Row{"squeeze", squeeze_axes, Lies::view, put_reshaped},
    Row{"unsqueeze", unsqueeze, Lies::view, put_reshaped},
    Row{"expand", expand, Lies::view, put_expanded},
    Row{"slice", slice, Lies::view, put_slice},
    Row{"slice_scatter", slice_scatter},
    Row{"slice_backward", slice_backward},
    Row{"select", select, Lies::view, put_selected},
    Row{"select_scatter", select_scatter},
    Row{"select_backward", select_backward},
    Row{"constant_pad_nd", pad},
    Row{"pad", pad_with_mode},
    Row{"flip", flip},
    Row{"repeat", repeat},
    Row{"roll", roll},
    Row{"as_strided", as_strided, Lies::memory, put_strided},
    Row{"diagonal", diagonal, Lies::view, put_diagonal},
    Row{"unfold", unfold, Lies::view},
    Row{"tril", tril},
    Row{"triu", triu},
    Row{"cat", cat_rows},
    Row{"stack", stack},
    Row{"split", split, Lies::view, put_part},
    Row{"split_with_sizes", split, Lies::view, put_part},
    Row{"chunk", chunk, Lies::view, put_chunk},
    Row{"unbind", unbind, Lies::view, put_row},
};

}  // namespace

std::span<const Row> view_rows() { return rows; }

}  // namespace twinloom::fx
