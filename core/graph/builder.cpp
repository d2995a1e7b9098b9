// Tensors, their sources and pointwise arithmetic with broadcasting. See builder.h.
#include "core/graph/builder.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/build_error.h"
#include "core/graph/infer.h"
#include "core/graph/sharing.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

// The builder of several tensors, which must be one.
Builder& common_builder(const std::vector<Tensor>& tensors, std::string_view what) {
  CHECK(!tensors.empty(), what, " of no tensors");
  Builder& builder = tensors[0].builder();
  for (const Tensor& tensor : tensors)
    if (&tensor.builder() != &builder) fail(builder, what, "the tensors are of two builders");
  return builder;
}

// The number as a constant beside tensors of `dtype`; Error where the type cannot hold it.
Tensor literal(Builder& builder, ops::Number number, ops::DType dtype, std::string_view what) {
  const bool whole = ops::is_integer(dtype) || dtype == ops::DType::b8;
  if (whole && !number.is_integer() && number.real() != std::floor(number.real()))
    fail(builder, what, "the number ", ops::print(number), " has a fraction and stands beside elements of ",
         ops::name(dtype), "; cast the tensor first");
  const ops::Number held = ops::cast(number, dtype);
  if (whole && held.integer() != number.integer())
    fail(builder, what, "the number ", ops::print(number), " does not fit ", ops::name(dtype),
         "; cast the tensor first");
  return builder.constant(held, dtype);
}

// Computes f(x) in f32 where x is of 16 bits, and rounds the result once if it has the type of x.
template <class Compute>
Tensor in_compute_type(ops::Pointwise op, const Tensor& x, Compute&& compute) {
  if (!ops::is_16_bit_float(x.dtype())) return compute(x);
  const Tensor result = compute(widened(x));
  return ops::gives(op) == ops::Gives::same ? cast(result, x.dtype(), true) : result;
}

// A power that is products, roots and quotients, by the numerics contract; each step rounds once.
struct Power {
  double exponent;
  bool of_integers;
  Tensor (*steps)(const Tensor& x);
};
Tensor square(const Tensor& x) { return x * x; }
constexpr std::array powers = {
    Power{0, true, [](const Tensor& x) { return full_like(x, 1); }},
    Power{1, true, [](const Tensor& x) { return x; }},
    Power{2, true, square},
    Power{3, true, [](const Tensor& x) { return square(x) * x; }},
    Power{4, true, [](const Tensor& x) { return square(square(x)); }},
    Power{0.5, false, [](const Tensor& x) { return sqrt(x); }},
    Power{-0.5, false, [](const Tensor& x) { return rsqrt(x); }},
    Power{-1, false, [](const Tensor& x) { return reciprocal(x); }},
    Power{-2, false, [](const Tensor& x) { return reciprocal(square(x)); }},
};
const Power* power_of(ops::DType element, ops::Number exponent) {
  const bool real = ops::is_floating(element);
  if (!real && !ops::is_integer(element)) return nullptr;
  const auto* found = std::ranges::find_if(powers, [&](const Power& power) {
    return power.exponent == exponent.real() && (real || power.of_integers);
  });
  return found == powers.end() ? nullptr : found;
}

}  // namespace

std::string subject(const Builder& builder, std::string_view what) {
  std::string words(what);
  if (!builder.origin.name.empty()) words += cat(" '", escaped(builder.origin.name), "'");
  if (!builder.origin.file.empty())
    words += cat(" (", escaped(builder.origin.file), ":", builder.origin.line, ")");
  return words;
}

void require_sizes(Builder& builder, const index::Condition& condition, const std::string& words) {
  index::Facts& facts = builder.graph().facts();
  for (const index::Less& less : condition.all) {
    if (facts.proves_less(less.a, less.b)) continue;
    const index::Range gap = facts.range(less.b - less.a);
    if (gap.high && *gap.high <= 0) throw Error(words);
    builder.graph().require({{less}}, words);
  }
}

Builder& Tensor::builder() const {
  CHECK(builder_ != nullptr, "a tensor that was never made");
  return *builder_;
}
ops::DType Tensor::dtype() const { return builder().graph()[id_].dtype; }
Shape Tensor::shape() const { return builder().graph()[id_].shape; }
int Tensor::rank() const { return static_cast<int>(builder().graph()[id_].shape.size()); }
index::Expr Tensor::size(int axis) const {
  return builder().graph()[id_].shape[static_cast<std::size_t>(axis_of(axis, rank(), "size"))];
}
index::Expr Tensor::count() const { return index::product(builder().graph()[id_].shape); }

