// See draw.h.
#include "tests/conformance/draw.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/graph/bind.h"
#include "core/graph/views.h"
#include "tests/conformance/returned.h"

namespace twinloom::tests {

namespace {

using graph::Tensor;
using ops::DType;

constexpr std::int64_t usual_elements = 40000, large_elements = 1500000;

constexpr std::array dtypes = {DType::f32, DType::f32, DType::f32,  DType::f32,  DType::f64,
                               DType::f16, DType::f16, DType::bf16, DType::bf16, DType::i64,
                               DType::i64, DType::i32, DType::i16,  DType::i8,   DType::u64,
                               DType::u32, DType::u16, DType::u8,   DType::b8,   DType::b8};

constexpr std::array calm = {ops::Pointwise::sin,     ops::Pointwise::cos,      ops::Pointwise::tanh,
                             ops::Pointwise::sigmoid, ops::Pointwise::erf,      ops::Pointwise::neg,
                             ops::Pointwise::abs,     ops::Pointwise::relu,     ops::Pointwise::atan,
                             ops::Pointwise::silu,    ops::Pointwise::gelu_erf, ops::Pointwise::asinh};

constexpr std::int64_t borders[] = {256, 1024, 2048, 4096, 1025, 2050, 3075};

}  // namespace

Drawn with(const Tensor& tensor, std::initializer_list<const Drawn*> from,
           std::initializer_list<Feature> own) {
  Drawn result{tensor, {}, false};
  for (const Drawn* source : from) result.features |= source->features;
  for (const Feature feature : own) result.features.set(static_cast<std::size_t>(feature));
  const int rank = std::min(tensor.rank(), 6);
  result.features.set(static_cast<std::size_t>(Feature::rank_0) + static_cast<std::size_t>(rank));
  result.features.set(static_cast<std::size_t>(feature_named(ops::name(tensor.dtype()))));
  return result;
}

Draw::Draw(const Plan& plan) : random(plan.seed), plan_(plan) {
  large_ = random.chance(plan.networks ? 10 : 7);
  zeros_ = random.chance(15);
  sizes_.emplace_back();
  if (large_ || !random.chance(45)) return;
  const std::int64_t few = random.below(3);
  const std::int64_t odd = 2 * random.between(1, 15) + 1;
  const std::int64_t many =
      random.chance(50) ? random.pick(borders) + random.between(-1, 1) : random.between(33, 130);
  sizes_.clear();
  for (const std::int64_t size : {few, odd, many})
    sizes_.push_back(
        {{index::Symbol("n"), shrunk(size)}, {index::Symbol("m"), shrunk(random.between(1, 9))}});
}

std::int64_t Draw::shrunk(std::int64_t size) const {
  return size > 1 ? std::max<std::int64_t>(1, size >> plan_.shrink) : size;
}

std::int64_t Draw::smallest(const index::Expr& expr) const {
  std::int64_t least = INT64_MAX;
  for (const index::Values& values : sizes_) least = std::min(least, index::evaluate(expr, values));
  return least;
}

std::int64_t Draw::largest(const index::Expr& expr) const {
  std::int64_t most = INT64_MIN;
  for (const index::Values& values : sizes_) most = std::max(most, index::evaluate(expr, values));
  return most;
}

bool Draw::holds(const index::Condition& condition) const {
  return std::ranges::all_of(sizes_,
                             [&](const index::Values& values) { return index::evaluate(condition, values); });
}

std::int64_t Draw::count(const graph::Shape& shape) const { return largest(index::product(shape)); }

std::optional<Drawn> Draw::find(const std::function<bool(const Tensor&)>& wanted) {
  std::vector<std::size_t> fresh, all;
  for (std::size_t at = 0; at < pool_.size(); ++at) {
    if (!wanted(pool_[at].tensor)) continue;
    all.push_back(at);
    if (!pool_[at].used) fresh.push_back(at);
  }
  if (all.empty()) return std::nullopt;
  return pool_[random.pick(!fresh.empty() && random.chance(75) ? fresh : all)];
}

Drawn Draw::pick(const std::function<bool(const Tensor&)>& wanted) {
  if (auto found = find(wanted)) return *std::move(found);
  throw Inapplicable{"the pool has no such value"};
}

Drawn Draw::pick_real() {
  const auto real = [](const Tensor& x) { return ops::is_floating(x.dtype()); };
  if (random.chance(85) && std::ranges::any_of(pool_, [&](const Drawn& x) { return real(x.tensor); }))
    return pick(real);
  return cast_to(pick(), real_dtype());
}

Drawn Draw::pick_integer() {
  const auto integer = [](const Tensor& x) { return ops::is_integer(x.dtype()); };
  if (random.chance(80) && std::ranges::any_of(pool_, [&](const Drawn& x) { return integer(x.tensor); }))
    return pick(integer);
  return cast_to(
      pick(), random.pick(std::array{DType::i64, DType::i32, DType::i16, DType::i8, DType::u8, DType::u32}));
}

std::int64_t Draw::small_size() {
  if (zeros_ && random.chance(20)) return 0;
  return shrunk(random.pick(std::array<std::int64_t, 12>{1, 1, 2, 3, 3, 4, 5, 7, 8, 9, 13, 17}));
}

std::int64_t Draw::long_size() {
  if (large_) return shrunk(131072 + random.between(1, 9000));
  return shrunk(random.pick(borders) + random.between(-1, 1));
}

graph::Shape Draw::shape() {
  static constexpr int ranks[] = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 6, 6};
  const int rank = random.pick(ranks);
  graph::Shape result;
  bool symbolic = false;
  for (int axis = 0; axis < rank; ++axis) {
    const bool symbol = sizes_.size() > 1 && random.chance(symbolic ? 15 : 45);
    if (symbol)
      result.emplace_back(index::Symbol(symbolic ? "m" : "n"));
    else
      result.emplace_back(rank > 3 ? std::min<std::int64_t>(small_size(), 5) : small_size());
    symbolic = symbolic || symbol;
  }
  return result;
}

