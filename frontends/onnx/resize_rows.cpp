// Resize and Upsample: along each axis a sum of a few elements by weights that are known while the model is
// read.
#include <array>
#include <cmath>

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "frontends/onnx/constants.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using ops::DType;

constexpr std::int64_t most_size = std::int64_t{1} << 20;

// What an axis becomes.
struct Scaled {
  std::int64_t from = 1, to = 1;
  double scale = 1;
  double first = 0, last = 1;  // of tf_crop_and_resize, as parts of the axis
};

struct Rules {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;
  bool excludes_outside = false, antialias = false;
};

// Element `at` of the result as a place in the input. Where a scale is given, the result is as long as it
// says in these formulas, which need not be a whole number.
double place_of(const Call& call, const Rules& rules, const Scaled& axis, double at) {
  const auto from = static_cast<double>(axis.from);
  const double to = axis.scale * from;
  const std::string& kind = rules.coordinates;
  const double half_pixel = (at + 0.5) / axis.scale - 0.5;
  if (kind == "half_pixel") return half_pixel;
  if (kind == "pytorch_half_pixel") return axis.to > 1 ? half_pixel : 0;
  if (kind == "asymmetric") return at / axis.scale;
  if (kind == "align_corners") return axis.to > 1 ? at * (from - 1) / (to - 1) : 0;
  if (kind == "tf_half_pixel_for_nn") return (at + 0.5) / axis.scale;
  if (kind == "half_pixel_symmetric") return from / 2 * (1 - static_cast<double>(axis.to) / to) + half_pixel;
  if (kind == "tf_crop_and_resize") {
    if (axis.to == 1) return (axis.first + axis.last) / 2 * (from - 1);
    return axis.first * (from - 1) + at * (axis.last - axis.first) * (from - 1) / (to - 1);
  }
  call.fail("there is no coordinate_transformation_mode '", escaped(kind), "'");
}