Tensor Builder::input(std::string name, ops::DType dtype, Shape shape, bool donated) {
  return {this, graph_.input(std::move(name), dtype, std::move(shape), donated, origin)};
}

void Builder::size_parameter(std::string name, index::Expr value) {
  graph_.size_parameter(std::move(name), std::move(value));
}

void Builder::output(const Tensor& value, std::string name) {
  graph_.output({Ownership::own, value.id(), -1, 0, std::move(name)});
}

const NodeId* Builder::input_of(int parameter) const {
  const auto count = static_cast<int>(graph_.parameters().size());
  if (parameter < 0 || parameter >= count) return nullptr;
  return std::get_if<NodeId>(&graph_.parameters()[static_cast<std::size_t>(parameter)].value);
}

void Builder::output_of_input(const Tensor& value, int parameter, std::string name) {
  const NodeId* input = input_of(parameter);
  if (input == nullptr || strided(graph_, value.id(), *input) == Strided::no)
    fail(*this, "output", describe(graph_, value.id()), " is no strided view of parameter ", parameter);
  graph_.output({Ownership::input, value.id(), parameter, 0, std::move(name)});
}

void Builder::output_written(const Tensor& value, int parameter, std::string name) {
  const NodeId* input = input_of(parameter);
  if (input == nullptr) fail(*this, "output", "parameter ", parameter, " is no tensor that can be written");
  const Node& node = graph_[*input];
  if (value.dtype() != node.dtype || value.rank() != static_cast<int>(node.shape.size()))
    fail(*this, "output", describe(graph_, value.id()), " has not the type and rank of parameter ",
         parameter);
  for (std::size_t k = 0; k < node.shape.size(); ++k)
    graph_.require_equal(value.shape()[k], node.shape[k],
                         cat(subject(*this, "output"), ": what is written to parameter ", parameter));
  graph_.output({Ownership::written, value.id(), parameter, 0, std::move(name)});
}

void Builder::output_view(const Tensor& value, const Tensor& base, std::string name) {
  if (strided(graph_, value.id(), base.id()) == Strided::no)
    fail(*this, "output", describe(graph_, value.id()), " is no strided view of ",
         describe(graph_, base.id()));
  graph_.output({Ownership::view, value.id(), -1, 0, std::move(name), base.id()});
}

void Builder::output_size(index::Expr size, std::string name) {
  graph_.output({Ownership::size, {}, -1, std::move(size), std::move(name)});
}

void Builder::output_none(std::string name) { graph_.output({Ownership::none, {}, -1, 0, std::move(name)}); }

Tensor Builder::add(Op op, const std::vector<Tensor>& inputs) {
  std::vector<NodeId> ids;
  for (const Tensor& input : inputs) {
    if (&input.builder() != this) fail(*this, kind_name(op), "an input is of another builder");
    ids.push_back(input.id());
  }
  return {this, graph_.add(std::move(op), std::move(ids), origin)};
}

Tensor Builder::constant(ops::Number value, ops::DType dtype, Shape shape) {
  return add(Constant{value, dtype, std::move(shape)}, {});
}

Tensor Builder::constant(Array array) {
  const ops::DType dtype = array.dtype;
  Shape shape(array.sizes.begin(), array.sizes.end());
  // One element is a number, which kernels have in them.
  if (array.bytes.size() == static_cast<std::size_t>(ops::size_of(dtype)))
    return constant(ops::load_number(dtype, array.bytes.read().data()), dtype, std::move(shape));
  return add(Constant{std::make_shared<const Array>(std::move(array)), dtype, std::move(shape)}, {});
}

Tensor Builder::size(index::Expr value, ops::DType dtype) {
  if (const auto known = index::constant_of(value)) return constant(*known, dtype);
  return add(Size{std::move(value), dtype}, {});
}

Tensor Builder::iota(Shape shape, int axis, ops::DType dtype) {
  const int from_front = axis_of(axis, static_cast<int>(shape.size()), subject(*this, "iota"));
  return add(Iota{from_front, dtype, std::move(shape)}, {});
}

Tensor Builder::arange(index::Expr count, ops::Number start, ops::Number step, ops::DType dtype) {
  const ops::DType compute = ops::compute_type(dtype);
  Tensor x = iota({std::move(count)}, 0, compute);
  if (step.real() != 1) x = mul(x, step);
  if (start.real() != 0) x = twinloom::graph::add(x, start);
  return cast(x, dtype, true);
}

Tensor Builder::uniform(Shape shape, ops::DType dtype) {
  return add(Random{Distribution::uniform, draws_++, dtype, std::move(shape), 0, 1}, {});
}

