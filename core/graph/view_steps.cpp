// See view_steps.h.
#include "core/graph/view_steps.h"

#include <algorithm>

#include "core/graph/known_element.h"
#include "core/index/simplify.h"

namespace twinloom::graph {

using index::Expr;

namespace {

bool contains(const Dimensions& all, std::size_t d) { return std::ranges::find(all, d) != all.end(); }

}  // namespace

ViewSteps::ViewSteps(const View& view, const Shape& source, index::Facts facts)
    : view_(view), source_(source), facts_(std::move(facts)) {
  assume_axes(facts_, view.axes, view.sizes);
}

std::vector<Dimensions> ViewSteps::out_of_step() const {
  std::vector<Dimensions> found;
  for (Dimensions& together : curved()) {
    std::ranges::sort(together);
    if (!in_steps(together)) found.push_back(std::move(together));
  }
  return found;
}

std::optional<View> ViewSteps::around(const std::vector<Dimensions>& given, View& inner) const {
  View outer = view_;
  outer.source.clear();
  inner.source.resize(source_.size());
  for (std::size_t d = 0; d < source_.size(); ++d) {
    const auto together =
        std::ranges::find_if(given, [&](const Dimensions& all) { return contains(all, d); });
    if (together == given.end()) {
      inner.source[d] = new_axis(inner, source_[d]);
      outer.source.push_back(view_.source[d]);
    } else if (together->front() == d && !add_axes(*together, inner, outer)) {
      return std::nullopt;
    }
  }
  return outer;
}

bool ViewSteps::is_axis(index::Symbol symbol) const {
  return std::ranges::find(view_.axes, symbol) != view_.axes.end();
}

bool ViewSteps::has_axis(const Expr& expr) const {
  return index::any_symbol(expr, [&](index::Symbol symbol) { return is_axis(symbol); });
}

bool ViewSteps::is_in_steps(const Expr& expr) const {
  return std::ranges::all_of(view_.axes, [&](index::Symbol axis) {
    const auto linear = index::linear_in(expr, axis);
    return linear && !has_axis(linear->scale);
  });
}

// Dimensions that are not walked in steps, by the axes that they share.
std::vector<Dimensions> ViewSteps::curved() const {
  std::vector<Dimensions> all;
  for (std::size_t d = 0; d < source_.size(); ++d) {
    if (is_in_steps(view_.source[d])) continue;
    Dimensions together{d};
    std::erase_if(all, [&](const Dimensions& other) {
      const bool is_same = std::ranges::any_of(other, [&](std::size_t e) { return share_axis(d, e); });
      if (is_same) together.insert(together.end(), other.begin(), other.end());
      return is_same;
    });
    all.push_back(std::move(together));
  }
  return all;
}

bool ViewSteps::share_axis(std::size_t d, std::size_t e) const {
  return index::any_symbol(view_.source[d], [&](index::Symbol symbol) {
    return is_axis(symbol) && index::mentions(view_.source[e], symbol);
  });
}

// The order in which they are in steps, one after the other without gaps.
std::optional<Dimensions> ViewSteps::in_steps(Dimensions together) const {
  constexpr std::size_t MOST = 5;  // 120 orders
  if (together.size() > MOST) return std::nullopt;
  do {
    Expr flat = 0;
    for (const std::size_t d : together) flat = flat * source_[d] + view_.source[d];
    if (is_in_steps(index::simplify(flat, facts_))) return together;
  } while (std::ranges::next_permutation(together).found);
  return std::nullopt;
}

std::optional<Dimensions> ViewSteps::flattened_order() const {
  Dimensions order;
  bool is_flattened = false;
  const auto add = [&](const auto& is_of_it) {
    Dimensions together;
    for (std::size_t d = 0; d < source_.size(); ++d)
      if (!contains(order, d) && is_of_it(view_.source[d])) together.push_back(d);
    is_flattened |= together.size() > 1;
    const auto found = together.size() > 1 ? in_steps(together) : together;
    if (found) order.insert(order.end(), found->begin(), found->end());
    return found.has_value();
  };
  for (std::size_t d = 0; d < source_.size(); ++d)
    if (!has_axis(view_.source[d])) order.push_back(d);
  for (const index::Symbol axis : view_.axes)
    if (!add([&](const Expr& at) { return index::mentions(at, axis); })) return std::nullopt;
  return is_flattened ? std::optional(order) : std::nullopt;
}

// What is divided where an expression is not in steps.
void ViewSteps::add_divided(const Expr& expr, std::vector<Expr>& walks) const {
  const auto add = [&](const Expr& dividend) {
    if (!is_in_steps(dividend)) return add_divided(dividend, walks);
    if (has_axis(dividend) && std::ranges::find(walks, dividend) == walks.end()) walks.push_back(dividend);
  };
  const auto& node = expr.form().node;
  if (const auto* div = std::get_if<index::FloorDiv>(&node)) add(div->dividend);
  if (const auto* mod = std::get_if<index::FloorMod>(&node)) add(mod->dividend);
  if (const auto* sum = std::get_if<index::Sum>(&node))
    for (const index::Term& term : sum->terms) add_divided(term.factor, walks);
  if (const auto* product = std::get_if<index::Product>(&node))
    for (const Expr& factor : product->factors) add_divided(factor, walks);
}

// The sums of axes that conditions bound, as windows are.
std::vector<Expr> ViewSteps::bounded() const {
  std::vector<Expr> sums;
  for (const index::Less& less : view_.inside.all) {
    for (const Expr& excess : {less.b - less.a, less.a - less.b}) {
      Expr sum = 0;
      bool rises = is_in_steps(excess);
      for (const index::Symbol axis : view_.axes) {
        const auto scale = index::constant_scale_in(excess, axis);
        rises = rises && scale && *scale >= 0;
        if (rises) sum = sum + *scale * Expr(axis);
      }
      if (rises && std::ranges::find(sums, sum) == sums.end()) sums.push_back(sum);
    }
  }
  return sums;
}

// Of what is in steps: as far as the view reads inside, else as its axes reach.
ViewSteps::Range ViewSteps::range_of(const Expr& walked) const {
  Range range{walked, walked};
  for (std::size_t at = 0; at < view_.axes.size(); ++at) {
    const std::int64_t scale = index::constant_scale_in(walked, view_.axes[at]).value_or(0);
    const index::Substitution first{{view_.axes[at], 0}}, last{{view_.axes[at], view_.sizes[at] - 1}};
    range.least = index::substitute(range.least, scale < 0 ? last : first);
    range.most = index::substitute(range.most, scale < 0 ? first : last);
  }
  for (const index::Less& less : view_.inside.all) {  // 0 <= excess
    const Expr excess = less.b - less.a - 1, above = excess - walked, below = excess + walked;
    if (!has_axis(above)) range.least = index::greatest(range.least, -above);
    if (!has_axis(below)) range.most = index::least(range.most, below);
  }
  return {index::simplify(range.least, facts_), index::simplify(range.most, facts_)};
}

std::optional<index::Symbol> ViewSteps::walked_by_one(const Expr& walked) const {
  const auto found = std::ranges::find_if(
      view_.axes, [&](index::Symbol own) { return index::constant_scale_in(walked, own) == 1; });
  return found == view_.axes.end() ? std::nullopt : std::optional(*found);
}

// The walks of some dimensions, which become axes of the compact view one after the other.
struct ViewSteps::Walks {
  const ViewSteps& steps;
  View& inner;
  View& outer;
  std::vector<Expr> sources;
  index::Facts facts = steps.facts_;
  index::Substitution back = {};  // of names that are none of the view's

