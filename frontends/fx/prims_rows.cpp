// PyTorch's prims whose arguments or meaning are not those of the ATen operator of the same name, and the
// ones that Inductor adds.
#include <array>
#include <limits>

#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;
using index::Expr;
using ops::DType;
using ops::Pointwise;

// a * b + c, rounded once.
Item fma(const Arguments& arguments) {
  return {promoted(arguments, Pointwise::fma,
                   std::array{&arguments.item(0, "a"), &arguments.item(1, "b"), &arguments.item(2, "c")})};
}
// Quotients of integers are cut, not divided as reals.
Item div(const Arguments& arguments) {
  const std::array operands{&arguments.item(0, "self"), &arguments.item(1, "other")};
  const bool real = ops::is_floating(result_type(arguments, operands));
  return {promoted(arguments, real ? Pointwise::div : Pointwise::div_trunc, operands)};
}

// Axis k of `a` becomes axis dims[k] of the result.
Item broadcast_in_dim(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "a");
  const graph::Shape shape = arguments.sizes(1, "shape");
  const graph::Axes places = arguments.axes(2, "broadcast_dimensions");
  if (places.size() != static_cast<std::size_t>(x.rank())) {
    arguments.fail(cat("'broadcast_dimensions' must hold one number for each of the ", x.rank(),
                       " axes of 'a', it holds ", places.size()));
  }
  graph::Shape with_ones(shape.size(), 1);
  int least = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (places[k] < least || static_cast<std::size_t>(places[k]) >= shape.size())
      arguments.fail(
          cat("'broadcast_dimensions' must ascend below ", shape.size(), ", it holds ", places[k]));
    with_ones[static_cast<std::size_t>(places[k])] = x.shape()[k];
    least = places[k] + 1;
  }
  return {graph::expand(graph::reshape(x, with_ones), shape)};
}

Item rev(const Arguments& arguments) {
  const graph::Axes axes = arguments.axes(1, "dims");
  const Tensor x = arguments.tensor(0, "a");
  return {axes.empty() ? x : graph::flip(x, axes)};
}
Item transpose(const Arguments& arguments) {
  return {graph::permute(arguments.tensor(0, "a"), arguments.axes(1, "permutation"))};
}
Item reshape(const Arguments& arguments) {
  return {graph::reshape(arguments.tensor(0, "a"), arguments.sizes(1, "shape"))};
}
Item slice(const Arguments& arguments) {
  Tensor x = arguments.tensor(0, "a");
  const std::vector<Expr> starts = arguments.sizes(1, "start_indices");
  const std::vector<Expr> ends = arguments.sizes(2, "limit_indices");
  const std::vector<Expr> steps = arguments.find(3, "strides") == nullptr
                                      ? std::vector<Expr>(starts.size(), 1)
                                      : arguments.sizes(3, "strides");
  const auto rank = static_cast<std::size_t>(x.rank());
  if (starts.size() != rank || ends.size() != rank || steps.size() != rank)
    arguments.fail(cat("needs a start, a limit and a stride for each of the ", rank, " axes"));
  for (std::size_t k = 0; k < rank; ++k)
    x = graph::slice(x, static_cast<int>(k), starts[k], ends[k], steps[k]);
  return {x};
}

using Reduction = Tensor (*)(const Tensor&, const graph::Axes&, bool);
// Over the axes that are named, which may be none; the type stays.
template <Reduction reduction>
Item total(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "inp");
  const bool all = arguments.find(1, "dims") == nullptr;
  const graph::Axes axes = arguments.axes(1, "dims");
  return {all || !axes.empty() ? reduction(x, axes, false) : x};
}
Item var(const Arguments& arguments) {
  return {
      graph::var(arguments.tensor(0, "inp"), arguments.axes(1, "dims"), arguments.real(2, "correction", 1))};
}

// The largest value along an axis, and the sum of the exponentials of what is left without it.
Item prepare_softmax_online(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "a");
  const int axis = arguments.integer(1, "dim");
  const Tensor largest = graph::amax(x, {axis}, true);
  const Tensor sum = graph::sum(graph::exp(graph::sub(x, largest)), {axis}, true);
  return {Items{{largest}, {sum}}};
}

// Seeds are drawn; what is drawn with a seed depends on that alone, so that the backward graph, which is
// handed the seed, draws the same.
Tensor drawn_seeds(const Arguments& arguments, const graph::Shape& shape) {
  return arguments.builder().integers(0, std::numeric_limits<std::int64_t>::max(), shape);
}
Item seed(const Arguments& arguments) { return {drawn_seeds(arguments, {})}; }
Item seeds(const Arguments& arguments) { return {drawn_seeds(arguments, {arguments.size(0, "count")})}; }
Item lookup_seed(const Arguments& arguments) {
  return {graph::select(arguments.tensor(0, "seeds"), 0, arguments.size(1, "index"))};
}

// The row over the elements' numbers and a seed, then `more` numbers.
Tensor drawn_with(const Arguments& arguments, Pointwise op, const graph::Shape& shape, const Tensor& seed,
                  const std::vector<ops::Number>& more) {
  graph::Builder& builder = arguments.builder();
  const Expr count = index::product(shape);
  const auto everywhere = [&](const Tensor& number) { return graph::expand(number, {count}); };
  std::vector<Tensor> inputs{builder.iota({count}, 0), everywhere(graph::cast(seed, DType::i64, true))};
  for (const ops::Number number : more) inputs.push_back(everywhere(builder.constant(number, DType::i64)));
  return graph::reshape(graph::pointwise(op, inputs), shape);
}
Item random(const Arguments& arguments) {
  const std::string mode = arguments.text(2, "mode", "");
  if (mode != "rand" && mode != "randn")
    arguments.fail(cat("'mode' must be 'rand' or 'randn', it is '", escaped(mode), "'"));
  const Pointwise op = mode == "rand" ? Pointwise::random_uniform : Pointwise::random_normal;
  return {drawn_with(arguments, op, arguments.sizes(0, "size"), arguments.tensor(1, "seed"), {0, 0})};
}
Item randint(const Arguments& arguments) {
  return {drawn_with(arguments, Pointwise::random_integers, arguments.sizes(2, "size"),
                     arguments.tensor(3, "seed"),
                     {0, 0, arguments.number(0, "low"), arguments.number(1, "high")})};
}
// Strides are the caller's and the compiler's to choose.
Item force_stride_order(const Arguments& arguments) { return {arguments.tensor(0, "input")}; }

constexpr std::array rows = {
    Row{"prims.fma", fma},
    Row{"prims.div", div},
    Row{"prims.broadcast_in_dim", broadcast_in_dim, Lies::view},
    Row{"prims.rev", rev},
    Row{"prims.transpose", transpose, Lies::view},
    Row{"prims.reshape", reshape},
    Row{"prims.slice", slice, Lies::view},
    Row{"prims.sum", total<graph::sum>},
    Row{"prims.prod", total<graph::prod>},
    Row{"prims.amax", total<graph::amax>},
    Row{"prims.amin", total<graph::amin>},
    Row{"prims.var", var},
    Row{"prims.prepare_softmax_online", prepare_softmax_online},
    Row{"prims.inductor_seed", seed},
    Row{"prims.inductor_seeds", seeds},
    Row{"prims.inductor_lookup_seed", lookup_seed},
    Row{"prims.inductor_random", random},
    Row{"prims.inductor_randint", randint},
    Row{"prims.inductor_force_stride_order", force_stride_order, Lies::whole_or_copy},
};

}  // namespace

std::span<const Row> prims_rows() { return rows; }

}  // namespace twinloom::fx
