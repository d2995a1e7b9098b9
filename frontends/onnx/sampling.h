// Inside of the component: elements of images between their pixels, at places that are computed.
#pragma once

#include <vector>

#include "frontends/onnx/call.h"

namespace twinloom::onnx {

// What stands at places outside of an image: 0, its nearest element, or what a mirror there shows.
enum class Outside : std::uint8_t { zeros, border, reflection };

// Along one axis of an image: how many elements, as a number, and from where to where places are reflected.
struct Side {
  Tensor size;
  double low;   // -0.5, or 0 with aligned corners
  Tensor span;  // from there to the other end
};
Side side_of(const Tensor& x, int axis, ops::DType dtype, bool aligned);

// Places are a number for each side, and as many tensors, which are broadcast beside `leading`.
struct Image {
  Tensor elements;              // in f32 at least
  std::vector<Tensor> leading;  // which image: places in the axes before the sides, i64
  Outside outside;
  std::vector<Side> sides;  // of the last axes
};
using Places = std::vector<Tensor>;

// The place, and one that lies inside where what is outside is not 0.
Tensor kept_inside(const Tensor& place, const Side& side, Outside outside);
// The elements at whole places.
Tensor pixels(const Image& image, const Places& places);
// The elements around places, each with its weight: two along each side, or four of a cubic curve.
std::vector<Tensor> weighted_pixels(const Image& image, const Places& places, bool cubic);
// Their sum.
Tensor interpolated(const Image& image, const Places& places, bool cubic);

}  // namespace twinloom::onnx
