// Reductions, scans and statistics.
#include "core/graph/reductions.h"

#include <array>
#include <limits>

#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;
using ops::DType;

// Sums and products of integers and truths are i64 unless a type is asked for. Of truths, where these are
// asked for, they are "any" and "all".
Tensor for_sum(const Arguments& arguments, std::optional<DType> asked) {
  const Tensor x = arguments.tensor(0, "self");
  if (asked) return graph::cast(x, *asked);
  return ops::is_floating(x.dtype()) ? x : graph::cast(x, DType::i64, true);
}
Tensor for_mean(const Arguments& arguments, std::optional<DType> asked) {
  const Tensor x = arguments.tensor(0, "self");
  return asked ? graph::cast(x, *asked) : graph::cast(x, floating(x.dtype()), true);
}
// A mean is of floating elements: PyTorch asks for the type where they are not.
void needs_floating(const Arguments& arguments, DType dtype) {
  if (!ops::is_floating(dtype))
    arguments.fail(cat("needs elements of a floating type, given ", ops::name(dtype)));
}

using Reduction = Tensor (*)(const Tensor&, const graph::Axes&, bool);
template <Reduction of_numbers, Reduction of_truths>
Tensor total_of(const Arguments& arguments, std::optional<DType> asked, const graph::Axes& axes, bool keep) {
  const Tensor x = for_sum(arguments, asked);
  return x.dtype() == DType::b8 ? of_truths(x, axes, keep) : of_numbers(x, axes, keep);
}
template <Reduction of_numbers, Reduction of_truths>
Item total(const Arguments& arguments) {
  return {total_of<of_numbers, of_truths>(arguments, arguments.dtype(3, "dtype"), arguments.axes(1, "dim"),
                                          arguments.boolean(2, "keepdim", false))};
}
template <Reduction reduction>
Item extreme(const Arguments& arguments) {
  return {reduction(arguments.tensor(0, "self"), arguments.axes(1, "dim"),
                    arguments.boolean(2, "keepdim", false))};
}
// Truths; of u8 they stay u8.
template <Reduction reduction>
Item truth(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const graph::Axes axes = arguments.axes(1, "dim");
  const bool over_none =
      axes.empty() && arguments.find(1, "dim") != nullptr;  // an empty list names no axis here
  const Tensor found = over_none ? (x.dtype() == DType::b8 ? x : graph::ne(x, 0))
                                 : reduction(x, axes, arguments.boolean(2, "keepdim", false));
  return {x.dtype() == DType::u8 ? graph::cast(found, DType::u8, true) : found};
}
template <Reduction of_numbers, Reduction of_truths>
Item total_of_all(const Arguments& arguments) {
  return {total_of<of_numbers, of_truths>(arguments, arguments.dtype(1, "dtype"), {}, false)};
}
Item mean_of_all(const Arguments& arguments) {
  needs_floating(arguments, arguments.dtype(1, "dtype").value_or(arguments.tensor(0, "self").dtype()));
  return {graph::mean(for_mean(arguments, arguments.dtype(1, "dtype")))};
}
Item mean(const Arguments& arguments) {
  needs_floating(arguments, arguments.dtype(3, "dtype").value_or(arguments.tensor(0, "self").dtype()));
  return {graph::mean(for_mean(arguments, arguments.dtype(3, "dtype")), arguments.axes(1, "dim"),
                      arguments.boolean(2, "keepdim", false))};
}

double correction_of(const Arguments& arguments) { return arguments.real(2, "correction", 1); }
Item var(const Arguments& arguments) {
  return {graph::var(arguments.tensor(0, "self"), arguments.axes(1, "dim"), correction_of(arguments),
                     arguments.boolean(3, "keepdim", false))};
}
Item std_deviation(const Arguments& arguments) {
  return {graph::standard_deviation(arguments.tensor(0, "self"), arguments.axes(1, "dim"),
                                    correction_of(arguments), arguments.boolean(3, "keepdim", false))};
}
Item var_mean(const Arguments& arguments) {
  const graph::Moments moments =
      graph::var_mean(arguments.tensor(0, "self"), arguments.axes(1, "dim"), correction_of(arguments),
                      arguments.boolean(3, "keepdim", false));
  return {Items{{moments.variance}, {moments.mean}}};
}

