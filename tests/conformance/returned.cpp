// See returned.h.
#include "tests/conformance/returned.h"

#include <algorithm>
#include <set>

#include "core/base/text.h"
#include "core/graph/sharing.h"
#include "core/graph/views.h"

namespace twinloom::tests {

namespace {

using graph::Ownership;
using graph::Tensor;

// One result: a value, or a size, or None.
struct Item {
  Ownership kind = Ownership::own;
  graph::Returned value;
  index::Expr size = 0;
};

class Returning {
 public:
  Returning(Draw& draw, const std::vector<Drawn>& values) : draw_(draw), values_(values) {
    for (const Drawn& value : values) add(value, 0);
  }

  Features run() {
    add_parameters();
    if (draw_.random.chance(40)) add_view();
    if (draw_.random.chance(20)) add_parts();
    if (draw_.random.chance(15)) add(draw_.random.pick(values_), 0, Feature::result_twice);
    if (draw_.random.chance(15)) add_clone();
    if (draw_.random.chance(15)) add_constant();
    if (draw_.random.chance(15)) add_other({Ownership::none, {}, 0}, Feature::result_none);
    add_size();
    for (std::size_t at = items_.size(); at-- > 1;)
      std::swap(items_[at],
                items_[static_cast<std::size_t>(draw_.random.below(static_cast<std::int64_t>(at) + 1))]);
    output();
    return features_;
  }

 private:
  void add(const Drawn& value, int copy) {
    items_.push_back({Ownership::own, {value.tensor.id(), copy}, 0});
    features_ |= value.features;
  }
  void add(const Drawn& value, int copy, Feature feature) {
    add(value, copy);
    features_.set(static_cast<std::size_t>(feature));
  }
  void add_other(Item item, Feature feature) {
    items_.push_back(std::move(item));
    features_.set(static_cast<std::size_t>(feature));
  }

  // Nothing where the view cannot be, or is too large.
  std::optional<Drawn> viewed(const Drawn& of, const std::function<Tensor(const Tensor&)>& view) {
    std::optional<Drawn> result;
    const auto recipe = [&](Draw&) { return std::vector{*(result = with(view(of.tensor), {&of}, {}))}; };
    return draw_.attempt(recipe) ? result : std::nullopt;
  }
  std::optional<Drawn> viewed(const Drawn& of) {
    return viewed(of, [&](const Tensor& x) { return some_view(x); });
  }

  Tensor some_view(const Tensor& x) {
    Random& random = draw_.random;
    const std::int64_t kind = random.below(6);
    if (kind == 0) return graph::expand(x, with_front(x.shape(), random.between(1, 3)));
    if (x.rank() == 0) return graph::unsqueeze(x, 0);
    const int axis = random.axis(x.rank());
    const std::int64_t least = draw_.smallest(x.size(axis));
    if (kind == 1) return graph::transpose(x, axis, random.axis(x.rank()));
    if (kind == 2) return graph::reshape(x, {x.count()});
    if (kind == 3 && least > 0) return graph::select(x, axis, random.below(least));
    if (kind == 4 && least > 2)
      return graph::slice_exact(x, axis, random.below(2), (least - 1) / 2, random.between(1, 2));
    return random.chance(30) ? graph::flip(x, {axis}) : graph::unsqueeze(x, axis);
  }
  static graph::Shape with_front(graph::Shape shape, std::int64_t size) {
    shape.insert(shape.begin(), size);
    return shape;
  }

  void add_parameters() {
    const auto is_input = [&](const Tensor& x) {
      return std::holds_alternative<graph::Input>(draw_.builder.graph()[x.id()].node);
    };
    if (draw_.random.chance(20))
      if (const auto input = draw_.find(is_input)) add(*input, 0, Feature::result_parameter);
    if (!draw_.random.chance(25)) return;
    if (const auto input = draw_.find(is_input))
      if (const auto view = viewed(*input)) add(*view, 0, Feature::result_parameter_view);
  }

  void add_view() {
    const Drawn of = draw_.random.pick(values_);
    for (std::int64_t count = draw_.random.between(1, 3); count > 0; --count)
      if (const auto view = viewed(of)) add(*view, 0, Feature::result_view);
  }

  // All of a value in two parts, which share its memory although it is no result.
  void add_parts() {
    const Drawn of = draw_.calmed(draw_.random.pick(values_));
    if (of.tensor.rank() == 0) return;
    const int axis = draw_.random.axis(of.tensor.rank());
    const std::int64_t least = draw_.smallest(of.tensor.size(axis));
    if (least < 1) return;
    const std::int64_t first = draw_.random.below(least + 1);
    const auto part = [&](const index::Expr& start, const index::Expr& count) {
      return viewed(of, [&](const Tensor& x) { return graph::slice_exact(x, axis, start, count); });
    };
    const auto left = part(0, first), right = part(first, of.tensor.size(axis) - first);
    if (!left || !right) return;
    add(*left, 0, Feature::result_parts);
    add(*right, 0);
  }

  void add_clone() {
    const Drawn of = draw_.random.pick(values_);
    add(of, 1, Feature::result_clone);
    if (draw_.random.chance(50)) return;
    if (const auto view = viewed(of)) add(*view, 1);
  }

  void add_constant() {
    graph::Builder& builder = draw_.builder;
    const Tensor filled =
        builder.constant(draw_.random.below(7), draw_.dtype(), {draw_.random.between(0, 3), 2});
    const Tensor array =
        builder.constant(graph::Array{ops::DType::i16, {3}, std::vector<std::byte>(6, std::byte{5})});
    add(with(draw_.random.chance(50) ? filled : array, {}), 0, Feature::result_constant);
  }

  void add_size() {
    if (!draw_.random.chance(25)) return;
    const Tensor& of = draw_.random.pick(values_).tensor;
    add_other({Ownership::size, {}, of.count() + 3}, Feature::result_size);
  }

  void output() {
    std::vector<graph::Returned> returned;
    for (const Item& item : items_)
      if (item.kind == Ownership::own) returned.push_back(item.value);
    // What the run's arguments lie like is drawn later, and is another layout for many.
    std::set<graph::NodeId> row_major;
    if (draw_.random.chance(50)) {
      for (const graph::Parameter& parameter : draw_.builder.graph().parameters())
        if (const auto* input = std::get_if<graph::NodeId>(&parameter.value)) row_major.insert(*input);
    }
    std::vector<graph::Result> shared = graph::shared_results(draw_.builder.graph(), returned, row_major);
    std::size_t next = 0;
    for (std::size_t r = 0; r < items_.size(); ++r) {
      graph::Result result;
      result.kind = items_[r].kind;
      result.size = items_[r].size;
      if (items_[r].kind == Ownership::own) result = shared[next++];
      result.name = cat("y", r);
      draw_.builder.graph().output(std::move(result));
    }
  }

  Draw& draw_;
  const std::vector<Drawn>& values_;
  std::vector<Item> items_;
  Features features_;
};

}  // namespace

Features add_results(Draw& draw, const std::vector<Drawn>& values) { return Returning(draw, values).run(); }

}  // namespace twinloom::tests
