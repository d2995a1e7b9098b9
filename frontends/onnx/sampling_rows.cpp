// Elements of images at places that are computed: grids, and regions.
#include <array>
#include <cmath>

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::widened;
using index::Expr;
using ops::DType;

enum class Outside : std::uint8_t { zeros, border, reflection };

// Along one axis of an image: how many elements, as a number, and from where to where places are reflected.
struct Side {
  Tensor size;
  double low;   // -0.5, or 0 with aligned corners
  Tensor span;  // from there to the other end
};

struct Image {
  Tensor elements;  // [batch, channels, height, width]
  Tensor batch;     // of each place of the result, beside `places`
  Outside outside;
  Side height, width;
};

Tensor reflected(const Tensor& place, const Side& side) {
  const Tensor from_low = graph::abs(place - side.low);
  const Tensor twice = side.span * 2.0;
  // An axis of one element has no room to be reflected in.
  const Tensor inside = graph::fmod(from_low, graph::where(graph::gt(twice, 0), twice, 1.0));
  return graph::where(graph::gt(twice, 0), graph::minimum(inside, twice - inside) + side.low, 0.0);
}
Tensor kept_inside(const Tensor& place, const Side& side, Outside outside) {
  if (outside == Outside::zeros) return place;
  const Tensor moved = outside == Outside::reflection ? reflected(place, side) : place;
  return graph::minimum(graph::maximum(moved, 0.0), side.size - 1.0);
}

// [n, channels, ...] at whole places [n, 1, ...]; 0 where these lie outside.
Tensor pixels(const Image& image, const Tensor& row, const Tensor& column) {
  const auto clamped = [&](const Tensor& place, const Side& side) {
    return graph::cast(graph::minimum(graph::maximum(place, 0.0), side.size - 1.0), DType::i64);
  };
  graph::Builder& builder = row.builder();
  graph::Shape channels(static_cast<std::size_t>(row.rank()), 1);
  channels[1] = image.elements.size(1);
  const Tensor channel = builder.iota(channels, 1);
  const Tensor y = kept_inside(row, image.height, image.outside),
               x = kept_inside(column, image.width, image.outside);
  const Tensor found =
      graph::index(image.elements, {image.batch, channel, clamped(y, image.height), clamped(x, image.width)},
                   graph::Negative::refused);
  if (image.outside != Outside::zeros) return found;
  const auto is_inside = [](const Tensor& place, const Side& side) {
    return graph::logical_and(graph::ge(place, 0), graph::lt(place, side.size));
  };
  return graph::where(graph::logical_and(is_inside(y, image.height), is_inside(x, image.width)), found, 0.0);
}

// The weights of the places `first` and behind, around one that lies `ratio` behind the middle.
std::vector<Tensor> weights_of(const Tensor& ratio, bool cubic) {
  if (!cubic) return {1.0 - ratio, ratio};
  constexpr double a = -0.75;
  const auto near = [&](const Tensor& t) { return ((t * (a + 2)) - (a + 3)) * t * t + 1.0; };
  const auto far = [&](const Tensor& t) { return ((t * a - 5 * a) * t + 8 * a) * t - 4 * a; };
  return {far(ratio + 1.0), near(ratio), near(1.0 - ratio), far(2.0 - ratio)};
}
Tensor interpolated(const Image& image, const Tensor& row, const Tensor& column, bool cubic) {
  const Tensor top = graph::floor(row), left = graph::floor(column);
  const auto by_row = weights_of(row - top, cubic), by_column = weights_of(column - left, cubic);
  const double first = cubic ? -1 : 0;
  std::optional<Tensor> sum;
  for (std::size_t r = 0; r < by_row.size(); ++r) {
    for (std::size_t c = 0; c < by_column.size(); ++c) {
      const Tensor part =
          pixels(image, top + (first + static_cast<double>(r)), left + (first + static_cast<double>(c))) *
          (by_row[r] * by_column[c]);
      sum = sum ? *sum + part : part;
    }
  }
  return *sum;
}

Side side_of(const Tensor& x, int axis, DType dtype, bool aligned) {
  const Tensor size = graph::cast(x.builder().size(x.size(axis)), dtype);
  return {size, aligned ? 0 : -0.5, aligned ? size - 1.0 : size};
}

Outside outside_of(const Call& call) {
  const std::string mode = call.text("padding_mode", "zeros");
  if (mode == "zeros") return Outside::zeros;
  if (mode == "border") return Outside::border;
  if (mode == "reflection") return Outside::reflection;
  call.fail("there is no padding_mode '", escaped(mode), "'");
}