Item pair_of(const graph::Extreme& found) { return {Items{{found.value}, {found.place}}}; }
Item max_along(const Arguments& arguments) {
  return pair_of(graph::max_with_place(arguments.tensor(0, "self"), arguments.integer(1, "dim"),
                                       arguments.boolean(2, "keepdim", false)));
}
Item min_along(const Arguments& arguments) {
  return pair_of(graph::min_with_place(arguments.tensor(0, "self"), arguments.integer(1, "dim"),
                                       arguments.boolean(2, "keepdim", false)));
}
std::optional<int> maybe_axis(const Arguments& arguments) {
  if (arguments.find(1, "dim") == nullptr) return std::nullopt;
  return arguments.integer(1, "dim");
}
Item argmax(const Arguments& arguments) {
  return {graph::argmax(arguments.tensor(0, "self"), maybe_axis(arguments),
                        arguments.boolean(2, "keepdim", false))};
}
Item argmin(const Arguments& arguments) {
  return {graph::argmin(arguments.tensor(0, "self"), maybe_axis(arguments),
                        arguments.boolean(2, "keepdim", false))};
}

Item logsumexp(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return {graph::logsumexp(graph::cast(x, floating(x.dtype()), true), arguments.axes(1, "dim"),
                           arguments.boolean(2, "keepdim", false))};
}
Item norm(const Arguments& arguments) {
  const DType given = arguments.tensor(0, "self").dtype();
  needs_floating(arguments, given);
  const DType asked = arguments.dtype(4, "dtype").value_or(given);
  if (joined(given, asked) != asked)
    arguments.fail(cat("'dtype' ", ops::name(asked), " is narrower than ", ops::name(given)));
  const Tensor x = for_mean(arguments, arguments.dtype(4, "dtype"));
  return {graph::vector_norm(x, arguments.real(1, "ord", 2), arguments.axes(2, "dim"),
                             arguments.boolean(3, "keepdim", false))};
}

Item cumsum(const Arguments& arguments) {
  return {graph::cumsum(for_sum(arguments, arguments.dtype(2, "dtype")), arguments.integer(1, "dim"))};
}
Item cumprod(const Arguments& arguments) {
  return {graph::cumprod(for_sum(arguments, arguments.dtype(2, "dtype")), arguments.integer(1, "dim"))};
}
Item cummax(const Arguments& arguments) {
  return pair_of(graph::cummax(arguments.tensor(0, "self"), arguments.integer(1, "dim")));
}
Item cummin(const Arguments& arguments) {
  return pair_of(graph::cummin(arguments.tensor(0, "self"), arguments.integer(1, "dim")));
}

constexpr std::array rows = {
    Row{"sum.default", total_of_all<graph::sum, graph::any>},
    Row{"sum", total<graph::sum, graph::any>},
    Row{"prod.default", total_of_all<graph::prod, graph::all>},
    Row{"prod", total<graph::prod, graph::all>},
    Row{"mean.default", mean_of_all},
    Row{"mean", mean},
    Row{"amax", extreme<graph::amax>},
    Row{"amin", extreme<graph::amin>},
    Row{"max.default", extreme<graph::amax>},
    Row{"min.default", extreme<graph::amin>},
    Row{"max.dim", max_along},
    Row{"min.dim", min_along},
    Row{"any", truth<graph::any>},
    Row{"all", truth<graph::all>},
    Row{"argmax", argmax},
    Row{"argmin", argmin},
    Row{"var.correction", var},
    Row{"std.correction", std_deviation},
    Row{"var_mean.correction", var_mean},
    Row{"logsumexp", logsumexp},
    Row{"linalg_vector_norm", norm},
    Row{"cumsum", cumsum},
    Row{"cumprod", cumprod},
    Row{"cummax", cummax},
    Row{"cummin", cummin},
};

}  // namespace

std::span<const Row> reduction_rows() { return rows; }

}  // namespace twinloom::fx
