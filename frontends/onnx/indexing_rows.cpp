// Operators that read and write at places which are computed. Negative indices count from the end.
#include "core/graph/indexing.h"

#include <array>

#include "core/graph/reductions.h"
#include "core/graph/sorting.h"
#include "frontends/onnx/constants.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::Mode;
using graph::Negative;
using graph::Shape;
using index::Expr;
using ops::DType;

Values gather(const Call& call) {
  const Tensor x = call.tensor(0);
  return {graph::take(x, call.axis(call.integer("axis", 0), x.rank()), call.tensor(1), Negative::wraps)};
}
Values gather_elements(const Call& call) {
  const Tensor x = call.tensor(0);
  return {
      graph::take_along(x, call.axis(call.integer("axis", 0), x.rank()), call.tensor(1), Negative::wraps)};
}

// The last axis of `indices` as one list of places for each indexed axis, after those of `batch` axes, whose
// places are positions.
graph::Indices places(const Call& call, const Tensor& x, const Tensor& indices, int batch) {
  if (indices.rank() < 1 + batch || x.rank() < batch)
    call.fail("has too few axes for ", batch, " batch axes");
  const auto depth = index::constant_of(indices.size(-1));
  if (!depth) call.unsupported("a symbolic number of indices for each place");
  if (*depth < 1 || *depth > x.rank() - batch)
    call.fail("has ", *depth, " indices for each place of a tensor of ", x.rank(), " axes");
  Shape shape = indices.shape();
  shape.pop_back();
  graph::Indices result;
  for (int axis = 0; axis < batch; ++axis) {
    call.builder().graph().require_equal(x.size(axis), indices.size(axis),
                                         cat(call.name(), ": the batch axes must have one size"));
    result.emplace_back(call.builder().iota(shape, axis));
  }
  for (std::int64_t k = 0; k < *depth; ++k) result.emplace_back(graph::select(indices, -1, k));
  return result;
}
Values gather_nd(const Call& call) {
  const Tensor x = call.tensor(0), indices = call.tensor(1);
  const std::int64_t batch = call.integer("batch_dims", 0);
  if (batch < 0 || batch >= x.rank()) call.fail("attribute 'batch_dims' is ", batch);
  return {graph::index(x, places(call, x, indices, static_cast<int>(batch)), Negative::wraps)};
}

Mode mode_of(const Call& call) {
  const std::string given = call.text("reduction", "none");
  constexpr std::array<std::pair<std::string_view, Mode>, 5> modes = {{{"none", Mode::replace},
                                                                       {"add", Mode::add},
                                                                       {"mul", Mode::multiply},
                                                                       {"max", Mode::greatest},
                                                                       {"min", Mode::least}}};
  for (const auto& [name, mode] : modes)
    if (name == given) return mode;
  call.fail("attribute 'reduction' must be none, add, mul, max or min, it is '", escaped(given), "'");
}
Values scatter_nd(const Call& call) {
  const Tensor x = call.tensor(0);
  return {graph::index_put(x, places(call, x, call.tensor(1), 0), call.tensor(2), mode_of(call),
                           Negative::wraps)};
}
Values scatter_elements(const Call& call) {
  const Tensor x = call.tensor(0);
  return {graph::scatter(x, call.axis(call.integer("axis", 0), x.rank()), call.tensor(1), call.tensor(2),
                         mode_of(call), true, Negative::wraps)};
}

// An index outside of -depth to depth - 1 gives `off` alone.
Values one_hot(const Call& call) {
  const Tensor indices = call.tensor(0), values = call.tensor(2);
  // Any type may say how many there are.
  Expr depth;
  if (ops::holds_real(call.tensor(1).dtype())) {
    const auto given = call.reals(1);
    if (given.size() != 1 || !(given[0] >= 1 && given[0] < 1e12))
      call.fail("the depth must be one number above 0");
    depth = static_cast<std::int64_t>(given[0]);
  } else {
    const auto given = call.sizes(1);
    if (given.size() != 1) call.fail("the depth must be one number");
    depth = given[0];
  }
  const int axis = call.axis(call.integer("axis", -1), indices.rank() + 1);
  const Tensor at = graph::unsqueeze(graph::cast(indices, DType::i64), axis);
  Shape shape = at.shape();
  shape[static_cast<std::size_t>(axis)] = depth;
  const Tensor count = call.builder().size(depth);
  const Tensor wrapped = graph::where(graph::lt(at, 0), at + count, at);
  const Tensor hot = graph::eq(call.builder().iota(shape, axis), wrapped);
  return {graph::where(hot, graph::select(values, 0, 1), graph::select(values, 0, 0))};
}

// How many is an attribute up to opset 9, then an input.
Values top_k(const Call& call) {
  const Tensor x = call.tensor(0);
  const int axis = call.axis(call.integer("axis", -1), x.rank());
  const Expr count = call.version() < 10 ? Expr(call.integer("k", 0)) : [&] {
    const auto given = call.sizes(1);
    if (given.size() != 1) call.fail("k must be one number");
    return given[0];
  }();
  call.ignore({"sorted"});
  const auto direction =
      call.truth("largest", true) ? graph::Direction::descending : graph::Direction::ascending;
  const auto [values, offsets] = graph::top(x, count, axis, direction);
  return {values, offsets};
}

// Which elements are taken must be known: how many there are is the result's size.
Values compress(const Call& call) {
  const auto [x, axis] = call.tensor_along_axis();
  const Integers condition = call.integers(1);
  Integers taken;
  for (std::size_t k = 0; k < condition.size(); ++k)
    if (condition[k] != 0) taken.push_back(static_cast<std::int64_t>(k));
  return {graph::take(x, axis, constant_of(call.builder(), taken, DType::i64))};
}

constexpr std::array rows = {
    Row{"Compress", compress},
    moving_row("Gather", gather),
    Row{"GatherElements", gather_elements},
    Row{"GatherND", gather_nd},
    Row{"OneHot", one_hot},
    Row{"Scatter", scatter_elements},
    Row{"ScatterElements", scatter_elements},
    Row{"ScatterND", scatter_nd},
    Row{"TopK", top_k},
};

}  // namespace

std::span<const Row> indexing_rows() { return rows; }

}  // namespace twinloom::onnx