Tensor Builder::normal(Shape shape, ops::DType dtype) {
  return add(Random{Distribution::normal, draws_++, dtype, std::move(shape), 0, 1}, {});
}

Tensor Builder::integers(ops::Number low, ops::Number high, Shape shape, ops::DType dtype) {
  return add(Random{Distribution::integers, draws_++, dtype, std::move(shape), low, high}, {});
}

CompositeScope::CompositeScope(Builder& builder, std::string name)
    : builder_(builder), outermost_(builder.origin.composite.empty()) {
  if (!outermost_) return;
  builder_.origin.instance = ++builder_.instances_[name];
  builder_.origin.composite = std::move(name);
}

CompositeScope::~CompositeScope() {
  if (!outermost_) return;
  builder_.origin.composite.clear();
  builder_.origin.instance = 0;
}

Tensor pointwise(ops::Pointwise op, const std::vector<Tensor>& inputs) {
  Builder& builder = common_builder(inputs, ops::name(op));
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.shape());
  const Shape shape = broadcast_shape(builder.graph(), shapes, subject(builder, ops::name(op)));
  std::vector<Tensor> expanded;
  for (const Tensor& input : inputs) expanded.push_back(expand(input, shape));
  return builder.add(Pointwise{op}, expanded);
}

Tensor pointwise(ops::Pointwise op, const Tensor& left, ops::Number right) {
  const Power* power = op == ops::Pointwise::pow ? power_of(left.dtype(), right) : nullptr;
  return in_compute_type(op, left, [&](const Tensor& x) {
    if (power != nullptr) return power->steps(x);
    return pointwise(op, {x, literal(x.builder(), right, x.dtype(), ops::name(op))});
  });
}

Tensor pointwise(ops::Pointwise op, ops::Number left, const Tensor& right) {
  return in_compute_type(op, right, [&](const Tensor& x) {
    return pointwise(op, {literal(x.builder(), left, x.dtype(), ops::name(op)), x});
  });
}

Tensor cast(const Tensor& x, ops::DType to, bool implicit) {
  if (x.dtype() == to) return x;
  const Op& node = x.builder().graph()[x.id()].node;
  if (const auto* constant = std::get_if<Constant>(&node)) {
    if (const auto* number = std::get_if<ops::Number>(&constant->value))
      return x.builder().constant(*number, to, x.shape());
  }
  return x.builder().add(Cast{to, implicit}, {x});
}

Tensor widened(const Tensor& x) { return cast(x, ops::compute_type(x.dtype()), true); }

Tensor where(const Tensor& condition, const Tensor& yes, ops::Number no) {
  return where(condition, yes, literal(yes.builder(), no, yes.dtype(), "where"));
}
Tensor where(const Tensor& condition, ops::Number yes, const Tensor& no) {
  return where(condition, literal(no.builder(), yes, no.dtype(), "where"), no);
}
Tensor where(const Tensor& condition, ops::Number yes, ops::Number no, ops::DType dtype) {
  Builder& builder = condition.builder();
  return where(condition, literal(builder, yes, dtype, "where"), literal(builder, no, dtype, "where"));
}

Tensor clamp(const Tensor& x, std::optional<ops::Number> low, std::optional<ops::Number> high) {
  Tensor y = x;
  if (low) y = maximum(y, *low);
  if (high) y = minimum(y, *high);
  return y;
}

Tensor clamp(const Tensor& x, const std::optional<Tensor>& low, const std::optional<Tensor>& high) {
  Tensor y = x;
  if (low) y = maximum(y, *low);
  if (high) y = minimum(y, *high);
  return y;
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, ops::Number value) { return where(mask, value, x); }

Tensor full_like(const Tensor& x, ops::Number value) {
  return x.builder().constant(value, x.dtype(), x.shape());
}

Tensor realize(const Tensor& x) { return x.builder().add(Realize{}, {x}); }

int axis_of(int axis, int rank, std::string_view what) {
  if (axis < -rank || axis >= rank)
    throw Error(cat(what, ": axis ", axis, " is out of range for rank ", rank));
  return axis < 0 ? axis + rank : axis;
}

Axes axes_of(const Axes& axes, int rank, std::string_view what) {
  Axes sorted;
  if (axes.empty()) {
    for (int axis = 0; axis < rank; ++axis) sorted.push_back(axis);
    return sorted;
  }
  for (const int axis : axes) sorted.push_back(axis_of(axis, std::max(rank, 1), what));
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    throw Error(cat(what, ": an axis is named twice for rank ", rank));
  return rank == 0 ? Axes{} : sorted;
}

}  // namespace twinloom::graph