Values grid_sample(const Call& call) {
  const Tensor x = call.tensor(0);
  if (x.rank() != 4 || call.tensor(1).rank() != 4)
    call.unsupported("an input of ", x.rank(), " axes in place of 4");
  const Tensor wide = widened(x), grid = graph::cast(call.tensor(1), wide.dtype());
  const bool aligned = call.truth("align_corners", false);
  const Side height = side_of(x, 2, wide.dtype(), aligned), width = side_of(x, 3, wide.dtype(), aligned);
  // From -1..1 to places; [batch, 1, rows, columns].
  const auto places = [&](int component, const Side& side) {
    const Tensor part = graph::unsqueeze(graph::select(grid, -1, component), 1) + 1.0;
    return aligned ? part * 0.5 * (side.size - 1.0) : (part * side.size - 1.0) * 0.5;
  };
  Tensor row = places(1, height), column = places(0, width);
  const Image image{wide, call.builder().iota({x.size(0), 1, 1, 1}, 0), outside_of(call), height, width};
  const std::string mode = call.text("mode", call.version() < 20 ? "bilinear" : "linear");
  if (mode == "nearest") {
    const auto whole = [&](const Tensor& place, const Side& side) {
      return graph::round(kept_inside(place, side, image.outside));
    };
    return {graph::cast(pixels(image, whole(row, height), whole(column, width)), x.dtype(), true)};
  }
  if (mode == "bilinear" || mode == "linear") {
    row = kept_inside(row, height, image.outside);
    column = kept_inside(column, width, image.outside);
  } else if (mode != "bicubic" && mode != "cubic") {
    call.fail("there is no mode '", escaped(mode), "'");
  }
  return {graph::cast(interpolated(image, row, column, mode.ends_with("cubic")), x.dtype(), true)};
}

// Places along one side of the regions: [regions, 1, outputs * samples], and whether they lie near the image.
struct Places {
  Tensor at, near;
};
struct Region {
  Tensor first, last;  // [regions]
  std::int64_t outputs, samples;
  bool half_pixel;
};
Places places_of(const Region& region, const Side& side) {
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

// The mean of samples at the middles of the parts of each region's cells.
Values roi_align(const Call& call) {
  const Tensor x = call.tensor(0), wide = widened(x);
  const std::int64_t rows = call.integer("output_height", 1), columns = call.integer("output_width", 1),
                     samples = call.integer("sampling_ratio", 0);
  if (x.rank() != 4 || rows < 1 || columns < 1)
    call.fail("needs an image of 4 axes, and an output of 1 at least");
  if (samples < 1) call.unsupported("sampling_ratio 0, by which regions decide about the number of samples,");
  if (call.text("mode", "avg") != "avg") call.unsupported("mode '", escaped(call.text("mode", "")), "'");
  const bool half_pixel =
      call.version() >= 16 && call.text("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const Tensor corners =
      graph::cast(call.tensor(1), wide.dtype()) * call.real("spatial_scale", 1) - (half_pixel ? 0.5 : 0.0);
  const auto corner = [&](int k) { return graph::select(corners, 1, k); };
  const Side height = side_of(x, 2, wide.dtype(), true), width = side_of(x, 3, wide.dtype(), true);
  const Places vertical = places_of({corner(1), corner(3), rows, samples, half_pixel}, height);
  const Places horizontal = places_of({corner(0), corner(2), columns, samples, half_pixel}, width);
  // [regions, 1, rows * samples, columns * samples]
  const auto down = [](const Tensor& t) { return graph::unsqueeze(graph::unsqueeze(t, 1), -1); };
  const auto across = [](const Tensor& t) { return graph::unsqueeze(graph::unsqueeze(t, 1), 1); };
  const Tensor batch = graph::reshape(graph::cast(call.tensor(2), DType::i64), {-1, 1, 1, 1});
  const Image image{wide, batch, Outside::border, height, width};
  const Tensor zeros = graph::full_like(down(vertical.at) + across(horizontal.at), 0.0);
  const Tensor found = interpolated(image, down(vertical.at) + zeros, across(horizontal.at) + zeros, false);
  const Tensor sampled =
      graph::where(graph::logical_and(down(vertical.near), across(horizontal.near)), found, 0.0);
  const graph::Shape cells = {sampled.size(0), sampled.size(1), rows, samples, columns, samples};
  return {graph::cast(graph::mean(graph::reshape(sampled, cells), {3, 5}), x.dtype(), true)};
}

constexpr std::array rows = {
    Row{"GridSample", grid_sample},
    Row{"RoiAlign", roi_align},
};

}  // namespace

std::span<const Row> sampling_rows() { return rows; }

}  // namespace twinloom::onnx
