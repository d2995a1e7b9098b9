// Reductions, scans and what is made of them.
#include "core/graph/reductions.h"

#include <array>

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::Axes;
using graph::widened;
using ops::DType;

// The axes are an attribute up to an opset, then an input; an empty list means none of them where the node
// says so, else all. Nothing: the reduction is over no axes.
template <int input_since>
std::optional<Axes> reduced_axes(const Call& call, const Tensor& x) {
  const auto given = call.version() >= input_since ? call.integers("", 1) : call.integers("axes");
  Axes axes;
  for (const std::int64_t axis : given.value_or(Integers())) axes.push_back(call.axis(axis, x.rank()));
  const bool none_where_empty = call.truth("noop_with_empty_axes", false);
  if (axes.empty() && none_where_empty) return std::nullopt;
  return graph::axes_of(axes, x.rank(), call.name());
}

// Before, a reduction, and after it: in f32 for elements of 16 bits, rounded once.
struct Steps {
  Tensor (*before)(const Tensor&) = nullptr;
  Tensor (*reduce)(const Tensor&, const Axes&, bool) = nullptr;
  Tensor (*after)(const Tensor&) = nullptr;
};

template <const Steps& steps, int input_since>
Values reduction(const Call& call) {
  const Tensor x = call.tensor(0);
  const auto axes = reduced_axes<input_since>(call, x);
  Tensor value = steps.before == nullptr ? widened(x) : steps.before(widened(x));
  const bool keep = call.truth("keepdims", true);
  if (axes && !(axes->empty() && x.rank() == 0)) value = steps.reduce(value, *axes, keep);
  if (steps.after != nullptr) value = steps.after(value);
  return {graph::cast(value, x.dtype(), true)};
}

Tensor square(const Tensor& x) { return x * x; }
Tensor mean_of(const Tensor& x, const Axes& axes, bool keep) {
  if (ops::is_floating(x.dtype())) return graph::mean(x, axes, keep);
  index::Expr count = 1;
  for (const int axis : axes) count = count * x.size(axis);
  return graph::div_trunc(graph::sum(x, axes, keep), x.builder().size(count, x.dtype()));
}
Tensor logsumexp_of(const Tensor& x, const Axes& axes, bool keep) {
  const bool real = ops::is_floating(x.dtype());
  return graph::cast(graph::logsumexp(real ? x : graph::cast(x, DType::f32), axes, keep), x.dtype());
}
Tensor root(const Tensor& x) {
  return ops::is_floating(x.dtype()) ? graph::sqrt(x)
                                     : graph::cast(graph::sqrt(graph::cast(x, DType::f64)), x.dtype());
}
Tensor log_of(const Tensor& x) {
  return ops::is_floating(x.dtype()) ? graph::log(x)
                                     : graph::cast(graph::log(graph::cast(x, DType::f64)), x.dtype());
}

constexpr Steps sum = {nullptr, graph::sum, nullptr};
constexpr Steps product = {nullptr, graph::prod, nullptr};
constexpr Steps mean = {nullptr, mean_of, nullptr};
// Of truths: whether any, whether all.
constexpr Steps max = {nullptr, graph::amax_or_lowest, nullptr};
constexpr Steps min = {nullptr, graph::amin_or_highest, nullptr};
constexpr Steps l1 = {graph::abs, graph::sum, nullptr};
constexpr Steps l2 = {square, graph::sum, root};
constexpr Steps log_sum = {nullptr, graph::sum, log_of};
constexpr Steps log_sum_exp = {nullptr, logsumexp_of, nullptr};
constexpr Steps sum_square = {square, graph::sum, nullptr};

// Of several places the first one, or the last.
template <Tensor (*find)(const Tensor&, std::optional<int>, bool)>
Values arg(const Call& call) {
  const Tensor x = call.tensor(0);
  const int axis = call.axis(call.integer("axis", 0), x.rank());
  const bool keep = call.truth("keepdims", true);
  if (!call.truth("select_last_index", false)) return {find(x, axis, keep)};
  return {call.builder().size(x.size(axis) - 1) - find(graph::flip(x, {axis}), axis, keep)};
}

template <Tensor (*function)(const Tensor&, int, graph::ScanOptions)>
Values cumulated(const Call& call) {
  const Tensor x = call.tensor(0);
  const int axis = call.axis(call.integer(1), x.rank());
  return {function(x, axis, {call.truth("exclusive", false), call.truth("reverse", false)})};
}

// Up to opset 12 over all axes from `axis` on, as if they were one.
template <Tensor (*function)(const Tensor&, int)>
Values along_axis(const Call& call) {
  const Tensor x = call.tensor(0);
  if (call.version() >= 13) return {function(x, call.axis(call.integer("axis", -1), x.rank()))};
  const std::int64_t given = call.integer("axis", 1);
  const int axis = given == x.rank() ? x.rank() : call.axis(given, x.rank());
  const graph::Shape shape = x.shape();
  const index::Expr rows = index::product(std::span(shape).first(static_cast<std::size_t>(axis)));
  const index::Expr columns = index::product(std::span(shape).subspan(static_cast<std::size_t>(axis)));
  return {graph::reshape(function(graph::reshape(x, {rows, columns}), 1), shape)};
}
Tensor hardmax(const Tensor& x, int axis) {
  const Tensor place = graph::argmax(x, axis, true);
  return graph::cast(graph::eq(x.builder().iota(x.shape(), axis), place), x.dtype());
}

constexpr std::array rows = {
    Row{"ArgMax", arg<graph::argmax>},           Row{"ArgMin", arg<graph::argmin>},
    Row{"CumProd", cumulated<graph::cumprod>},   Row{"CumSum", cumulated<graph::cumsum>},
    Row{"Hardmax", along_axis<hardmax>},         Row{"LogSoftmax", along_axis<graph::log_softmax>},
    Row{"ReduceL1", reduction<l1, 18>},          Row{"ReduceL2", reduction<l2, 18>},
    Row{"ReduceLogSum", reduction<log_sum, 18>}, Row{"ReduceLogSumExp", reduction<log_sum_exp, 18>},
    Row{"ReduceMax", reduction<max, 18>},        Row{"ReduceMean", reduction<mean, 18>},
    Row{"ReduceMin", reduction<min, 18>},        Row{"ReduceProd", reduction<product, 18>},
    Row{"ReduceSum", reduction<sum, 13>},        Row{"ReduceSumSquare", reduction<sum_square, 18>},
    Row{"Softmax", along_axis<graph::softmax>},
};

}  // namespace

std::span<const Row> reduction_rows() { return rows; }

}  // namespace twinloom::onnx