  // `by_one` is one of its axes, with the scale 1.
  void add(const Expr& walked, index::Symbol by_one) {
    const Range range = steps.range_of(walked);
    const Expr axis = new_axis(inner, index::simplify(range.most - range.least + 1, steps.facts_));
    outer.source.push_back(walked - range.least);
    const index::Symbol own = axis_symbol(static_cast<int>(steps.view_.axes.size() + inner.axes.size()));
    facts.assume_below(own, inner.sizes.back());
    back.emplace(own, axis);
    const index::Substitution walk{{by_one, own + range.least - (walked - by_one)}};
    for (Expr& source : sources) source = index::simplify(index::substitute(source, walk), facts);
  }
  bool mention(index::Symbol axis) const {
    return std::ranges::any_of(sources, [&](const Expr& source) { return index::mentions(source, axis); });
  }
};

bool ViewSteps::add_axes(const Dimensions& together, View& inner, View& outer) const {
  Walks walks{*this, inner, outer, {}};
  std::vector<Expr> divided;
  for (const std::size_t d : together) {
    walks.sources.push_back(view_.source[d]);
    add_divided(view_.source[d], divided);
  }
  for (const Expr& walked : divided) {
    const auto by_one = walked_by_one(walked);
    if (!by_one) return false;
    walks.add(walked, *by_one);
  }
  for (const Expr& walked : bounded()) {
    const auto by_one = walked_by_one(walked);
    const auto left = std::ranges::count_if(
        view_.axes, [&](index::Symbol axis) { return index::mentions(walked, axis) && walks.mention(axis); });
    if (by_one && left > 1) walks.add(walked, *by_one);
  }
  for (const index::Symbol axis : view_.axes)
    if (walks.mention(axis)) walks.add(axis, axis);
  for (std::size_t k = 0; k < together.size(); ++k) {
    // What is only inside where the view's conditions hold is left as it is.
    const Expr& source = walks.sources[k];
    if (!walks.facts.proves_less(-1, source) || !walks.facts.proves_less(source, source_[together[k]]))
      return false;
    inner.source[together[k]] = index::substitute(source, walks.back);
  }
  return true;
}

}  // namespace twinloom::graph