double nearest_of(const Call& call, const std::string& mode, double place) {
  if (mode == "floor") return std::floor(place);
  if (mode == "ceil") return std::ceil(place);
  if (mode == "round_prefer_floor") return std::ceil(place - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(place + 0.5);
  call.fail("there is no nearest_mode '", escaped(mode), "'");
}

// The weight of an element so far away from a place.
double weight_at(const Rules& rules, double distance) {
  const double t = std::abs(distance), a = rules.cubic;
  if (rules.mode == "linear") return std::max(1 - t, 0.0);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

// The weights of the elements around a place that lies `ratio` behind the one before it: as many before as
// behind, two or four. To make a smaller image without aliases, all that a smaller scale makes of these.
std::vector<double> weights_of(const Call& call, const Rules& rules, double scale, double ratio) {
  if (rules.mode != "linear" && rules.mode != "cubic")
    call.fail("there is no mode '", escaped(rules.mode), "'");
  const double width = rules.antialias ? std::min(scale, 1.0) : 1, reach = rules.mode == "linear" ? 1 : 2;
  constexpr double most = 1 << 10;
  if (!(reach / width <= most)) call.unsupported("attribute 'antialias' with a scale of ", scale);
  const auto first = static_cast<std::int64_t>(std::floor(-reach / width)) + 1;
  std::vector<double> weights;
  double total = 0;
  for (std::int64_t tap = first; tap < 2 - first; ++tap) {
    weights.push_back(weight_at(rules, (static_cast<double>(tap) - ratio) * width));
    total += weights.back();
  }
  for (double& weight : weights) weight = width == 1 ? weight : weight / total;
  return weights;
}

// For each tap a place and a weight for each element of the result.
struct Taps {
  std::vector<Integers> places;
  std::vector<std::vector<double>> weights;
};
Taps taps_of(const Call& call, const Rules& rules, const Scaled& axis) {
  Taps taps;
  for (std::int64_t at = 0; at < axis.to; ++at) {
    const double place = place_of(call, rules, axis, static_cast<double>(at));
    const bool is_nearest = rules.mode == "nearest";
    const double base = is_nearest ? nearest_of(call, rules.nearest, place) : std::floor(place);
    std::vector<double> weights =
        is_nearest ? std::vector<double>{1} : weights_of(call, rules, axis.scale, place - base);
    const double first = base - static_cast<double>(weights.size() / 2 - (is_nearest ? 0 : 1));
    taps.places.resize(weights.size());
    taps.weights.resize(weights.size());
    double total = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const double tap = first + static_cast<double>(k), end = static_cast<double>(axis.from - 1);
      if (rules.excludes_outside && (tap < 0 || tap > end)) weights[k] = 0;
      taps.places[k].push_back(static_cast<std::int64_t>(std::clamp(tap, 0.0, end)));
      total += weights[k];
    }
    for (std::size_t k = 0; k < weights.size(); ++k)
      taps.weights[k].push_back(rules.excludes_outside ? weights[k] / total : weights[k]);
  }
  return taps;
}

Tensor resized(const Call& call, const Tensor& x, int axis, const Taps& taps) {
  graph::Builder& builder = call.builder();
  Shape beside(static_cast<std::size_t>(x.rank() - axis), 1);
  beside[0] = static_cast<std::int64_t>(taps.places[0].size());
  std::optional<Tensor> sum;
  for (std::size_t k = 0; k < taps.places.size(); ++k) {
    Tensor part = graph::take(x, axis, constant_of(builder, taps.places[k], DType::i64));
    if (taps.places.size() > 1)
      part = part * graph::reshape(constant_of(builder, taps.weights[k], x.dtype()), beside);
    sum = sum ? *sum + part : part;
  }
  return *sum;
}

std::int64_t known_size(const Call& call, const Tensor& x, int axis) {
  const auto known = index::constant_of(x.size(axis));
  if (!known) call.unsupported("a symbolic size of what is resized");
  if (*known < 1 || *known > most_size) call.fail("resizes an axis of ", *known, " elements");
  return *known;
}

// An axis that stays as it is, of a symbolic size too: as good as any of one element.
Scaled unchanged(const Tensor& x, int axis) {
  const std::int64_t size = index::constant_of(x.size(axis)).value_or(1);
  return {size, size, 1, 0, 1};
}

// The scaled axes of a Resize by its inputs: scales, or sizes.
std::vector<Scaled> scaled_axes(const Call& call, const Tensor& x, const graph::Axes& axes) {
  const std::size_t scales_at = call.version() < 11 ? 1 : 2, sizes_at = 3;
  std::vector<double> scales;
  Shape sizes;
  if (call.has(sizes_at)) sizes = call.sizes(sizes_at);
  if (call.has(scales_at) && sizes.empty()) scales = call.reals(scales_at);
  if ((sizes.empty() ? scales.size() : sizes.size()) != axes.size())
    call.fail("needs a scale or a size for each of ", axes.size(), " axes, given ", scales.size(), " and ",
              sizes.size());
  std::vector<Scaled> result;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    Scaled scaled;
    if (sizes.empty() ? scales[k] == 1 : sizes[k] == x.size(axes[k])) {
      result.push_back(unchanged(x, axes[k]));
      continue;
    }
    scaled.from = known_size(call, x, axes[k]);
    const auto from = static_cast<double>(scaled.from);
    if (sizes.empty()) {
      scaled.scale = scales[k];
    } else {
      const auto size = index::constant_of(sizes[k]);
      if (!size) call.unsupported("a symbolic size of what an axis is resized to");
      scaled.scale = static_cast<double>(*size) / from;
    }
    const double to = std::floor(from * scaled.scale + (sizes.empty() ? 0 : 0.5));
    if (!(to >= 1 && to <= most_size)) call.fail("resizes axis ", axes[k], " to ", to, " elements");
    scaled.to = static_cast<std::int64_t>(to);
    result.push_back(scaled);
  }
  return result;
}

// One scale for all axes, so that the result is inside of the sizes, or around them.
void keep_ratio(const Call& call, const Tensor& x, const graph::Axes& all, std::vector<Scaled>& axes) {
  const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || !call.has(3) || axes.empty()) return;
  for (const int axis : all) known_size(call, x, axis);
  if (policy != "not_larger" && policy != "not_smaller")
    call.fail("there is no keep_aspect_ratio_policy '", escaped(policy), "'");
  double scale = axes[0].scale;
  for (const Scaled& axis : axes)
    scale = policy == "not_larger" ? std::min(scale, axis.scale) : std::max(scale, axis.scale);
  for (Scaled& axis : axes) {
    axis.scale = scale;
    axis.to = static_cast<std::int64_t>(std::floor(scale * static_cast<double>(axis.from) + 0.5));
    if (axis.to < 1 || axis.to > most_size) call.fail("resizes an axis to ", axis.to, " elements");
  }
}

