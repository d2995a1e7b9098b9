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

// Along one side of an image that windows are put into: how far they reach with their padding.
struct Block {
  std::int64_t size, stride, dilation, before, after;
  Expr image;

  Expr count() const {  // of windows
    return index::floor_div(image + before + after - (size - 1) * dilation - 1, Expr(stride)) + 1;
  }
};
std::vector<Block> blocks_of(const Call& call) {
  const std::vector<Expr> image = call.sizes(1);
  const Integers sizes = call.integers(2);
  const std::size_t sides = sizes.size();
  const Integers ones(sides, 1);
  const Integers strides = call.integers("strides").value_or(ones),
                 dilations = call.integers("dilations").value_or(ones),
                 pads = call.integers("pads").value_or(Integers(2 * sides, 0));
  if (sides < 1 || image.size() != sides || strides.size() != sides || dilations.size() != sides ||
      pads.size() != 2 * sides)
    call.fail(
        "needs as many sizes of the image and of blocks, strides and dilations, and twice as many pads");
  std::vector<Block> blocks;
  for (std::size_t side = 0; side < sides; ++side) {
    const Block& block = blocks.emplace_back(
        Block{sizes[side], strides[side], dilations[side], pads[side], pads[side + sides], image[side]});
    constexpr std::int64_t most = 1 << 20;
    for (const std::int64_t number :
         {block.size, block.stride, block.dilation, block.before + 1, block.after + 1})
      if (number < 1 || number > most)
        call.fail("blocks, strides, dilations and pads must be positive, and ", most, " at most");
  }
  return blocks;
}

// Windows, one a column, are added up to the image that they may have been taken from.
Values col2im(const Call& call) {
  const Tensor x = call.tensor(0);
  if (x.rank() != 3) call.fail("needs a tensor of 3 axes, given one of ", x.rank());
  const std::vector<Block> blocks = blocks_of(call);
  const int sides = static_cast<int>(blocks.size());
  std::int64_t taps = 1;
  for (const Block& block : blocks) taps *= block.size;
  const Expr channels = index::floor_div(x.size(1), Expr(taps));
  // [batch, channels, size..., count...] goes to [batch, channels, image with padding...]
  Shape parts = {x.size(0), channels}, image = {x.size(0), channels};
  std::vector<graph::Padding> padding(2, graph::Padding{0, 0});
  for (const Block& block : blocks) {
    parts.emplace_back(block.size);
    image.push_back(block.image + block.before + block.after);
    padding.push_back({-block.before, -block.after});
  }
  for (const Block& block : blocks) parts.push_back(block.count());
  graph::Indices places(2);
  for (int side = 0; side < sides; ++side) {
    const Block& block = blocks[static_cast<std::size_t>(side)];
    Shape tap(static_cast<std::size_t>(2 * sides), 1), window = tap;
    tap[static_cast<std::size_t>(side)] = block.size;
    window[static_cast<std::size_t>(sides + side)] = block.count();
    places.emplace_back(call.builder().iota(tap, side) * block.dilation +
                        call.builder().iota(window, sides + side) * block.stride);
  }
  const Tensor zeros = call.builder().constant(0, graph::widened(x).dtype(), image);
  const Tensor sums = graph::index_put(zeros, places, graph::reshape(graph::widened(x), parts), Mode::add);
  return {graph::cast(graph::pad(sums, padding, 0), x.dtype(), true)};
}

constexpr std::array rows = {
    Row{"Col2Im", col2im},
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
