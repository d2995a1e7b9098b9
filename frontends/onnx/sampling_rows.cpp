// Elements of images at places that are computed: grids, regions, and filters whose elements move.
#include <array>

#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/convolutions.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/sampling.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using graph::widened;
using index::Expr;
using ops::DType;

Outside outside_of(const Call& call) {
  const std::string mode = call.text("padding_mode", "zeros");
  if (mode == "zeros") return Outside::zeros;
  if (mode == "border") return Outside::border;
  if (mode == "reflection") return Outside::reflection;
  call.fail("there is no padding_mode '", escaped(mode), "'");
}

// Positions along one of so many axes.
Tensor positions(graph::Builder& builder, int rank, int axis, const Expr& size) {
  Shape shape(static_cast<std::size_t>(rank), 1);
  shape[static_cast<std::size_t>(axis)] = size;
  return builder.iota(shape, axis);
}

// Batch and channel of each element of [batch, channels, ...].
std::vector<Tensor> batches_and_channels(const Tensor& x) {
  return {positions(x.builder(), x.rank(), 0, x.size(0)), positions(x.builder(), x.rank(), 1, x.size(1))};
}

// The last axis of the grid holds a place for each side, the last one first, from -1 to 1.
Values grid_sample(const Call& call) {
  const Tensor x = call.tensor(0);
  const int sides = x.rank() - 2;
  if (sides < 1 || call.tensor(1).rank() != x.rank() || call.tensor(1).size(-1) != Expr(sides))
    call.fail("needs an image of 3 axes or more, and a grid of as many with ", sides, " places each");
  const std::string mode = call.text("mode", call.version() < 20 ? "bilinear" : "linear");
  const bool is_nearest = mode == "nearest", is_cubic = mode == "bicubic" || mode == "cubic";
  if (!is_nearest && !is_cubic && mode != "bilinear" && mode != "linear")
    call.fail("there is no mode '", escaped(mode), "'");
  if (is_cubic && sides > 2) call.unsupported("mode '", mode, "' of ", sides, " sides");
  const Tensor wide = widened(x), grid = graph::cast(call.tensor(1), wide.dtype());
  const bool aligned = call.truth("align_corners", false);
  Image image{wide, batches_and_channels(x), outside_of(call), {}};
  Places places;
  for (int side = 0; side < sides; ++side) {
    image.sides.push_back(side_of(x, 2 + side, wide.dtype(), aligned));
    const Tensor size = image.sides.back().size;
    const Tensor part = graph::unsqueeze(graph::select(grid, -1, sides - 1 - side), 1) + 1.0;
    const Tensor place = aligned ? part * 0.5 * (size - 1.0) : (part * size - 1.0) * 0.5;
    const Tensor kept = is_cubic ? place : kept_inside(place, image.sides.back(), image.outside);
    places.push_back(is_nearest ? graph::round(kept) : kept);
  }
  const Tensor result = is_nearest ? pixels(image, places) : interpolated(image, places, is_cubic);
  return {graph::cast(result, x.dtype(), true)};
}

// From -1 to 1 along an axis: the corners, or the middles of the elements.
Tensor coordinates(const Tensor& position, const Tensor& size, bool aligned) {
  if (!aligned) return (position * 2.0 + 1.0) / size - 1.0;
  const Tensor last = size - 1.0;
  return graph::where(graph::gt(last, 0), position * 2.0 / last - 1.0, 0.0);
}

// [batch, sides, sides + 1] times the coordinates of each element, the last side first, and 1.
Values affine_grid(const Call& call) {
  const Tensor theta = call.tensor(0), wide = widened(theta);
  const std::vector<Expr> sizes = call.sizes(1);
  const int sides = static_cast<int>(sizes.size()) - 2, rank = sides + 1;
  if (sides < 1 || theta.rank() != 3 || theta.size(1) != Expr(sides) || theta.size(2) != Expr(sides + 1))
    call.fail("needs the sizes of batch, channels and sides, and a matrix of sides by sides and one more");
  graph::Builder& builder = call.builder();
  std::vector<Tensor> axes;
  for (int side = sides; side-- > 0;) {
    const Expr& size = sizes[static_cast<std::size_t>(side) + 2];
    const Tensor position = graph::cast(positions(builder, rank, side + 1, size), wide.dtype());
    axes.push_back(coordinates(position, graph::cast(builder.size(size), wide.dtype()),
                               call.truth("align_corners", false)));
  }
  Values parts;
  for (int row = 0; row < sides; ++row) {
    const auto factor = [&](int column) {
      Shape shape(static_cast<std::size_t>(rank), 1);
      shape[0] = theta.size(0);
      return graph::reshape(graph::select(graph::select(wide, 1, row), 1, column), shape);
    };
    Tensor sum = factor(sides);
    for (int side = 0; side < sides; ++side) sum = sum + factor(side) * axes[static_cast<std::size_t>(side)];
    parts.push_back(sum);
  }
  return {graph::cast(graph::stack(parts, -1), theta.dtype(), true)};
}

