// See sampling.h.
#include "frontends/onnx/sampling.h"

#include "core/graph/indexing.h"

namespace twinloom::onnx {

namespace {

using ops::DType;

Tensor reflected(const Tensor& place, const Side& side) {
  const Tensor from_low = graph::abs(place - side.low);
  const Tensor twice = side.span * 2.0;
  // An axis of one element has no room to be reflected in.
  const Tensor inside = graph::fmod(from_low, graph::where(graph::gt(twice, 0), twice, 1.0));
  return graph::where(graph::gt(twice, 0), graph::minimum(inside, twice - inside) + side.low, 0.0);
}

// The weights of the places `first` and behind, around one that lies `ratio` behind the middle.
std::vector<Tensor> weights_of(const Tensor& ratio, bool cubic) {
  if (!cubic) return {1.0 - ratio, ratio};
  constexpr double a = -0.75;
  const auto near = [&](const Tensor& t) { return ((t * (a + 2)) - (a + 3)) * t * t + 1.0; };
  const auto far = [&](const Tensor& t) { return ((t * a - 5 * a) * t + 8 * a) * t - 4 * a; };
  return {far(ratio + 1.0), near(ratio), near(1.0 - ratio), far(2.0 - ratio)};
}

}  // namespace

Side side_of(const Tensor& x, int axis, DType dtype, bool aligned) {
  const Tensor size = graph::cast(x.builder().size(x.size(axis)), dtype);
  return {size, aligned ? 0 : -0.5, aligned ? size - 1.0 : size};
}

Tensor kept_inside(const Tensor& place, const Side& side, Outside outside) {
  if (outside == Outside::zeros) return place;
  const Tensor moved = outside == Outside::reflection ? reflected(place, side) : place;
  return graph::minimum(graph::maximum(moved, 0.0), side.size - 1.0);
}

Tensor pixels(const Image& image, const Places& places) {
  graph::Indices indices(image.leading.begin(), image.leading.end());
  std::optional<Tensor> inside;
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    const Side& side = image.sides[axis];
    const Tensor place = kept_inside(places[axis], side, image.outside);
    const Tensor is_inside = graph::logical_and(graph::ge(place, 0), graph::lt(place, side.size));
    inside = inside ? graph::logical_and(*inside, is_inside) : is_inside;
    indices.emplace_back(
        graph::cast(graph::minimum(graph::maximum(place, 0.0), side.size - 1.0), DType::i64));
  }
  const Tensor found = graph::index(image.elements, indices, graph::Negative::refused);
  return image.outside == Outside::zeros ? graph::where(*inside, found, 0.0) : found;
}

std::vector<Tensor> weighted_pixels(const Image& image, const Places& places, bool cubic) {
  struct Corner {
    Places at;
    std::optional<Tensor> weight;
  };
  std::vector<Corner> corners(1);
  for (const Tensor& place : places) {
    const Tensor low = graph::floor(place);
    const std::vector<Tensor> weights = weights_of(place - low, cubic);
    std::vector<Corner> next;
    for (const Corner& corner : corners) {
      for (std::size_t k = 0; k < weights.size(); ++k) {
        Corner& added = next.emplace_back(corner);
        added.at.push_back(low + (static_cast<double>(k) - (cubic ? 1 : 0)));
        added.weight = corner.weight ? *corner.weight * weights[k] : weights[k];
      }
    }
    corners = std::move(next);
  }
  std::vector<Tensor> parts;
  for (const Corner& corner : corners) parts.push_back(pixels(image, corner.at) * *corner.weight);
  return parts;
}

Tensor interpolated(const Image& image, const Places& places, bool cubic) {
  const std::vector<Tensor> parts = weighted_pixels(image, places, cubic);
  Tensor sum = parts[0];
  for (std::size_t k = 1; k < parts.size(); ++k) sum = sum + parts[k];
  return sum;
}

}  // namespace twinloom::onnx
