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

// Sums and products of integers and truths are i64 unless a type is asked for.
Tensor for_sum(const Arguments& arguments, std::optional<DType> asked) {
  const Tensor x = arguments.tensor(0, "self");
  if (asked) return graph::cast(x, *asked);
  return ops::is_floating(x.dtype()) ? x : graph::cast(x, DType::i64, true);
}
Tensor for_mean(const Arguments& arguments, std::optional<DType> asked) {
  const Tensor x = arguments.tensor(0, "self");
  return asked ? graph::cast(x, *asked) : graph::cast(x, floating(x.dtype()), true);
}

using Reduction = Tensor (*)(const Tensor&, const graph::Axes&, bool);
template <Reduction reduction>
Item total(const Arguments& arguments) {
  return {reduction(for_sum(arguments, arguments.dtype(3, "dtype")), arguments.axes(1, "dim"),
                    arguments.boolean(2, "keepdim", false))};
}
template <Reduction reduction>
Item extreme(const Arguments& arguments) {
  return {reduction(arguments.tensor(0, "self"), arguments.axes(1, "dim"),
                    arguments.boolean(2, "keepdim", false))};
}
Item total_of_all(const Arguments& arguments) {
  return {graph::sum(for_sum(arguments, arguments.dtype(1, "dtype")))};
}
Item product_of_all(const Arguments& arguments) {
  return {graph::prod(for_sum(arguments, arguments.dtype(1, "dtype")))};
}
Item mean_of_all(const Arguments& arguments) {
  return {graph::mean(for_mean(arguments, arguments.dtype(1, "dtype")))};
}
Item mean(const Arguments& arguments) {
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

Item norm(const Arguments& arguments) {
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
    Row{"sum.default", total_of_all},
    Row{"sum", total<graph::sum>},
    Row{"prod.default", product_of_all},
    Row{"prod", total<graph::prod>},
    Row{"mean.default", mean_of_all},
    Row{"mean", mean},
    Row{"amax", extreme<graph::amax>},
    Row{"amin", extreme<graph::amin>},
    Row{"max.default", extreme<graph::amax>},
    Row{"min.default", extreme<graph::amin>},
    Row{"max.dim", max_along},
    Row{"min.dim", min_along},
    Row{"any", extreme<graph::any>},
    Row{"all", extreme<graph::all>},
    Row{"argmax", argmax},
    Row{"argmin", argmin},
    Row{"var.correction", var},
    Row{"std.correction", std_deviation},
    Row{"var_mean.correction", var_mean},
    Row{"logsumexp", extreme<graph::logsumexp>},
    Row{"linalg_vector_norm", norm},
    Row{"cumsum", cumsum},
    Row{"cumprod", cumprod},
    Row{"cummax", cummax},
    Row{"cummin", cummin},
};

}  // namespace

std::span<const Row> reduction_rows() { return rows; }

}  // namespace twinloom::fx