DType Draw::dtype() { return random.pick(dtypes); }
DType Draw::real_dtype() {
  return random.pick(std::array{DType::f32, DType::f32, DType::f32, DType::f64, DType::f16, DType::bf16});
}

Layout Draw::layout(const graph::Shape& shape) {
  if (shape.empty() || random.chance(45)) return Layout::contiguous;
  return random.pick(
      std::array{Layout::other_order, Layout::zero, Layout::negative, Layout::overlapping, Layout::gaps});
}

Drawn Draw::input(DType dtype, graph::Shape shape) {
  InputPlan plan;
  plan.parameter = static_cast<int>(builder.graph().parameters().size());
  plan.layout = layout(shape);
  plan.axis = shape.empty() ? 0 : random.axis(static_cast<int>(shape.size()));
  plan.contents = random.chance(25) ? Contents::special : Contents::plain;
  const std::int64_t elements = count(shape);
  Drawn result = with(builder.input(cat("x", plan.parameter), dtype, shape), {});
  const auto set = [&](Feature feature) { result.features.set(static_cast<std::size_t>(feature)); };
  const bool seen =
      elements > 1 && largest(shape.empty() ? 1 : shape[static_cast<std::size_t>(plan.axis)]) > 1;
  if (plan.layout == Layout::zero && seen) set(Feature::zero_stride);
  if (plan.layout == Layout::negative && seen) set(Feature::negative_stride);
  if (plan.layout == Layout::overlapping && shape.size() > 1 && elements > 3)
    set(Feature::overlapping_strides);
  if (plan.layout == Layout::other_order && shape.size() > 1) set(Feature::other_order);
  if (plan.layout == Layout::gaps && elements > 1) set(Feature::gaps);
  if (plan.contents == Contents::special && ops::is_floating(dtype) && elements >= 16)
    for (const Feature feature : {Feature::nan, Feature::infinity, Feature::subnormal}) set(feature);
  for (const index::Expr& size : shape) {
    if (smallest(size) == 0) set(Feature::size_0);
    if (smallest(size) == 1) set(Feature::size_1);
    if (largest(size) % 2 == 1 && largest(size) > 1) set(Feature::odd_size);
  }
  inputs_.push_back(plan);
  return result;
}

Drawn Draw::indices(graph::Shape shape, const index::Expr& bound, bool wrapping) {
  for (const index::Values& values : sizes_) {
    if (index::evaluate(bound, values) < 1 && index::evaluate(index::product(shape), values) > 0)
      throw Inapplicable{"there is no place to index"};
  }
  const std::int64_t most = largest(bound);
  std::vector<DType> fitting = {DType::i64, DType::i64, DType::i32};
  if (most < 32000) fitting.push_back(DType::i16);
  if (most < 120) fitting.push_back(DType::i8);
  if (most < 250 && !wrapping) fitting.push_back(DType::u8);
  const DType dtype = random.pick(fitting);
  InputPlan plan;
  plan.parameter = static_cast<int>(builder.graph().parameters().size());
  plan.contents = wrapping ? Contents::wrapping : Contents::indices;
  plan.bound = bound;
  plan.layout = random.chance(80) ? Layout::contiguous : layout(shape);
  inputs_.push_back(plan);
  return with(builder.input(cat("x", plan.parameter), dtype, std::move(shape)), {});
}

