// Gather and scatter, with places from inputs and places that are computed.
#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/graph/indexing.h"
#include "core/graph/views.h"
#include "tests/conformance/recipes.h"

namespace twinloom::tests {

namespace {

using graph::Mode;
using graph::Negative;
using graph::Tensor;
using ops::DType;

Drawn with_axes(Draw& draw) {
  return draw.pick([](const Tensor& x) { return x.rank() > 0; });
}

Negative negative(bool wraps) { return wraps ? Negative::wraps : Negative::refused; }

void note_wraps(Drawn& value, bool wraps) {
  if (wraps) value.features.set(static_cast<std::size_t>(Feature::negative_index));
}

// Places from an input, or from integers of the graph brought into range.
Drawn places(Draw& draw, const graph::Shape& shape, const index::Expr& bound, bool wraps) {
  if (wraps || draw.random.chance(65) || draw.smallest(bound) < 1) return draw.indices(shape, bound, wraps);
  const Drawn numbers = draw.cast_to(draw.input(DType::i32, shape), DType::i64);
  const Tensor size = graph::expand(draw.builder.size(bound), shape);
  return with(graph::remainder(numbers.tensor, size), {&numbers}, {Feature::division});
}

std::vector<Drawn> take_along(Draw& draw) {
  const Drawn x = with_axes(draw);
  const int axis = draw.random.axis(x.tensor.rank());
  const bool wraps = draw.random.chance(40);
  graph::Shape shape = x.tensor.shape();
  shape[static_cast<std::size_t>(axis)] = draw.small_size();
  const Drawn at = places(draw, shape, x.tensor.size(axis), wraps);
  Drawn result =
      with(graph::take_along(x.tensor, axis, at.tensor, negative(wraps)), {&x, &at}, {Feature::take_along});
  note_wraps(result, wraps);
  return {result};
}

std::vector<Drawn> take(Draw& draw) {
  const Drawn x = with_axes(draw);
  const int axis = draw.random.axis(x.tensor.rank());
  const bool wraps = draw.random.chance(40);
  graph::Shape shape = {draw.small_size()};
  if (draw.random.chance(40)) shape.emplace_back(draw.small_size());
  const Drawn at = places(draw, shape, x.tensor.size(axis), wraps);
  Drawn result = with(graph::take(x.tensor, axis, at.tensor, negative(wraps)), {&x, &at}, {Feature::take});
  note_wraps(result, wraps);
  return {result};
}

// Indices for some axes of x, none for the others.
struct Chosen {
  graph::Indices indices;
  Drawn all;
};
Chosen choose_indices(Draw& draw, const Drawn& x) {
  Chosen chosen{{}, x};
  const graph::Shape shape = {draw.random.between(1, 5)};
  const int indexed = std::min(x.tensor.rank(), 3);
  for (int axis = 0; axis < indexed; ++axis) {
    if (draw.random.chance(40) && axis + 1 < indexed) {
      chosen.indices.emplace_back(std::nullopt);
      continue;
    }
    const Drawn at = places(draw, draw.random.chance(30) ? graph::Shape{2, 1} : shape, x.tensor.size(axis),
                            draw.random.chance(50));
    chosen.indices.emplace_back(at.tensor);
    chosen.all.features |= at.features;
  }
  return chosen;
}

std::vector<Drawn> index(Draw& draw) {
  const Drawn x = with_axes(draw);
  const Chosen chosen = choose_indices(draw, x);
  return {
      with(graph::index(x.tensor, chosen.indices), {&chosen.all}, {Feature::index, Feature::negative_index})};
}

std::vector<Drawn> index_put(Draw& draw) {
  const Drawn x =
      draw.pick([](const Tensor& value) { return value.rank() > 0 && value.dtype() != DType::b8; });
  const Chosen chosen = choose_indices(draw, x);
  const Tensor read = graph::index(x.tensor, chosen.indices);
  const Drawn values = draw.input(x.tensor.dtype(), read.shape());
  const Mode mode = draw.random.chance(50) ? Mode::add : Mode::replace;
  return {with(graph::index_put(x.tensor, chosen.indices, values.tensor, mode), {&chosen.all, &values},
               {Feature::index_put})};
}

Feature feature_of(Mode mode) {
  if (mode == Mode::replace) return Feature::scatter_replace;
  return mode == Mode::add ? Feature::scatter_add : Feature::scatter_other;
}

Mode any_mode(Draw& draw) {
  return draw.random.pick(std::array{Mode::replace, Mode::replace, Mode::add, Mode::add, Mode::add,
                                     Mode::multiply, Mode::least, Mode::greatest});
}

// Many contributions to few places: the length of the segmented total is that of the source.
std::vector<Drawn> scatter_line(Draw& draw) {
  const Draw::Line line = draw.line(true, [](DType dtype) { return dtype != DType::b8; });
  const Drawn source = draw.random.chance(50) ? draw.calmed(line.value) : line.value;
  const int axis = line.axes[0];
  graph::Shape shape = source.tensor.shape();
  shape[static_cast<std::size_t>(axis)] = draw.random.between(1, 9);
  const Drawn x = draw.input(source.tensor.dtype(), shape);
  const Mode mode = any_mode(draw);
  const Drawn at = draw.indices({source.tensor.size(axis)}, shape[static_cast<std::size_t>(axis)], false);
  const Tensor y =
      graph::index_update(x.tensor, axis, at.tensor, source.tensor, mode, draw.random.chance(80));
  return {with(y, {&x, &at, &source}, {feature_of(mode)})};
}

std::vector<Drawn> scatter_along(Draw& draw) {
  const Drawn x =
      draw.pick([](const Tensor& value) { return value.rank() > 0 && value.dtype() != DType::b8; });
  const int axis = draw.random.axis(x.tensor.rank());
  const bool wraps = draw.random.chance(30);
  graph::Shape shape = x.tensor.shape();
  shape[static_cast<std::size_t>(axis)] = draw.random.chance(30) ? 1 : draw.small_size();
  const Drawn at = places(draw, shape, x.tensor.size(axis), wraps);
  const Mode mode = any_mode(draw);
  const Drawn source = draw.input(x.tensor.dtype(), shape);
  const Tensor y =
      graph::scatter(x.tensor, axis, at.tensor, source.tensor, mode, draw.random.chance(80), negative(wraps));
  Drawn result = with(y, {&x, &at, &source}, {feature_of(mode)});
  note_wraps(result, wraps);
  return {result};
}

Drawn filled(Draw& draw, DType dtype, const graph::Shape& shape) {
  const ops::Number number = draw.random.pick(
      std::array{ops::Number(0), ops::Number(0), ops::Number(-0.0), ops::Number(1), ops::Number(-1)});
  return with(draw.builder.constant(number, dtype, shape), {});
}

// A few elements along one axis, perhaps not all of the others.
Drawn few_along(Draw& draw, const Drawn& x, Mode mode) {
  const int axis = draw.random.axis(x.tensor.rank());
  graph::Shape shape = x.tensor.shape();
  for (index::Expr& size : shape)
    if (draw.random.chance(20)) size = draw.random.between(0, std::min<std::int64_t>(draw.smallest(size), 5));
  shape[static_cast<std::size_t>(axis)] = draw.random.chance(50) ? 1 : draw.random.between(2, 10);
  const bool wraps = draw.random.chance(30), with_self = draw.random.chance(75);
  const Drawn at = places(draw, shape, x.tensor.size(axis), wraps);
  Drawn result;
  if (draw.random.chance(30)) {
    result = with(graph::scatter(x.tensor, axis, at.tensor, ops::Number(1), mode, with_self, negative(wraps)),
                  {&at});
  } else {
    const Drawn source = draw.input(x.tensor.dtype(), shape);
    result = with(graph::scatter(x.tensor, axis, at.tensor, source.tensor, mode, with_self, negative(wraps)),
                  {&at, &source});
  }
  note_wraps(result, wraps);
  return result;
}

// Each row, or some of them, each at one place.
Drawn one_a_row(Draw& draw, const Drawn& x, Mode mode) {
  index::Expr count = x.tensor.size(0);
  std::int64_t step = 1;
  if (draw.random.chance(50)) {
    step = draw.random.between(1, 3);
    const std::int64_t most = (draw.smallest(count) + step - 1) / step;
    count = draw.random.between(0, std::min<std::int64_t>(most, 5));
  }
  graph::Indices indices = {draw.builder.arange(count, 0, step, DType::i64)};
  Drawn all = x;
  if (x.tensor.rank() > 1) {
    const Drawn at = places(draw, {count}, x.tensor.size(1), draw.random.chance(50));
    indices.emplace_back(at.tensor);
    all.features |= at.features;
  }
  const Tensor read = graph::index(x.tensor, indices);
  const Drawn values = draw.input(x.tensor.dtype(), read.shape());
  return with(graph::index_put(x.tensor, indices, values.tensor, mode), {&all, &values},
              {Feature::index_put});
}

std::vector<Drawn> scatter_on_constant(Draw& draw) {
  const graph::Shape shape = with_axes(draw).tensor.shape();  // of sizes that an input tells
  const DType dtype = draw.dtype();
  const Mode mode = dtype == DType::b8 ? Mode::replace : any_mode(draw);
  const Drawn x = filled(draw, dtype, shape);
  const Drawn made = draw.random.chance(65) ? few_along(draw, x, mode) : one_a_row(draw, x, mode);
  return {with(made.tensor, {&made}, {feature_of(mode), Feature::scatter_on_constant})};
}

constexpr std::array recipes = {
    Recipe{8, take_along},         Recipe{8, take},          Recipe{8, index},
    Recipe{6, index_put},          Recipe{12, scatter_line}, Recipe{10, scatter_along},
    Recipe{9, scatter_on_constant}};

}  // namespace

std::span<const Recipe> place_recipes() { return recipes; }

}  // namespace twinloom::tests