// Where along one side the elements of moved filters lie: [batch, groups, 1, kernel..., count...].
Tensor filter_places(const Window& window, const Tensor& offset, int side, int sides) {
  const int rank = 3 + 2 * sides;
  graph::Builder& builder = offset.builder();
  const Tensor tap = positions(builder, rank, 3 + side, window.size) * window.dilation,
               first = positions(builder, rank, 3 + sides + side, window.count) * window.stride;
  const Tensor at = tap + (first - builder.size(window.before));
  return offset + graph::cast(at, offset.dtype());
}

Shape joined(std::initializer_list<Shape> parts) {
  Shape all;
  for (const Shape& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// The channels of an image in groups, each of which has offsets of its own.
Image grouped_image(const Tensor& x, const Expr& groups) {
  const Expr channels = index::floor_div(x.size(1), groups);
  const Shape shape = x.shape();
  const int rank = 3 + 2 * (x.rank() - 2);
  graph::Builder& builder = x.builder();
  return {graph::reshape(x, joined({{x.size(0), groups, channels}, {shape.begin() + 2, shape.end()}})),
          {positions(builder, rank, 0, x.size(0)), positions(builder, rank, 1, groups),
           positions(builder, rank, 2, channels)},
          Outside::zeros,
          {}};
}

// What the windows of moved filters hold, times the mask: [batch, channels, kernel..., count...].
Tensor moved_windows(const Call& call, const std::vector<Window>& windows) {
  const Tensor x = widened(call.tensor(0));
  const int sides = x.rank() - 2;
  const std::int64_t groups = call.integer("offset_group", 1);
  if (groups < 1) call.fail("attribute 'offset_group' must be at least 1, it is ", groups);
  Shape kernel, count;
  for (const Window& window : windows) kernel.push_back(window.size), count.push_back(window.count);
  const Shape first = {x.size(0), groups, 1};
  const Tensor offsets =
      graph::reshape(graph::cast(call.tensor(2), x.dtype()), joined({first, kernel, {sides}, count}));
  Image image = grouped_image(x, groups);
  Places places;
  for (int side = 0; side < sides; ++side) {
    image.sides.push_back(side_of(x, 2 + side, x.dtype(), true));
    places.push_back(filter_places(windows[static_cast<std::size_t>(side)],
                                   graph::select(offsets, 3 + sides, side), side, sides));
  }
  Tensor found = interpolated(image, places, false);
  if (call.has(4))
    found = found * graph::reshape(graph::cast(call.tensor(4), x.dtype()), joined({first, kernel, count}));
  return graph::reshape(found, joined({{x.size(0), x.size(1)}, kernel, count}));
}

// A convolution each of whose elements is moved by an offset of its own, and weighed by a mask.
Values deform_conv(const Call& call) {
  const Tensor x = call.tensor(0), weights = widened(call.tensor(1));
  if (x.rank() < 3 || weights.rank() != x.rank() || call.tensor(2).rank() != x.rank())
    call.fail("needs an input, weights and offsets of as many axes, 3 or more");
  check_kernel_shape(call, weights);
  const Shape shape = weights.shape();
  const auto windows = windows_of(call, x, {shape.begin() + 2, shape.end()});
  const Expr groups = groups_of(call), outputs = index::floor_div(weights.size(0), groups);
  Shape counts = {x.size(0), weights.size(0)};
  for (const Window& window : windows) counts.push_back(window.count);
  const Expr places = index::product(std::span(counts).subspan(2)),
             taps = index::product(std::span(shape).subspan(1));
  const Tensor moved = graph::reshape(moved_windows(call, windows), {x.size(0), groups, taps, places});
  Tensor result =
      graph::reshape(graph::matrix_product(graph::reshape(weights, {groups, outputs, taps}), moved), counts);
  if (call.has(3)) result = result + graph::beside_channels(widened(call.tensor(3)), x.rank());
  return {graph::cast(result, x.dtype(), true)};
}

// Places along one side of the regions: [regions, outputs * samples], and whether they lie near the image.
struct Samples {
  Tensor at, near;
};
struct Region {
  Tensor first, last;  // [regions]
  std::int64_t outputs, samples;
  bool half_pixel;
};
Samples samples_of(const Region& region, const Side& side) {
  const Tensor length =
      region.half_pixel ? region.last - region.first : graph::maximum(region.last - region.first, 1.0);
  graph::Builder& builder = side.size.builder();
  const std::int64_t count = region.outputs * region.samples;
  const Tensor sample = graph::cast(builder.iota({1, count}, 1), side.size.dtype());
  const Tensor at = graph::unsqueeze(region.first, 1) +
                    (sample + 0.5) * (graph::unsqueeze(length, 1) / static_cast<double>(count));
  const Tensor near = graph::logical_and(graph::ge(at, -1.0), graph::le(at, side.size));
  return {graph::minimum(graph::maximum(at, 0.0), side.size - 1.0), near};
}

// [regions, channels, rows of samples, columns]: the elements around each sample by their weights, added up
// or the greatest of them; 0 where a sample is far from the image.
Tensor sampled(const Image& image, const Samples& vertical, const Samples& horizontal, bool is_max) {
  const auto down = [](const Tensor& t) { return graph::unsqueeze(graph::unsqueeze(t, 1), -1); };
  const auto across = [](const Tensor& t) { return graph::unsqueeze(graph::unsqueeze(t, 1), 1); };
  const std::vector<Tensor> parts = weighted_pixels(image, {down(vertical.at), across(horizontal.at)}, false);
  Tensor found = parts[0];
  for (std::size_t k = 1; k < parts.size(); ++k)
    found = is_max ? graph::maximum(found, parts[k]) : found + parts[k];
  return graph::where(graph::logical_and(down(vertical.near), across(horizontal.near)), found, 0.0);
}

// The samples at the middles of the parts of each region's cells: their mean, or their greatest.
Values roi_align(const Call& call) {
  const Tensor x = call.tensor(0), wide = widened(x);
  const std::int64_t rows = call.integer("output_height", 1), columns = call.integer("output_width", 1),
                     samples = call.integer("sampling_ratio", 0);
  if (x.rank() != 4 || rows < 1 || columns < 1)
    call.fail("needs an image of 4 axes, and an output of 1 at least");
  if (samples < 1) call.unsupported("sampling_ratio 0, by which regions decide about the number of samples,");
  const std::string mode = call.text("mode", "avg");
  if (mode != "avg" && mode != "max")
    call.fail("attribute 'mode' must be avg or max, it is '", escaped(mode), "'");
  const bool half_pixel =
      call.version() >= 16 && call.text("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const Tensor corners =
      graph::cast(call.tensor(1), wide.dtype()) * call.real("spatial_scale", 1) - (half_pixel ? 0.5 : 0.0);
  const auto corner = [&](int k) { return graph::select(corners, 1, k); };
  const Side height = side_of(x, 2, wide.dtype(), true), width = side_of(x, 3, wide.dtype(), true);
  const Samples vertical = samples_of({corner(1), corner(3), rows, samples, half_pixel}, height);
  const Samples horizontal = samples_of({corner(0), corner(2), columns, samples, half_pixel}, width);
  const Tensor batch = graph::reshape(graph::cast(call.tensor(2), DType::i64), {-1, 1, 1, 1});
  const Image image{
      wide, {batch, positions(call.builder(), 4, 1, x.size(1))}, Outside::border, {height, width}};
  const bool is_max = mode == "max";
  const Tensor found = sampled(image, vertical, horizontal, is_max);
  const Tensor cells = graph::reshape(found, {found.size(0), found.size(1), rows, samples, columns, samples});
  return {graph::cast(is_max ? graph::amax(cells, {3, 5}) : graph::mean(cells, {3, 5}), x.dtype(), true)};
}

constexpr std::array rows = {
    Row{"AffineGrid", affine_grid},
    Row{"DeformConv", deform_conv},
    Row{"GridSample", grid_sample},
    Row{"RoiAlign", roi_align},
};

}  // namespace

std::span<const Row> sampling_rows() { return rows; }

}  // namespace twinloom::onnx