Rules rules_of(const Call& call) {
  const bool old = call.version() < 11;
  return {call.text("mode", "nearest"),
          old ? "asymmetric" : call.text("coordinate_transformation_mode", "half_pixel"),
          old ? "floor" : call.text("nearest_mode", "round_prefer_floor"),
          call.real("cubic_coeff_a", -0.75),
          call.truth("exclude_outside", false),
          call.truth("antialias", false)};
}

// Where tf_crop_and_resize reads outside of an axis; empty where it does not.
std::optional<Tensor> outside(const Call& call, const Rules& rules, const Scaled& scaled, int axes_from_end) {
  std::vector<std::int64_t> truths;
  for (std::int64_t at = 0; at < scaled.to; ++at) {
    const double place = place_of(call, rules, scaled, static_cast<double>(at));
    truths.push_back(place < 0 || place > static_cast<double>(scaled.from - 1) ? 1 : 0);
  }
  Shape shape(static_cast<std::size_t>(axes_from_end), 1);
  shape[0] = scaled.to;
  return graph::reshape(constant_of(call.builder(), truths, DType::b8), shape);
}

Values resized_by(const Call& call, const graph::Axes& axes, const std::vector<Scaled>& scaled,
                  const Rules& rules) {
  const Tensor given = call.tensor(0);
  Tensor x = rules.mode == "nearest"          ? given
             : ops::is_integer(given.dtype()) ? graph::cast(given, DType::f32)
                                              : graph::widened(given);
  const bool crops = rules.coordinates == "tf_crop_and_resize";
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (scaled[k].from == scaled[k].to && scaled[k].scale == 1 && !crops) continue;
    x = resized(call, x, axes[k], taps_of(call, rules, scaled[k]));
  }
  for (std::size_t k = 0; crops && k < axes.size(); ++k)
    x = graph::where(*outside(call, rules, scaled[k], x.rank() - axes[k]),
                     call.builder().constant(call.real("extrapolation_value", 0), x.dtype()), x);
  return {graph::cast(x, given.dtype(), true)};
}

Values resize(const Call& call) {
  const Tensor x = call.tensor(0);
  const Rules rules = rules_of(call);
  call.ignore({"extrapolation_value"});
  if (call.version() >= 11) call.ignore_input(1);
  graph::Axes axes;
  if (const auto given = call.integers("axes")) {
    for (const std::int64_t axis : *given) axes.push_back(call.axis(axis, x.rank()));
  } else {
    for (int axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  }
  std::vector<Scaled> scaled = scaled_axes(call, x, axes);
  keep_ratio(call, x, axes, scaled);
  if (rules.coordinates == "tf_crop_and_resize") {
    const std::vector<double> roi = call.reals(1);
    if (roi.size() != 2 * axes.size())
      call.fail("needs ", 2 * axes.size(), " numbers as roi, given ", roi.size());
    for (std::size_t k = 0; k < axes.size(); ++k) {
      known_size(call, x, axes[k]);
      scaled[k].first = roi[k], scaled[k].last = roi[k + axes.size()];
    }
  }
  return resized_by(call, axes, scaled, rules);
}

// Scales are an attribute up to opset 8, then an input.
Values upsample(const Call& call) {
  const Tensor x = call.tensor(0);
  const auto scales =
      call.version() < 9 ? call.reals("scales").value_or(std::vector<double>()) : call.reals(1);
  if (std::cmp_not_equal(scales.size(), x.rank()))
    call.fail("needs ", x.rank(), " scales, given ", scales.size());
  graph::Axes axes;
  std::vector<Scaled> scaled;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const double scale = scales[static_cast<std::size_t>(axis)];
    if (scale == 1) continue;
    const std::int64_t from = known_size(call, x, axis);
    const double to = std::floor(static_cast<double>(from) * scale);
    if (!(to >= 1 && to <= most_size)) call.fail("resizes axis ", axis, " to ", to, " elements");
    axes.push_back(axis);
    scaled.push_back({from, static_cast<std::int64_t>(to), scale, 0, 1});
  }
  const std::string mode = call.text("mode", "nearest");
  return resized_by(call, axes, scaled, {mode == "bilinear" ? "linear" : mode, "asymmetric", "floor", 0});
}

constexpr std::array rows = {
    Row{"Resize", resize},
    Row{"Upsample", upsample, 7},
};

}  // namespace

std::span<const Row> resize_rows() { return rows; }

}  // namespace twinloom::onnx