Draw::Line Draw::line(bool one_axis, const std::function<bool(DType)>& wanted) {
  if (!large_ && !random.chance(62)) {
    Line line{pick([&](const Tensor& x) { return x.rank() > 0 && wanted(x.dtype()); }), {}};
    const int rank = line.value.tensor.rank();
    const int first = random.axis(rank);
    const int last =
        one_axis || random.chance(60) ? first : static_cast<int>(random.between(first, rank - 1));
    for (int axis = first; axis <= last; ++axis) line.axes.push_back(axis);
    return line;
  }
  DType element = dtype();
  while (!wanted(element)) element = dtype();
  const std::int64_t length = long_size();
  const auto few = [&] { return index::Expr(large_ ? 1 : random.between(1, 4)); };
  graph::Shape shape;
  for (std::int64_t before = random.below(3); before > 0; --before) shape.push_back(few());
  Line line{{}, {static_cast<int>(shape.size())}};
  const bool several = !one_axis && random.chance(25);
  // Misaligned: elements in front are cut off.
  const std::int64_t cut = random.chance(35) ? random.between(1, 5) : 0;
  shape.push_back((several ? index::Expr((length + 2) / 3) : index::Expr(length)) + cut);
  if (several) {
    shape.push_back(3);
    line.axes.push_back(line.axes[0] + 1);
  }
  for (std::int64_t after = random.below(3); after > 0 && shape.size() < 4; --after) shape.push_back(few());
  Drawn value = input(element, shape);
  if (cut > 0) {
    const int axis = line.axes[0];
    const index::Expr size = value.tensor.size(axis);
    value = with(graph::slice_exact(value.tensor, axis, cut, size - cut), {&value},
                 {Feature::misaligned, Feature::slice});
  }
  line.value = value;
  return line;
}

Drawn Draw::cast_to(const Drawn& value, DType dtype) {
  if (value.tensor.dtype() == dtype) return value;
  return with(graph::cast(value.tensor, dtype), {&value}, {Feature::cast, Feature::mixed_types});
}

Drawn Draw::calmed(const Drawn& value) {
  const DType dtype = value.tensor.dtype();
  const ops::Pointwise op = random.pick(calm);
  if (!ops::takes_element(op, dtype)) return value;
  return with(graph::pointwise(op, {value.tensor}), {&value}, {Feature::function});
}

void Draw::check_made(std::size_t first_node, const std::vector<Drawn>& made) const {
  const auto has_many_axes = [](const Drawn& value) { return value.tensor.rank() > 6; };
  if (std::ranges::any_of(made, has_many_axes)) throw Inapplicable{"too many dimensions"};
  std::int64_t total = 0;
  const auto nodes = builder.graph().nodes();
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const std::int64_t elements = count(nodes[at].shape);
    const std::int64_t most = large_ ? 300000 : 16384;
    if (at >= first_node && elements > most) throw Inapplicable{"too many elements"};
    total += elements;
  }
  const bool guarded =
      std::ranges::all_of(builder.graph().requirements(),
                          [&](const graph::Require& require) { return holds(require.condition); });
  if (!guarded) throw Inapplicable{"a requirement does not hold for all sizes"};
  if (total >= (large_ ? large_elements : usual_elements)) throw Inapplicable{"too much work"};
}

void Draw::mark_used(std::size_t first_node) {
  const auto nodes = builder.graph().nodes();
  for (std::size_t at = first_node; at < nodes.size(); ++at)
    for (const graph::NodeId operand : nodes[at].inputs)
      for (Drawn& value : pool_)
        if (value.tensor.id() == operand) value.used = true;
}

void Draw::keep(Drawn value) {
  const auto same = [&](const Drawn& other) { return other.tensor.id() == value.tensor.id(); };
  if (std::ranges::none_of(pool_, same)) pool_.push_back(std::move(value));
}

bool Draw::attempt(const std::function<std::vector<Drawn>(Draw&)>& recipe) {
  graph::Graph before = builder.graph();
  const std::size_t inputs = inputs_.size();
  const std::size_t first_node = before.nodes().size();
  ++attempts_;
  try {
    const std::vector<Drawn> made = recipe(*this);
    check_made(first_node, made);
    mark_used(first_node);
    for (const Drawn& value : made) keep(value);
    return true;
  } catch (const Inapplicable&) {
    ++skipped_;
    builder.graph() = std::move(before);
    inputs_.resize(inputs);
    return false;
  }
}

Generated Draw::finish() {
  Generated generated;
  std::vector<Drawn> values;
  for (std::size_t at = pool_.size(); at-- > 0;) {
    const Drawn& value = pool_[at];
    const bool is_input = std::holds_alternative<graph::Input>(builder.graph()[value.tensor.id()].node);
    const bool last = at == 0 && values.empty();
    if (last || (!is_input && (!value.used || random.chance(5)))) values.push_back(value);
  }
  generated.features = add_results(*this, values);
  generated.graph = builder.take();
  generated.inputs = inputs_;
  generated.sizes = sizes_;
  generated.attempts = attempts_;
  generated.skipped = skipped_;
  return generated;
}

}  // namespace twinloom::tests
