// Reductions, scans, and the composites made of them.
#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "tests/conformance/recipes.h"

namespace twinloom::tests {

namespace {

using graph::Tensor;
using ops::DType;

bool is_number(DType dtype) { return dtype != DType::b8; }
bool is_any(DType) { return true; }

Feature direction(const Draw::Line& line) {
  if (line.axes.size() > 1) return Feature::several_axes;
  if (line.axes[0] == line.value.tensor.rank() - 1) return Feature::inner;
  return line.axes[0] == 0 ? Feature::outer : Feature::middle;
}

// There is no extreme of nothing: each result needs an element.
void need_elements(const Draw& draw, const Draw::Line& line) {
  index::Expr results = 1, elements = 1;
  for (int axis = 0; axis < line.value.tensor.rank(); ++axis) {
    const bool vanishes = std::ranges::find(line.axes, axis) != line.axes.end();
    (vanishes ? elements : results) = (vanishes ? elements : results) * line.value.tensor.size(axis);
  }
  if (!draw.holds({{{results, results * elements + 1}}})) throw Inapplicable{"nothing has no extreme"};
}

// With something pointwise after it, most of the time.
Drawn finished(Draw& draw, const Drawn& total) {
  if (draw.random.chance(25)) return total;
  if (ops::is_floating(total.tensor.dtype())) return draw.calmed(total);
  return draw.cast_to(total, draw.dtype());
}

Drawn prepared(Draw& draw, const Drawn& value) { return draw.random.chance(70) ? draw.calmed(value) : value; }

std::vector<Drawn> reduce(Draw& draw) {
  Draw::Line line = draw.line(false, is_number);
  line.value = prepared(draw, line.value);
  static constexpr std::array rows = {ops::Monoid::sum, ops::Monoid::prod, ops::Monoid::max,
                                      ops::Monoid::min};
  const ops::Monoid monoid = draw.random.pick(rows);
  if (monoid == ops::Monoid::max || monoid == ops::Monoid::min) need_elements(draw, line);
  const Tensor total = graph::reduce(monoid, line.value.tensor, line.axes, draw.random.chance(30));
  return {finished(draw, with(total, {&line.value}, {feature_named(ops::name(monoid)), direction(line)}))};
}

std::vector<Drawn> all_axes(Draw& draw) {
  const Drawn x = prepared(
      draw, draw.pick([](const Tensor& value) { return value.rank() > 0 && is_number(value.dtype()); }));
  const Feature axes = x.tensor.rank() > 1 ? Feature::several_axes : Feature::inner;
  return {finished(draw, with(graph::sum(x.tensor), {&x}, {Feature::sum, axes}))};
}

std::vector<Drawn> question(Draw& draw) {
  const Draw::Line line = draw.line(false, is_any);
  const bool any = draw.random.chance(50);
  Tensor x = line.value.tensor;
  if (x.dtype() != DType::b8 && draw.random.chance(60)) x = graph::gt(x, graph::full_like(x, 1));
  const Tensor total = any ? graph::any(x, line.axes) : graph::all(x, line.axes);
  return {with(total, {&line.value}, {any ? Feature::any : Feature::all, direction(line)})};
}

std::vector<Drawn> extreme(Draw& draw) {
  Draw::Line line = draw.line(true, is_any);
  need_elements(draw, line);
  line.value = prepared(draw, line.value);
  const bool most = draw.random.chance(50);
  const Tensor& x = line.value.tensor;
  if (draw.random.chance(50)) {
    const Tensor place = most ? graph::argmax(x, line.axes[0]) : graph::argmin(x, line.axes[0]);
    return {with(place, {&line.value}, {most ? Feature::argmax : Feature::argmin, direction(line)})};
  }
  const graph::Extreme both =
      most ? graph::max_with_place(x, line.axes[0]) : graph::min_with_place(x, line.axes[0]);
  const Feature kind = most ? Feature::argmax : Feature::argmin;
  return {with(both.value, {&line.value}, {kind, direction(line)}),
          with(both.place, {&line.value}, {kind, direction(line)})};
}

std::vector<Drawn> scan(Draw& draw) {
  Draw::Line line = draw.line(true, is_number);
  line.value = prepared(draw, line.value);
  const graph::ScanOptions options{draw.random.chance(40), draw.random.chance(40)};
  const bool product = draw.random.chance(40);
  const Tensor& x = line.value.tensor;
  const Tensor y =
      product ? graph::cumprod(x, line.axes[0], options) : graph::cumsum(x, line.axes[0], options);
  Drawn result = with(y, {&line.value}, {product ? Feature::cumprod : Feature::cumsum, direction(line)});
  if (options.exclusive) result.features.set(static_cast<std::size_t>(Feature::exclusive));
  if (options.backwards) result.features.set(static_cast<std::size_t>(Feature::backwards));
  return {finished(draw, result)};
}

std::vector<Drawn> running_extreme(Draw& draw) {
  const Draw::Line line = draw.line(true, is_number);
  const bool most = draw.random.chance(50);
  const graph::Extreme both =
      most ? graph::cummax(line.value.tensor, line.axes[0]) : graph::cummin(line.value.tensor, line.axes[0]);
  const Feature kind = most ? Feature::cummax : Feature::cummin;
  return {with(both.value, {&line.value}, {kind}), with(both.place, {&line.value}, {kind})};
}

std::vector<Drawn> softmax(Draw& draw) {
  const Draw::Line line = draw.line(true, ops::is_floating);
  const Drawn x = prepared(draw, line.value);
  return {with(graph::softmax(x.tensor, line.axes[0]), {&x}, {Feature::softmax, direction(line)})};
}

std::vector<Drawn> log_softmax(Draw& draw) {
  const Draw::Line line = draw.line(true, ops::is_floating);
  const Drawn x = prepared(draw, line.value);
  return {with(graph::log_softmax(x.tensor, line.axes[0]), {&x}, {Feature::log_softmax, direction(line)})};
}

std::vector<Drawn> layer_norm(Draw& draw) {
  const Drawn x = draw.random.chance(50) ? draw.line(true, ops::is_floating).value : draw.pick_real();
  if (x.tensor.rank() == 0) throw Inapplicable{"no axis"};
  const index::Expr size = x.tensor.size(x.tensor.rank() - 1);
  const Drawn weight = draw.input(x.tensor.dtype(), {size});
  const Drawn bias = draw.input(x.tensor.dtype(), {size});
  const graph::Normalized y = graph::layer_norm(x.tensor, 1, weight.tensor, bias.tensor, 1e-5);
  return {with(y.value, {&x, &weight, &bias}, {Feature::layer_norm, Feature::broadcast, Feature::inner})};
}

std::vector<Drawn> variance(Draw& draw) {
  const Draw::Line line = draw.line(false, ops::is_floating);
  const graph::Moments moments =
      graph::var_mean(line.value.tensor, line.axes, draw.random.chance(50) ? 1.0 : 0.0, true);
  return {
      with(graph::sub(line.value.tensor, moments.mean), {&line.value}, {Feature::variance, direction(line)}),
      with(moments.variance, {&line.value}, {Feature::variance, direction(line)})};
}

constexpr std::array recipes = {Recipe{42, reduce},  Recipe{5, all_axes},    Recipe{16, question},
                                Recipe{17, extreme}, Recipe{16, scan},       Recipe{18, running_extreme},
                                Recipe{9, softmax},  Recipe{9, log_softmax}, Recipe{10, layer_norm},
                                Recipe{11, variance}};

}  // namespace

std::span<const Recipe> total_recipes() { return recipes; }

}  // namespace twinloom::tests
