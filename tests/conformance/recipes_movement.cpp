// Views and concat.
#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/graph/views.h"
#include "tests/conformance/recipes.h"

namespace twinloom::tests {

namespace {

using graph::Tensor;

Drawn with_axes(Draw& draw, int least = 1) {
  return draw.pick([least](const Tensor& x) { return x.rank() >= least; });
}

std::vector<Drawn> permute(Draw& draw) {
  const Drawn x = with_axes(draw, 2);
  graph::Axes order;
  for (int axis = 0; axis < x.tensor.rank(); ++axis)
    order.insert(order.begin() + draw.random.below(axis + 1), axis);
  return {with(graph::permute(x.tensor, order), {&x}, {Feature::permute})};
}

std::vector<Drawn> reshape(Draw& draw) {
  const Drawn x = with_axes(draw);
  graph::Shape shape = x.tensor.shape();
  if (shape.size() > 1 && draw.random.chance(60)) {
    const auto axis = draw.random.below(static_cast<std::int64_t>(shape.size()) - 1);
    shape[static_cast<std::size_t>(axis)] =
        shape[static_cast<std::size_t>(axis)] * shape[static_cast<std::size_t>(axis + 1)];
    shape.erase(shape.begin() + axis + 1);
  } else {
    shape = {x.tensor.count()};
  }
  const auto total = index::constant_of(shape.back());
  for (const std::int64_t factor : {4, 3, 5, 2, 7}) {
    if (!total || *total == 0 || *total % factor != 0 || draw.random.chance(30)) continue;
    shape.back() = factor;
    shape.insert(shape.end() - draw.random.below(2), *total / factor);
    break;
  }
  return {with(graph::reshape(x.tensor, shape), {&x}, {Feature::reshape})};
}

std::vector<Drawn> slice(Draw& draw) {
  const Drawn x = with_axes(draw);
  const int axis = draw.random.axis(x.tensor.rank());
  const std::int64_t size = draw.largest(x.tensor.size(axis));
  if (size < 2) throw Inapplicable{"nothing to cut off"};
  const std::int64_t start = draw.random.below(std::min<std::int64_t>(size, 5));
  const std::int64_t step = draw.random.chance(50) ? 1 : draw.random.between(2, 4);
  const bool cut_end = draw.random.chance(40);
  const Tensor y =
      graph::slice(x.tensor, axis, start, cut_end ? index::Expr(-1) : index::Expr(INT64_MAX), step);
  return {with(y, {&x}, {step == 1 ? Feature::slice : Feature::slice_step})};
}

std::vector<Drawn> pad(Draw& draw) {
  const Drawn x = with_axes(draw);
  std::vector<graph::Padding> padding;
  for (int axis = 0; axis < x.tensor.rank(); ++axis) {
    if (draw.random.chance(50))
      padding.push_back({0, 0});
    else
      padding.push_back({draw.random.below(4), draw.random.below(3)});
  }
  padding.back().before = draw.random.between(1, 3);
  return {with(graph::pad(x.tensor, padding, draw.random.below(3)), {&x}, {Feature::pad})};
}

std::vector<Drawn> flip(Draw& draw) {
  const Drawn x = with_axes(draw);
  graph::Axes axes = {draw.random.axis(x.tensor.rank())};
  if (draw.random.chance(25)) axes = {};
  if (axes.empty())
    for (int axis = 0; axis < x.tensor.rank(); ++axis) axes.push_back(axis);
  return {with(graph::flip(x.tensor, axes), {&x}, {Feature::flip})};
}

std::vector<Drawn> expand(Draw& draw) {
  const Drawn x = draw.pick([](const Tensor& value) { return value.rank() < 6; });
  const int axis = draw.random.axis(x.tensor.rank() + 1);
  const Tensor wider = graph::unsqueeze(x.tensor, axis);
  graph::Shape shape = wider.shape();
  shape[static_cast<std::size_t>(axis)] = draw.random.between(1, 4);
  return {with(graph::expand(wider, shape), {&x}, {Feature::broadcast})};
}

std::vector<Drawn> as_strided(Draw& draw) {
  const Drawn x = with_axes(draw);
  const std::int64_t count = draw.smallest(x.tensor.count());
  if (count < 4) throw Inapplicable{"too few elements"};
  const std::int64_t columns = draw.random.between(1, std::min<std::int64_t>(count / 2, 9));
  const std::int64_t step = draw.random.between(0, 3), pitch = draw.random.between(0, columns);
  const std::int64_t offset = draw.random.below(3);
  const std::int64_t room = count - 1 - offset - (columns - 1) * step;
  if (room < 0) throw Inapplicable{"does not fit"};
  const std::int64_t rows = pitch == 0 ? 3 : 1 + std::min<std::int64_t>(room / pitch, 40);
  return {
      with(graph::as_strided(x.tensor, {rows, columns}, {pitch, step}, offset), {&x}, {Feature::as_strided})};
}

std::vector<Drawn> repeat(Draw& draw) {
  const Drawn x = with_axes(draw);
  if (draw.random.chance(40)) {
    const int axis = draw.random.axis(x.tensor.rank());
    return {
        with(graph::repeat_interleave(x.tensor, axis, draw.random.between(2, 3)), {&x}, {Feature::repeat})};
  }
  graph::Shape times;
  for (int axis = 0; axis < x.tensor.rank(); ++axis) times.emplace_back(draw.random.between(1, 2));
  times.back() = 2;
  return {with(graph::repeat(x.tensor, times), {&x}, {Feature::repeat})};
}

std::vector<Drawn> roll(Draw& draw) {
  const Drawn x = with_axes(draw);
  const int axis = draw.random.axis(x.tensor.rank());
  return {with(graph::roll(x.tensor, {draw.random.between(-3, 3)}, {axis}), {&x}, {Feature::roll})};
}

std::vector<Drawn> concat(Draw& draw) {
  const Drawn x = with_axes(draw);
  const int axis = draw.random.axis(x.tensor.rank());
  const auto part = static_cast<std::size_t>(axis);
  const auto fits = [&](const Tensor& other) {
    if (other.rank() != x.tensor.rank()) return false;
    graph::Shape a = other.shape(), b = x.tensor.shape();
    a[part] = b[part] = 0;
    return a == b;
  };
  std::vector<Drawn> parts;
  for (std::int64_t count = draw.random.between(1, draw.random.chance(15) ? 5 : 2); count > 0; --count)
    parts.push_back(draw.cast_to(draw.pick(fits), x.tensor.dtype()));
  if (draw.random.chance(50)) {
    graph::Shape other = x.tensor.shape();
    other[part] = draw.small_size();
    parts.push_back(draw.input(x.tensor.dtype(), other));
  }
  std::vector<Tensor> tensors = {x.tensor};
  Drawn all = x;
  for (const Drawn& more : parts) {
    tensors.push_back(more.tensor);
    all.features |= more.features;
  }
  return {with(graph::concat(tensors, axis), {&all}, {Feature::concat})};
}

constexpr std::array recipes = {
    Recipe{12, permute}, Recipe{9, reshape},    Recipe{9, slice},  Recipe{7, pad},  Recipe{6, flip},
    Recipe{6, expand},   Recipe{6, as_strided}, Recipe{5, repeat}, Recipe{7, roll}, Recipe{7, concat}};

}  // namespace

std::span<const Recipe> movement_recipes() { return recipes; }

}  // namespace twinloom::tests
